//! Enqueue choice in the authors' simulator: a request goes to the shorter of a few queues, and a core that runs a request pays for that.
//! `machine` calls it at each arrival. It changes the machine's state only.

use caudal_policy::dispatch::PowerOfKConfig;

use super::machine::{AuthorsMachine, Doing};
use super::source::{HERE, Request};

impl AuthorsMachine {
    /// `request` goes to the shortest of `k` available queues; the first drawn wins ties. A random core that
    /// runs a request now pays; if there is none, or it is the chosen one, nobody does.
    pub(super) fn choose(&mut self, request: Request, k: u32) {
        let chosen = self.shortest_of(k);
        let payer = match self.running.len() as u32 {
            0 => chosen,
            running => self.running[self.dispatch_draw.below(running) as usize] as usize,
        };
        if payer == chosen {
            return self.deliver(chosen, request);
        }
        self.queues[payer].push_back(Request { bound_for: chosen as u32, ..request });
        self.cores[chosen].inbound += 1;
        self.cores[payer].owed += 1;
        // It runs a request: that stops when this ns is over, unless it completes.
        self.turn_at(payer, self.now_ns);
    }

    fn shortest_of(&mut self, k: u32) -> usize {
        let mut drawn = [0_u32; PowerOfKConfig::K_MAX as usize];
        let mut best = (usize::MAX, 0);
        for i in 0..k.min(self.available.len() as u32) as usize {
            let queue = loop {
                let choice = self.dispatch_draw.below(self.available.len() as u32);
                let queue = self.available[choice as usize];
                if !drawn[..i].contains(&queue) {
                    break queue;
                }
            };
            drawn[i] = queue;
            let core = queue as usize;
            let busy = !matches!(self.cores[core].doing, Doing::Nothing | Doing::Spinning | Doing::Parked);
            let length = self.queues[core].len() + usize::from(busy);
            if length < best.0 {
                best = (length, core);
            }
        }
        best.1
    }

    /// `core` pays for one of the requests that it is to place, from `from_ns` on.
    pub(super) fn pay(&mut self, core: usize, from_ns: u64) {
        self.cores[core].owed -= 1;
        self.begin_for(core, Doing::Paying, from_ns, self.setup.enqueue_ns);
    }

    /// The oldest request on its way is where it was bound for; what `core` did before goes on.
    pub(super) fn after_payment(&mut self, core: usize) {
        let at = self.queues[core].iter().position(|request| request.bound_for != HERE);
        if let Some(request) = at.and_then(|at| self.queues[core].remove(at)) {
            let to = request.bound_for as usize;
            self.cores[to].inbound -= 1;
            self.deliver(to, request);
        }
        if self.cores[core].task.is_some() {
            // The ns is the payment's: the request, which has not had it, may be interrupted all the same.
            self.resume(core, self.now_ns + 1);
        } else {
            self.begin(core, Doing::Nothing, self.now_ns + 1);
            self.turn_at(core, self.now_ns + 1);
        }
    }
}
