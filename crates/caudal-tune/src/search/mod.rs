//! The search for the highest load, or the fewest cores, of one system: a bisection that asks a simulation whether a load passes. The plan makes
//! one search for each system and narrows it in several steps; explanations read from it which loads passed or failed for certain.
//! It simulates by `judge`.

mod known;
mod scale;

use std::collections::BTreeMap;

use self::scale::Scale;
use crate::bisect::{Bracket, bisect};
use crate::candidate::Candidate;
use crate::judge::{Experience, LoadVerdict, Precision, Probe, ProbeContext, Stopped, Wanted};
use crate::{Phase, Question};

/// The precision that a search has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// For a load that is undecided after short replications, the estimate decides.
    Coarse,
    /// Loads that stay undecided count as failed.
    Full,
    /// As fine as full precision, but for a load that stays undecided, the estimate decides: if it counted as failed, the reference line would be
    /// too low, and the winner would look too good.
    Reference,
}

/// The search for the highest hardness (load, or fewness of cores) that one system passes, with all that is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub(crate) candidate: Candidate,
    scale: Scale,
    pub(crate) bracket: Bracket,
    pub(crate) level: Level,
    /// The most precise probe of each hardness.
    pub(crate) probes: BTreeMap<u32, Probe>,
    pub(crate) simulated: u64,
    /// The requests that this took of the budget.
    pub(crate) charged: u64,
    /// Whether its share of the budget ended before its bracket was narrow.
    pub(crate) exhausted: bool,
    pub(crate) failed: Option<String>,
}

/// The means that a step of a search may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    pub(crate) level: Level,
    pub(crate) precision: Precision,
    pub(crate) quota: u64,
    pub(crate) phase: Phase,
    pub(crate) threads: usize,
}

/// The answer to whether a hardness passes.
struct Answer {
    passed: bool,
    /// The requests of the budget that it took to find out.
    charged: u64,
    /// Whether it failed only because the budget ended.
    cut_short: bool,
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

    /// A new search for another setting of the candidate. It takes over where to begin, and no results.
    pub(crate) fn restarted(&self, candidate: Candidate) -> Search {
        Search { candidate, bracket: Bracket::default(), probes: BTreeMap::new(), ..self.clone() }
    }

    /// Returns to the knowledge of `before`; requests that were taken since stay spent.
    pub(crate) fn go_back_to(&mut self, before: Search) {
        let (simulated, charged) = (self.simulated, self.charged);
        *self = Search { simulated, charged, ..before };
    }

    /// Narrows the bracket, beginning near `guess`, or near what has passed so far.
    pub(crate) fn narrow(
        &mut self,
        context: &ProbeContext<'_>,
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
        // A hardness that was out of reach of the budget may be in reach now.
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
                // If the warm-up takes longer than the rest of the budget allows, this hardness can not pass; an easier one takes less.
                let Some(answer) = self.ask(context, Effort { quota: left, ..effort }, hardness)? else {
                    exhausted = true;
                    return Ok(Some(false));
                };
                left = left.saturating_sub(answer.charged);
                exhausted |= answer.cut_short;
                Ok(Some(answer.passed))
            },
        );
        self.bracket = bracket;
        self.exhausted = exhausted;
        if exhausted && bracket.pass.is_none() {
            (self.bracket, self.level) = before;
        }
        done
    }

    /// Does this hardness pass? `None` if there is no budget left for it.
    fn ask(
        &mut self,
        context: &ProbeContext<'_>,
        effort: Effort,
        hardness: u32,
    ) -> Result<Option<Answer>, Stopped> {
        let known = self.probes.get(&hardness);
        let counts = |probe: &&Probe| {
            probe.length >= effort.precision.first && probe.verdict != LoadVerdict::Undecided
        };
        if let Some(probe) = known.filter(counts) {
            let passed = probe.verdict == LoadVerdict::Pass;
            return Ok(Some(Answer { passed, charged: 0, cut_short: false }));
        }
        let Some(probe) = self.simulate(context, effort, hardness)? else { return Ok(None) };
        let passed = match (probe.verdict, effort.level) {
            (LoadVerdict::Pass, _) => true,
            (LoadVerdict::Undecided, Level::Coarse | Level::Reference) => probe.score < 1.0,
            _ => false,
        };
        let cut_short = probe.cut_short && !passed;
        Ok(Some(Answer { passed, charged: probe.charged, cut_short }))
    }

    /// Simulates a hardness and keeps the probe, if it is the most precise one there.
    pub(crate) fn simulate(
        &mut self,
        context: &ProbeContext<'_>,
        effort: Effort,
        hardness: u32,
    ) -> Result<Option<Probe>, Stopped> {
        let Effort { precision, quota, phase, threads, .. } = effort;
        let spot = self.scale.spot(hardness);
        let known = (precision, self.experience(context, hardness));
        let probe = context.probe(&self.candidate, spot, known, quota, (phase, threads))?;
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

    /// The requests that a stage at `hardness` takes of the budget.
    pub(crate) fn stage_cost(&self, context: &ProbeContext<'_>, hardness: u32, precision: Precision) -> u64 {
        let wanted = Wanted::new(precision, self.experience(context, hardness));
        context.stage_cost(&self.candidate, self.scale.spot(hardness), wanted)
    }

    /// The experience from the probe whose hardness is nearest to `hardness`.
    fn experience(&self, context: &ProbeContext<'_>, hardness: u32) -> Experience {
        let nearest = self.probes.iter().min_by_key(|(at, _)| at.abs_diff(hardness));
        nearest.map_or(Experience::default(), |(_, probe)| context.experience(&self.candidate, probe))
    }

    /// Notes what ended a search early; an interruption is no failure.
    pub(crate) fn note(&mut self, result: Result<(), Stopped>) {
        if let Err(Stopped::Failed(error)) = result {
            self.failed = Some(error.to_string());
        }
    }
}
