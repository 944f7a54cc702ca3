//! The highest rate within a latency target: bracketed by doubling, then bisected, each rate judged by several runs.
//! Used by the crate's users.

use crate::generator::STOP_BELOW;
use crate::run::Run;

/// The verdict of one run on a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The target was met.
    Met,
    /// The target was missed by the service.
    Missed,
    /// The generator could not say: it did not keep its schedule, or its own error is too large a part of the latency.
    Unclear,
}

/// A statistic of latency that must stay below a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Requests of this class only; of all if none.
    pub class: Option<String>,
    /// The percentile; the mean if none.
    pub percentile: Option<f64>,
    /// The limit, in ns.
    pub limit_ns: u64,
}

impl Target {
    /// The verdict of a run. A send error only adds to a latency, so a target that was met was met in spite of it.
    pub fn judge(&self, run: &Run) -> Verdict {
        let Some(class) = run.class(self.class.as_deref()).filter(|class| class.due > 0) else {
            return Verdict::Unclear;
        };
        let (time, error_ns) = match self.percentile {
            Some(percentile) => {
                (class.percentile(percentile, run.timeout_ns), run.own.send_error.percentile(percentile))
            }
            None => (class.mean(run.timeout_ns), run.own.send_error.mean() as u64),
        };
        if run.own.kept < STOP_BELOW {
            Verdict::Unclear
        } else if time.ns < self.limit_ns {
            Verdict::Met
        } else if error_ns * 4 > time.ns {
            Verdict::Unclear
        } else {
            Verdict::Missed
        }
    }
}

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// The first rate, in requests a second.
    pub start_per_s: f64,
    /// Runs of which the majority judges a rate, at least 1.
    pub repeats: u32,
    /// The search ends when the lowest rate that missed is at most this much above the highest that met, as in 0.05.
    pub precision: f64,
}

/// Rates below this are not tried: a second has too few requests.
const LEAST_PER_S: f64 = 10.0;
/// Rates that are tried at most.
const TRIALS_MAX: usize = 60;

/// A rate that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Requests a second.
    pub rate_per_s: f64,
    /// The verdicts of its runs.
    pub runs: Vec<Verdict>,
    /// The verdict of their majority; [`Verdict::Unclear`] if there is none.
    pub verdict: Verdict,
}

/// The outcome of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The highest rate that met the target, if any did.
    pub met_per_s: Option<f64>,
    /// The lowest rate above it that did not, if any.
    pub not_met_per_s: Option<f64>,
    /// Whether it is the generator and not the service that ends the search at that rate.
    pub is_generators: bool,
    /// All rates that were tried, in order.
    pub trials: Vec<Trial>,
}

/// Searches; `measure` runs at a rate, and hears which repetition this is.
///
/// # Errors
/// Whatever `measure` fails with.
///
/// # Panics
/// If the first rate, the repeats or the precision are not above 0.
pub fn search<E>(
    search: Search,
    mut measure: impl FnMut(f64, u32) -> Result<Verdict, E>,
) -> Result<Found, E> {
    assert!(search.start_per_s > 0.0 && search.repeats > 0 && search.precision > 0.0, "{search:?}");
    let mut found = Found::default();
    let mut rate_per_s = search.start_per_s;
    while found.trials.len() < TRIALS_MAX {
        let trial = judge(search, rate_per_s, &mut measure)?;
        if trial.verdict == Verdict::Met {
            found.met_per_s = Some(rate_per_s);
        } else {
            found.not_met_per_s = Some(rate_per_s);
            found.is_generators = trial.verdict == Verdict::Unclear;
        }
        found.trials.push(trial);
        rate_per_s = match (found.met_per_s, found.not_met_per_s) {
            (Some(met), Some(not)) if not / met <= 1.0 + search.precision => break,
            (Some(met), Some(not)) => (met * not).sqrt(),
            (Some(met), None) => met * 2.0,
            (None, Some(not)) if not / 2.0 < LEAST_PER_S => break,
            (None, Some(not)) => not / 2.0,
            (None, None) => unreachable!("the rate was judged"),
        };
    }
    Ok(found)
}

/// Runs at a rate until a majority is certain.
fn judge<E>(
    search: Search,
    rate_per_s: f64,
    measure: &mut impl FnMut(f64, u32) -> Result<Verdict, E>,
) -> Result<Trial, E> {
    let mut runs = Vec::new();
    let majority = search.repeats as usize / 2 + 1;
    for repeat in 0..search.repeats {
        let verdict = measure(rate_per_s, repeat)?;
        runs.push(verdict);
        if runs.iter().filter(|other| **other == verdict).count() >= majority {
            return Ok(Trial { rate_per_s, runs, verdict });
        }
    }
    Ok(Trial { rate_per_s, runs, verdict: Verdict::Unclear })
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: Search = Search { start_per_s: 1_000.0, repeats: 3, precision: 0.05 };

    fn knee(at: f64) -> Found {
        let verdict = |rate: f64, _| Ok::<_, ()>(if rate < at { Verdict::Met } else { Verdict::Missed });
        search(THREE, verdict).unwrap()
    }

    #[test]
    fn a_knee_is_found_from_below_and_from_above() {
        for at in [130.0, 1_000.0, 98_765.0] {
            let found = knee(at);
            let (met, not) = (found.met_per_s.unwrap(), found.not_met_per_s.unwrap());
            assert!(met < at && at <= not && not / met <= 1.05, "{at}: {met} {not}");
            assert!(found.trials.iter().all(|trial| trial.runs.len() == 2), "two of three agree");
        }
        let never = knee(0.0);
        assert_eq!((never.met_per_s, never.is_generators), (None, false));
    }

    #[test]
    fn one_bad_run_of_three_decides_nothing() {
        let verdict = |rate: f64, repeat| {
            Ok::<_, ()>(match repeat {
                0 => Verdict::Missed,
                _ if rate < 5_000.0 => Verdict::Met,
                _ => Verdict::Unclear,
            })
        };
        let found = search(THREE, verdict).unwrap();
        assert!(found.met_per_s.unwrap() < 5_000.0 && found.not_met_per_s.unwrap() >= 5_000.0);
        assert!(found.is_generators && found.trials.iter().all(|trial| trial.runs.len() == 3));
    }
}
