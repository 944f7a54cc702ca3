//! Words that all sentences share: names, places, results.
//! All other files of the explanation call it as they make their sentences. Pure.

use crate::lane_tuning::layout_of;
use caudal_sim::row::Row;

use crate::aims::{Aim, estimate, statistic};
use crate::candidate::Candidate;
use crate::judge::Probe;
use crate::search::Search;
use crate::show::{digits, percent, spelled, within};
use crate::{Goal, Machine, Question};

pub(super) fn targets(question: &Question) -> String {
    let all: Vec<String> =
        question.targets.iter().map(|target| format!("`{}`", spelled(&target.to_string()))).collect();
    all.join(" and ")
}

/// A system with what was tuned about it: `caudal-ps with a quantum of 1 µs`.
pub(super) fn called(candidate: &Candidate) -> String {
    let name = candidate.name();
    // Whether they were found or are the preset's: without them a system of lanes says nothing.
    if let Some(lanes) = layout_of(candidate) {
        let one = if lanes.lanes() == 1 { "" } else { "lanes of " };
        return format!("{name} with {one}{lanes}");
    }
    let (interval, tuned): (Vec<_>, Vec<_>) =
        candidate.tuned.iter().partition(|(key, _)| key == "allocation.interval");
    let interval = interval.first().and_then(|(_, value)| value.as_str());
    let checks = interval.map_or(String::new(), |interval| format!(" that checks every {interval}"));
    match &tuned[..] {
        [] => format!("{name}{checks}"),
        [(key, only)] => {
            let value = only.as_str().map_or_else(|| only.to_string(), spelled);
            format!("{name}{checks} with a {} of {value}", key.rsplit('.').next().unwrap_or(key))
        }
        several => {
            let values: Vec<String> = several
                .iter()
                .map(|(_, value)| value.as_str().map_or_else(|| value.to_string(), spelled))
                .collect();
            format!("{name}{checks} with a range of {}", values.join(" to "))
        }
    }
}

/// `1 core`, `12 cores`.
pub(super) fn cores(count: f64) -> String {
    format!("{count} core{}", if count == 1.0 { "" } else { "s" })
}

/// `load 0.78`, or `12 cores`.
pub(super) fn place(question: &Question, probe: &Probe, search: &Search) -> String {
    match question.goal {
        Goal::HighestLoad => format!("load {}", probe.spot.load),
        Goal::FewestCores(_) => {
            let workers = probe.row.cores_allocated;
            let extra = match question.machine {
                Machine::Cores(_) => search.candidate.dedicated,
                Machine::Runtime { .. } => 0,
            };
            cores(f64::from(workers + extra))
        }
    }
}

/// `get p99.9 is 43.1 µs (41.0 µs to 46.2 µs)`, for each target.
pub(super) fn results(aims: &[Aim], probe: &Probe) -> Vec<String> {
    let show = |(aim, found): (&Aim, _)| format!("{} is {}", statistic(aim), estimate(aim, found));
    aims.iter().zip(&probe.estimates).map(show).collect()
}

/// `a`, `a and b`, `a, b and c`; `None` for no system.
pub(super) fn names(searches: &[&Search]) -> Option<String> {
    let names: Vec<&str> = searches.iter().map(|search| search.candidate.name()).collect();
    let (last, others) = names.split_last()?;
    Some(if others.is_empty() { (*last).to_owned() } else { format!("{} and {last}", others.join(", ")) })
}

/// The costs of a system's scheduling at a point, as parts of a sentence.
pub(super) fn parts(row: &Row, candidate: &Candidate) -> Vec<String> {
    let mut parts = Vec::new();
    let preemptions = row.preemptions_per_request;
    if preemptions.estimate > 0.0 {
        let (switching, count) = (percent(row.overheads.switching), within(&preemptions, digits));
        let (count, interval) = count.split_once(' ').unwrap_or((&count, ""));
        let interval = if interval.is_empty() { String::new() } else { format!(" {interval}") };
        parts.push(format!("{count} preemptions a request{interval} take {switching} of the core time"));
    }
    let probe_factor = candidate.plan.costs.probe_factor;
    if probe_factor > 1.0 {
        parts.push(format!("probes make every request {} longer", percent(probe_factor - 1.0)));
    }
    let overheads = row.overheads;
    for (share, does) in [
        (overheads.looking, "looking for work takes"),
        (overheads.moving, "moving it takes"),
        (overheads.placing, "placing requests takes"),
        (overheads.allocating, "waiting for granted cores takes"),
    ] {
        if share >= 0.0005 {
            parts.push(format!("{does} {} of the core time", percent(share)));
        }
    }
    match candidate.dedicated {
        0 => {}
        1 => parts.push("1 core serves no requests".to_owned()),
        dedicated => parts.push(format!("{dedicated} cores serve no requests")),
    }
    parts
}
