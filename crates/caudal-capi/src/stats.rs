//! Statistics of a runtime and of its classes for C. Programs call these functions at any time, from any thread.

use std::ffi::{CString, c_char};

use caudal_observe::Export as _;
use caudal_rt::histogram::Histogram;
use caudal_rt::stats::Snapshot;

use crate::abi::caudal_status::*;
use crate::abi::*;
use crate::boundary::{Out, SizeFirst, call, write_sized};
use crate::runtime::{Inside, caudal_runtime};

// SAFETY: its first field is its size, the others are numbers.
unsafe impl SizeFirst for caudal_class_stats {}

/// Fills `*out`, which caudal_class_stats_init() has prepared, with what was measured of `class` so far. Takes some ten
/// microseconds.
///
/// Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_DESTROYED. Threads: any.
///
/// # Safety
/// The pointers are null or point to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_runtime_class_stats(
    runtime: *mut caudal_runtime,
    class: caudal_class,
    out: *mut caudal_class_stats,
) -> caudal_status {
    call(|| {
        if out.is_null() {
            return Err(CAUDAL_ERROR_ARGUMENT);
        }
        // SAFETY: as the caller says.
        let inside = unsafe { Inside::enter(runtime)? };
        let (_, name) = inside.class(class)?;
        let snapshot = inside.runtime()?.stats();
        let measured = snapshot.class(name).ok_or(CAUDAL_ERROR_ARGUMENT)?;
        let stats = caudal_class_stats {
            size: 0,
            finished: measured.sojourn.count(),
            queueing: times_of(&measured.queueing),
            service: times_of(&measured.service),
            sojourn: times_of(&measured.sojourn),
        };
        // SAFETY: as the caller says.
        unsafe { write_sized(out, &stats) }
    })
}

fn times_of(measured: &Histogram) -> caudal_times {
    if measured.is_empty() {
        return caudal_times::default();
    }
    caudal_times {
        mean_ns: measured.mean(),
        p50_ns: measured.percentile(50.0),
        p90_ns: measured.percentile(90.0),
        p99_ns: measured.percentile(99.0),
        p999_ns: measured.percentile(99.9),
        max_ns: measured.max(),
    }
}

/// Stores everything that was measured so far, of classes and workers, in `*out`, as the JSON that `caudal top` reads.
///
/// Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_DESTROYED. Ownership: the caller owns the text, and gives it back with
/// caudal_text_free(). Threads: any.
///
/// # Safety
/// The pointers are null or point to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_runtime_stats_json(
    runtime: *mut caudal_runtime,
    out: *mut *mut c_char,
) -> caudal_status {
    // SAFETY: as the caller says.
    unsafe {
        give_text(runtime, out, |stats| serde_json::to_string(stats).map_err(|_| CAUDAL_ERROR_INTERNAL))
    }
}

/// The same as text for Prometheus to scrape.
///
/// Errors, ownership and threads as for caudal_runtime_stats_json().
///
/// # Safety
/// The pointers are null or point to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_runtime_stats_prometheus(
    runtime: *mut caudal_runtime,
    out: *mut *mut c_char,
) -> caudal_status {
    // SAFETY: as the caller says.
    unsafe { give_text(runtime, out, |stats| Ok(stats.to_prometheus())) }
}

/// # Safety
/// As for [`caudal_runtime_stats_json`].
unsafe fn give_text(
    runtime: *mut caudal_runtime,
    out: *mut *mut c_char,
    write: impl FnOnce(&Snapshot) -> Result<String, caudal_status>,
) -> caudal_status {
    call(|| {
        let out = Out::of(out)?;
        // SAFETY: as the caller says.
        let inside = unsafe { Inside::enter(runtime)? };
        let text = write(&inside.runtime()?.stats())?;
        let text = CString::new(text).map_err(|_| CAUDAL_ERROR_INTERNAL)?;
        // SAFETY: as the caller says.
        unsafe { out.put(text.into_raw()) };
        Ok(())
    })
}

/// Gives a text of the library back.
///
/// Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
///
/// # Safety
/// `text` is null or was stored by a function that says so, and not given back before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_text_free(text: *mut c_char) -> caudal_status {
    call(|| {
        if text.is_null() {
            return Err(CAUDAL_ERROR_ARGUMENT);
        }
        // SAFETY: as the caller says.
        drop(unsafe { CString::from_raw(text) });
        Ok(())
    })
}
