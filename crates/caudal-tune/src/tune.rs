//! Tuning: the quantum, or the range, that keeps the tail shortest where a system is at its limit.
//! The tuning step of a plan calls it.
//!
//! All values of a grid are tried on the same requests, at the load that the system carried as published; then,
//! for a quantum, values between the best and its neighbours, at the load that the best one carries.

use caudal_policy::Picos;

use crate::candidate::Candidate;
use crate::judge::{ProbeContext, Stopped};
use crate::lane_tuning::{lanes_of, with_tuned_lanes};
use crate::search::{Effort, Search};
use crate::setting::{INTERVAL, Setting, Tried, Tuning};

/// Does the system have a parameter that can be tuned?
pub(crate) fn tunable(candidate: &Candidate) -> bool {
    Setting::of(&candidate.plan.system).is_some()
}

/// The name of the parameter of the system that is tuned.
pub(crate) fn parameter(candidate: &Candidate) -> Option<&'static str> {
    let lanes = lanes_of(candidate).map(|_| "lanes");
    let own = lanes.or_else(|| Setting::of(&candidate.plan.system).map(Setting::parameter));
    own.or_else(|| candidate.tuned.iter().any(|(key, _)| key == INTERVAL).then_some("interval"))
}

/// `candidate`, which has not been tuned, with the keys that a tuned one had; none if these are not its own.
pub(crate) fn retuned(candidate: &Candidate, tuned: &[(String, serde_json::Value)]) -> Option<Candidate> {
    if lanes_of(candidate).is_some() {
        let found =
            if tuned.is_empty() { Some(candidate.clone()) } else { with_tuned_lanes(candidate, tuned) };
        return found.filter(|again| again.tuned == tuned);
    }
    if candidate.tuned == tuned {
        return Some(candidate.clone());
    }
    let setting: Vec<&(String, serde_json::Value)> =
        tuned.iter().filter(|(key, _)| key != INTERVAL).collect();
    let time = |value: &serde_json::Value| Picos::parse(value.as_str()?).ok();
    let setting = match (Setting::of(&candidate.plan.system)?, &setting[..]) {
        (_, []) => return Some(candidate.clone()),
        (Setting::Quantum(_), [(_, quantum)]) => Setting::Quantum(time(quantum)?),
        (Setting::Delay(..), [(_, low), (_, high)]) => Setting::Delay(time(low)?, time(high)?),
        (Setting::Utilization(..), [(_, low), (_, high)]) => {
            Setting::Utilization(low.as_f64()?, high.as_f64()?)
        }
        _ => return None,
    };
    Some(setting.apply(candidate)).filter(|again| again.tuned == tuned)
}

/// A setting under trial.
struct Trial {
    setting: Setting,
    search: Search,
    hardness: u32,
    score: Option<f64>,
    failed: Option<Stopped>,
}

/// Tunes the system of `search` within the quota of `effort`; afterwards it is a search for the chosen setting.
pub(crate) fn tune(
    search: &mut Search,
    context: &ProbeContext<'_>,
    effort: Effort,
) -> Result<Option<Tuning>, Stopped> {
    let Some(begun) = Setting::of(&search.candidate.plan.system) else { return Ok(None) };
    let preset = search.candidate.plan.preset.map(|it| it.system(search.candidate.plan.system.cores));
    let published = preset.as_ref().and_then(Setting::of).unwrap_or(begun);
    let base = search.candidate.clone();
    let mut tried: Vec<(Setting, f64, Option<f64>)> = Vec::new();
    let mut left = effort.quota;
    let mut chosen = begun;
    // First the grid where the published setting is at its limit, then in between where the best one is.
    for round in 0..3 {
        let settings = match round {
            0 if begun.grid().contains(&published) => begun.grid(),
            0 => [begun.grid(), vec![published]].concat(),
            _ => {
                let known: Vec<Setting> = tried.iter().map(|(setting, ..)| *setting).collect();
                let between = chosen.between(&known);
                if between.is_empty() { break } else { [vec![chosen], between].concat() }
            }
        };
        let Some(hardness) = search.bracket.pass.or(search.bracket.fail) else { break };
        let cost = |setting: &Setting| {
            search.restarted(setting.apply(&base)).stage_cost(context, hardness, effort.precision)
        };
        let Some(settings) = within(left, settings, chosen, cost) else { break };
        let spent = search.charged;
        let trials = try_all(search, &base, context, effort, &settings, hardness)?;
        left = left.saturating_sub(search.charged - spent);
        let best = trials.iter().filter_map(|trial| Some((trial.score?, trial.setting)));
        let best = best.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(chosen, |(_, setting)| setting);
        tried.extend(trials.iter().map(|trial| (trial.setting, search.value(hardness), trial.score)));
        if best != chosen {
            let before = search.clone();
            *search = search.restarted(best.apply(&base));
            search.narrow(context, Effort { quota: left, ..effort }, Some(hardness))?;
            if search.exhausted && search.bracket.pass.is_none() && before.bracket.pass.is_some() {
                // Nobody knows how far that one gets.
                search.go_back_to(before);
                break;
            }
            left = left.saturating_sub(search.charged - before.charged);
            chosen = best;
        } else if round > 0 {
            break;
        }
    }
    let tried = tried.into_iter().map(|(setting, at, score)| Tried { value: setting.to_string(), at, score });
    Ok(Some(Tuning {
        parameter: published.parameter(),
        published: published.to_string(),
        chosen: chosen.to_string(),
        tried: tried.collect(),
    }))
}

