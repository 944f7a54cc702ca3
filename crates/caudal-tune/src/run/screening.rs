//! The first steps of a plan: short simulations of all systems, then tuning, then full precision for the systems that may win. The run of a plan
//! calls them in this order, once each. They narrow searches by simulations.

use super::{FAVOURITES, REFINE_FROM, Run};
use crate::Phase;
use crate::candidate::Spot;
use crate::lane_tuning::{lanes_of, tune_lanes};
use crate::search::{Effort, Level};
use crate::tune::{tunable, tune};

/// Systems that are tuned, and that get full precision: so many at most.
const LEADERS: usize = 5;
/// A system is tuned if, as published, it reaches this share of what the best one reaches.
const TUNE_FROM: f64 = 0.7;

impl Run<'_> {
    /// Everything, coarsely.
    pub(super) fn screen(&mut self) {
        let all: Vec<usize> = (0..self.entries.len()).collect();
        let (quota, precision) = (self.quota(30, all.len()), self.coarsely(1));
        self.on(&all, Phase::Screening, |context, entry, threads| {
            let effort = Effort { level: Level::Coarse, precision, quota, phase: Phase::Screening, threads };
            let done = entry.search.narrow(context, effort, None);
            entry.search.note(done);
        });
    }

    /// Systems that take so long to simulate that their part of the budget gave no answer get more of it, and begin
    /// where it decides: where the best one is at its limit.
    pub(super) fn screen_the_dear(&mut self) {
        let open = |index: &usize| self.entries[*index].search.is_open();
        let chosen: Vec<usize> = (0..self.entries.len()).filter(open).collect();
        let best = self.best_place();
        let (quota, precision) = (self.quota(30, chosen.len()), self.coarsely(1));
        self.on(&chosen, Phase::Screening, |context, entry, threads| {
            let guess = best.map(|(spot, cores)| entry.search.hardness_of(spot, cores));
            let effort = Effort { level: Level::Coarse, precision, quota, phase: Phase::Screening, threads };
            let done = entry.search.narrow(context, effort, guess);
            entry.search.note(done);
        });
    }

    /// Quanta and ranges of the systems that are near the best as published.
    pub(super) fn tune(&mut self) {
        let chosen = self.leaders(TUNE_FROM, LEADERS, tunable);
        let (quota, precision) = (self.quota(20, chosen.len()), self.coarsely(2));
        self.on(&chosen, Phase::Tuning, |context, entry, threads| {
            let effort = Effort { level: Level::Coarse, precision, quota, phase: Phase::Tuning, threads };
            match tune(&mut entry.search, context, effort) {
                Ok(tuning) => entry.tuning = tuning,
                Err(stopped) => entry.search.note(Err(stopped)),
            }
        });
    }

    /// Cutoffs and reservations of all that have lanes: how far lanes as published get says nothing.
    pub(super) fn tune_lanes(&mut self) {
        let lanes = |index: &usize| {
            let candidate = &self.entries[*index].search.candidate;
            candidate.deployable() && lanes_of(candidate).is_some()
        };
        let chosen: Vec<usize> = (0..self.entries.len()).filter(lanes).collect();
        let (quota, precision) = (self.quota(25, chosen.len()), self.coarsely(1));
        self.on(&chosen, Phase::Tuning, |context, entry, threads| {
            let effort = Effort { level: Level::Coarse, precision, quota, phase: Phase::Tuning, threads };
            match tune_lanes(&mut entry.search, context, effort) {
                Ok(tuning) => entry.tuning = tuning,
                Err(stopped) => entry.search.note(Err(stopped)),
            }
        });
    }

    /// Where the best system so far is at its limit, and with how many cores.
    fn best_place(&self) -> Option<(Spot, f64)> {
        let best = *self.leaders(0.0, 1, |_| true).first()?;
        let search = &self.entries[best].search;
        Some((search.best()?.spot, search.total_cores(search.bracket.pass?)))
    }

    /// Refines the systems that may win.
    pub(super) fn refine(&mut self) {
        let mut chosen = self.leaders(REFINE_FROM, LEADERS, |_| true);
        if chosen.len() < 2 {
            chosen = self.leaders(0.0, 2, |_| true);
        }
        let (quota, precision) = (self.quota(35, chosen.len()), self.precision(2, 32));
        self.finely(&chosen, Level::Full, precision, quota, Phase::Refining);
        // Near saturation, everything takes longer than a share of the budget lasts.
        let mut chosen = self.leaders(REFINE_FROM, FAVOURITES, |_| true);
        chosen.retain(|&index| self.entries[index].search.exhausted);
        // As much again is left for the confirmation.
        let quota = self.quota(35, chosen.len());
        self.finely(&chosen, Level::Full, precision, quota, Phase::Refining);
    }
}
