//! Futex words that belong to a worker's thread and not to its requests, though requests wait on them. The start of a runtime finds out
//! where the words are, and each worker's thread says at its beginning which are its own.
//!
//! Two libraries have one futex word a thread, on which their callers sleep. As several requests of the thread may, each needs help:
//!
//! ```text
//! std's Parker        thread::park, mpsc, scope       the word is told to the probe library, which knows how several wait on it
//! parking_lot_core    THREAD_DATA, a thread-local     nobody may use it: a request then has a node of its own on its stack
//!                     node of a queue
//! ```
//!
//! `parking_lot_core` falls back to a node on the stack where its thread-local is gone, as it is for other thread-locals' destructors. Std notes
//! that in a byte beside the value, 0 before the first use, 1 while it lives, and 2 from its destruction on. Nobody promises where
//! that byte lies. So it is found by trying, once in the process, on a thread that does nothing else and ends then: it is the byte
//! that the first use makes 1, and with 2 in it the next wait is on a word that is no thread-local. If there is none, nothing is changed,
//! and the probe library ends the process when two requests come to wait on the node.

use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use caudal_probe as probe;

/// The states that std gives to a thread-local that has a destructor.
const NEVER_USED: u8 = 0;
const ALIVE: u8 = 1;
const DESTROYED: u8 = 2;
/// Most bytes from a node to its state.
const NEAR: usize = 512;

/// Finds out the words of the calling thread, which is going to run requests and does not yet.
pub(crate) fn learn() {
    // A token that is there already makes the first call return without a wait.
    let parks = || thread::park_timeout(Duration::from_nanos(1));
    if let Some(word) = probe::futex_of(parks).or_else(|| probe::futex_of(parks)) {
        // SAFETY: `park_timeout` waits on this word of this thread, and std's release is one whose Parker is on a futex: it has waited.
        unsafe { probe::parker_is(word) };
    }
    let _ = probe::thread_locals();
    if let Some(offset) = prepare() {
        let state = own_block().wrapping_add_signed(offset);
        if matches!(byte(state), NEVER_USED | ALIVE) {
            set_byte(state, DESTROYED);
        }
    }
}

/// Finds the place of the state of `parking_lot_core`'s thread-local, once in the process; [`find_state`] says what it is relative to.
pub(crate) fn prepare() -> Option<isize> {
    static STATE: OnceLock<Option<isize>> = OnceLock::new();
    let on_a_thread =
        || thread::Builder::new().name("caudal-learns".to_owned()).spawn(find_state).ok()?.join().ok()?;
    *STATE.get_or_init(on_a_thread)
}

/// The place of that state, relative to this thread's block of the probe library: all threads have it there, for both are of the same
/// object.
fn find_state() -> Option<isize> {
    let locals = probe::thread_locals()?;
    let before: Vec<u8> = locals.clone().map(byte).collect();
    let node = node()?;
    if !locals.contains(&node) {
        // It is not part of this object, or has no thread-local.
        return None;
    }
    // Std has the state beside the value: no other byte is touched.
    let near = node.saturating_sub(NEAR).max(locals.start)..(node + NEAR).min(locals.end);
    let was_unused = |&at: &usize| before[at - locals.start] == NEVER_USED;
    let state = near.filter(was_unused).find(|&at| byte(at) == ALIVE && keeps_off(at, &locals))?;
    Some(state.wrapping_sub(own_block()).cast_signed())
}

/// Does a wait take another node while the byte at `state` is [`DESTROYED`]? If not, the byte is as before.
fn keeps_off(state: usize, locals: &Range<usize>) -> bool {
    set_byte(state, DESTROYED);
    let keeps_off = node().is_some_and(|node| !locals.contains(&node));
    if !keeps_off {
        set_byte(state, ALIVE);
    }
    keeps_off
}

/// The word on which `parking_lot_core` has this thread wait now.
fn node() -> Option<usize> {
    /// Longest of all: other threads may have the processor from the reading of the clock until the wait.
    const LONGEST: Duration = Duration::from_millis(100);
    let mut span = Duration::from_micros(50);
    while span < LONGEST {
        if let Some(word) = probe::futex_of(|| park(span)) {
            return Some(word as usize);
        }
        span *= 4;
    }
    None
}

/// Waits on a key that nobody wakes, for `span`.
fn park(span: Duration) {
    static KEY: u8 = 0;
    let key = ptr::from_ref(&KEY) as usize;
    let end = Some(Instant::now() + span);
    // SAFETY: nobody else has the key, and the closures do nothing.
    unsafe {
        parking_lot_core::park(key, || true, || {}, |_, _| {}, parking_lot_core::DEFAULT_PARK_TOKEN, end);
    }
}

fn own_block() -> usize {
    probe::block() as usize
}

/// A byte of this thread's thread-locals.
fn byte(at: usize) -> u8 {
    // SAFETY: it is this thread's, and is there for as long as the thread. Volatile: no compiler knows that they are read here.
    unsafe { ptr::with_exposed_provenance::<u8>(at).read_volatile() }
}

/// Only for one that is a thread-local's state, or is put back before anybody else sees it: nobody is using `parking_lot_core` on this thread.
fn set_byte(at: usize, value: u8) {
    // SAFETY: as above.
    unsafe { ptr::with_exposed_provenance_mut::<u8>(at).write_volatile(value) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_has_learnt_has_no_node() {
        let (before, after, again) = thread::spawn(|| {
            let locals = probe::thread_locals().expect("the program has some");
            let before = node().expect("it waits");
            learn();
            let after = node().expect("it waits");
            learn();
            (locals.contains(&before), locals.contains(&after), locals.contains(&node().expect("it waits")))
        })
        .join()
        .unwrap();
        assert!(
            before,
            "it is another release of parking_lot_core or of Rust: this whole file is without need, or wrong"
        );
        assert!(!after && !again, "the node is in use: the state was not found");
    }
}
