//! End of a worker: it drains, cancels, and at last gives up the requests that have not ended. Called by the worker's loop.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use caudal_policy::discipline::Discipline;

use super::Worker;
use crate::kernel::shared::{Notice, Stage};
use crate::queue::end_owner::Claimant;
use crate::request::ending::{end_unstarted, give_up_if};
use crate::request::{Outcome, Reference};

impl<D: Discipline> Worker<D> {
    /// The runtime has moved on to another stage, or another worker has no stack.
    #[cold]
    pub(super) fn take_notice(&mut self, notice: Notice) {
        let before = std::mem::replace(&mut self.notice, notice);
        if notice.stage() != before.stage() {
            self.change_stage(notice.stage());
        }
        self.give_stacks_away();
    }

    fn change_stage(&mut self, stage: Stage) {
        self.stage = stage;
        match stage {
            Stage::Cancelling => self.cancel_all(),
            // If the shutdown was first, it ends all requests but the one that has just run. The worker does the same in either case.
            Stage::Stopping => _ = self.me.spent.end_owner.claim(Claimant::Worker),
            Stage::Running | Stage::Draining => {}
        }
    }

    fn cancel_all(&mut self) {
        let started: Vec<u32> = self.pool.started().collect();
        for task in started {
            let cell = self.pool.task(task).cell;
            cell.state.cancel_own();
            self.shared.wake(cell);
        }
    }

    /// May the worker end? It may when no request is here, and none can come any more.
    pub(super) fn may_end(&self) -> bool {
        let done = self.shared.dispatcher_done.load(Acquire);
        self.stage != Stage::Running && done && self.counts.inside == 0 && self.me.inbox.is_empty()
    }

