//! The boundary between C and Rust: no panic goes out, no null pointer and no unknown structure comes in. The exported functions of the
//! sibling files run their bodies in [`call`], at each call from C, on the caller's thread (`caudal_each_stack` alone does not), and read and
//! write the program's memory by the other functions here. Nothing here keeps any state.

use std::any::Any;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use caudal_rt::raw;

use crate::abi::caudal_status::*;
use crate::abi::{CAUDAL_FOREVER, CAUDAL_MESSAGE_BYTES, caudal_error, caudal_status};
use crate::job;

/// The result of a call: nothing, or why it failed.
pub(crate) type Answer = Result<(), caudal_status>;

/// Runs the body of an exported function. A panic in it becomes a status. If the status is that the request was cancelled, this is noted
/// for the end of the request.
pub(crate) fn call(body: impl FnOnce() -> Answer) -> caudal_status {
    let status = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => CAUDAL_OK,
        Ok(Err(status)) => status,
        Err(payload) => status_of(payload.as_ref()),
    };
    if status == CAUDAL_CANCELLED {
        job::note_cancellation();
    }
    status
}

/// The status for a panic: cancelled, if the runtime unwinds a cancelled request, which it does without a text; else an internal error. The
/// panic hook has printed a text already.
fn status_of(payload: &(dyn Any + Send)) -> caudal_status {
    let is_text = payload.is::<&str>() || payload.is::<String>();
    if !is_text && raw::is_cancelled() { CAUDAL_CANCELLED } else { CAUDAL_ERROR_INTERNAL }
}

/// An error if the caller is a request in a critical section: it must not wait there.
pub(crate) fn may_wait() -> Answer {
    match raw::is_in_request() && caudal_probe::critical_depth() & caudal_probe::SECTIONS != 0 {
        true => Err(CAUDAL_ERROR_IN_SECTION),
        false => Ok(()),
    }
}

/// The value that `pointer` points to.
///
/// # Safety
/// It is null, or points to a `T` that lives for `'a` and is not changed but through atomics and cells.
pub(crate) unsafe fn reference<'a, T>(pointer: *const T) -> Result<&'a T, caudal_status> {
    if !pointer.is_aligned() {
        return Err(CAUDAL_ERROR_ARGUMENT);
    }
    // SAFETY: as the caller says.
    unsafe { pointer.as_ref() }.ok_or(CAUDAL_ERROR_ARGUMENT)
}

/// The argument of a program's function, which is called on the runtime's threads.
#[derive(Clone, Copy)]
pub(crate) struct Opaque(pub(crate) *mut c_void);

// SAFETY: nobody here reads what it points to; the program's function does, which knows on which threads it is called.
unsafe impl Send for Opaque {}
// SAFETY: as above.
unsafe impl Sync for Opaque {}

impl Opaque {
    /// For closures, which would else take the pointer alone.
    pub(crate) fn get(self) -> *mut c_void {
        self.0
    }
}

/// The place for an answer.
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// # Errors
    /// `CAUDAL_ERROR_ARGUMENT` for null.
    pub(crate) fn of(pointer: *mut T) -> Result<Out<T>, caudal_status> {
        if pointer.is_null() || !pointer.is_aligned() { Err(CAUDAL_ERROR_ARGUMENT) } else { Ok(Out(pointer)) }
    }

    /// # Safety
    /// The caller of the library may have `T` written there.
    pub(crate) unsafe fn put(&self, value: T) {
        // SAFETY: not null, aligned, and the caller's.
        unsafe { self.0.write(value) }
    }
}

/// A structure that starts with its size, and in which zero bytes mean the default.
///
/// # Safety
/// `repr(C)`, its first field is the size as a `usize`, and any bytes are a value of it: no enums, no references.
pub(crate) unsafe trait SizeFirst: Copy {}

/// Reads a structure of a program that may know fewer fields, or more: missing ones are 0, unknown ones must be.
///
/// # Safety
/// `pointer` is null or points to as many bytes as its first field says.
pub(crate) unsafe fn read_sized<T: SizeFirst>(pointer: *const T) -> Result<T, caudal_status> {
    let known = size_of::<T>();
    // SAFETY: the trait's promise: the size comes first.
    let size = unsafe { *reference(pointer.cast::<usize>())? };
    if size < size_of::<usize>() || size > SIZE_MAX {
        return Err(CAUDAL_ERROR_ARGUMENT);
    }
    let bytes = pointer.cast::<u8>();
    // SAFETY: the caller has `size` bytes there.
    let unknown = unsafe { std::slice::from_raw_parts(bytes.add(size.min(known)), size - size.min(known)) };
    if unknown.iter().any(|&byte| byte != 0) {
        return Err(CAUDAL_ERROR_ARGUMENT);
    }
    let mut value = std::mem::MaybeUninit::<T>::zeroed();
    // SAFETY: both have so many bytes, and any bytes are a `T`.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes, value.as_mut_ptr().cast::<u8>(), size.min(known));
        Ok(value.assume_init())
    }
}

/// Writes a structure to a program that may know fewer fields; its size stays as it is.
///
/// # Safety
/// As for [`read_sized`], and the bytes may be written.
pub(crate) unsafe fn write_sized<T: SizeFirst>(pointer: *mut T, value: &T) -> Answer {
    // SAFETY: the trait's promise: the size comes first.
    let size = unsafe { *reference(pointer.cast::<usize>())? };
    if size < size_of::<usize>() || size > SIZE_MAX {
        return Err(CAUDAL_ERROR_ARGUMENT);
    }
    let (head, known) = (size_of::<usize>(), size_of::<T>().min(size));
    // SAFETY: both have `known` bytes.
    unsafe {
        let (from, to) = (std::ptr::from_ref(value).cast::<u8>(), pointer.cast::<u8>());
        std::ptr::copy_nonoverlapping(from.add(head), to.add(head), known - head);
    }
    Ok(())
}

/// No structure of any version is larger: a size above is one that was never set.
const SIZE_MAX: usize = 4096;

/// A string of the program.
///
/// # Safety
/// `text` is null or points to a string that ends in zero.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, caudal_status> {
    if text.is_null() {
        return Err(CAUDAL_ERROR_ARGUMENT);
    }
    // SAFETY: as the caller says.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| CAUDAL_ERROR_ARGUMENT)
}

/// Nanoseconds as a span; none for ever.
pub(crate) fn span(ns: u64) -> Option<Duration> {
    (ns != CAUDAL_FOREVER).then(|| Duration::from_nanos(ns))
}

/// Fills the caller's error, if there is one.
///
/// # Safety
/// `error` is null or may be written.
pub(crate) unsafe fn explain(error: *mut caudal_error, status: caudal_status, message: &str) {
    let Ok(out) = Out::of(error) else { return };
    let mut end = message.len().min(CAUDAL_MESSAGE_BYTES - 1);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    let mut bytes: [c_char; CAUDAL_MESSAGE_BYTES] = [0; CAUDAL_MESSAGE_BYTES];
    for (to, &from) in bytes.iter_mut().zip(&message.as_bytes()[..end]) {
        *to = c_char::from_ne_bytes([from]);
    }
    // SAFETY: as the caller says.
    unsafe { out.put(caudal_error { status, message: bytes }) }
}
