//! The lanes that the disciplines of the SITA family share, with their cutoffs and reservations. Preemptive SITA, SQD-SITA and ISQD-SITA read
//! their configuration here and ask it for the lane of a task; it decides nothing by itself.

use core::fmt;
use core::hint::select_unpredictable;

use super::Lane;
use super::lanes::Lanes;
use crate::{List, Picos};

/// The parameters in a policy file: lanes by the time that a task has run, and servers for them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct SitaConfig {
    /// Where lanes end, in time that a task has run: one less than there are lanes, in increasing order.
    pub cutoffs: List<Picos>,
    /// Servers that each lane is entitled to; together, the workers of the pool.
    pub reservations: List<u32>,
}

/// A fault of a [`SitaConfig`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SitaFault {
    /// There is no lane.
    NoLane,
    /// There are more lanes than [`Lanes::MAX`].
    TooMany,
    /// There are not as many cutoffs as lanes need.
    Cutoffs {
        /// So many lanes have reservations.
        lanes: usize,
        /// So many cutoffs are given.
        cutoffs: usize,
    },
    /// A cutoff is 0, or not above the one before.
    Order,
    /// A lane has no reservation.
    NoReservation(Lane),
}

impl fmt::Display for SitaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SitaFault::NoLane => write!(f, "there is no lane"),
            SitaFault::TooMany => write!(f, "there are more than {} lanes", Lanes::MAX),
            SitaFault::Cutoffs { lanes, cutoffs } => {
                write!(f, "{lanes} lanes have {} cutoffs between them, not {cutoffs}", lanes - 1)
            }
            SitaFault::Order => write!(f, "cutoffs are above 0, and each is above the one before"),
            SitaFault::NoReservation(lane) => write!(f, "lane {lane} has no reservation and would starve"),
        }
    }
}

impl SitaConfig {
    /// Lanes that end at `cutoffs`, with `reservations` servers each.
    ///
    /// # Errors
    /// What does not make sense.
    pub fn new(cutoffs: &[Picos], reservations: &[u32]) -> Result<SitaConfig, SitaFault> {
        let (Ok(cutoffs), Ok(reservations)) = (List::new(cutoffs), List::new(reservations)) else {
            return Err(SitaFault::TooMany);
        };
        let config = SitaConfig { cutoffs, reservations };
        config.fault().map_or(Ok(config), Err)
    }

    /// The first thing that is wrong with it.
    pub fn fault(&self) -> Option<SitaFault> {
        let (lanes, cutoffs) = (self.reservations.len(), self.cutoffs.len());
        if lanes == 0 {
            return Some(SitaFault::NoLane);
        }
        if lanes != cutoffs + 1 {
            return Some(SitaFault::Cutoffs { lanes, cutoffs });
        }
        let starving = self.reservations.iter().position(|&count| count == 0);
        if let Some(lane) = starving {
            return Some(SitaFault::NoReservation(lane as Lane));
        }
        let rising = self.cutoffs.windows(2).all(|pair| pair[0] < pair[1]);
        (!rising || self.cutoffs.first() == Some(&Picos::ZERO)).then_some(SitaFault::Order)
    }

    /// Workers of the pool.
    pub fn servers(&self) -> u32 {
        self.reservations.iter().sum()
    }

    /// Lanes of the pool.
    pub fn lanes(&self) -> u32 {
        self.reservations.len() as u32
    }
}

/// Ends of lanes, as the disciplines ask for them.
#[derive(Clone, Debug)]
pub(super) struct Cutoffs {
    /// By lane; the last lane has none.
    end: [Picos; Lanes::MAX],
    lanes: u32,
}

impl Cutoffs {
    /// # Panics
    /// If `config` is at fault.
    pub(super) fn new(config: &SitaConfig) -> Cutoffs {
        if let Some(fault) = config.fault() {
            panic!("{fault}");
        }
        let mut end = [Picos::MAX; Lanes::MAX];
        end[..config.cutoffs.len()].copy_from_slice(&config.cutoffs);
        Cutoffs { end, lanes: config.lanes() }
    }

    pub(super) fn lanes(&self) -> u32 {
        self.lanes
    }

    /// The time that is left of `lane` for a task that has run for `attained`.
    #[inline(always)]
    pub(super) fn quantum(&self, lane: Lane, attained: Picos) -> Picos {
        let end = self.end[lane as usize];
        select_unpredictable(end == Picos::MAX, end, Picos(end.0.wrapping_sub(attained.0)))
    }

    /// Where a task of `lane` belongs that has run for `attained`: there, or in a higher lane.
    #[inline(always)]
    pub(super) fn advance(&self, lane: Lane, attained: Picos) -> Lane {
        // One lane further or not is a toss, more than one is rare. No task has run for ever, where the last lane ends.
        let mut lane = lane + Lane::from(self.end[lane as usize] <= attained);
        while self.end[lane as usize] <= attained {
            lane += 1;
        }
        lane
    }
}
