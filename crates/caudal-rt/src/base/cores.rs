//! Processors of threads. Workers, the dispatcher and helpers call this when their threads begin: it pins them to their cores, and lets the
//! starting thread wait until all are ready.

use std::sync::mpsc;
use std::thread::JoinHandle;

/// The processors that this process may use.
pub(crate) fn allowed_cores() -> Vec<usize> {
    // SAFETY: an all-zero set is an empty one, and the call fills it.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set);
        set
    };
    // SAFETY: the numbers are below the size of the set.
    (0..libc::CPU_SETSIZE as usize).filter(|&core| unsafe { libc::CPU_ISSET(core, &set) }).collect()
}

/// Pins the calling thread to `core`, if there is one.
pub(crate) fn pin(core: Option<usize>) -> std::io::Result<()> {
    let Some(core) = core else { return Ok(()) };
    // SAFETY: the set is filled here, and lives during the call.
    let failed = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    };
    if failed == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Keeps this thread off `busy` processors, if it may use any others: its work would delay theirs.
pub(crate) fn keep_off(busy: &[usize]) {
    let free: Vec<usize> = allowed_cores().into_iter().filter(|core| !busy.contains(core)).collect();
    if busy.is_empty() || free.is_empty() {
        return;
    }
    // SAFETY: an all-zero set is an empty one, the numbers are below its size, and it lives during the call.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        free.iter().for_each(|&core| libc::CPU_SET(core, &mut set));
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

/// Word of a thread that it has prepared itself.
pub(crate) struct Prepared(mpsc::Sender<()>);

impl Prepared {
    pub(crate) fn tell(self) {
        let _ = self.0.send(());
    }
}

/// A thread that first prepares itself, then runs; returns when it is prepared.
///
/// A thread that begins maps memory, and holds the process's lock for that meanwhile. One that has to share its core with a worker
/// that never sleeps must be through with it before the worker begins: under real-time priority it would never get any
/// further, and all would wait for the lock.
pub(crate) fn spawn_prepared(
    name: &str,
    body: impl FnOnce(Prepared) + Send + 'static,
) -> std::io::Result<JoinHandle<()>> {
    let (told, tell) = mpsc::channel();
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || body(Prepared(told)))?;
    let _ = tell.recv();
    Ok(thread)
}
