//! What was measured.

use caudal_rt::histogram::Histogram;

use crate::abi::caudal_status::*;
use crate::abi::*;
use crate::boundary::{SizeFirst, call, write_sized};
use crate::runtime::{Inside, caudal_runtime};

// SAFETY: its first field is its size, the others are numbers.
unsafe impl SizeFirst for caudal_class_stats {}

/// Fills `*out`, which caudal_class_stats_init() has prepared, with what was measured of `class` so far. Takes some microseconds.
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
        let (class, _) = inside.class(class)?;
        let times = inside.runtime()?.class_times(class);
        let stats = caudal_class_stats {
            size: 0,
            finished: times.sojourn.count(),
            queueing: times_of(&times.queueing),
            service: times_of(&times.service),
            sojourn: times_of(&times.sojourn),
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
