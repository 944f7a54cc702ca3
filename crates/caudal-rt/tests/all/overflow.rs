//! Requests that use up their stack.

use std::os::unix::process::ExitStatusExt;

use caudal_rt::{Failure, OnOverflow};

use crate::common::runtime;

#[inline(never)]
fn dig(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 64]);
    if depth == 0 { 0 } else { dig(depth - 1) + std::hint::black_box(&frame)[(depth % 64) as usize] }
}

#[test]
fn an_abandoned_request_leaves_the_worker_running() {
    let runtime = runtime(1, true, |b| b.on_overflow(OnOverflow::Abandon).stack_bytes(64 << 10));
    let class = runtime.class("deep").unwrap();
    for _ in 0..20 {
        let deep = runtime.submit(class, || dig(1 << 30)).unwrap();
        assert!(matches!(deep.wait(), Err(Failure::Abandoned)));
        assert!(runtime.submit(class, || dig(20)).unwrap().wait().is_ok(), "others go on");
    }
}

const CHILD: &str = "CAUDAL_TEST_OVERFLOW";

/// Function that a child of the tests below runs before its stack is used up.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Where {
    /// Nothing, and it aborts by default.
    Plain,
    /// The others would be abandoned.
    Unwinding,
    Section,
    Hook,
}

const CASES: [Where; 4] = [Where::Plain, Where::Unwinding, Where::Section, Where::Hook];

struct Digs;

impl Drop for Digs {
    fn drop(&mut self) {
        dig(1 << 30);
    }
}

/// A canceller runs the destructors of what the request has captured, and may come to its own end there.
#[test]
fn a_request_has_ended_though_its_canceller_never_comes_back() {
    let runtime = runtime(1, true, |b| b.on_overflow(OnOverflow::Abandon).stack_bytes(64 << 10));
    let class = runtime.class("deep").unwrap();
    let (found, request) = std::sync::mpsc::channel();
    let canceller = runtime
        .submit(class, move || {
            // The worker's own request: nothing else runs until this one gives way.
            let cancelled: std::sync::Arc<caudal_rt::Handle<()>> = request.recv().unwrap();
            cancelled.cancel()
        })
        .unwrap();
    let digs = Digs;
    let cancelled = std::sync::Arc::new(runtime.submit(class, move || drop(digs)).unwrap());
    found.send(std::sync::Arc::clone(&cancelled)).unwrap();
    assert!(matches!(canceller.wait(), Err(Failure::Abandoned)));
    assert_eq!(cancelled.ending(), Some(caudal_rt::Ending::Cancelled));
}

extern "C" fn digging_hook(_: u64) {
    dig(1 << 30);
}

fn overflow(place: Where) -> u64 {
    match place {
        Where::Plain => dig(1 << 30),
        Where::Unwinding => {
            let _digs = Digs;
            panic!("out of the handler");
        }
        Where::Section => caudal_rt::no_preempt(|| dig(1 << 30)),
        Where::Hook => loop {
            caudal_rt::probe();
        },
    }
}

/// Run again as a child of the tests below.
#[test]
fn child() {
    let asked = std::env::var(CHILD).unwrap_or_default();
    let Some(place) = CASES.into_iter().find(|place| format!("{place:?}") == asked) else { return };
    let abandon = |b: caudal_rt::Builder| match place {
        Where::Plain => b,
        _ => b.on_overflow(OnOverflow::Abandon),
    };
    let runtime = runtime(1, true, |b| abandon(b).stack_bytes(64 << 10));
    if place == Where::Hook {
        // The runtime's own code, as far as an overflow can tell.
        caudal_probe::set_hook(digging_hook);
    }
    let class = runtime.class("bottomless").unwrap();
    let _ = runtime.submit(class, move || overflow(place)).unwrap().wait();
    println!("came back");
}

/// Text that the child wrote to stderr before it was aborted.
fn aborted(place: Where) -> String {
    let child = crate::child(module_path!(), "child").env(CHILD, format!("{place:?}")).output().unwrap();
    let said = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(!String::from_utf8_lossy(&child.stdout).contains("came back"), "{place:?}: {said}");
    assert_eq!(child.status.signal(), Some(libc::SIGABRT), "{place:?}: {said}");
    assert!(
        said.contains("bottomless") && said.contains("64 KiB") && said.contains("dig"),
        "{place:?}: {said}"
    );
    said
}

#[test]
fn the_process_ends_with_class_size_and_place() {
    let said = aborted(Where::Plain);
    assert!(!said.contains("not abandoned"), "nobody wanted that: {said}");
}

/// The worker's thread would keep state of the abandoned request and give it to the next one: Rust's count of panics, the depth of critical
/// sections, the runtime's own state half written.
#[test]
fn an_overflow_that_would_harm_others_ends_the_process_in_spite_of_abandon() {
    for (place, why) in [
        (Where::Unwinding, "a panic or an exception unwinds it"),
        (Where::Section, "in a critical section"),
        (Where::Hook, "in the runtime"),
    ] {
        let said = aborted(place);
        assert!(said.contains("not abandoned") && said.contains(why), "{place:?}: {said}");
    }
}

/// The address of this thread's `errno`.
fn errno() -> *mut i32 {
    // SAFETY: the call has no precondition.
    unsafe { libc::__errno_location() }
}

/// Answer of `fnstsw` after a load onto the stack of x87 registers, which is left there.
fn load_x87() -> u16 {
    let mut status = 0_u16;
    // SAFETY: stores the status to the variable given; the register that stays loaded is no Rust code's.
    unsafe { std::arch::asm!("fld1", "fnstsw [{}]", in(reg) &raw mut status, options(nostack)) };
    status
}

#[test]
fn the_next_request_finds_errno_and_the_floating_point_unit_as_new() {
    const OVERFLOWED: u16 = 1 << 6;
    let runtime = runtime(1, true, |b| b.on_overflow(OnOverflow::Abandon).stack_bytes(64 << 10));
    let class = runtime.class("deep").unwrap();
    let deep = runtime.submit(class, || {
        // As many as there are: one more is an invalid operation, and gives no number.
        for _ in 0..8 {
            load_x87();
        }
        // SAFETY: this thread's.
        unsafe { *errno() = libc::EDOM };
        dig(1 << 30)
    });
    assert!(matches!(deep.unwrap().wait(), Err(Failure::Abandoned)));
    let next = runtime.submit(class, || {
        // SAFETY: this thread's, and a register that was loaded here is taken off again.
        let error = unsafe { *errno() };
        let status = load_x87();
        // SAFETY: takes off what was loaded.
        unsafe { std::arch::asm!("fstp st(0)", options(nostack)) };
        (error, status & OVERFLOWED)
    });
    assert_eq!(next.unwrap().wait().unwrap(), (0, 0));
}
