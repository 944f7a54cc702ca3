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
//! *Why the shutdown knows that request.* The worker stores the request of a slice ([`Spent::running`](crate::board::Spent::running)) before it
//! stores, with release ordering, that the slice has begun. The shutdown loads the latter with acquire ordering and then the request, so it
//! reads that of this slice or of a later one; and this slice is the last.
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
    use crate::base::primitives::{AtomicU64, UnsafeCell, thread};
    use crate::loom_models::model;
    use std::sync::Arc;

    /// Requests that the worker has, of which the first is run in the first slice and again in the last one.
    const REQUESTS: usize = 2;
    const RUN: [usize; 3] = [0, 1, 0];

    /// A request: its phase, which whoever ends it moves on, and its stack, which belongs to the worker until then.
    struct Request {
        ended_by: AtomicU8,
        /// Is it given up? loom fails the model if the worker's slice and the shutdown touch this unordered.
        stack: UnsafeCell<bool>,
    }

    impl Request {
        /// Ends the request, unless it has been ended; `true`: this did it.
        fn end(&self, by: Claimant) -> bool {
            let ended =
                self.ended_by.compare_exchange(0, by as u8, Ordering::AcqRel, Ordering::Relaxed).is_ok();
            if ended {
                // SAFETY: what the model is about.
                self.stack.with_mut(|given_up| unsafe { *given_up = true });
            }
            ended
        }

        fn run(&self) {
            // SAFETY: what the model is about.
            self.stack
                .with_mut(|given_up| assert!(!unsafe { *given_up }, "a request was resumed after its end"));
        }
    }

    struct Model {
        stopping: AtomicU8,
        /// As `Board::slice_start`: the number of the slice, from 1 on; 0 between slices.
        slice: AtomicU64,
        /// As `Spent::running`: the request of the present slice, or of the last one.
        running: AtomicU64,
        end_owner: EndOwner,
        requests: [Request; REQUESTS],
    }

    // SAFETY: loom checks that the stacks are touched in order.
    unsafe impl Sync for Model {}
    // SAFETY: as above.
    unsafe impl Send for Model {}

    /// A worker of three slices, which checks the stage before each. In the last stage it ends what nobody else has ended.
    fn work(model: &Model) {
        for (slice, request) in (1..).zip(RUN) {
            if model.stopping.load(Ordering::Acquire) != 0 {
                model.end_owner.claim(Claimant::Worker);
                break;
            }
            model.running.store(request as u64, Ordering::Relaxed);
            light_barrier();
            model.slice.store(slice, Ordering::Release);
            model.requests[request].run();
            model.slice.store(0, Ordering::Release);
            light_barrier();
        }
        model.requests.iter().for_each(|request| _ = request.end(Claimant::Worker));
    }

    /// The shutdown that ends the worker's requests if that is in a slice, except the one that the slice runs.
    fn shut_down(model: &Model) {
        model.stopping.store(1, Ordering::Release);
        assert!(heavy_barrier());
        if model.slice.load(Ordering::Acquire) != 0 && model.end_owner.claim(Claimant::Shutdown) {
            let running = model.running.load(Ordering::Relaxed);
            let others = (0..).zip(&model.requests).filter(|&(number, _)| number != running);
            others.for_each(|(_, request)| _ = request.end(Claimant::Shutdown));
        }
    }

    #[test]
    fn loom_a_worker_resumes_nobody_whom_the_shutdown_has_ended() {
        model(3, || {
            let request = || Request { ended_by: AtomicU8::new(0), stack: UnsafeCell::new(false) };
            let shared = Arc::new(Model {
                stopping: AtomicU8::new(0),
                slice: AtomicU64::new(0),
                running: AtomicU64::new(u64::MAX),
                end_owner: EndOwner::default(),
                requests: [(); REQUESTS].map(|()| request()),
            });
            let worker = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || work(&shared))
            };
            shut_down(&shared);
            worker.join().unwrap();
            let ended = shared.requests.iter().all(|request| request.ended_by.load(Ordering::Relaxed) != 0);
            assert!(ended, "nobody ends it any more");
        });
    }
}