/// The settings that are tried within `left` requests: where some are far dearer than the `chosen` one, the dearest are left out. None
/// if that does not do.
fn within(
    left: u64,
    mut settings: Vec<Setting>,
    chosen: Setting,
    cost: impl Fn(&Setting) -> u64,
) -> Option<Vec<Setting>> {
    settings.sort_by_key(|setting| cost(setting));
    let usual = cost(&chosen).saturating_mul(2);
    loop {
        let all: u64 = settings.iter().map(&cost).fold(0, u64::saturating_add);
        match settings.last() {
            _ if all <= left => return Some(settings),
            Some(dearest) if cost(dearest) > usual => settings.truncate(settings.len() - 1),
            _ => return None,
        }
    }
}

/// Every setting at `hardness`, one stage each, on the same requests.
fn try_all(
    search: &mut Search,
    base: &Candidate,
    context: &ProbeContext<'_>,
    effort: Effort,
    settings: &[Setting],
    hardness: u32,
) -> Result<Vec<Trial>, Stopped> {
    let trial = |&setting: &Setting| Trial {
        setting,
        search: search.restarted(setting.apply(base)),
        hardness,
        score: None,
        failed: None,
    };
    let mut trials: Vec<Trial> = settings.iter().map(trial).collect();
    let one_stage = Effort {
        precision: crate::judge::Precision { most: effort.precision.first, ..effort.precision },
        quota: u64::MAX,
        threads: 1,
        ..effort
    };
    let before = (search.simulated, search.charged);
    crate::parallel::each(effort.threads, &mut trials, |trial, _| {
        match trial.search.simulate(context, one_stage, trial.hardness) {
            Ok(probe) => trial.score = probe.map(|probe| probe.score).filter(|score| score.is_finite()),
            Err(stopped) => trial.failed = Some(stopped),
        }
    });
    search.simulated += trials.iter().map(|trial| trial.search.simulated - before.0).sum::<u64>();
    search.charged += trials.iter().map(|trial| trial.search.charged - before.1).sum::<u64>();
    match trials.iter_mut().find_map(|trial| trial.failed.take()) {
        Some(stopped) => Err(stopped),
        None => Ok(trials),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use caudal_config::SystemPlan;

    use super::*;

    #[test]
    fn a_tuned_candidate_is_found_again_by_its_keys() {
        for name in ["tiny-quanta", "las", "caladan-delay-range", "caladan-utilization-range"] {
            let Some(preset) = caudal_config::find_preset(name) else { continue };
            let plan = Arc::new(SystemPlan::of_preset(preset, 4));
            let base = Candidate { plan, capacity_cores: 4, dedicated: 0, tuned: Vec::new() };
            let Some(own) = Setting::of(&base.plan.system) else { continue };
            for setting in own.grid().into_iter().chain(own.between(&own.grid())) {
                let tuned = setting.apply(&base);
                let again = retuned(&base, &tuned.tuned).unwrap();
                assert_eq!(again.plan.system, tuned.plan.system);
            }
            assert!(retuned(&base, &[("x".to_owned(), "y".into())]).is_none());
        }
    }
}
