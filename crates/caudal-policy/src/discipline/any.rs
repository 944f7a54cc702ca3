//! All disciplines as one enum, matched at each call, and the macro that lists them. The simulator takes the enum for runs that are too
//! rare for an engine of their own: such an engine would be a tenth faster, and takes two seconds to compile.

use alloc::boxed::Box;

use super::lanes::Broken;
use super::{
    Discipline, DisciplineConfig, Fcfs, Intake, IsqdSita, Lane, Las, Order, Pool, PreemptiveSita,
    ProcessorSharing, SqdSita, Srpt, Stopped,
};
use crate::{Instant, TaskId, WorkerId};

/// See the [module](self). `TIES` is what the discipline in it says of [`Discipline::TIES`].
pub enum AnyDiscipline<const TIES: bool> {
    /// See [`Fcfs`].
    Fcfs(Fcfs),
    /// See [`ProcessorSharing`].
    ProcessorSharing(ProcessorSharing),
    /// See [`Las`].
    Las(Las),
    /// See [`Srpt`].
    Srpt(Srpt),
    /// See [`PreemptiveSita`].
    PreemptiveSita(Box<PreemptiveSita>),
    /// See [`SqdSita`].
    SqdSita(Box<SqdSita>),
    /// See [`IsqdSita`].
    IsqdSita(Box<IsqdSita>),
}

/// Evaluates an expression for the discipline of a [`DisciplineConfig`], which may be of any type: within it, `$make` makes one, and
/// `$Type` is its type. It is the only list of disciplines beside [`AnyDiscipline`]: a new
/// discipline is added here, with its constructor and its type.
#[macro_export]
macro_rules! with_discipline {
    ($config:expr, |$make:ident: $Type:ident| $body:expr) => {
        match $config {
            $crate::discipline::DisciplineConfig::Fcfs => {
                $crate::with_discipline!(@arm $make, $Type, $crate::discipline::Fcfs, $crate::discipline::Fcfs, $body)
            }
            $crate::discipline::DisciplineConfig::ProcessorSharing(config) => {
                $crate::with_discipline!(@new config, $make, $Type, $crate::discipline::ProcessorSharing, $body)
            }
            $crate::discipline::DisciplineConfig::Las(config) => {
                $crate::with_discipline!(@new config, $make, $Type, $crate::discipline::Las, $body)
            }
            $crate::discipline::DisciplineConfig::Srpt => {
                $crate::with_discipline!(@arm $make, $Type, $crate::discipline::Srpt, $crate::discipline::Srpt, $body)
            }
            $crate::discipline::DisciplineConfig::PreemptiveSita(config) => {
                $crate::with_discipline!(@new config, $make, $Type, $crate::discipline::PreemptiveSita, $body)
            }
            $crate::discipline::DisciplineConfig::SqdSita(config) => {
                $crate::with_discipline!(@new config, $make, $Type, $crate::discipline::SqdSita, $body)
            }
            $crate::discipline::DisciplineConfig::IsqdSita(config) => {
                $crate::with_discipline!(@new config, $make, $Type, $crate::discipline::IsqdSita, $body)
            }
        }
    };
    (@new $config:ident, $make:ident, $Type:ident, $discipline:path, $body:expr) => {
        $crate::with_discipline!(@arm $make, $Type, $discipline, <$discipline>::new($config), $body)
    };
    (@arm $make:ident, $Type:ident, $discipline:path, $new:expr, $body:expr) => {{
        #[allow(dead_code)]
        type $Type = $discipline;
        #[allow(unused_variables)]
        let $make = move || $new;
        $body
    }};
}

/// Does the order of what happens at one time matter to the discipline of `config`?
pub fn has_ties(config: DisciplineConfig) -> bool {
    with_discipline!(config, |make: Type| Type::TIES)
}

impl<const TIES: bool> AnyDiscipline<TIES> {
    /// The discipline of `config`, which a rule has checked.
    pub fn new(config: DisciplineConfig) -> Self {
        with_discipline!(config, |make: Type| AnyDiscipline::from(make()))
    }
}

/// Makes an [`AnyDiscipline`] of one discipline.
macro_rules! from {
    ($($name:ident => $of:expr;)*) => {
        $(impl<const TIES: bool> From<$name> for AnyDiscipline<TIES> {
            fn from(discipline: $name) -> Self {
                AnyDiscipline::$name($of(discipline))
            }
        })*
    };
}

from! {
    Fcfs => core::convert::identity;
    ProcessorSharing => core::convert::identity;
    Las => core::convert::identity;
    Srpt => core::convert::identity;
    PreemptiveSita => Box::new;
    SqdSita => Box::new;
    IsqdSita => Box::new;
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
