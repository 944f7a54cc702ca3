//! The steps of a plan: screening, tuning, full precision for those that may win, a check of the others, confirmation.
//! `planning` calls them in their order.

mod answer;
mod checking;
mod confirming;
mod entry;
mod known;
mod screening;

use std::sync::atomic::Ordering;

use crate::Phase;
use crate::candidate::Candidate;
use crate::evidence::Ranking;
use crate::journal::Journal;
use crate::judge::{Depth, Precision, ProbeContext};
use crate::lengths::lengthened;
use crate::parallel::each;
use crate::search::{Effort, Level, Search};
use crate::setting::Tuning;

/// The part of the best system's load from which on a system is refined.
const REFINE_FROM: f64 = 0.9;
/// Systems that get more than their share of full precision, where that was not enough to see how far they get.
const FAVOURITES: usize = 2;
/// Requests of a replication that tells who is clearly behind, at most, in lengths that a percentile needs.
const COARSE_MOST: u64 = 8;

pub(crate) struct Entry {
    index: usize,
    /// The candidate as published.
    base: Candidate,
    search: Search,
    tuning: Option<Tuning>,
}

pub(crate) struct Run<'a> {
    context: ProbeContext<'a>,
    journal: &'a dyn Journal,
    threads: usize,
    entries: Vec<Entry>,
    /// Steps that have been begun.
    steps: usize,
    confirmed: bool,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        context: ProbeContext<'a>,
        journal: &'a dyn Journal,
        threads: usize,
        candidates: Vec<Candidate>,
    ) -> Run<'a> {
        let entry = |(index, candidate): (usize, Candidate)| Entry {
            index,
            base: candidate.clone(),
            tuning: lengthened(&candidate),
            search: Search::new(candidate, context.question),
        };
        let entries = candidates.into_iter().enumerate().map(entry).collect();
        Run { context, journal, threads: threads.max(1), entries, steps: 0, confirmed: false }
    }

    /// The same, where so many steps have been before it.
    pub(crate) fn after(self, steps: usize) -> Run<'a> {
        Run { steps, ..self }
    }

    /// Steps so far.
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    /// The requests that were taken of the budget, and those that were simulated.
    pub(crate) fn spent(&self) -> (u64, u64) {
        let searches = || self.entries.iter().map(|entry| &entry.search);
        (searches().map(|search| search.charged).sum(), searches().map(|search| search.simulated).sum())
    }

    /// Has no system that could be deployed met the targets anywhere, and that is not for a lack of budget?
    pub(crate) fn nobody_passes(&self) -> bool {
        let mut deployable =
            self.entries.iter().map(|entry| &entry.search).filter(|search| search.candidate.deployable());
        let tried = |search: &Search| !search.probes.is_empty() && !search.exhausted;
        !self.interrupted()
            && deployable.clone().all(|search| search.bracket.pass.is_none())
            && deployable.any(tried)
    }

    /// Finds out about how far each system gets.
    pub(crate) fn first_steps(&mut self) {
        self.screen();
        self.screen_the_dear();
    }

    /// The rest.
    pub(crate) fn further_steps(&mut self) {
        self.tune();
        self.tune_lanes();
        self.refine();
        self.check_the_others();
        self.confirm();
        self.play_on();
        self.references();
        self.meet_the_winner();
        self.winners_curve();
        self.curves();
    }

    /// Was it stopped before anything was simulated?
    pub(crate) fn knows_nothing(&self) -> bool {
        self.entries.iter().all(|entry| entry.search.probes.is_empty()) && self.interrupted()
    }

    fn interrupted(&self) -> bool {
        self.context.stop.load(Ordering::Relaxed)
    }

    /// `percent` of what is left of the budget, for each of `searches`.
    fn quota(&self, percent: u64, searches: usize) -> u64 {
        let spent: u64 = self.entries.iter().map(|entry| entry.search.charged).sum();
        self.context.question.budget.requests.saturating_sub(spent) / 100 * percent / searches.max(1) as u64
    }

    /// From `first` to `most` times the shortest replications that a percentile needs.
    fn precision(&self, first: u64, most: u64) -> Precision {
        let shortest = self.context.shortest();
        let most = if self.context.question.quick { first.max(most / 4) } else { most };
        let (first, most) = (first * shortest, most * shortest);
        Precision { first, most, depth: Depth::Full, persists: true, confirming: false }
    }

    /// Exactly so many times the shortest ones, unless relaxation takes much longer.
    fn coarsely(&self, times: u64) -> Precision {
        let depth = Depth::Coarse(COARSE_MOST * self.context.shortest());
        Precision { depth, ..self.precision(times, times) }
    }

    /// The next step of the plan: does `work` on the entries of these indices, or finds in the journal what has come
    /// of it.
    fn on(
        &mut self,
        chosen: &[usize],
        phase: Phase,
        work: impl Fn(&ProbeContext<'_>, &mut Entry, usize) + Sync,
    ) {
        if self.interrupted() {
            return;
        }
        let step = self.steps;
        self.steps += 1;
        let mut entries: Vec<&mut Entry> = Vec::new();
        for (index, entry) in self.entries.iter_mut().enumerate() {
            if chosen.contains(&index) {
                entries.push(entry);
            }
        }
        let (context, journal) = (&self.context, self.journal);
        each(self.threads, &mut entries, |entry, threads| {
            if entry.recall(journal, step) {
                return;
            }
            let before = entry.search.charged;
            work(context, entry, threads);
            // A part that was broken off is not done; it is done again from where it began.
            if !context.stop.load(Ordering::Relaxed) {
                entry.keep(journal, (step, phase), before);
            }
        });
    }

    /// Deployable systems that pass at least `part` of the best one's merit, best first, `at_most` of them.
    fn leaders(&self, part: f64, at_most: usize, fits: impl Fn(&Candidate) -> bool) -> Vec<usize> {
        let search = |index: usize| &self.entries[index].search;
        let mut order: Vec<usize> =
            (0..self.entries.len()).filter(|&index| search(index).candidate.deployable()).collect();
        order.sort_by(|&a, &b| search(a).before(search(b)));
        let best = order.first().map_or(0.0, |&index| search(index).merit());
        order.retain(|&index| search(index).merit() >= part * best && fits(&search(index).candidate));
        order.truncate(at_most);
        order
    }

    /// Lets deployable systems reach only what was confirmed, if anything was.
    fn settle(&mut self) {
        for Entry { search, .. } in &mut self.entries {
            if search.candidate.deployable() { search.settle() } else { search.revise() }
        }
    }

    fn finely(&mut self, chosen: &[usize], level: Level, precision: Precision, quota: u64, phase: Phase) {
        self.on(chosen, phase, |context, entry, threads| {
            let effort = Effort { level, precision, quota, phase, threads };
            let done = entry.search.narrow(context, effort, None);
            entry.search.note(done);
        });
    }

    fn ranking(&self) -> Option<Ranking> {
        let searches: Vec<Search> = self.entries.iter().map(|entry| entry.search.clone()).collect();
        Ranking::of(&searches)
    }
}
