//! How far one system gets: a bisection whose oracle is a simulation.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::bisect::{Bracket, Span, bisect};
use crate::candidate::{Candidate, Spot};
use caudal_sim::steady::Overheads;

use crate::judge::{Bench, Precision, Probe, Stopped, Verdict, Wanted};
use crate::{Machine, Phase, Question};

/// Loads are searched in steps of a thousandth of the machine.
const PER_UNIT: f64 = 1000.0;

/// How far a search went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Loads that are undecided after short replications go by their estimates.
    Coarse,
    /// Loads that stay undecided count as failed.
    Full,
    /// As fine as full precision; but loads that stay undecided go by their estimates: a line of reference that
    /// is drawn too low would flatter the winner.
    Reference,
}

/// What is known of one system.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub(crate) candidate: Candidate,
    scale: Scale,
    pub(crate) bracket: Bracket,
    pub(crate) level: Level,
    /// The most precise probe of each hardness.
    pub(crate) probes: BTreeMap<u32, Probe>,
    pub(crate) simulated: u64,
    /// What that took of the budget.
    pub(crate) charged: u64,
    /// Did its share of the budget end before its bracket was narrow?
    pub(crate) exhausted: bool,
    pub(crate) failed: Option<String>,
}

/// What a hardness means for a system.
#[derive(Clone, Copy, Debug)]
enum Scale {
    /// Thousandths of the machine's capacity.
    Load { hardest: u32 },
    /// From all workers, which is 1, downwards.
    Workers { most: u32, fewest: u32, load: f64, dedicated: u32 },
}

/// What a step of a search may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) level: Level,
    pub(crate) precision: Precision,
    pub(crate) quota: u64,
    pub(crate) phase: Phase,
    pub(crate) threads: usize,
}

