//! Owner of the end of a worker's requests, once the bound of a shutdown is over: the worker itself ends them; or, if that is stuck in a
//! handler, the shutdown, so that nobody waits for requests that are held up behind it. Called by both.
//!
//! # Protocol
//!
//! | worker | shutdown |
//! | --- | --- |
//! | stores when a slice begins, and 0 when it ends | enters the last stage |
//! | *light barrier* | *heavy barrier* |
//! | checks the stage; in the last one it claims its requests, and runs none any more, whoever has them | checks whether a slice has begun and not ended; claims that worker's requests |
//! | *light barrier*, and the next slice | ends those that the slice does not run |
//!
//! *Why no request runs that the shutdown has ended.* A heavy barrier acts as a full fence at some point of every thread's program, while
//! a light one only keeps the compiler from moving accesses across it. If that point comes before the worker's check of the stage,
//! the check sees the last stage, and the slice that the shutdown sees is the last. If it comes after the check, the end of the slice
//! before was stored by then. So the shutdown sees either no slice, and lets the worker be; or the next slice, and the worker's check after
//! that slice comes behind the point. In both cases the worker checks the stage, sees the last one, and resumes no request: it only gives
//! up those that nobody has claimed. The request of the last slice stays the worker's: nobody else can end it.
//!
//! *Why each request ends once.* The phase in its state word is moved on by compare-and-swap, whoever does it.
//!
//! Without the system's call for heavy barriers (Linux 4.14 has it; a filter of system calls may forbid it) a shutdown claims nothing:
//! requests behind a stuck worker end when that comes back.

use crate::base::primitives::{AtomicU8, Ordering};

/// Thread that can end the requests of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Claimant {
    Worker = 1,
    Shutdown = 2,
}

/// The owner of the end of one worker's requests: the one that claimed it first; nobody until the last stage of a shutdown.
#[derive(Debug, Default)]
pub(crate) struct EndOwner(AtomicU8);

impl EndOwner {
    /// Makes `by` the owner; `false`: the other one was first.
    pub(crate) fn claim(&self, by: Claimant) -> bool {
        self.0.compare_exchange(0, by as u8, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// The worker's barrier. See the [module](self).
#[inline(always)]
pub(crate) fn light_barrier() {
    #[cfg(not(loom))]
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
    #[cfg(loom)]
    crate::base::primitives::fence(Ordering::SeqCst);
}

/// The shutdown's barrier; `false`: the system has none. See the [module](self).
#[cfg(not(loom))]
pub(crate) fn heavy_barrier() -> bool {
    // SAFETY: the call takes numbers, and changes no memory of the process.
    let call = |command: libc::c_int| unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 };
    call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
}

#[cfg(loom)]
pub(crate) fn heavy_barrier() -> bool {
    crate::base::primitives::fence(Ordering::SeqCst);
    true
}

#[cfg(all(test, loom))]
mod loom_models {
    use super::*;
    use crate::base::primitives::{AtomicU64, thread};
    use crate::loom_models::model;
    use std::sync::Arc;

    #[derive(Default)]
    struct Model {
        stopping: AtomicU8,
        slice: AtomicU64,
        end_owner: EndOwner,
        /// Slices that the worker has begun.
        begun: AtomicU64,
        /// Slices that had begun when the shutdown claimed.
        claimed_in: AtomicU64,
    }

    /// A worker of three slices, which checks the stage before each.
    fn work(model: &Model) {
        for slice in 1..=3 {
            if model.stopping.load(Ordering::Acquire) != 0 {
                model.end_owner.claim(Claimant::Worker);
                return;
            }
            light_barrier();
            model.slice.store(slice, Ordering::Release);
            model.begun.store(slice, Ordering::Relaxed);
            model.slice.store(0, Ordering::Release);
            light_barrier();
        }
    }

    #[test]
    fn loom_a_worker_resumes_nobody_whom_the_shutdown_has_ended() {
        model(3, || {
            let shared = Arc::new(Model::default());
            let worker = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || work(&shared))
            };
            shared.stopping.store(1, Ordering::Release);
            assert!(heavy_barrier());
            let slice = shared.slice.load(Ordering::Acquire);
            if slice != 0 && shared.end_owner.claim(Claimant::Shutdown) {
                shared.claimed_in.store(slice, Ordering::Relaxed);
            }
            worker.join().unwrap();
            let (claimed, begun) =
                (shared.claimed_in.load(Ordering::Relaxed), shared.begun.load(Ordering::Relaxed));
            assert!(claimed == 0 || begun <= claimed, "slice {begun} began after the claim in {claimed}");
        });
    }
}
