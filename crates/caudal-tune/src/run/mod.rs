//! The steps of a plan: screening, tuning, full precision for those that may win, a check of the others, confirmation.

use std::sync::atomic::Ordering;

use caudal_config::write_policy;

use crate::Phase;
use crate::candidate::{Candidate, LeftOut};
use crate::evidence::Podium;
use crate::explain;
use crate::journal::{Journal, Known};
use crate::judge::{Bench, Depth, Precision, Verdict};
use crate::plan::{Plan, Reach, SystemResult, TargetResult, Winner};
use crate::search::{Effort, Level, Search, each};
use crate::tune::{Tuning, tunable, tune};

/// Systems that are tuned, and that get full precision: so many at most.
const LEADERS: usize = 5;
/// Tuned is who gets this far of the best as published; refined, who gets this far of it after that.
const TUNE_FROM: f64 = 0.7;
const REFINE_FROM: f64 = 0.9;
/// Systems that get more than their share of full precision, where that was not enough to see how far they get.
const FAVOURITES: usize = 2;
/// Requests of a replication that tells who is clearly behind, at most, in lengths that a percentile needs.
const COARSE_MOST: u64 = 8;
/// Systems that do what the winner does not and get more than a check, because it is held against them: so many at most.
const RIVALS: usize = 3;
/// How often a winner that is not confirmed is searched again.
const CONFIRMATIONS: usize = 4;

pub(crate) struct Entry {
    index: usize,
    /// The candidate as published.
    base: Candidate,
    search: Search,
    tuning: Option<Tuning>,
}

