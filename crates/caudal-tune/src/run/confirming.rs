//! The last steps of a plan: the winner is simulated once more, the others at its load, and some further points for the curves. The run of a plan
//! calls each once, when the other systems have been checked. They add probes to searches by simulations.

use super::Run;
use crate::Phase;
use crate::judge::{LoadVerdict, Precision};
use crate::search::{Effort, Level};

/// How often a winner that is not confirmed is searched again.
const CONFIRMATIONS: usize = 4;

impl Run<'_> {
    /// The winner once more, on requests that no search has seen and with replications at least as long; where it does
    /// not pass, its search goes on below, and the system that is best then has to pass next.
    pub(super) fn confirm(&mut self) {
        let long = self.precision(8, 64);
        for _ in 0..CONFIRMATIONS {
            self.tell_apart();
            let Some(ranking) = self.ranking() else { return };
            let quota = self.quota(65, 1);
            let again = self.precision(2, 32);
            self.on(&[ranking.winner], Phase::Confirming, |context, entry, threads| {
                let Some(hardness) = entry.search.bracket.pass else { return };
                let first = entry.search.best().map_or(0, |probe| probe.length).max(long.first);
                let precision = Precision { first, most: first.max(long.most), confirming: true, ..long };
                let effort =
                    Effort { level: Level::Full, precision, quota, phase: Phase::Confirming, threads };
                match entry.search.simulate(context, effort, hardness) {
                    Ok(probe) if probe.as_ref().is_none_or(|probe| probe.verdict != LoadVerdict::Pass) => {
                        entry.search.bracket.learn(hardness, false);
                        let effort = Effort { precision: again, ..effort };
                        let done = entry.search.narrow(context, effort, Some(hardness));
                        entry.search.note(done);
                    }
                    Ok(_) => {}
                    Err(stopped) => entry.search.note(Err(stopped)),
                }
            });
            self.settle();
            let best = self.entries[ranking.winner].search.best();
            self.confirmed = best.is_some_and(|probe| probe.verdict == LoadVerdict::Pass && probe.confirming)
                && self.ranking().is_some_and(|now| now.winner == ranking.winner);
            if self.confirmed || self.interrupted() {
                return;
            }
        }
    }

    /// Of recorded arrivals, the winner's next place often stays open, for it takes a hundred plays of the file to tell. What
    /// is left of the budget is best spent on these.
    pub(super) fn play_on(&mut self) {
        let recorded = self.context.question.workload.arrivals.count().is_some();
        let Some(ranking) = self.ranking().filter(|_| recorded && self.confirmed) else { return };
        let quota = self.quota(75, 1);
        let precision = Precision { confirming: true, ..self.precision(8, 64) };
        self.on(&[ranking.winner], Phase::Confirming, |context, entry, threads| {
            let search = &mut entry.search;
            let open = |at: u32| search.at(at).is_none_or(|probe| probe.verdict == LoadVerdict::Undecided);
            if search.bracket.fail.is_some_and(open) {
                search.bracket.fail = search.missed();
            }
            let effort = Effort { level: Level::Full, precision, quota, phase: Phase::Confirming, threads };
            let done = search.narrow(context, effort, search.bracket.pass);
            search.note(done);
        });
        self.settle();
    }

    /// The others at the winner's load, for the explanation.
    pub(super) fn meet_the_winner(&mut self) {
        let Some(ranking) = self.ranking() else { return };
        let winner = &self.entries[ranking.winner].search;
        let (Some(probe), Some(pass)) = (winner.best(), winner.bracket.pass) else { return };
        let (spot, cores) = (probe.spot, winner.total_cores(pass));
        let mut chosen: Vec<usize> = ranking.runner_up.into_iter().chain(ranking.contrast).collect();
        chosen.extend(ranking.parallel.iter().filter(|&&index| index != ranking.winner));
        chosen.sort_unstable();
        chosen.dedup();
        // Where requests fork, how many miss under each policy is a part of the answer; curves are not.
        let share = if ranking.parallel.is_empty() { 40 } else { 90 };
        let quota = self.quota(share, chosen.len());
        let (fine, coarse, coarser) = (self.precision(2, 8), self.coarsely(4), self.coarsely(1));
        self.on(&chosen, Phase::Confirming, |context, entry, threads| {
            let hardness = entry.search.hardness_of(spot, cores);
            for precision in [fine, coarse, coarser] {
                let known = entry.search.at(hardness).is_some_and(|probe| {
                    probe.length >= precision.first && (probe.row.holds() || probe.row.overloaded)
                });
                if known {
                    return;
                }
                let effort =
                    Effort { level: Level::Full, precision, quota, phase: Phase::Confirming, threads };
                match entry.search.simulate(context, effort, hardness) {
                    // What is too dear to be known is shown coarsely.
                    Ok(None) => {}
                    Ok(Some(_)) => return,
                    Err(stopped) => return entry.search.note(Err(stopped)),
                }
            }
        });
    }

    /// Points between those of the searches, so that every curve shows.
    pub(super) fn curves(&mut self) {
        let all: Vec<usize> = (0..self.entries.len()).collect();
        self.curves_of(&all, self.quota(100, all.len()));
    }

    /// The same for the winner: the curve that is looked at first, and whose searches were all near its limit.
    pub(super) fn winners_curve(&mut self) {
        let winner: Vec<usize> = self.ranking().iter().map(|ranking| ranking.winner).collect();
        self.curves_of(&winner, self.quota(50, 1));
    }

    fn curves_of(&mut self, chosen: &[usize], quota: u64) {
        let precision = Precision { persists: false, ..self.precision(1, 1) };
        self.on(chosen, Phase::Curves, |context, entry, threads| {
            let mut left = quota;
            for hardness in entry.search.curve() {
                if entry.search.overload().is_some_and(|overload| overload <= hardness) {
                    continue;
                }
                let effort =
                    Effort { level: Level::Full, precision, quota: left, phase: Phase::Curves, threads };
                match entry.search.simulate(context, effort, hardness) {
                    Ok(Some(probe)) => left = left.saturating_sub(probe.charged),
                    // Too dear for what is left; a harder one may be cheaper.
                    Ok(None) => {}
                    Err(stopped) => return entry.search.note(Err(stopped)),
                }
            }
        });
    }
}
