//! The disciplines that cores with contexts can have, as one type: which of them it is, is a match that predicts well.

use caudal_policy::discipline::lanes::Broken;
use caudal_policy::discipline::{
    Discipline, DisciplineConfig, Fcfs, IsqdSita, Las, Order, Pool, PreemptiveSita, ProcessorSharing,
    SqdSita, Srpt, Stopped,
};
use caudal_policy::{Instant, TaskId, WorkerId};

/// See the [module](self). `TIES` is what the discipline in it says of [`Discipline::TIES`].
pub(crate) enum Queued<const TIES: bool> {
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

impl<const TIES: bool> Queued<TIES> {
    /// The discipline of `config`, which a rule has checked.
    pub(crate) fn new(config: DisciplineConfig) -> Self {
        match config {
            DisciplineConfig::Fcfs => Queued::Fcfs(Fcfs),
            DisciplineConfig::ProcessorSharing(config) => {
                Queued::ProcessorSharing(ProcessorSharing::new(config))
            }
            DisciplineConfig::Las(config) => Queued::Las(Las::new(config)),
            DisciplineConfig::Srpt => Queued::Srpt(Srpt),
            DisciplineConfig::PreemptiveSita(config) => {
                Queued::PreemptiveSita(Box::new(PreemptiveSita::new(config)))
            }
            DisciplineConfig::SqdSita(config) => Queued::SqdSita(Box::new(SqdSita::new(config))),
            DisciplineConfig::IsqdSita(config) => Queued::IsqdSita(Box::new(IsqdSita::new(config))),
        }
    }
}

macro_rules! each {
    ($self:ident, $it:ident => $call:expr) => {
        match $self {
            Queued::Fcfs($it) => $call,
            Queued::ProcessorSharing($it) => $call,
            Queued::Las($it) => $call,
            Queued::Srpt($it) => $call,
            Queued::PreemptiveSita($it) => $call,
            Queued::SqdSita($it) => $call,
            Queued::IsqdSita($it) => $call,
        }
    };
}

impl<const TIES: bool> Discipline for Queued<TIES> {
    const TIES: bool = TIES;

    fn lanes(&self) -> u32 {
        each!(self, it => it.lanes())
    }

    fn order(&self) -> Order {
        each!(self, it => it.order())
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

    fn on_workers(&mut self, count: u32) {
        each!(self, it => it.on_workers(count));
    }

    fn on_gone(&mut self, now: Instant, worker: WorkerId, pool: &mut impl Pool) {
        each!(self, it => it.on_gone(now, worker, pool));
    }

    fn tie(&self, seat: u32) -> u64 {
        each!(self, it => it.tie(seat))
    }

    fn check(&self, pool: &impl Pool) -> Result<(), Broken> {
        each!(self, it => it.check(pool))
    }
}
