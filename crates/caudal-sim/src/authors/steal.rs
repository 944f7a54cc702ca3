//! Walks: cores without requests check the queues of others, parked ones included.
//!
//! ```text
//!   tau        +99      +199     ...    +899      +1000     +1100
//!   |--check---|--check---|             |--check--+|--check---|
//!   own queue                                     own queue first, which makes this check 1 ns longer
//! ```

use super::machine::{AuthorsMachine, Doing, Next, Walk};

/// How often a walker checks its own queue.
const OWN_QUEUE_EVERY_NS: u64 = 1_000;

impl AuthorsMachine {
    /// `core` starts a walk with this ns, somewhere in the order that all share.
    pub(super) fn start_walk(&mut self, core: usize) {
        let origin = self.walk_draw.below(self.order.len() as u32) as usize;
        self.begin(core, Doing::Walking, self.now_ns);
        self.cores[core].walk = Walk {
            at: origin,
            origin,
            last: false,
            check_ns: 0,
            own_ns: self.now_ns + OWN_QUEUE_EVERY_NS - 1,
            own_next: false,
        };
        self.next_check(core, self.now_ns + self.setup.check_ns - 1);
    }

    /// The next check, which ends at `check_ns`, is at the next place that is not the core's own. If a walk
    /// starts from its own place, it checks the first place a second time in the end.
    fn next_check(&mut self, core: usize, check_ns: u64) {
        let Walk { mut at, origin, mut last, own_ns, .. } = self.cores[core].walk;
        loop {
            at = if at + 1 == self.order.len() { 0 } else { at + 1 };
            last |= at == origin;
            if self.order[at] != core as u32 {
                break;
            }
        }
        let walk = &mut self.cores[core].walk;
        (walk.at, walk.last, walk.check_ns) = (at, last, check_ns);
        self.turn_at(core, check_ns.min(own_ns));
    }

    pub(super) fn after_walk_ns(&mut self, core: usize) {
        let now_ns = self.now_ns;
        if std::mem::take(&mut self.cores[core].walk.own_next) && !self.queues[core].is_empty() {
            // This ns is the request's already.
            self.begin(core, Doing::Nothing, now_ns);
            self.take(core);
            return;
        }
        let walk = &mut self.cores[core].walk;
        if walk.own_ns <= now_ns {
            // The own queue is checked in the next ns; what would have been checked now waits for that.
            walk.own_ns = now_ns + OWN_QUEUE_EVERY_NS;
            walk.own_next = true;
            return self.turn_at(core, now_ns + 1);
        }
        if now_ns < walk.check_ns {
            let due_ns = walk.check_ns.min(walk.own_ns);
            return self.turn_at(core, due_ns);
        }
        let victim = self.order[walk.at] as usize;
        if !self.queues[victim].is_empty() {
            self.begin_for(core, Doing::Stealing, now_ns + 1, self.setup.steal_ns);
        } else if walk.last {
            self.fail(core);
        } else {
            self.next_check(core, now_ns + self.setup.check_ns);
        }
    }

    /// A walk has found nothing.
    fn fail(&mut self, core: usize) {
        let now_ns = self.now_ns;
        self.begin(core, Doing::Nothing, now_ns + 1);
        let entry = &mut self.cores[core];
        let searched_ns = now_ns + 1 - entry.search_since_ns.unwrap_or(now_ns);
        entry.next = if searched_ns < self.setup.search_min_ns { Next::Check } else { Next::LastCheck };
        self.turn_at(core, now_ns + 1);
    }

    /// Half of what the victim has now, the oldest of it, goes before what waits at the thief itself.
    pub(super) fn after_steal(&mut self, core: usize) {
        self.begin(core, Doing::Nothing, self.now_ns + 1);
        let victim = self.order[self.cores[core].walk.at] as usize;
        let count = self.queues[victim].len().div_ceil(2);
        self.move_to_front(victim, core, count);
        self.ledger.steals += 1;
        self.ledger.steals_empty += u64::from(count == 0);
        let entry = &mut self.cores[core];
        entry.search_since_ns = None;
        entry.next = Next::Check;
        self.turn_at(core, self.now_ns + 1);
    }

    /// The `count` oldest requests at `from` go, in their order, before those at `to`.
    pub(super) fn move_to_front(&mut self, from: usize, to: usize, count: usize) {
        for i in (0..count).rev() {
            if let Some(request) = self.queues[from].remove(i) {
                self.queues[to].push_front(request);
            }
        }
    }
}
