//! Coroutines that use up their stacks: the process says so and aborts, or abandons them and goes on; other faults
//! reach whoever handled them before.
//!
//! A test that ends its process runs in a child: this binary again, with the name of one of its tests.

use std::cell::Cell;
use std::hint::black_box;
use std::io::Write;
use std::num::NonZeroUsize;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};
use std::ptr;

use caudal_fiber::overflow::{self, AltStack, Hooks, Overflow, Running};
use caudal_fiber::stack::{CoroutineStack, StackConfig, StackPool};
use corosensei::stack::Stack;
use corosensei::trap::CoroutineTrapHandler;
use corosensei::{Coroutine, CoroutineResult};

thread_local! {
    static TOP: Cell<Option<usize>> = const { Cell::new(None) };
    static TRAP: Cell<Option<CoroutineTrapHandler<Result<u64, Abandoned>>>> = const { Cell::new(None) };
}

/// End of a request whose stack overflowed.
#[derive(Debug, PartialEq)]
struct Abandoned;

fn running() -> Option<Running> {
    TOP.get().map(|top| Running { top, name: "deep" })
}

/// Uses a few hundred bytes of stack a level.
#[inline(never)]
fn recurse_without_end(level: u64) -> u64 {
    let frame = black_box([level; 32]);
    if level == u64::MAX {
        return 0;
    }
    recurse_without_end(level + 1) + frame[(level % 32) as usize]
}

/// A stack as another crate's coroutines want it.
struct OnStack(CoroutineStack);

// SAFETY: the stack is mapped from its guard to its top for as long as the value exists, the guard faults, and above it there is
// room enough; both ends are multiples of 64.
unsafe impl Stack for OnStack {
    fn base(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.0.top()).unwrap()
    }

    fn limit(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.0.guard().start).unwrap()
    }
}

/// Runs to its end or its overflow on this stack, which it returns.
fn run_on(stack: CoroutineStack, work: fn() -> u64) -> (Result<u64, Abandoned>, CoroutineStack) {
    let top = stack.top();
    let mut coroutine =
        Coroutine::<(), (), Result<u64, Abandoned>, _>::with_stack(OnStack(stack), move |_, ()| Ok(work()));
    TRAP.set(Some(coroutine.trap_handler()));
    TOP.set(Some(top));
    let CoroutineResult::Return(result) = coroutine.resume(()) else { unreachable!("it never yields") };
    TOP.set(None);
    (result, coroutine.into_stack().0)
}

fn pool() -> StackPool {
    StackPool::new(StackConfig { size: 128 << 10, ..StackConfig::default() }).expect("stacks")
}

const CHILD: &str = "CAUDAL_FIBER_TEST_CHILD";

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs the test of this name alone, in a process of its own.
fn child(test: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("a running program has a file"));
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env(CHILD, "1").output().expect("a child")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn an_overflow_aborts_with_class_size_and_backtrace() {
    if is_child() {
        overflow::install(Hooks::aborting(running)).unwrap();
        let _alt = AltStack::install().unwrap();
        run_on(pool().take().unwrap(), || recurse_without_end(0)).0.unwrap();
        return;
    }
    let output = child("an_overflow_aborts_with_class_size_and_backtrace");
    let said = stderr(&output);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{said}");
    assert!(said.contains("stack overflow in a coroutine 'deep': its stack is 128 KiB"), "{said}");
    let names = said.matches("recurse_without_end").count();
    assert!(names >= 8, "both ends of the backtrace are named: {said}");
    assert!(
        said.contains(" frames …") && said.contains("run_on"),
        "down to the coroutine's beginning: {said}"
    );
    assert!(said.contains("(StackConfig::size)"), "the option is named: {said}");
    let by_file = said.split_once("for addr2line -fie FILE ADDRESS:\n").expect("files are there").1;
    let (file, address) = by_file.lines().next().expect("a line").trim().rsplit_once(' ').expect("two words");
    assert_eq!(Path::new(file).file_name(), std::env::current_exe().unwrap().file_name(), "{said}");
    if let Ok(output) = Command::new("addr2line").args(["-fie", file, address]).output() {
        let names = String::from_utf8_lossy(&output.stdout);
        assert!(names.contains("recurse_without_end"), "{names}: {said}");
    }
}

/// A hook that does nothing would fault for ever.
#[test]
fn a_hook_that_changes_nothing_aborts_too() {
    if is_child() {
        overflow::install(Hooks::new(running, |_| {})).unwrap();
        let _alt = AltStack::install().unwrap();
        run_on(pool().take().unwrap(), || recurse_without_end(0)).0.unwrap();
        return;
    }
    let output = child("a_hook_that_changes_nothing_aborts_too");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{}", stderr(&output));
    assert!(stderr(&output).contains("stack overflow in a coroutine 'deep'"), "{}", stderr(&output));
}

