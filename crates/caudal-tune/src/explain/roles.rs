//! The choice of the few systems that are shown beside the answer, because a reader can compare five lines, but not thirty. The summary of a plan
//! calls [`shown`] once, when the search has ended. Pure.

use caudal_stats::Estimate;

use crate::aims::Aim;
use crate::evidence::Evidence;
use crate::judge::{Probe, ProbeContext};
use crate::plan::{Role, Shown, TargetResult};
use crate::search::Search;

/// Systems that stand for what most services run today: requests that are spread over the queues of the cores at random, idle cores that steal, and
/// no preemption at these time scales. The policies paper speaks of the "widespread use" of work stealing (McClure et al.,
/// section 4.1); it is what the schedulers of Go, of Tokio and of Java's `ForkJoinPool` do, whose time slices are
/// milliseconds. A service without balancing (a queue for each core and nothing else) does worse, so a gain over this
/// system is a gain over that one, too. If a question leaves the first system out, the next one is shown.
const TODAY: [&str; 3] = ["work-stealing", "go", "no-balancing"];
/// The same where requests fork: the random stealing of TBB, which Li et al. call the default.
const TODAY_FORKED: &str = "default-tbb";

/// The few, the answer first. Without evidence nothing meets the targets, and the nearest is shown instead.
pub(super) fn shown<'a>(
    context: &ProbeContext<'_>,
    evidence: Option<&Evidence<'a>>,
    searches: &'a [Search],
) -> Vec<Shown> {
    let chosen: Vec<(Option<&Search>, Role)> = match evidence {
        Some(evidence) => {
            // If no system interrupts requests, no line is about interruptions.
            let interrupts = |search: &Search| search.candidate.deployable() && search.candidate.preempts();
            let contrast = match evidence.winner.candidate.preempts() {
                true => evidence.contrast.map(|rival| rival.search),
                false => searches.iter().any(interrupts).then_some(evidence.winner),
            };
            vec![
                (Some(evidence.winner), Role::Answer),
                (evidence.runner_up.map(|rival| rival.search), Role::RunnerUp),
                (contrast, Role::NoPreemption),
                (today(searches), Role::Today),
                (evidence.reference, Role::Bound),
            ]
        }
        None => {
            let bound = |search: &&Search| !search.candidate.deployable() && !search.probes.is_empty();
            let bound = searches.iter().find(bound);
            vec![(nearest(searches), Role::Nearest), (today(searches), Role::Today), (bound, Role::Bound)]
        }
    };
    let mut few: Vec<(&Search, Vec<Role>)> = Vec::new();
    for (search, role) in chosen {
        let Some(search) = search else { continue };
        match few.iter_mut().find(|(known, _)| known.candidate.name() == search.candidate.name()) {
            Some((_, roles)) => roles.push(role),
            None => few.push((search, vec![role])),
        }
    }
    few.into_iter().map(|(search, roles)| Shown { roles, ..line(context, search) }).collect()
}

/// The system that stands for what most services run today, if it took part.
fn today(searches: &[Search]) -> Option<&Search> {
    let forks = searches.iter().any(|search| search.candidate.forks());
    let usual: &[&str] = if forks { &[TODAY_FORKED] } else { &TODAY };
    usual.iter().find_map(|name| searches.iter().find(|search| search.candidate.name() == *name))
}

/// Of the systems that can be built, the one that is nearest to meeting the targets where it is easiest.
pub(super) fn nearest(searches: &[Search]) -> Option<&Search> {
    let deployable = searches.iter().filter(|search| search.candidate.deployable());
    let easiest = deployable.filter_map(|search| Some((search, search.probes.values().next()?)));
    let alive = easiest.filter(|(_, probe)| probe.score.is_finite());
    alive.min_by(|a, b| a.1.score.total_cmp(&b.1.score)).map(|(search, _)| search)
}

fn line(context: &ProbeContext<'_>, search: &Search) -> Shown {
    let furthest = search.certain().or(search.bracket.pass);
    let hardness = furthest.or(search.probes.keys().next().copied());
    let probe = hardness.and_then(|hardness| search.at(hardness));
    let alive = probe.filter(|probe| !probe.row.overloaded);
    let each = |probe: &Probe| -> Vec<TargetResult> {
        let result = |(aim, &estimate): (&Aim, &Estimate)| TargetResult {
            target: aim.target.to_string(),
            estimate,
            limit: aim.limit,
        };
        context.aims.iter().zip(&probe.estimates).map(result).collect()
    };
    Shown {
        system: search.candidate.name().to_owned(),
        roles: Vec::new(),
        at: hardness.filter(|_| probe.is_some()).map(|hardness| search.value(hardness)),
        overloaded: probe.is_some() && alive.is_none(),
        rate_per_s: probe.map(|probe| probe.row.rate_per_s),
        targets: alive.map(each).unwrap_or_default(),
        efficiency: alive.map(|probe| probe.row.efficiency),
    }
}