pub(crate) struct Run<'a> {
    bench: Bench<'a>,
    journal: &'a dyn Journal,
    threads: usize,
    entries: Vec<Entry>,
    /// Steps that have been begun.
    steps: usize,
    confirmed: bool,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        bench: Bench<'a>,
        journal: &'a dyn Journal,
        threads: usize,
        candidates: Vec<Candidate>,
    ) -> Run<'a> {
        let entry = |(index, candidate): (usize, Candidate)| Entry {
            index,
            base: candidate.clone(),
            search: Search::new(candidate, bench.question),
            tuning: None,
        };
        let entries = candidates.into_iter().enumerate().map(entry).collect();
        Run { bench, journal, threads: threads.max(1), entries, steps: 0, confirmed: false }
    }

    pub(crate) fn all_steps(&mut self) {
        self.screen();
        self.screen_the_dear();
        self.tune();
        self.refine();
        self.check_the_others();
        self.confirm();
        self.references();
        self.meet_the_winner();
        self.curves();
    }

    /// Was it stopped before anything was simulated?
    pub(crate) fn knows_nothing(&self) -> bool {
        self.entries.iter().all(|entry| entry.search.probes.is_empty()) && self.interrupted()
    }

    fn interrupted(&self) -> bool {
        self.bench.stop.load(Ordering::Relaxed)
    }

    /// `percent` of what is left of the budget, for each of `searches`.
    fn quota(&self, percent: u64, searches: usize) -> u64 {
        let spent: u64 = self.entries.iter().map(|entry| entry.search.charged).sum();
        self.bench.question.budget.requests.saturating_sub(spent) / 100 * percent / searches.max(1) as u64
    }

    /// From `first` to `most` times the shortest replications that a percentile needs.
    fn precision(&self, first: u64, most: u64) -> Precision {
        let shortest = self.bench.shortest();
        let most = if self.bench.question.quick { first.max(most / 4) } else { most };
        Precision { first: first * shortest, most: most * shortest, depth: Depth::Full, confirming: false }
    }

    /// Exactly so many times the shortest ones, unless relaxation takes much longer.
    fn coarsely(&self, times: u64) -> Precision {
        let depth = Depth::Coarse(COARSE_MOST * self.bench.shortest());
        Precision { depth, ..self.precision(times, times) }
    }

    /// The next step of the plan: does `work` on the entries of these indices, or finds in the journal what has come
    /// of it.
    fn on(&mut self, chosen: &[usize], phase: Phase, work: impl Fn(&Bench<'_>, &mut Entry, usize) + Sync) {
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
        let (bench, journal) = (&self.bench, self.journal);
        each(self.threads, &mut entries, |entry, threads| {
            if entry.recall(journal, step) {
                return;
            }
            let before = entry.search.charged;
            work(bench, entry, threads);
            // A part that was broken off is not done; it is done again from where it began.
            if !bench.stop.load(Ordering::Relaxed) {
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

    /// Everything, coarsely.
    fn screen(&mut self) {
        let all: Vec<usize> = (0..self.entries.len()).collect();
        let (quota, precision) = (self.quota(30, all.len()), self.coarsely(1));
        self.on(&all, Phase::Screening, |bench, entry, threads| {
            let effort = Effort { level: Level::Coarse, precision, quota, phase: Phase::Screening, threads };
            let done = entry.search.narrow(bench, effort, None);
            entry.search.note(done);
        });
    }

    /// Systems that take so long to simulate that their part of the budget gave no answer get more of it, and begin
    /// where it decides: where the best one is at its limit.
    fn screen_the_dear(&mut self) {
        let open = |index: &usize| self.entries[*index].search.is_open();
        let chosen: Vec<usize> = (0..self.entries.len()).filter(open).collect();
        let best = self.leaders(0.0, 1, |_| true).first().and_then(|&best| {
            let search = &self.entries[best].search;
            Some((search.best()?.spot, search.total_cores(search.bracket.pass?)))
        });
        let (quota, precision) = (self.quota(30, chosen.len()), self.coarsely(1));
        self.on(&chosen, Phase::Screening, |bench, entry, threads| {
            let guess = best.map(|(spot, cores)| entry.search.hardness_of(spot, cores));
            let effort = Effort { level: Level::Coarse, precision, quota, phase: Phase::Screening, threads };
            let done = entry.search.narrow(bench, effort, guess);
            entry.search.note(done);
        });
    }

    /// Quanta and ranges of the systems that are near the best as published.
    fn tune(&mut self) {
        let chosen = self.leaders(TUNE_FROM, LEADERS, tunable);
        let (quota, precision) = (self.quota(25, chosen.len()), self.coarsely(2));
        self.on(&chosen, Phase::Tuning, |bench, entry, threads| {
            let effort = Effort { level: Level::Coarse, precision, quota, phase: Phase::Tuning, threads };
            match tune(&mut entry.search, bench, effort) {
                Ok(tuning) => entry.tuning = tuning,
                Err(stopped) => entry.search.note(Err(stopped)),
            }
        });
    }

    /// Those that may win.
    fn refine(&mut self) {
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

    /// Systems that were only screened, on runs that are long enough: near their limits short ones flatter. Those that
    /// the winner is held against get more.
    fn check_the_others(&mut self) {
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
        self.on(&others, Phase::Checking, |bench, entry, threads| {
            let effort = Effort { level: Level::Full, precision, quota, phase: Phase::Checking, threads };
            let guess = entry.search.cautious();
            let done = entry.search.narrow(bench, effort, guess);
            entry.search.note(done);
        });
        self.settle();
        // The next best, and the best of those that do what the winner does not, decide what is said of it.
        let own_kind = |index: &usize| self.entries[*index].search.candidate.preempts() == preempts;
        let (next, mut rivals): (Vec<usize>, Vec<usize>) = others.into_iter().partition(own_kind);
        let merit = |index: usize| self.entries[index].search.merit();
        let furthest = rivals.iter().map(|&index| merit(index)).fold(0.0, f64::max);
        rivals.retain(|&index| merit(index) >= REFINE_FROM * furthest);
        // The simplest first: of those that tie, they are named.
        rivals.sort_by_key(|&index| self.entries[index].search.candidate.mechanisms());
        rivals.truncate(RIVALS);
        rivals.extend(next.into_iter().take(FAVOURITES));
        let (quota, precision) = (self.quota(30, rivals.len()), self.precision(4, 32));
        self.on(&rivals, Phase::Checking, |bench, entry, threads| {
            let effort = Effort { level: Level::Full, precision, quota, phase: Phase::Checking, threads };
            entry.search.forget_undecided();
            let done = entry.search.narrow(bench, effort, None);
            entry.search.note(done);
        });
        self.settle();
    }

    /// From here on, deployable systems are said to reach what was confirmed, if anything was.
    fn settle(&mut self) {
        for Entry { search, .. } in &mut self.entries {
            if search.candidate.deployable() { search.settle() } else { search.revise() }
        }
    }

    /// The others at the load that the best one is confirmed to reach: do they get there, too? Those that are near get
    /// as much as it takes; for the rest, a short run that misses is enough.
    fn tell_apart(&mut self) {
        let Some(best) = self.podium().map(|podium| podium.furthest) else { return };
        let search = &self.entries[best].search;
        let (Some(probe), Some(pass)) = (search.best(), search.bracket.pass) else { return };
        let (spot, cores, sure) = (probe.spot, search.total_cores(pass), search.sure_merit());
        let mut chosen = self.leaders(0.0, usize::MAX, |_| true);
        chosen.retain(|&index| index != best && !search.is_told_apart_from(&self.entries[index].search));
        let (quota, fine, coarse) = (self.quota(40, chosen.len()), self.precision(2, 32), self.coarsely(1));
        self.on(&chosen, Phase::Checking, |bench, entry, threads| {
            let near = entry.search.merit() >= REFINE_FROM * sure;
            let precision = if near { fine } else { coarse };
            let effort = Effort { level: Level::Full, precision, quota, phase: Phase::Checking, threads };
            let hardness = entry.search.hardness_of(spot, cores);
            match entry.search.simulate(bench, effort, hardness) {
                Ok(Some(probe)) if probe.verdict != Verdict::Undecided => {
                    entry.search.bracket.learn(hardness, probe.verdict == Verdict::Pass);
                }
                Ok(_) => {}
                Err(stopped) => entry.search.note(Err(stopped)),
            }
        });
        self.settle();
    }

    /// Lines that nobody can build, which say what is still missing. Near saturation short runs make them look better
    /// than they are, and long ones take too long; a line that is drawn too low would flatter the winner. So what was
    /// confirmed is kept beside the estimate.
    fn references(&mut self) {
        let reference = |index: &usize| !self.entries[*index].search.candidate.deployable();
        let chosen: Vec<usize> = (0..self.entries.len()).filter(reference).collect();
        let quota = self.quota(70, chosen.len()) / 2;
        let (fine, coarse) = (self.precision(1, 8), self.coarsely(1).depth);
        self.on(&chosen, Phase::References, |bench, entry, threads| {
            let screened = entry.search.bracket.pass;
            let effort =
                Effort { level: Level::Full, precision: fine, quota, phase: Phase::References, threads };
            let mut done = entry.search.narrow(bench, effort, None);
            if done.is_ok() && entry.search.exhausted {
                let precision = Precision { depth: coarse, ..fine };
                let effort = Effort { level: Level::Reference, precision, ..effort };
                done = entry.search.narrow(bench, effort, screened);
            }
            entry.search.note(done);
        });
    }

    fn finely(&mut self, chosen: &[usize], level: Level, precision: Precision, quota: u64, phase: Phase) {
        self.on(chosen, phase, |bench, entry, threads| {
            let effort = Effort { level, precision, quota, phase, threads };
            let done = entry.search.narrow(bench, effort, None);
            entry.search.note(done);
        });
    }

    fn podium(&self) -> Option<Podium> {
        let searches: Vec<Search> = self.entries.iter().map(|entry| entry.search.clone()).collect();
        Podium::of(&searches)
    }

    /// The winner once more, on requests that no search has seen and with replications at least as long; where it does
    /// not pass, its search goes on below, and whoever is best then has to pass in turn.
    fn confirm(&mut self) {
        let long = self.precision(8, 64);
        for _ in 0..CONFIRMATIONS {
            self.tell_apart();
            let Some(podium) = self.podium() else { return };
            let quota = self.quota(65, 1);
            let again = self.precision(2, 32);
            self.on(&[podium.winner], Phase::Confirming, |bench, entry, threads| {
                let Some(hardness) = entry.search.bracket.pass else { return };
                let first = entry.search.best().map_or(0, |probe| probe.length).max(long.first);
                let precision = Precision { first, most: first.max(long.most), confirming: true, ..long };
                let effort =
                    Effort { level: Level::Full, precision, quota, phase: Phase::Confirming, threads };
                match entry.search.simulate(bench, effort, hardness) {
                    Ok(probe) if probe.as_ref().is_none_or(|probe| probe.verdict != Verdict::Pass) => {
                        entry.search.bracket.learn(hardness, false);
                        let effort = Effort { precision: again, ..effort };
                        let done = entry.search.narrow(bench, effort, Some(hardness));
                        entry.search.note(done);
                    }
                    Ok(_) => {}
                    Err(stopped) => entry.search.note(Err(stopped)),
                }
            });
            self.settle();
            let best = self.entries[podium.winner].search.best();
            self.confirmed = best.is_some_and(|probe| probe.verdict == Verdict::Pass && probe.confirming)
                && self.podium().is_some_and(|now| now.winner == podium.winner);
            if self.confirmed || self.interrupted() {
                return;
            }
        }
    }

    /// The others at the winner's load, for the explanation.
    fn meet_the_winner(&mut self) {
        let Some(podium) = self.podium() else { return };
        let winner = &self.entries[podium.winner].search;
        let (Some(probe), Some(pass)) = (winner.best(), winner.bracket.pass) else { return };
        let (spot, cores) = (probe.spot, winner.total_cores(pass));
        let mut chosen: Vec<usize> = podium.runner_up.into_iter().chain(podium.contrast).collect();
        chosen.dedup();
        let (quota, fine, coarse) = (self.quota(40, chosen.len()), self.precision(2, 8), self.coarsely(4));
        self.on(&chosen, Phase::Confirming, |bench, entry, threads| {
            let hardness = entry.search.hardness_of(spot, cores);
            for precision in [fine, coarse] {
                let known = entry.search.at(hardness).is_some_and(|probe| {
                    probe.length >= precision.first && (probe.row.steady || probe.row.overloaded)
                });
                if known {
                    return;
                }
                let effort =
                    Effort { level: Level::Full, precision, quota, phase: Phase::Confirming, threads };
                match entry.search.simulate(bench, effort, hardness) {
                    // What is too dear to be known is shown coarsely.
                    Ok(None) => {}
                    Ok(Some(_)) => return,
                    Err(stopped) => return entry.search.note(Err(stopped)),
                }
            }
        });
    }

    /// Points between those of the searches, so that every curve shows.
    fn curves(&mut self) {
        let all: Vec<usize> = (0..self.entries.len()).collect();
        let (quota, precision) = (self.quota(100, all.len()), self.precision(1, 1));
        self.on(&all, Phase::Curves, |bench, entry, threads| {
            let mut left = quota;
            for hardness in entry.search.curve() {
                if entry.search.overload().is_some_and(|overload| overload <= hardness) {
                    break;
                }
                let effort =
                    Effort { level: Level::Full, precision, quota: left, phase: Phase::Curves, threads };
                match entry.search.simulate(bench, effort, hardness) {
                    Ok(Some(probe)) => left = left.saturating_sub(probe.charged),
                    // Too dear for what is left; a harder one may be cheaper.
                    Ok(None) => {}
                    Err(stopped) => return entry.search.note(Err(stopped)),
                }
            }
        });
    }

    pub(crate) fn into_plan(mut self, left_out: Vec<LeftOut>) -> Plan {
        self.settle();
        let interrupted = self.interrupted();
        let Run { bench, mut entries, confirmed, .. } = self;
        // Deployable ones first where they are as good: a reference line never wins.
        entries.sort_by(|a, b| {
            let deployable = |entry: &Entry| entry.search.candidate.deployable();
            a.search.before(&b.search).then(deployable(b).cmp(&deployable(a)))
        });
        let systems: Vec<SystemResult> = entries.iter().map(|entry| entry.result(&bench)).collect();
        let searches: Vec<Search> = entries.into_iter().map(|entry| entry.search).collect();
        let podium = Podium::of(&searches);
        let evidence = podium.and_then(|podium| podium.evidence(bench.question, &bench.aims, &searches));
        let (mut headline, explanation) = explain::explain(&bench, evidence.as_ref(), &systems, &searches);
        if interrupted {
            headline = format!("So far, as it was interrupted: {headline}");
        }
        let winner = evidence.map(|evidence| {
            let candidate = &evidence.winner.candidate;
            let mut system = candidate.plan.system.clone();
            system.cores_allocated = evidence.probe.row.cores_allocated;
            let header = explain::header(&bench, &headline);
            let policy_toml = write_policy(&system, &candidate.plan.costs, &header);
            Winner { system: candidate.name().to_owned(), policy_toml, confirmed }
        });
        Plan {
            headline,
            winner,
            explanation,
            systems,
            left_out,
            rows: searches
                .iter()
                .flat_map(|search| search.probes.values())
                .map(|probe| probe.row.clone())
                .collect(),
            budget: bench.question.budget.requests,
            simulated: searches.iter().map(|search| search.simulated).sum(),
            interrupted,
        }
    }
}

impl Entry {
    /// Is this part of the plan in the journal? Then the entry is as it was after it.
    fn recall(&mut self, journal: &dyn Journal, step: usize) -> bool {
        let Some(found) = journal.recall(step, self.index) else { return false };
        let known = serde_json::from_value::<Known>(found).ok();
        let Some((search, tuning)) = known.and_then(|known| known.restore(&self.base, &self.search)) else {
            return false;
        };
        (self.search, self.tuning) = (search, tuning);
        true
    }

    fn keep(&self, journal: &dyn Journal, (step, phase): (usize, Phase), charged_before: u64) {
        let requests = self.search.charged.saturating_sub(charged_before);
        let known = Known::of((step, self.index, phase), &self.search, self.tuning.as_ref(), requests);
        // Numbers, names and lists of them; what could not be written would be computed again.
        if let Ok(known) = serde_json::to_value(known) {
            journal.keep(known);
        }
    }

    fn result(&self, bench: &Bench<'_>) -> SystemResult {
        let Entry { search, tuning, .. } = self;
        let best = search.best();
        let failed_at = search.failed().and_then(|fail| search.at(fail));
        let targets = best.map_or(Vec::new(), |probe| {
            let each = bench.aims.iter().zip(&probe.estimates);
            each.map(|(aim, &estimate)| TargetResult {
                target: aim.target.to_string(),
                estimate,
                limit: aim.limit,
            })
            .collect()
        });
        SystemResult {
            system: search.candidate.name().to_owned(),
            reference_only: search.candidate.plan.reference_only(),
            dedicated_cores: search.candidate.dedicated,
            reach: Reach {
                pass: search.bracket.pass.map(|pass| search.value(pass)),
                fail: search.failed().map(|fail| search.value(fail)),
                fail_certain: failed_at.is_some_and(|probe| probe.verdict == Verdict::Fail),
                confirmed: search.confirmed(),
                certain: search.certain().map(|certain| search.value(certain)),
                missed: search.missed().map(|missed| search.value(missed)),
            },
            rate_per_s: best.map(|probe| probe.row.rate_per_s),
            targets,
            efficiency: best.map(|probe| probe.row.efficiency),
            preemptions_per_request: best.map(|probe| probe.row.preemptions_per_request),
            screened_only: search.level == Level::Coarse
                && search.bracket.pass.is_some()
                && !search.confirmed(),
            untried: search.is_open(),
            budget_ended: search.exhausted,
            tuning: tuning.clone(),
            failed: search.failed.clone(),
        }
    }
}
