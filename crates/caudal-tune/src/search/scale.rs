//! The scale of a search: a hardness is a whole number, and stands for a load or for a number of workers. A search bisects over
//! hardnesses, and asks here for the load and cores of the next probe. Pure.

use crate::bisect::Span;
use crate::candidate::{Candidate, Spot};
use crate::{Machine, Question};

use super::Level;

/// Loads are searched in steps of a thousandth of the machine.
pub(super) const PER_UNIT: f64 = 1000.0;

/// The meaning of a hardness for a system.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scale {
    /// Thousandths of the machine's capacity.
    Load { hardest: u32 },
    /// A number of workers, counted down: hardness 1 is all of them.
    Workers { most: u32, fewest: u32, load: f64, dedicated: u32 },
}

impl Scale {
    pub(super) fn of(candidate: &Candidate, question: &Question) -> Scale {
        let (workers, capacity) = (candidate.plan.system.cores, f64::from(candidate.capacity_cores));
        match question.offered_cores() {
            None => Scale::Load {
                hardest: ((PER_UNIT * f64::from(workers) / capacity).ceil() as u32).saturating_sub(1),
            },
            Some(offered) => Scale::Workers {
                most: workers,
                fewest: offered.floor() as u32 + 1,
                load: offered / capacity,
                dedicated: match question.machine {
                    Machine::Cores(_) => candidate.dedicated,
                    Machine::Runtime { .. } => 0,
                },
            },
        }
    }

    pub(super) fn span(self, guess: Option<u32>, level: Level) -> Span {
        let (easiest, hardest) = match (self, level) {
            // Whoever fails at a twentieth of the machine is behind, unless all do.
            (Scale::Load { hardest }, Level::Coarse) => (50, hardest),
            (Scale::Load { hardest }, _) => (5, hardest),
            (Scale::Workers { most, fewest, .. }, _) => (1, (most + 1).saturating_sub(fewest)),
        };
        // Without a guess, plain bisection; with one, a few steps away from it.
        let step = guess.map_or(hardest / 4, |guess| (guess / 50).max(1));
        Span { easiest: easiest.min(hardest.max(1)), hardest, guess, step }
    }

    pub(super) fn spot(self, hardness: u32) -> Spot {
        match self {
            Scale::Load { .. } => Spot { load: f64::from(hardness) / PER_UNIT, workers: None },
            Scale::Workers { most, load, .. } => Spot { load, workers: Some(most + 1 - hardness) },
        }
    }

    /// The bracket's width that is narrow enough above `hardness`.
    pub(super) fn width(self, hardness: u32, level: Level) -> u32 {
        match (self, level) {
            (Scale::Workers { .. }, _) => 1,
            (Scale::Load { .. }, Level::Coarse) => (hardness / 25).max(4),
            (Scale::Load { .. }, _) => (hardness / 80).max(2),
        }
    }

    /// The number that users see: a load, or cores with the dedicated ones.
    pub(super) fn value(self, hardness: u32) -> f64 {
        match self {
            Scale::Load { .. } => f64::from(hardness) / PER_UNIT,
            Scale::Workers { most, dedicated, .. } => f64::from(most + 1 - hardness + dedicated),
        }
    }
}
