//! Thread-local values that go with requests, and where the stacks of requests are. A C program registers values at any time, and
//! `caudal_on_stack_enter` before it starts a runtime. Its garbage collector calls `caudal_each_stack` at each collection, while all
//! workers stand still. What is registered holds for the whole process, as long as the process lives.

use std::ffi::c_void;

use caudal_rt::{carry, stack};

use crate::abi::caudal_status::*;
use crate::abi::{caudal_carry_hooks, caudal_stack_entering, caudal_stack_visitor, caudal_status};
use crate::boundary::{Opaque, call, reference};

/// Gives each request a value of its own for something that its code keeps in the thread: `hooks` take the value out when a request gives
/// its worker back, and put it back when the request goes on. From now on and for as long as the process lives, the functions are called
/// on workers' threads, in a critical section, at every switch from one request to another. They must neither wait nor unwind.
///
/// Errors: CAUDAL_ERROR_ARGUMENT, if a function is missing; CAUDAL_ERROR_FULL, after 16 places.
/// Ownership: the structure is copied; what `context` points to has to stay. Threads: any.
///
/// # Safety
/// The pointer is null or points to what its type says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_carry(hooks: *const caudal_carry_hooks) -> caudal_status {
    call(|| {
        // SAFETY: as the caller says.
        let hooks = unsafe { reference(hooks) }?;
        let (Some(leave), Some(enter), Some(begin)) = (hooks.leave, hooks.enter, hooks.begin) else {
            return Err(CAUDAL_ERROR_ARGUMENT);
        };
        // SAFETY: as the caller promises.
        unsafe { carry::hooks(carry::Hooks { leave, enter, begin, context: hooks.context }) }
            .map_err(|_| CAUDAL_ERROR_FULL)
    })
}

/// Lets each request have its own value in an aligned word of 8 bytes that belongs to the thread, such as a `_Thread_local` pointer or
/// `uint64_t`: `address` answers where the calling thread has the word. A request begins with `beginning` there. The rest is as for
/// caudal_carry().
///
/// Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_FULL. Threads: any.
///
/// # Safety
/// `address` is null, or answers as said on every worker's thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_carry_word(
    address: Option<unsafe extern "C" fn() -> *mut c_void>,
    beginning: u64,
) -> caudal_status {
    call(|| {
        let address = address.ok_or(CAUDAL_ERROR_ARGUMENT)?;
        // SAFETY: the two types differ in what the pointer that is answered points to.
        let address: unsafe extern "C" fn() -> *mut u64 = unsafe { std::mem::transmute(address) };
        // SAFETY: as the caller promises.
        unsafe { carry::word(address, beginning) }.map_err(|_| CAUDAL_ERROR_FULL)
    })
}

/// Calls `entering` with `context` on a worker's thread, each time before the worker goes on with a coroutine, whose stack is from `low` up
/// to `high`: for garbage collectors that have to know at any time on which stack a thread may be. `entering` runs on the thread's own
/// stack. From that call to the next one, the thread is either on its own stack or on the coroutine's. The function must neither wait nor
/// unwind. A later call of caudal_on_stack_enter() replaces `entering`; some bytes of the earlier registration are never freed, because a
/// worker may still be calling it.
///
/// Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
///
/// # Safety
/// `entering` is null, or does as it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_on_stack_enter(
    entering: caudal_stack_entering,
    context: *mut c_void,
) -> caudal_status {
    call(|| {
        let (entering, context) = (entering.ok_or(CAUDAL_ERROR_ARGUMENT)?, Opaque(context));
        stack::on_enter(move |addresses| {
            let [low, high] = [addresses.start, addresses.end].map(std::ptr::with_exposed_provenance_mut);
            // SAFETY: the program's function, with what the program gave for it.
            unsafe { entering(context.get(), low, high) }
        });
        Ok(())
    })
}

/// Calls `visitor` with `context` for the stack of every coroutine of this process: for garbage collectors, which look for pointers
/// there. `visitor` gets the lowest address that is in use (not the end of the whole stack), the upper end, and whether the coroutine runs:
/// see caudal_stack_visitor. caudal_each_stack() takes no lock, allocates nothing, and may be called in a signal handler. Registers of a
/// coroutine that does not run are on its stack.
///
/// Errors: CAUDAL_ERROR_ARGUMENT. Threads: any, but all workers have to stand still meanwhile, wherever they are: the caller has stopped
/// them.
///
/// # Safety
/// As it says of threads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn caudal_each_stack(
    visitor: caudal_stack_visitor,
    context: *mut c_void,
) -> caudal_status {
    // Not through `call`, which catches panics: this may be a signal handler, and nothing here panics.
    let Some(visitor) = visitor else { return CAUDAL_ERROR_ARGUMENT };
    // SAFETY: as the caller promises.
    unsafe {
        stack::each(|stack| {
            let [low, high] =
                [stack.addresses.start, stack.addresses.end].map(std::ptr::with_exposed_provenance_mut);
            visitor(context, low, high, i32::from(stack.runs));
        });
    }
    CAUDAL_OK
}
