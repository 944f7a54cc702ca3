//! Load shedding in the authors' simulator: a core whose second request has waited for too long flags another core, which takes some of
//! its requests. `machine` calls it while a core has its turn. It changes the machine's state only.

use super::machine::{AuthorsMachine, Doing, NOBODY, Next};
use super::setup::Balance;

impl AuthorsMachine {
    /// Between requests, `core` may flag another core, and answers the flag that it has got itself. Returns whether it is busy with
    /// that now.
    pub(super) fn answer_flags(&mut self, core: usize) -> bool {
        let Balance::Shed { threshold_ns } = self.setup.balance else { return false };
        let second_ns = self.queues[core].get(1).map_or(0, |second| self.now_ns - second.arrival_ns);
        if second_ns > threshold_ns && !self.cores[core].flag_out {
            self.flag_another(core);
        }
        if self.cores[core].flagged_by == NOBODY {
            return false;
        }
        self.cores[core].may_respond = self.moves(core) > 0;
        self.begin_for(core, Doing::Responding, self.now_ns, self.setup.shed_ns);
        true
    }

    /// Gives the flag of `core` to a random core without a flag, whether that is busy or not.
    fn flag_another(&mut self, core: usize) {
        let can = |machine: &AuthorsMachine, other| other != core && machine.can_be_flagged(other);
        let options = (0..self.cores.len()).filter(|&other| can(self, other)).count();
        if options == 0 {
            return;
        }
        let chosen = self.flag_draw.below(options as u32) as usize;
        let Some(other) = (0..self.cores.len()).filter(|&other| can(self, other)).nth(chosen) else { return };
        self.cores[other].flagged_by = core as u32;
        self.cores[core].flag_out = true;
        self.wake(other);
    }

    fn can_be_flagged(&self, core: usize) -> bool {
        let entry = &self.cores[core];
        let going = entry.doing == Doing::Nothing && matches!(entry.next, Next::Arrive | Next::GiveUp);
        entry.flagged_by == NOBODY && !going && !matches!(entry.doing, Doing::Parked | Doing::Arriving)
    }

    /// The number of requests that have to move so that the queues of `core` and of the core that flagged it are equally long.
    fn moves(&self, core: usize) -> usize {
        let flagger = self.cores[core].flagged_by as usize;
        self.queues[flagger].len().saturating_sub(self.queues[core].len()).div_ceil(2)
    }

    /// Moves the requests, if there were some to move when the core began to answer.
    pub(super) fn after_response(&mut self, core: usize) {
        let flagger = self.cores[core].flagged_by as usize;
        self.begin(core, Doing::Nothing, self.now_ns + 1);
        if self.cores[core].may_respond {
            let count = self.moves(core);
            self.move_to_front(flagger, core, count);
        }
        self.ledger.sheds += 1;
        self.cores[flagger].flag_out = false;
        self.cores[core].flagged_by = NOBODY;
        self.cores[core].next = Next::CheckQueue;
        self.turn_at(core, self.now_ns + 1);
    }
}
