//! Contents of a cell: a closure of any type, then its result or the payload of its panic. A submission puts the closure in, the coroutine
//! that runs it replaces it by the result, and the handle takes that out; each function names the owner that may call it.

use std::any::Any;
use std::mem::{ManuallyDrop, align_of, needs_drop, size_of};

use super::cell::{Request, VTable};
use super::storage::INLINE_BYTES;

/// Is a `T` kept in the cell? Else its box is.
const fn is_inline<T>() -> bool {
    size_of::<T>() <= INLINE_BYTES && align_of::<T>() <= 16
}

/// # Safety
/// The storage is empty, and the caller's alone.
unsafe fn put<T>(cell: Request, value: T) {
    // SAFETY: the storage is the caller's, and large enough: see `is_inline`.
    unsafe {
        let at = cell.storage();
        if is_inline::<T>() {
            at.cast::<T>().write(value);
        } else {
            at.cast::<Box<T>>().write(Box::new(value));
        }
    }
}

/// # Safety
/// The storage holds a `T` that `put` left there, and is the caller's alone; it is empty afterwards.
unsafe fn take<T>(cell: Request) -> T {
    // SAFETY: as the caller says.
    unsafe {
        let at = cell.storage();
        if is_inline::<T>() { at.cast::<T>().read() } else { *at.cast::<Box<T>>().read() }
    }
}

struct Job<F, R>(std::marker::PhantomData<(F, R)>);

impl<F: FnOnce() -> R, R> Job<F, R> {
    const VTABLE: VTable = VTable {
        run: Self::run,
        drop_job: Self::drop_job,
        drop_result: Self::drop_result,
        has_destructor: needs_drop::<R>(),
    };

    unsafe fn run(cell: Request) {
        // SAFETY: the worker that started the request calls this once, and `fill` has left an `F`.
        unsafe {
            let job: F = take(cell);
            put::<R>(cell, job());
        }
    }

    unsafe fn drop_job(cell: Request) {
        // SAFETY: the thread that ended the waiting request calls this once, instead of `run`.
        drop(unsafe { take::<F>(cell) });
    }

    unsafe fn drop_result(cell: Request) {
        // SAFETY: the request has returned, and nobody else takes its result.
        drop(unsafe { take::<R>(cell) });
    }
}

/// Puts `job` into a cell that nobody else knows of.
///
/// # Safety
/// The cell is fresh from [`super::allocate`]. What `job` and its result borrow must outlive the request.
pub(crate) unsafe fn fill<F: FnOnce() -> R, R>(cell: Request, job: F) {
    // SAFETY: nobody else knows of the cell, and its storage is empty.
    unsafe {
        put(cell, job);
        cell.vtable.set(&Job::<F, R>::VTABLE);
    }
}

/// Takes the result out.
///
/// # Safety
/// The request has returned, its closure's result was an `R`, and nobody else takes it.
pub(crate) unsafe fn result_of<R>(cell: Request) -> R {
    // SAFETY: as the caller says.
    unsafe { take(cell) }
}

/// Leaves the payload of a panic in place of a result.
///
/// # Safety
/// The request has panicked, and its storage is empty.
pub(crate) unsafe fn put_payload(cell: Request, payload: Box<dyn Any + Send>) {
    // SAFETY: as the caller says.
    unsafe { put(cell, ManuallyDrop::new(payload)) }
}

/// The payload of a panic, which stays.
///
/// # Safety
/// The request has panicked, and nobody takes its payload for as long as the reference is used.
pub(crate) unsafe fn payload_at<'a>(cell: Request) -> &'a (dyn Any + Send) {
    const { assert!(is_inline::<ManuallyDrop<Box<dyn Any + Send>>>()) };
    let at = cell.storage().cast::<ManuallyDrop<Box<dyn Any + Send>>>();
    // SAFETY: as the caller says; a box is small enough to be in the cell itself.
    unsafe { (**at).as_ref() }
}

/// Takes the payload of a panic out.
///
/// # Safety
/// The request has panicked, and nobody else takes its payload.
pub(crate) unsafe fn payload_of(cell: Request) -> Box<dyn Any + Send> {
    // SAFETY: as the caller says.
    ManuallyDrop::into_inner(unsafe { take::<ManuallyDrop<Box<dyn Any + Send>>>(cell) })
}

/// Takes the closure back out.
///
/// # Safety
/// The request has not been seen by anybody else, and its closure is an `F`.
pub(crate) unsafe fn take_job<F>(cell: Request) -> F {
    // SAFETY: as the caller says.
    unsafe { take(cell) }
}
