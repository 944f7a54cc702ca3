//! The knowledge of a system after a step of a plan, in the form in which a journal keeps it. `entry` writes it after each step, and
//! reads it when the plan is started anew. Pure: it converts a search to data and back.

use caudal_sim::row::Row;
use caudal_sim::steady::Overheads;
use caudal_stats::Estimate;
use serde::{Deserialize, Serialize};

use crate::Phase;
use crate::bisect::Bracket;
use crate::candidate::{Candidate, Spot};
use crate::judge::{LoadVerdict, Probe};
use crate::search::{Level, Search};
use crate::setting::{Tried, Tuning};
use crate::tune::{parameter, retuned};

/// The knowledge of a system after its part of a step.
#[derive(Serialize, Deserialize)]
pub(crate) struct Known {
    step: usize,
    entry: usize,
    phase: String,
    system: String,
    requests: u64,
    tuned: Vec<(String, serde_json::Value)>,
    tuning: Option<(String, String, Vec<Tried>)>,
    full: Option<Fineness>,
    pass: Option<u32>,
    fail: Option<u32>,
    simulated: u64,
    charged: u64,
    exhausted: bool,
    failed: Option<String>,
    probes: Vec<KnownProbe>,
}

/// [`Level`], where it is not coarse.
#[derive(Serialize, Deserialize)]
enum Fineness {
    Full,
    Reference,
}

#[derive(Serialize, Deserialize)]
struct KnownProbe {
    hardness: u32,
    load: f64,
    workers: Option<u32>,
    passed: Option<bool>,
    estimates: Vec<Estimate>,
    /// None stands for infinity, which JSON lacks.
    score: Option<f64>,
    simulated: u64,
    charged: u64,
    length: u64,
    /// Of [`Overheads`]: core time per work, preemptions per request.
    overheads: (f64, f64),
    confirming: bool,
    cut_short: bool,
    row: Row,
}

impl Known {
    /// The knowledge of `search` and `tuning` after `step`, which took `requests` of the budget.
    pub(crate) fn of(
        (step, entry, phase): (usize, usize, Phase),
        search: &Search,
        tuning: Option<&Tuning>,
        requests: u64,
    ) -> Known {
        let probe = |(&hardness, probe)| KnownProbe::of(hardness, probe);
        Known {
            step,
            entry,
            phase: phase.name().to_owned(),
            system: search.candidate.name().to_owned(),
            requests,
            tuned: search.candidate.tuned.clone(),
            tuning: tuning.map(|Tuning { published, chosen, tried, .. }| {
                (published.clone(), chosen.clone(), tried.clone())
            }),
            full: match search.level {
                Level::Coarse => None,
                Level::Full => Some(Fineness::Full),
                Level::Reference => Some(Fineness::Reference),
            },
            pass: search.bracket.pass,
            fail: search.bracket.fail,
            simulated: search.simulated,
            charged: search.charged,
            exhausted: search.exhausted,
            failed: search.failed.clone(),
            probes: search.probes.iter().map(probe).collect(),
        }
    }

    /// Brings `search` to where it was; `base` is its candidate before it was tuned. None if this is about
    /// another system.
    pub(crate) fn restore(self, base: &Candidate, search: &Search) -> Option<(Search, Option<Tuning>)> {
        if self.system != base.name() {
            return None;
        }
        let tuning = match self.tuning {
            Some((published, chosen, tried)) => {
                Some(Tuning { parameter: parameter(base)?, published, chosen, tried })
            }
            None => None,
        };
        let candidate = if self.tuned.is_empty() { base.clone() } else { retuned(base, &self.tuned)? };
        let mut search = search.restarted(candidate);
        search.bracket = Bracket { pass: self.pass, fail: self.fail };
        search.level = match self.full {
            None => Level::Coarse,
            Some(Fineness::Full) => Level::Full,
            Some(Fineness::Reference) => Level::Reference,
        };
        search.probes = self.probes.into_iter().map(|probe| (probe.hardness, probe.restore())).collect();
        (search.simulated, search.charged) = (self.simulated, self.charged);
        (search.exhausted, search.failed) = (self.exhausted, self.failed);
        Some((search, tuning))
    }
}

impl KnownProbe {
    fn of(hardness: u32, probe: &Probe) -> KnownProbe {
        KnownProbe {
            hardness,
            load: probe.spot.load,
            workers: probe.spot.workers,
            passed: match probe.verdict {
                LoadVerdict::Pass => Some(true),
                LoadVerdict::Fail => Some(false),
                LoadVerdict::Undecided => None,
            },
            estimates: probe.estimates.clone(),
            score: probe.score.is_finite().then_some(probe.score),
            simulated: probe.simulated,
            charged: probe.charged,
            length: probe.length,
            overheads: (probe.overheads.per_work, probe.overheads.preemptions),
            confirming: probe.confirming,
            cut_short: probe.cut_short,
            row: probe.row.clone(),
        }
    }

    fn restore(self) -> Probe {
        Probe {
            spot: Spot { load: self.load, workers: self.workers },
            verdict: match self.passed {
                Some(true) => LoadVerdict::Pass,
                Some(false) => LoadVerdict::Fail,
                None => LoadVerdict::Undecided,
            },
            estimates: self.estimates,
            score: self.score.unwrap_or(f64::INFINITY),
            row: self.row,
            simulated: self.simulated,
            charged: self.charged,
            length: self.length,
            overheads: Overheads { per_work: self.overheads.0, preemptions: self.overheads.1 },
            confirming: self.confirming,
            cut_short: self.cut_short,
        }
    }
}
