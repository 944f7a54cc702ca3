//! The steps that simulate the systems that did not win for long enough, so that the winner can be compared with them. The run of a plan calls
//! [`Run::check_the_others`] before the winner is confirmed, and the others afterwards. They narrow searches by simulations.

use super::{FAVOURITES, REFINE_FROM, Run};
use crate::Phase;
use crate::judge::{LoadVerdict, Precision};
use crate::search::{Effort, Level};

/// Systems that do what the winner does not and get more than a check, because it is held against them: so many at most.
const RIVALS: usize = 3;

impl Run<'_> {
    /// Systems that were only screened, on runs that are long enough: near their limits short ones are too optimistic. Those that
    /// the winner is held against get more.
    pub(super) fn check_the_others(&mut self) {
        self.settle();
        let order = self.leaders(0.0, usize::MAX, |_| true);
        let Some(&best) = order.first() else { return };
        let preempts = self.entries[best].search.candidate.preempts();
        let screened = |index: &usize| {
            let search = &self.entries[*index].search;
            search.level == Level::Coarse && search.bracket.pass.is_some()
        };
        let others: Vec<usize> = order.iter().copied().filter(screened).collect();
        let (quota, precision) = (self.quota(30, others.len()), self.precision(1, 4));
        self.on(&others, Phase::Checking, |context, entry, threads| {
            let effort = Effort { level: Level::Full, precision, quota, phase: Phase::Checking, threads };
            let guess = entry.search.cautious();
            let done = entry.search.narrow(context, effort, guess);
            entry.search.note(done);
        });
        self.settle();
        let rivals = self.rivals(others, preempts);
        let (quota, precision) = (self.quota(30, rivals.len()), self.precision(4, 32));
        self.on(&rivals, Phase::Checking, |context, entry, threads| {
            let effort = Effort { level: Level::Full, precision, quota, phase: Phase::Checking, threads };
            entry.search.forget_undecided();
            let done = entry.search.narrow(context, effort, None);
            entry.search.note(done);
        });
        self.settle();
    }

    /// Of `others`, those that decide what is said of a winner that `preempts`, or does not: the next best, and
    /// the best of those that do what it does not.
    fn rivals(&self, others: Vec<usize>, preempts: bool) -> Vec<usize> {
        let own_kind = |index: &usize| self.entries[*index].search.candidate.preempts() == preempts;
        let (next, mut rivals): (Vec<usize>, Vec<usize>) = others.into_iter().partition(own_kind);
        let merit = |index: usize| self.entries[index].search.merit();
        let furthest = rivals.iter().map(|&index| merit(index)).fold(0.0, f64::max);
        rivals.retain(|&index| merit(index) >= REFINE_FROM * furthest);
        // The simplest first: of those that tie, they are named.
        rivals.sort_by_key(|&index| self.entries[index].search.candidate.mechanisms());
        rivals.truncate(RIVALS);
        rivals.extend(next.into_iter().take(FAVOURITES));
        rivals
    }

    /// The others at the load that the best one is confirmed to reach: do they get there, too? Those that are near get
    /// as much as it takes; for the rest, a short run that misses is enough.
    pub(super) fn tell_apart(&mut self) {
        let Some(best) = self.ranking().map(|ranking| ranking.furthest) else { return };
        let search = &self.entries[best].search;
        let (Some(probe), Some(pass)) = (search.best(), search.bracket.pass) else { return };
        let (spot, cores, sure) = (probe.spot, search.total_cores(pass), search.sure_merit());
        let mut chosen = self.leaders(0.0, usize::MAX, |_| true);
        chosen.retain(|&index| index != best && !search.is_told_apart_from(&self.entries[index].search));
        let (quota, fine, coarse) = (self.quota(40, chosen.len()), self.precision(2, 32), self.coarsely(1));
        self.on(&chosen, Phase::Checking, |context, entry, threads| {
            let near = entry.search.merit() >= REFINE_FROM * sure;
            let precision = if near { fine } else { coarse };
            let effort = Effort { level: Level::Full, precision, quota, phase: Phase::Checking, threads };
            let hardness = entry.search.hardness_of(spot, cores);
            match entry.search.simulate(context, effort, hardness) {
                Ok(Some(probe)) if probe.verdict != LoadVerdict::Undecided => {
                    entry.search.bracket.learn(hardness, probe.verdict == LoadVerdict::Pass);
                }
                Ok(_) => {}
                Err(stopped) => entry.search.note(Err(stopped)),
            }
        });
        self.settle();
    }

    /// Lines that nobody can build, which say what is still missing. Near saturation short runs make them look better
    /// than they are, and long ones take too long; a line that is drawn too low would make the winner look too good. So what was
    /// confirmed is kept beside the estimate.
    pub(super) fn references(&mut self) {
        let reference = |index: &usize| !self.entries[*index].search.candidate.deployable();
        let chosen: Vec<usize> = (0..self.entries.len()).filter(reference).collect();
        let quota = self.quota(70, chosen.len()) / 2;
        let (fine, coarse) = (self.precision(1, 8), self.coarsely(1).depth);
        self.on(&chosen, Phase::References, |context, entry, threads| {
            let screened = entry.search.bracket.pass;
            let effort =
                Effort { level: Level::Full, precision: fine, quota, phase: Phase::References, threads };
            let mut done = entry.search.narrow(context, effort, None);
            if done.is_ok() && entry.search.exhausted {
                let precision = Precision { depth: coarse, ..fine };
                let effort = Effort { level: Level::Reference, precision, ..effort };
                done = entry.search.narrow(context, effort, screened);
                // What its estimates say is not known for it.
                entry.search.exhausted = true;
            }
            entry.search.note(done);
        });
    }
}
