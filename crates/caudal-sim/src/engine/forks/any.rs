//! All parallelism policies as one type, matched at each call, for combinations that are simulated seldom: a copy of the loop for each of
//! them would take too long to compile. `built_in` chooses it. Pure.

use caudal_policy::Picos;
use caudal_policy::parallelism::{
    AdmitFirst, Clairvoyant, ClassTables, DefaultTbb, Landing, Parallelism, RunningRequest, Search, Serial,
    Size, StealFirst, Surroundings, TailControl,
};

/// Any parallelism policy of `caudal-policy`.
pub(super) enum AnyParallelism {
    Serial(Serial),
    StealFirst(StealFirst),
    AdmitFirst(AdmitFirst),
    DefaultTbb(DefaultTbb),
    TailControl(TailControl<false>),
    TailControlOfSpans(TailControl<true>),
    Clairvoyant(Clairvoyant),
}

macro_rules! each {
    ($self:ident, $policy:ident => $call:expr) => {
        match $self {
            AnyParallelism::Serial($policy) => $call,
            AnyParallelism::StealFirst($policy) => $call,
            AnyParallelism::AdmitFirst($policy) => $call,
            AnyParallelism::DefaultTbb($policy) => $call,
            AnyParallelism::TailControl($policy) => $call,
            AnyParallelism::TailControlOfSpans($policy) => $call,
            AnyParallelism::Clairvoyant($policy) => $call,
        }
    };
}

impl Parallelism for AnyParallelism {
    // Those that do not ask for spans do not look at them.
    const SPANS: bool = true;

    fn landing(&self) -> Landing {
        each!(self, policy => policy.landing())
    }

    fn on_exhausted(&self, surroundings: Surroundings) -> Search {
        each!(self, policy => policy.on_exhausted(surroundings))
    }

    fn next(&self, surroundings: Surroundings) -> Search {
        each!(self, policy => policy.next(surroundings))
    }

    fn size(&self, active: u32, seen: RunningRequest) -> Size {
        match self {
            AnyParallelism::TailControlOfSpans(policy) => policy.size(active, seen),
            _ => {
                let seen = RunningRequest { span_left: Picos::ZERO, ..seen };
                each!(self, policy => policy.size(active, seen))
            }
        }
    }

    fn kept(&self) -> u32 {
        each!(self, policy => policy.kept())
    }

    fn age(&self) -> Picos {
        each!(self, policy => policy.age())
    }

    fn is_large_when_admitted(&self, active: u32, class: u8, work: Picos) -> bool {
        each!(self, policy => policy.is_large_when_admitted(active, class, work))
    }

    fn set_tables(&mut self, tables: ClassTables) {
        each!(self, policy => policy.set_tables(tables));
    }
}
