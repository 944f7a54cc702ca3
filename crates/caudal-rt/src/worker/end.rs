//! How a worker ends: it drains, cancels, and at last leaves behind what would not end.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use caudal_policy::discipline::Discipline;

use super::Worker;
use crate::cell::{CANCEL, Header, Outcome, RUNTIME};
use crate::handle::end_unstarted;
use crate::shared::{Notice, Stage};

impl<D: Discipline> Worker<D> {
    /// The runtime has moved on to another stage, or another worker has no stack.
    #[cold]
    pub(super) fn take_notice(&mut self, notice: Notice) {
        self.notice = notice;
        if notice.stage() != self.stage {
            self.change_stage(notice.stage());
        }
        self.give_stacks_away();
    }

    fn change_stage(&mut self, stage: Stage) {
        self.stage = stage;
        if self.stage == Stage::Cancelling {
            let started: Vec<u32> = self.pool.started().collect();
            for task in started {
                let cell = self.pool.task(task).cell;
                cell.state.fetch_or(CANCEL, AcqRel);
                self.shared.wake(cell);
            }
        }
    }

    /// Nothing is here, and nothing can come any more?
    pub(super) fn may_end(&self) -> bool {
        let done = self.shared.dispatcher_done.load(Acquire);
        self.stage != Stage::Running
            && done
            && self.books.inside == 0
            && self.shared.workers[self.number].inbox.is_empty()
    }

    /// What has not ended within the bound of the shutdown is given up: its handle hears of it, its coroutine is leaked with all
    /// that lives on its stack. It is never unwound by force: a destructor could find a lock half taken.
    pub(super) fn abandon_all(&mut self) {
        for task in self.pool.all() {
            let entry = self.pool.task(task);
            let (cell, coroutine) = (entry.cell, entry.fiber.take());
            match coroutine {
                Some(coroutine) => self.shared.give_up(cell, coroutine),
                None => {
                    end_unstarted(cell, Outcome::Stopped, &self.shared);
                    Header::drop_ref(cell, RUNTIME);
                }
            }
        }
        self.board().inside.store(0, Relaxed);
    }
}
