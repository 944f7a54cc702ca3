//! Thresholds of tail-control that change while a system runs: from what completed lately, or from what an oracle knows of the workload.
//! The loop asks at the first arrival of each epoch. Pure, but for the completions that it remembers.

use caudal_policy::Picos;
use caudal_policy::parallelism::ClassTables;
use caudal_policy::parallelism::tuner::Tuner;
use caudal_workload::OfferedAt;

/// Where the thresholds of the next epoch come from.
pub(super) enum Retuning {
    /// From requests that have completed.
    Measured(Tuner),
    /// From the load that the workload offers.
    Known(Oracle),
}

/// A maker of tables for an offered load; its answer is `None` if there is no table.
pub(super) type Maker = Box<dyn FnMut(OfferedAt) -> Option<ClassTables>>;

/// It knows at any time what is offered then.
pub(super) struct Oracle {
    pub(super) every_ps: u64,
    pub(super) next_ps: u64,
    pub(super) offered_at: Box<dyn Fn(u64) -> OfferedAt>,
    pub(super) make: Maker,
    /// For what the last table was made.
    pub(super) last: Option<OfferedAt>,
}

impl Retuning {
    /// A request arrives; other thresholds hold from now on, if there are any.
    #[inline]
    pub(super) fn at_arrival(&mut self, now_ps: u64) -> Option<ClassTables> {
        match self {
            Retuning::Measured(tuner) => {
                let tables = if tuner.is_due(Picos(now_ps)) { tuner.retune(Picos(now_ps)) } else { None };
                tuner.on_arrival();
                tables
            }
            Retuning::Known(oracle) => oracle.at(now_ps),
        }
    }

    /// A request has completed, which was processed for `processed`.
    #[inline]
    pub(super) fn on_completed(&mut self, class: u8, processed: Picos) {
        if let Retuning::Measured(tuner) = self {
            tuner.on_completed(class, processed);
        }
    }
}

impl Oracle {
    fn at(&mut self, now_ps: u64) -> Option<ClassTables> {
        if now_ps < self.next_ps {
            return None;
        }
        self.next_ps = (now_ps / self.every_ps + 1) * self.every_ps;
        let offered = (self.offered_at)(now_ps);
        if self.last == Some(offered) {
            return None;
        }
        self.last = Some(offered);
        (self.make)(offered)
    }
}
