//! All disciplines as one enum, matched at each call. Runs that are too rare for an engine of their own take it: such an engine
//! would be a tenth faster, and takes two seconds to compile.

use caudal_policy::discipline::lanes::Broken;
use caudal_policy::discipline::{
    Discipline, DisciplineConfig, Fcfs, Intake, IsqdSita, Lane, Las, Order, Pool, PreemptiveSita,
    ProcessorSharing, SqdSita, Srpt, Stopped,
};
use caudal_policy::{Instant, TaskId, WorkerId};

/// See the [module](self). `TIES` is what the discipline in it says of [`Discipline::TIES`].
pub(crate) enum AnyDiscipline<const TIES: bool> {
    Fcfs(Fcfs),
    ProcessorSharing(ProcessorSharing),
    Las(Las),
    Srpt(Srpt),
    PreemptiveSita(Box<PreemptiveSita>),
    SqdSita(Box<SqdSita>),
    IsqdSita(Box<IsqdSita>),
}

/// Does the order of what happens at one time matter to the discipline of `config`?
pub(crate) fn has_ties(config: DisciplineConfig) -> bool {
    match config {
        DisciplineConfig::Fcfs => Fcfs::TIES,
        DisciplineConfig::ProcessorSharing(_) => ProcessorSharing::TIES,
        DisciplineConfig::Las(_) => Las::TIES,
        DisciplineConfig::Srpt => Srpt::TIES,
        DisciplineConfig::PreemptiveSita(_) => PreemptiveSita::TIES,
        DisciplineConfig::SqdSita(_) => SqdSita::TIES,
        DisciplineConfig::IsqdSita(_) => IsqdSita::TIES,
    }
}

impl<const TIES: bool> AnyDiscipline<TIES> {
    /// The discipline of `config`, which a rule has checked.
    pub(crate) fn new(config: DisciplineConfig) -> Self {
        match config {
            DisciplineConfig::Fcfs => AnyDiscipline::Fcfs(Fcfs),
            DisciplineConfig::ProcessorSharing(config) => {
                AnyDiscipline::ProcessorSharing(ProcessorSharing::new(config))
            }
            DisciplineConfig::Las(config) => AnyDiscipline::Las(Las::new(config)),
            DisciplineConfig::Srpt => AnyDiscipline::Srpt(Srpt),
            DisciplineConfig::PreemptiveSita(config) => {
                AnyDiscipline::PreemptiveSita(Box::new(PreemptiveSita::new(config)))
            }
            DisciplineConfig::SqdSita(config) => AnyDiscipline::SqdSita(Box::new(SqdSita::new(config))),
            DisciplineConfig::IsqdSita(config) => AnyDiscipline::IsqdSita(Box::new(IsqdSita::new(config))),
        }
    }
}

macro_rules! each {
    ($self:ident, $it:ident => $call:expr) => {
        match $self {
            AnyDiscipline::Fcfs($it) => $call,
            AnyDiscipline::ProcessorSharing($it) => $call,
            AnyDiscipline::Las($it) => $call,
            AnyDiscipline::Srpt($it) => $call,
            AnyDiscipline::PreemptiveSita($it) => $call,
            AnyDiscipline::SqdSita($it) => $call,
            AnyDiscipline::IsqdSita($it) => $call,
        }
    };
}

impl<const TIES: bool> Discipline for AnyDiscipline<TIES> {
    const TIES: bool = TIES;

    fn lanes(&self) -> u32 {
        each!(self, it => it.lanes())
    }

    fn order(&self) -> Order {
        each!(self, it => it.order())
    }

    fn stealable_lane(&self) -> Lane {
        each!(self, it => it.stealable_lane())
    }

    fn clairvoyant(&self) -> bool {
        each!(self, it => it.clairvoyant())
    }

    fn on_arrival(&mut self, now: Instant, task: TaskId, pool: &mut impl Pool) {
        each!(self, it => it.on_arrival(now, task, pool));
    }

    fn on_successor(&mut self, now: Instant, task: TaskId, free: WorkerId, pool: &mut impl Pool) {
        each!(self, it => it.on_successor(now, task, free, pool));
    }

    fn on_free(&mut self, now: Instant, worker: WorkerId, pool: &mut impl Pool) {
        each!(self, it => it.on_free(now, worker, pool));
    }

    fn on_stopped(
        &mut self,
        now: Instant,
        worker: WorkerId,
        task: TaskId,
        why: Stopped,
        pool: &mut impl Pool,
    ) {
        each!(self, it => it.on_stopped(now, worker, task, why, pool));
    }

    fn on_completed(&mut self, now: Instant, worker: WorkerId, task: TaskId, pool: &mut impl Pool) {
        each!(self, it => it.on_completed(now, worker, task, pool));
    }

    fn on_moved(&mut self, now: Instant, task: TaskId, more: u32, pool: &mut impl Pool) {
        each!(self, it => it.on_moved(now, task, more, pool));
    }

    fn intake(&self, pool: &impl Pool) -> Intake {
        each!(self, it => it.intake(pool))
    }

    fn on_blocked(&mut self, now: Instant, worker: WorkerId, task: TaskId, pool: &mut impl Pool) {
        each!(self, it => it.on_blocked(now, worker, task, pool));
    }

    fn on_ready(&mut self, now: Instant, task: TaskId, pool: &mut impl Pool) {
        each!(self, it => it.on_ready(now, task, pool));
    }

    fn elides(&self) -> bool {
        each!(self, it => it.elides())
    }

    fn on_workers(&mut self, count: u32) {
        each!(self, it => it.on_workers(count));
    }

    fn on_gone(&mut self, now: Instant, worker: WorkerId, pool: &mut impl Pool) {
        each!(self, it => it.on_gone(now, worker, pool));
    }

    fn tie(&self, seat: u32) -> u64 {
        each!(self, it => it.tie(seat))
    }

    fn may_steal(&self, seat: u32) -> bool {
        each!(self, it => it.may_steal(seat))
    }

    fn check(&self, pool: &impl Pool) -> Result<(), Broken> {
        each!(self, it => it.check(pool))
    }
}