    /// Gives up each request that has not ended within the bound of the shutdown: its handle hears of it, its coroutine is leaked with all
    /// that lives on its stack. It is never unwound by force: a destructor could find a lock half taken.
    pub(super) fn abandon_all(&mut self) {
        for task in self.pool.all() {
            let entry = self.pool.task(task);
            let (cell, coroutine) = (entry.cell, entry.fiber.take());
            match coroutine {
                Some(coroutine) => {
                    self.has_leaked = true;
                    std::mem::forget(coroutine);
                    // SAFETY: the coroutine is forgotten, so nobody resumes it.
                    unsafe { give_up_if(cell, &*self.shared, |_| true) };
                }
                None => {
                    // SAFETY: the worker has the reference of the inbox from which the request came.
                    unsafe {
                        end_unstarted(cell, Outcome::Stopped, &*self.shared);
                        cell.drop_ref(Reference::Runtime);
                    }
                }
            }
        }
        self.board().inside.store(0, Relaxed);
        // Its inbox may have requests that it took from others and has not taken in.
        self.shared.end_queued_if_stopping();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use caudal_config::{File, Options, SystemHost};
    use caudal_policy::discipline::Fcfs;
    use caudal_policy::rebalance::AnyRebalance;

    use super::*;
    use crate::base::clock::Clock;
    use crate::kernel::shared::Shared;
    use crate::kernel::worker::Parts;
    use crate::request::Wanted;
    use crate::request::class::ClassId;
    use crate::request::new::new_request;
    use crate::task::handle::Handle;
    use crate::{Builder, Failure};
    use caudal_fiber::stack::{StackConfig, StackPool};

    /// Two workers that do not run.
    fn shared() -> Arc<Shared> {
        let text = "[system]\ncores = 2\npools = \"per-core\"\ndispatch = { policy = \"random\" }\n\
            discipline = { policy = \"fcfs\" }\n";
        let options = Options { host: SystemHost::Runtime, ..Options::default() };
        let plan = File::parse_with(text, "test.toml", &options).unwrap().systems.remove(0);
        Arc::new(Shared::new(Builder::of(plan).settings, Clock::new(1e9), Arc::default()))
    }

    fn worker(number: usize, shared: &Arc<Shared>) -> Worker<Fcfs> {
        let rebalance = AnyRebalance::from(shared.settings.system.rebalance);
        let stacks = StackPool::new(StackConfig::default()).unwrap();
        let shared = Arc::clone(shared);
        Worker::new(Parts { number, shared, discipline: Fcfs, rebalance, stacks, source: None, log: None })
    }

    /// A worker that is in a handler from before the shutdown until its last stage resumes nobody when it comes back.
    #[test]
    fn a_late_worker_gives_up_at_once() {
        let shared = shared();
        let class = ClassId::first(&shared.settings.classes);
        let (sleeps, begun) = std::sync::mpsc::channel();
        let sleeper = move || {
            sleeps.send(()).unwrap();
            crate::sleep(std::time::Duration::from_secs(600));
        };
        let stops = {
            let shared = Arc::clone(&shared);
            move || {
                begun.recv().unwrap();
                shared.enter(Stage::Stopping);
            }
        };
        let sleeper = new_request(class, 0, sleeper, Wanted::ByHandle);
        // SAFETY: nobody else has the handle's reference.
        let handle = unsafe { Handle::<()>::new(sleeper, Arc::clone(&shared)) };
        for cell in [sleeper, new_request(class, 0, stops, Wanted::ByNobody)] {
            // SAFETY: nobody else knows of the request.
            unsafe { cell.state.place_unshared(shared.place(0)) };
            shared.workers[0].inbox.push(cell, 0).unwrap();
        }
        let ended = std::thread::spawn(move || {
            let whole = worker(0, &shared).run();
            (whole, handle.is_done().then(|| handle.wait()))
        });
        let (whole, answer) = ended.join().unwrap();
        assert!(!whole, "the thread has to stay: a coroutine was given up");
        assert!(matches!(answer, Some(Err(Failure::Abandoned))), "{answer:?}");
    }

    /// The cell of a request has one link for all lists: a request that is given up may be on the list of woken ones.
    #[test]
    fn whoever_waits_for_given_up_requests_is_told_although_they_are_woken_late() {
        let shared = shared();
        let class = ClassId::first(&shared.settings.classes);
        let [early, late] = [(); 2].map(|()| {
            let cell = new_request(class, 0, || (), Wanted::ByHandle);
            // SAFETY: nobody else has the request; this thread stands for its coroutine.
            unsafe { assert!(cell.start(shared.place(0)).is_some() && cell.state.park()) };
            shared.helper.expect();
            assert!(cell.state.ask_to_be_told());
            cell
        });
        shared.wake(early);
        // SAFETY: the requests have no coroutines.
        unsafe { shared.end_all_at(0, std::ptr::null_mut()) };
        shared.wake(late);
        // Bounded, as a link that two lists use may close a circle.
        let woken: Vec<_> = shared.workers[0].mail.woken.take_all().take(3).collect();
        shared.helper.stop();
        shared.helper.run(|| false);
        assert_eq!([early, late].map(|cell| cell.told.load(Relaxed)), [1, 1], "each waiter is told");
        assert_eq!(woken, [early.address()], "the late notice found nobody parked");
    }

    /// A worker that a shutdown has given up on steals, when the shutdown has emptied the queues already.
    #[test]
    fn what_a_late_worker_has_stolen_hears_of_the_end() {
        let shared = shared();
        let ended = std::thread::spawn(move || {
            let mut worker = worker(1, &shared);
            let cell = new_request(ClassId::first(&shared.settings.classes), 0, || (), Wanted::ByHandle);
            // SAFETY: nobody else knows of the request.
            unsafe { cell.state.place_unshared(shared.place(0)) };
            // SAFETY: nobody else has the handle's reference.
            let handle = unsafe { Handle::<()>::new(cell, Arc::clone(&shared)) };
            shared.workers[0].inbox.push(cell, 0).unwrap();
            shared.enter(Stage::Stopping);
            assert_eq!(worker.take_from(0, 1), 1);
            worker.abandon_all();
            worker.give_stacks_back();
            crate::kernel::context::Context::uninstall();
            handle.is_done().then(|| handle.wait())
        });
        assert!(matches!(ended.join().unwrap(), Some(Err(Failure::Stopped))));
    }
}
