//! Tuning lanes in a plan: cutoffs and reservations for the plan's own workload, by the climb of [`crate::lanes`].
//! The tuning step of a plan calls it.
//!
//! Lanes as published are a place to start from and say nothing about a system, so they are looked for even where it is
//! far behind, at loads that a good one carries.

use std::sync::Arc;

use caudal_config::{LatencyStatistic, LatencyTarget, Limit, Statistic, SystemPlan};
use caudal_policy::discipline::{DisciplineConfig, SitaConfig};
use serde_json::Value;

use crate::candidate::Candidate;
use crate::judge::{ProbeContext, Stopped};
use crate::lanes::{Family, LANES_MAX, LanesQuestion, Layout, Step, climb_for};
use crate::search::{Effort, Search};
use crate::setting::{Tried, Tuning};
use crate::{Budget, Control, NoJournal, TuneError};

/// Offered work, probes included, over what the system's workers can do, where lanes are looked for. Where all lanes do well,
/// the search would find that one queue does, too; what gets furthest shows where that does not.
const LOADS: [f64; 2] = [0.85, 0.65];
/// The search for lanes gets one part in so many of a quota; the rest finds how far the lanes that were found get.
const SEARCH_DIVISOR: u64 = 3;

/// The family of a candidate's lanes, and how they are, if it has lanes that can be tuned.
pub(crate) fn lanes_of(candidate: &Candidate) -> Option<(Family, SitaConfig)> {
    match candidate.plan.system.discipline {
        DisciplineConfig::SqdSita(config) => Some((Family::SqdSita, config)),
        DisciplineConfig::IsqdSita(config) => Some((Family::IsqdSita, config)),
        _ => None,
    }
}

/// The lanes of a candidate.
pub(crate) fn layout_of(candidate: &Candidate) -> Option<Layout> {
    lanes_of(candidate).map(|(_, config)| layout(&config))
}

fn layout(config: &SitaConfig) -> Layout {
    Layout { cutoffs: config.cutoffs.to_vec(), reservations: config.reservations.to_vec() }
}

/// `candidate` with other lanes.
fn with_lanes(candidate: &Candidate, family: Family, lanes: &Layout) -> Option<Candidate> {
    let config = SitaConfig::new(&lanes.cutoffs, &lanes.reservations).ok()?;
    let mut plan = SystemPlan::clone(&candidate.plan);
    plan.system.discipline = match family {
        Family::SqdSita => DisciplineConfig::SqdSita(config),
        _ => DisciplineConfig::IsqdSita(config),
    };
    let value = |list: Vec<Value>| Value::Array(list);
    let cutoffs = lanes.cutoffs.iter().map(|cutoff| cutoff.to_string().into()).collect();
    let reservations = lanes.reservations.iter().map(|&count| count.into()).collect();
    let tuned = vec![
        ("discipline.cutoffs".to_owned(), value(cutoffs)),
        ("discipline.reservations".to_owned(), value(reservations)),
    ];
    Some(Candidate { plan: Arc::new(plan), tuned, ..candidate.clone() })
}

/// `candidate` with the lanes that `tuned` names; none if that names none.
pub(crate) fn with_tuned_lanes(candidate: &Candidate, tuned: &[(String, Value)]) -> Option<Candidate> {
    let (family, _) = lanes_of(candidate)?;
    let [(_, cutoffs), (_, reservations)] = tuned else { return None };
    let lanes = Layout {
        cutoffs: serde_json::from_value(cutoffs.clone()).ok()?,
        reservations: serde_json::from_value(reservations.clone()).ok()?,
    };
    with_lanes(candidate, family, &lanes)
}

/// Looks for lanes for the system of `search` within the quota of `effort`; afterwards it is a search for those that get
/// furthest, which may be the published ones.
pub(crate) fn tune_lanes(
    search: &mut Search,
    context: &ProbeContext<'_>,
    effort: Effort,
) -> Result<Option<Tuning>, Stopped> {
    let Some((family, published)) = lanes_of(&search.candidate) else { return Ok(None) };
    let base = search.candidate.clone();
    let (mut chosen, mut tried) = (layout(&published), Vec::new());
    let quota = effort.quota / LOADS.len() as u64;
    for load in LOADS {
        let question = question(&base, family, context, load, quota / SEARCH_DIVISOR);
        let (steps, found) = climb(&question, context, effort)?;
        let searched: u64 = steps.iter().map(|step| step.requests).sum();
        (search.simulated, search.charged) = (search.simulated + searched, search.charged + searched);
        tried.extend(steps.iter().filter_map(|step| summary(step, question.load, context)));
        let Some(candidate) = with_lanes(&base, family, &found).filter(|_| found != chosen) else { continue };
        let before = search.clone();
        *search = search.restarted(candidate);
        let quota = quota.saturating_sub(searched);
        search.narrow(context, Effort { quota, ..effort }, before.bracket.pass)?;
        let further = match (search.bracket.pass, before.bracket.pass) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(own), Some(before)) => own > before,
        };
        if further {
            chosen = found;
        } else {
            search.go_back_to(before);
        }
    }
    Ok(Some(Tuning {
        parameter: "lanes",
        published: layout(&published).to_string(),
        chosen: chosen.to_string(),
        tried,
    }))
}

fn climb(
    question: &LanesQuestion,
    context: &ProbeContext<'_>,
    effort: Effort,
) -> Result<(Vec<Step>, Layout), Stopped> {
    let progress = |requests: u64| context.tell(effort.phase, requests);
    let control = Control { threads: effort.threads, stop: context.stop, progress: &progress };
    climb_for(question, control, &NoJournal).map_err(|error| match error {
        TuneError::Interrupted => Stopped::Interrupted,
        error => Stopped::Failed(error),
    })
}

/// The plan's first target is what lanes are looked for; the others are to be kept.
fn question(
    candidate: &Candidate,
    family: Family,
    context: &ProbeContext<'_>,
    load: f64,
    requests: u64,
) -> LanesQuestion {
    let LatencyTarget { class, statistic, limit } = context.question.targets[0].clone();
    // Few that are late: the percentile with as many above it.
    let statistic = match (statistic, limit) {
        (Statistic::Miss(_), Limit::Share(share)) => Statistic::Percentile(100.0 * (1.0 - share)),
        (statistic, _) => statistic,
    };
    LanesQuestion {
        workload: context.question.workload.clone(),
        workload_name: context.question.workload_name.clone(),
        family,
        cores: candidate.plan.system.cores,
        contexts: None,
        load: load / candidate.plan.costs.probe_factor,
        target: LatencyStatistic { class, statistic, metric: limit.metric() },
        also: context.question.targets[1..].to_vec(),
        reservations: None,
        lanes_max: LANES_MAX,
        costs: candidate.plan.costs,
        measure: context.question.measure.clone(),
        budget: Budget { requests },
        // Many layouts in little time.
        quick: true,
        drifts: Vec::new(),
    }
}

fn summary(step: &Step, at: f64, context: &ProbeContext<'_>) -> Option<Tried> {
    let leader = step.leader.as_ref()?;
    let of = step.tried.iter().find(|tried| tried.layout == *leader)?;
    Some(Tried {
        value: leader.to_string(),
        at,
        score: of.target.map(|target| target / context.aims[0].limit),
    })
}