/// A frame that is larger than a page and touches its far end first.
#[test]
fn a_frame_that_steps_over_a_page_is_caught() {
    fn step_over() -> u64 {
        let bottom = TOP.get().expect("within a coroutine") - (128 << 10);
        // SAFETY: none: it faults, which is what this test wants.
        unsafe { ((bottom - (48 << 10)) as *mut u64).read_volatile() }
    }
    if is_child() {
        overflow::install(Hooks::aborting(running)).unwrap();
        let _alt = AltStack::install().unwrap();
        run_on(pool().take().unwrap(), step_over).0.unwrap();
        return;
    }
    let output = child("a_frame_that_steps_over_a_page_is_caught");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{}", stderr(&output));
    assert!(stderr(&output).contains("stack overflow in a coroutine"), "{}", stderr(&output));
}

/// Ends the process the way that a crash reporter does.
extern "C" fn earlier_handler(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes the fault's description.
    let address = unsafe { (*info).si_addr() } as usize;
    let _ = writeln!(std::io::stderr(), "the earlier handler saw {address:#x}");
    // SAFETY: ends the process.
    unsafe { libc::_exit(7) }
}

fn set_action(signal: libc::c_int, handler: usize) {
    // SAFETY: all zeros is an action; handlers that are passed here have the signature of SA_SIGINFO.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = if handler == libc::SIG_DFL { 0 } else { libc::SA_SIGINFO | libc::SA_ONSTACK };
        assert_eq!(libc::sigaction(signal, &action, ptr::null_mut()), 0);
    }
}

fn read_at(address: usize) -> u64 {
    // SAFETY: none: it faults, which is what these tests want.
    u64::from(unsafe { (black_box(address) as *const u8).read_volatile() })
}

#[test]
fn a_foreign_fault_reaches_the_earlier_handler() {
    if is_child() {
        set_action(libc::SIGSEGV, earlier_handler as *const () as usize);
        overflow::install(Hooks::aborting(running)).unwrap();
        let _alt = AltStack::install().unwrap();
        run_on(pool().take().unwrap(), || read_at(0x1230)).0.unwrap();
        return;
    }
    let output = child("a_foreign_fault_reaches_the_earlier_handler");
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    assert!(stderr(&output).contains("the earlier handler saw 0x1230"), "{}", stderr(&output));
}

/// A wild pointer into the guard of a stack that does not run.
#[test]
fn a_fault_in_an_idle_stacks_guard_is_foreign() {
    if is_child() {
        set_action(libc::SIGSEGV, earlier_handler as *const () as usize);
        overflow::install(Hooks::aborting(running)).unwrap();
        let _alt = AltStack::install().unwrap();
        let mut pool = pool();
        let (_running, idle) = (pool.take().unwrap(), pool.take().unwrap());
        read_at(idle.guard().start + 8);
        return;
    }
    let output = child("a_fault_in_an_idle_stacks_guard_is_foreign");
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
}

#[test]
fn the_default_action_kills() {
    if is_child() {
        set_action(libc::SIGSEGV, libc::SIG_DFL);
        overflow::install(Hooks::aborting(running)).unwrap();
        read_at(0x1230);
        return;
    }
    let output = child("the_default_action_kills");
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{}", stderr(&output));
    assert!(!stderr(&output).contains("stack overflow"), "{}", stderr(&output));
}

#[test]
fn a_signal_that_was_sent_kills() {
    if is_child() {
        set_action(libc::SIGSEGV, libc::SIG_DFL);
        overflow::install(Hooks::aborting(running)).unwrap();
        // SAFETY: sends this thread a signal.
        unsafe { libc::raise(libc::SIGSEGV) };
        return;
    }
    let output = child("a_signal_that_was_sent_kills");
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{}", stderr(&output));
}

/// Handler that a program would register to abandon overflowed coroutines.
fn abandon(overflow: &Overflow) {
    let trap = TRAP.take().expect("a coroutine runs");
    assert!(trap.stack_ptr_in_bounds(overflow.sp));
    // SAFETY: the coroutine is the one that faulted, is still there, and has touched its own stack only; all
    // registers that the call gives are set below, and take effect when the handler returns.
    unsafe {
        let to = trap.setup_trap_handler(|| Err(Abandoned));
        let registers = &mut (*overflow.context).uc_mcontext.gregs;
        registers[libc::REG_RIP as usize] = to.rip as i64;
        registers[libc::REG_RSP as usize] = to.rsp as i64;
        registers[libc::REG_RBP as usize] = to.rbp as i64;
        registers[libc::REG_RDI as usize] = to.rdi as i64;
        registers[libc::REG_RSI as usize] = to.rsi as i64;
    }
}

#[test]
fn an_overflown_coroutine_can_be_abandoned() {
    if is_child() {
        overflow::install(Hooks::new(running, abandon)).unwrap();
        let _alt = AltStack::install().unwrap();
        let mut pool = pool();
        let mut stack = pool.take().unwrap();
        for _ in 0..100 {
            let (result, back) = run_on(stack, || recurse_without_end(0));
            assert_eq!(result, Err(Abandoned));
            // The same stack serves the next request.
            let (result, back) = run_on(back, || 42);
            assert_eq!(result, Ok(42));
            stack = back;
        }
        pool.give(stack);
        println!("went on");
        return;
    }
    let output = child("an_overflown_coroutine_can_be_abandoned");
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("went on"));
}