impl Scale {
    fn of(candidate: &Candidate, question: &Question) -> Scale {
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

    fn span(self, guess: Option<u32>, level: Level) -> Span {
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

    fn spot(self, hardness: u32) -> Spot {
        match self {
            Scale::Load { .. } => Spot { load: f64::from(hardness) / PER_UNIT, workers: None },
            Scale::Workers { most, load, .. } => Spot { load, workers: Some(most + 1 - hardness) },
        }
    }

    /// The bracket's width that is narrow enough above `hardness`.
    fn width(self, hardness: u32, level: Level) -> u32 {
        match (self, level) {
            (Scale::Workers { .. }, _) => 1,
            (Scale::Load { .. }, Level::Coarse) => (hardness / 25).max(4),
            (Scale::Load { .. }, _) => (hardness / 80).max(2),
        }
    }

    /// What users see: a load, or cores with the dedicated ones.
    fn value(self, hardness: u32) -> f64 {
        match self {
            Scale::Load { .. } => f64::from(hardness) / PER_UNIT,
            Scale::Workers { most, dedicated, .. } => f64::from(most + 1 - hardness + dedicated),
        }
    }
}

impl Search {
    pub(crate) fn new(candidate: Candidate, question: &Question) -> Search {
        Search {
            scale: Scale::of(&candidate, question),
            candidate,
            bracket: Bracket::default(),
            level: Level::Coarse,
            probes: BTreeMap::new(),
            simulated: 0,
            charged: 0,
            exhausted: false,
            failed: None,
        }
    }

    /// The same for another setting of the candidate: nothing is known but where to look.
    pub(crate) fn restarted(&self, candidate: Candidate) -> Search {
        Search { candidate, bracket: Bracket::default(), probes: BTreeMap::new(), ..self.clone() }
    }

    /// What was known `before`; what it has taken since stays spent.
    pub(crate) fn go_back_to(&mut self, before: Search) {
        let (simulated, charged) = (self.simulated, self.charged);
        *self = Search { simulated, charged, ..before };
    }

    /// Narrows the bracket, beginning near `guess`, or near what has passed so far.
    pub(crate) fn narrow(
        &mut self,
        bench: &Bench<'_>,
        effort: Effort,
        guess: Option<u32>,
    ) -> Result<(), Stopped> {
        let guess = guess.or(self.bracket.pass);
        let before = (self.bracket, self.level);
        // Coarse answers do not count at full precision.
        if effort.level != self.level {
            self.bracket = Bracket::default();
            self.level = effort.level;
        }
        // What was out of reach may no longer be.
        if self.exhausted {
            self.bracket.fail = None;
        }
        let (span, scale) = (self.scale.span(guess, effort.level), self.scale);
        let mut bracket = self.bracket;
        let (mut left, mut exhausted) = (effort.quota, false);
        let done = bisect(
            &span,
            &mut bracket,
            |pass| scale.width(pass, effort.level),
            |hardness| {
                // Where relaxation takes too long for what is left, nothing can pass; easier is shorter.
                let Some((passed, charged)) = self.ask(bench, Effort { quota: left, ..effort }, hardness)?
                else {
                    exhausted = true;
                    return Ok(Some(false));
                };
                left = left.saturating_sub(charged);
                Ok(Some(passed))
            },
        );
        self.bracket = bracket;
        self.exhausted = exhausted;
        if exhausted && bracket.pass.is_none() {
            (self.bracket, self.level) = before;
        }
        done
    }

    /// Does this hardness pass, and what did it take to find out? `None` if there is no budget left for it.
    fn ask(
        &mut self,
        bench: &Bench<'_>,
        effort: Effort,
        hardness: u32,
    ) -> Result<Option<(bool, u64)>, Stopped> {
        let known = self.probes.get(&hardness);
        let counts =
            |probe: &&Probe| probe.length >= effort.precision.first && probe.verdict != Verdict::Undecided;
        if let Some(probe) = known.filter(counts) {
            return Ok(Some((probe.verdict == Verdict::Pass, 0)));
        }
        let Some(probe) = self.simulate(bench, effort, hardness)? else { return Ok(None) };
        let passed = match (probe.verdict, effort.level) {
            (Verdict::Pass, _) => true,
            (Verdict::Undecided, Level::Coarse | Level::Reference) => probe.score < 1.0,
            _ => false,
        };
        Ok(Some((passed, probe.charged)))
    }

    /// Simulates a hardness and keeps the probe, if it is the most precise one there.
    pub(crate) fn simulate(
        &mut self,
        bench: &Bench<'_>,
        effort: Effort,
        hardness: u32,
    ) -> Result<Option<Probe>, Stopped> {
        let Effort { precision, quota, phase, threads, .. } = effort;
        let spot = self.scale.spot(hardness);
        let known = (precision, self.overheads(hardness));
        let probe = bench.probe(&self.candidate, spot, known, quota, (phase, threads))?;
        let Some(probe) = probe else { return Ok(None) };
        self.simulated += probe.simulated;
        self.charged += probe.charged;
        let longer = |known: &Probe| known.length <= probe.length || probe.confirming;
        let better = self.probes.get(&hardness).is_none_or(longer);
        if better {
            self.probes.insert(hardness, probe.clone());
        }
        Ok(Some(probe))
    }

    /// What a stage at `hardness` takes of the budget.
    pub(crate) fn stage_cost(&self, bench: &Bench<'_>, hardness: u32, precision: Precision) -> u64 {
        let Precision { first: length, depth, .. } = precision;
        let wanted = Wanted { length, depth, overheads: self.overheads(hardness) };
        bench.stage_cost(&self.candidate, self.scale.spot(hardness), wanted)
    }

    /// The scheduler's overheads where they are known nearest to `hardness`.
    fn overheads(&self, hardness: u32) -> Overheads {
        let nearest = self.probes.iter().min_by_key(|(at, _)| at.abs_diff(hardness));
        nearest.map_or(Overheads::default(), |(_, probe)| probe.overheads)
    }

    /// Notes what ended a search early; an interruption is no failure.
    pub(crate) fn note(&mut self, result: Result<(), Stopped>) {
        if let Err(Stopped::Failed(error)) = result {
            self.failed = Some(error.to_string());
        }
    }

    /// The next hardness above the one that passed that was simulated and did not pass.
    pub(crate) fn failed(&self) -> Option<u32> {
        let above = self.bracket.pass.map_or(0, |pass| pass + 1);
        let failed = |(_, probe): &(&u32, &Probe)| probe.verdict != Verdict::Pass;
        self.probes.range(above..).find(failed).map(|(&hardness, _)| hardness)
    }

    /// The nearest hardness above the one that passed at which a target is certainly missed.
    pub(crate) fn missed(&self) -> Option<u32> {
        let above = self.bracket.pass.map_or(0, |pass| pass + 1);
        let missed = |(_, probe): &(&u32, &Probe)| probe.verdict == Verdict::Fail;
        self.probes.range(above..).find(missed).map(|(&hardness, _)| hardness)
    }

    /// The hardest, up to the one that passed (or below what failed, if none did), at which a run that was long enough met all targets with its whole
    /// intervals.
    pub(crate) fn certain(&self) -> Option<u32> {
        let sure = |(_, probe): &(&u32, &Probe)| probe.verdict == Verdict::Pass;
        let end = match self.bracket {
            Bracket { pass: Some(pass), .. } => pass + 1,
            Bracket { fail, .. } => fail.unwrap_or(u32::MAX),
        };
        self.probes.range(..end).rev().find(sure).map(|(&hardness, _)| hardness)
    }

    /// Did a run that was long enough show what this system is said to reach?
    pub(crate) fn confirmed(&self) -> bool {
        self.bracket.pass.is_some() && self.certain() == self.bracket.pass
    }

    /// Is nothing known of how far it gets?
    pub(crate) fn is_open(&self) -> bool {
        self.bracket.pass.is_none() && self.missed().is_none() && self.failed.is_none()
    }

    /// Is it certain that `other` does not get as far as this one is confirmed to?
    pub(crate) fn is_told_apart_from(&self, other: &Search) -> bool {
        other.missed_merit() <= self.sure_merit()
    }

    /// Where longer runs are to begin: somewhat easier than what passed in short ones, which flatter.
    pub(crate) fn cautious(&self) -> Option<u32> {
        let pass = self.bracket.pass?;
        Some(match self.scale {
            Scale::Load { .. } => (pass - pass / 10).max(1),
            Scale::Workers { .. } => pass,
        })
    }

    /// What was not precise enough to be decided is to be asked again.
    pub(crate) fn forget_undecided(&mut self) {
        self.bracket.fail = self.missed();
    }

    /// Says no more of the system than was confirmed, if anything was.
    pub(crate) fn settle(&mut self) {
        if let Some(certain) = self.certain() {
            if !self.confirmed() {
                self.bracket.pass = Some(certain);
                self.bracket.fail = self.failed();
            }
        } else {
            self.revise();
        }
    }

    /// Where a longer run has shown since that a load is not met by the estimate, it has not passed.
    pub(crate) fn revise(&mut self) {
        let Some(pass) = self.bracket.pass else { return };
        let met = |(_, probe): &(&u32, &Probe)| match probe.verdict {
            Verdict::Pass => true,
            Verdict::Fail => false,
            Verdict::Undecided => probe.score < 1.0,
        };
        let known = self.probes.range(..=pass).rev().find(met).map(|(&hardness, _)| hardness);
        if known != Some(pass) {
            self.bracket = Bracket { pass: known, fail: Some(pass) };
        }
    }

    /// The probe of the hardest that passed.
    pub(crate) fn best(&self) -> Option<&Probe> {
        self.probes.get(&self.bracket.pass?)
    }

    /// The probe at `hardness`.
    pub(crate) fn at(&self, hardness: u32) -> Option<&Probe> {
        self.probes.get(&hardness)
    }

    /// The hardness at which this system is as hard pressed as another one at `spot`.
    pub(crate) fn hardness_of(&self, spot: Spot, total_cores: f64) -> u32 {
        match self.scale {
            Scale::Load { .. } => (spot.load * PER_UNIT).round() as u32,
            Scale::Workers { most, dedicated, .. } => {
                let workers = (total_cores as u32).saturating_sub(dedicated).clamp(1, most);
                most + 1 - workers
            }
        }
    }

    /// What the bracket's ends mean to users.
    pub(crate) fn value(&self, hardness: u32) -> f64 {
        self.scale.value(hardness)
    }

    /// Cores that a hardness takes, the dedicated ones that count included.
    pub(crate) fn total_cores(&self, hardness: u32) -> f64 {
        match self.scale {
            Scale::Load { .. } => f64::from(self.candidate.capacity_cores),
            Scale::Workers { .. } => self.scale.value(hardness),
        }
    }

    /// Larger is better: the load that passed, or the inverse of the cores; 0 if none did.
    pub(crate) fn merit(&self) -> f64 {
        self.bracket.pass.map_or(0.0, |pass| self.merit_at(pass))
    }

    /// The merit that this hardness would have.
    pub(crate) fn merit_at(&self, hardness: u32) -> f64 {
        match self.scale {
            Scale::Load { .. } => self.scale.value(hardness),
            Scale::Workers { .. } => 1.0 / self.scale.value(hardness),
        }
    }

    /// The merit that was confirmed; 0 if none was.
    pub(crate) fn sure_merit(&self) -> f64 {
        self.certain().map_or(0.0, |certain| self.merit_at(certain))
    }

    /// The merit that this system certainly does not have; infinite if nothing is known.
    pub(crate) fn missed_merit(&self) -> f64 {
        self.missed().map_or(f64::INFINITY, |missed| self.merit_at(missed))
    }

    /// Best first: by merit, then by the distance to the limit there.
    pub(crate) fn before(&self, other: &Search) -> std::cmp::Ordering {
        let failed =
            |search: &Search| search.failed().and_then(|fail| search.at(fail)).map(|probe| probe.score);
        let score = |search: &Search| {
            search.best().map(|probe| probe.score).or(failed(search)).unwrap_or(f64::INFINITY)
        };
        other.merit().total_cmp(&self.merit()).then(score(self).total_cmp(&score(other)))
    }

    /// Hardnesses that make a curve: about ten of them, those near known ones left out.
    pub(crate) fn curve(&self) -> Vec<u32> {
        let Span { easiest, hardest, .. } = self.scale.span(None, Level::Full);
        let step = match self.scale {
            Scale::Load { .. } => 100,
            Scale::Workers { .. } => (hardest / 10).max(1),
        };
        let near = |at: u32| self.probes.keys().any(|known| known.abs_diff(at) * 5 < step * 2);
        (1..)
            .map(|n| n * step)
            .take_while(|&at| at <= hardest)
            .filter(|&at| at >= easiest && !near(at))
            .collect()
    }

    /// The easiest hardness that is known to overload the system.
    pub(crate) fn overload(&self) -> Option<u32> {
        self.probes.iter().find(|(_, probe)| probe.row.overloaded).map(|(&hardness, _)| hardness)
    }
}

/// Does `work` on each item, on several threads; a few items share the threads. The order in which items are
/// taken does not matter: each is worked on by itself.
pub(crate) fn each<T: Send>(threads: usize, items: &mut [T], work: impl Fn(&mut T, usize) + Sync) {
    let crew = threads.clamp(1, items.len().max(1));
    let inner = (threads / crew).max(1);
    let queue = Mutex::new(items.iter_mut());
    let one = || {
        loop {
            let item = queue.lock().expect("no thread panics with it").next();
            let Some(item) = item else { return };
            work(item, inner);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..crew {
            scope.spawn(one);
        }
        one();
    });
}
