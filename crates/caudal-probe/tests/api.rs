//! The Rust side: its probes, arming, critical sections and hooks.

use std::{
    cell::Cell,
    sync::{Mutex, MutexGuard, PoisonError, atomic::Ordering},
};

use caudal_probe as probe;

thread_local! {
    static YIELDS: Cell<u64> = const { Cell::new(0) };
    static SECTIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts, and arms as long a quantum as before.
extern "C" fn hook(now: u64) {
    YIELDS.set(YIELDS.get() + 1);
    // SAFETY: this thread's block.
    let quantum = unsafe { (*probe::block()).quantum };
    probe::arm(now, quantum);
}

extern "C" fn count_section(_cycles: u64) {
    assert_eq!(probe::critical_depth(), 1);
    SECTIONS.set(SECTIONS.get() + 1);
}

/// The hooks and `set_every` are the process's: one test at a time. The test's thread is a coroutine on any stack.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let guard = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    probe::set_every(false);
    probe::set_hook(hook);
    // SAFETY: this thread's block.
    unsafe { (*probe::block()).stack_high = u64::MAX };
    guard
}

fn force_due() {
    // SAFETY: this thread's block and flag.
    unsafe {
        (*probe::block()).deadline = 3;
        (*probe::block()).budget = -1;
        (*probe::flag()).store(1, Ordering::Relaxed);
    }
}

const PROBES: [fn(); 5] =
    [probe::probe, probe::probe_clock, probe::probe_budget::<1>, || probe::probe_spend(1), probe::probe_flag];

fn probe_all() {
    for probe in PROBES {
        probe();
    }
}

#[test]
fn a_fresh_thread_is_never_due() {
    let _alone = alone();
    std::thread::spawn(|| {
        for _ in 0..10_000 {
            probe_all();
        }
        assert_eq!(probe::cold_visits(), 0);
        // SAFETY: this thread's block.
        let block = unsafe { &*probe::block() };
        assert_eq!((block.deadline, block.quantum, block.ratio), (u64::MAX, u64::MAX, 1 << 16));
        assert_eq!((block.stack_low, block.stack_high, block.depth, block.pending), (0, 0, 0, 0));
        assert_eq!(block.budget, i64::MAX / 2 - 20_000);
    })
    .join()
    .expect("nothing yields");
    assert_eq!(YIELDS.get(), 0);
}

#[test]
fn a_due_probe_yields_once() {
    let _alone = alone();
    for (done, probe) in PROBES.iter().enumerate() {
        probe::arm(probe::rdtsc(), u64::MAX);
        probe();
        assert_eq!(YIELDS.get(), done as u64);
        force_due();
        probe();
        assert_eq!(probe::due_deadline(), 3);
        for _ in 0..100 {
            probe();
        }
        assert_eq!(YIELDS.get(), done as u64 + 1);
    }
}

#[test]
fn every_probe_yields_when_asked_for() {
    let _alone = alone();
    probe::set_every(true);
    probe::arm(probe::rdtsc(), 1 << 40);
    for _ in 0..100 {
        probe_all();
    }
    assert_eq!(YIELDS.get(), 500);
    probe::set_every(false);
    probe::disarm();
    probe_all();
    assert_eq!(YIELDS.get(), 500);
}

#[test]
fn arming_sets_deadline_and_budget() {
    let _alone = alone();
    // SAFETY: this thread's block; each reads anew.
    let read =
        || unsafe { ((*probe::block()).deadline, (*probe::block()).budget, (*probe::block()).quantum) };
    probe::arm(1_000, 500);
    assert_eq!(read(), (1_500, 250, 500));
    probe::arm(1_000, u64::MAX - 1_000);
    assert_eq!(read(), (u64::MAX, i64::MAX / 2, u64::MAX - 1_000));
    probe::arm(1_000, 500);
    probe::disarm();
    assert_eq!(read(), (u64::MAX, i64::MAX / 2, u64::MAX));
}

#[test]
fn critical_sections_defer_to_the_outermost_exit() {
    let _alone = alone();
    for (done, probe) in PROBES.iter().enumerate() {
        probe::arm(probe::rdtsc(), u64::MAX);
        probe::critical_enter();
        probe::critical_enter();
        assert_eq!(probe::critical_depth(), 2);
        force_due();
        probe_all();
        probe();
        probe::critical_exit();
        assert_eq!(YIELDS.get(), done as u64);
        probe::critical_exit();
        assert_eq!(YIELDS.get(), done as u64 + 1);
        assert_eq!(probe::due_deadline(), 3);
        probe::critical_enter();
        probe::critical_exit();
        assert_eq!(YIELDS.get(), done as u64 + 1);
    }
}

#[test]
fn restoring_the_depth_leaves_sections_and_yields() {
    let _alone = alone();
    probe::arm(probe::rdtsc(), u64::MAX);
    for _ in 0..3 {
        probe::critical_enter();
    }
    force_due();
    probe::probe();
    probe::critical_restore(1);
    assert_eq!((probe::critical_depth(), YIELDS.get()), (1, 0));
    probe::critical_restore(5);
    assert_eq!(probe::critical_depth(), 1);
    probe::critical_restore(0);
    assert_eq!((probe::critical_depth(), YIELDS.get()), (0, 1));
}

#[test]
fn a_panic_leaves_a_measured_section() {
    let _alone = alone();
    probe::set_critical_hook(Some(count_section));
    let caught =
        std::panic::catch_unwind(|| probe::measured(|| probe::measured(|| panic!("in the section"))));
    probe::set_critical_hook(None);
    assert!(caught.is_err());
    assert_eq!((probe::critical_depth(), SECTIONS.get()), (0, 1));
    assert_eq!(probe::measured(|| 7), 7);
    assert_eq!(SECTIONS.get(), 1);
}

#[test]
fn on_another_stack_a_due_probe_declines() {
    let _alone = alone();
    let visits = probe::cold_visits();
    for probe in PROBES {
        probe::arm(probe::rdtsc(), u64::MAX);
        // SAFETY: this thread's block.
        unsafe { (*probe::block()).stack_high = 1 };
        force_due();
        probe();
        probe();
    }
    assert_eq!(YIELDS.get(), 0);
    assert_eq!(probe::cold_visits(), visits + PROBES.len() as u64);
}

#[test]
fn another_thread_sets_the_flag() {
    let _alone = alone();
    probe::arm(probe::rdtsc(), u64::MAX);
    let address = probe::flag() as usize;
    // SAFETY: this thread outlives the other one, which is joined.
    std::thread::spawn(move || unsafe {
        (*(address as *const std::sync::atomic::AtomicU8)).store(1, Ordering::Relaxed);
    })
    .join()
    .expect("the store");
    probe::probe_clock();
    assert_eq!(YIELDS.get(), 0);
    probe::probe_flag();
    probe::probe_flag();
    assert_eq!(YIELDS.get(), 1);
}

/// Values live across probes that yield come through: the compiler knows what a cold call changes.
#[test]
fn a_loop_computes_the_same_with_yields() {
    let _alone = alone();
    let work = |probe: fn()| {
        (1..=1_000_u64).fold((0_u64, 1.0_f64), |(sum, product), n| {
            probe();
            (sum.wrapping_mul(31) + n, product * (1.0 + 1.0 / n as f64))
        })
    };
    let undisturbed = work(|| ());
    probe::set_every(true);
    probe::arm(probe::rdtsc(), 1);
    for probe in PROBES {
        assert_eq!(work(probe), undisturbed);
    }
    probe::set_every(false);
    probe::disarm();
    assert_eq!(YIELDS.get(), 5_000);
}
