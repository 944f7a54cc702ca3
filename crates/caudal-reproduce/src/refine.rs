//! Further replications of the points that open statements depend on. `reproduction` calls it after the first analysis of all figures. It
//! simulates on several threads.
//!
//! The first analysis of all figures leaves some statements undecided, mostly for want of replications of a few points.
//! Every round asks each of them which points may decide it ([`super::claim::Want`]), takes statements in the order
//! of what they cost until the round's budget is spent, and simulates the points on. Which ones depends on simulated
//! results alone, never on the clock or the number of threads.

use std::collections::BTreeMap;

use caudal_config::Point;
use caudal_policy::discipline::DisciplineConfig;
use caudal_sim::experiment::Results;

use super::cell::CellId;
use super::claim::{ANALYSES, Want};
use super::figure::{Figure, Study};
use super::measured::Measured;
use super::parallel::{RunError, in_parallel};
use super::run::FigurePlan;
use caudal_results::{Control, Progress};

/// Highest cost of a round for the figures of one paper, in requests that run to completion.
const ROUND_COST: f64 = 0.3e9;
/// The same where requests fork, in tasks: a replication of 100,000 requests has 25 million, and a statement asks for some
/// twenty more of two to four points.
const FORKED_ROUND_COST: f64 = 5e9;

/// Adds replications until nothing is open that they may decide, or no round is left.
///
/// # Errors
/// If it is interrupted.
pub(crate) fn refine(
    figures: &[&'static Figure],
    plans: &[FigurePlan],
    measured: &mut [(&'static str, Measured)],
    control: &Control<'_, Progress>,
) -> Result<(), RunError> {
    for _ in 1..ANALYSES {
        let mut more: Vec<Want> = Vec::new();
        for paper in papers(figures) {
            let most = round_cost(&paper, plans);
            more.extend(chosen(&wanted(&paper, measured), most, |cell| cost(plans, measured, cell)));
        }
        if more.is_empty() {
            return Ok(());
        }
        control.tell(Progress::MoreSteps(more.len() as u64));
        let refined = in_parallel(control.threads, &more, |want| {
            let (plan, results) = found(plans, measured, want.cell);
            let refined = plan.extend(want, results, control)?;
            control.tell(Progress::Step);
            Ok(refined)
        })?;
        for (cell, results) in refined {
            let at = cell.id.at;
            if let Some((_, figure)) = measured.iter_mut().find(|(name, _)| *name == cell.id.figure) {
                (figure.cells[at], figure.results[at]) = (cell, results);
            }
        }
    }
    Ok(())
}

/// The figures of each paper, which share what a round may cost.
fn papers(figures: &[&'static Figure]) -> Vec<Vec<&'static Figure>> {
    let mut papers: Vec<(&str, Vec<&'static Figure>)> = Vec::new();
    for figure in figures {
        match papers.iter_mut().find(|(paper, _)| *paper == figure.paper()) {
            Some((_, figures)) => figures.push(figure),
            None => papers.push((figure.paper(), vec![figure])),
        }
    }
    papers.into_iter().map(|(_, figures)| figures).collect()
}

/// The highest cost of a round of these figures.
fn round_cost(paper: &[&'static Figure], plans: &[FigurePlan]) -> f64 {
    let forks = paper.iter().any(|figure| plans.iter().any(|plan| plan.forks(figure.name)));
    if forks { FORKED_ROUND_COST } else { ROUND_COST }
}

/// The replications that every open statement wants.
fn wanted(figures: &[&'static Figure], measured: &[(&'static str, Measured)]) -> Vec<Vec<Want>> {
    let mut wanted = Vec::new();
    for figure in figures {
        let Some(study) = Study::of(measured, figure.name) else { continue };
        let judged = figure.statements.iter().filter(|statement| study.has(statement.needs));
        wanted.extend(judged.map(|statement| (statement.judge)(&study).wants));
    }
    wanted.retain(|wants| !wants.is_empty());
    wanted
}

/// A replication of a point: its requests, and what they cost. With how many replications it has.
struct Cost {
    replication: f64,
    done: usize,
}

/// The points that are simulated on, and to how many replications: all that the cheapest statements want, as long as it costs
/// no more than `most`; the dearest first, so that no thread is left with one at the end.
fn chosen(wanted: &[Vec<Want>], most: f64, cost: impl Fn(CellId) -> Cost) -> Vec<Want> {
    // What a statement adds to what is taken already, as (cost, replications by point).
    let added = |wants: &[Want], taken: &BTreeMap<CellId, usize>| {
        let mut more: BTreeMap<CellId, usize> = BTreeMap::new();
        for want in wants {
            let most = more.entry(want.cell).or_default();
            *most = (*most).max(want.replications);
        }
        let price = |(&cell, &replications): (&CellId, &usize)| {
            let Cost { replication, done } = cost(cell);
            let had = done.max(taken.get(&cell).copied().unwrap_or(0));
            replication * replications.saturating_sub(had) as f64
        };
        (more.iter().map(price).sum::<f64>(), more)
    };
    let none = BTreeMap::new();
    let mut by_cost: Vec<_> = wanted.iter().map(|wants| (added(wants, &none).0, wants)).collect();
    by_cost.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut spent, mut taken) = (0.0, BTreeMap::new());
    for (_, wants) in by_cost {
        let (price, more) = added(wants, &taken);
        if spent + price > most {
            break;
        }
        spent += price;
        for (cell, replications) in more {
            let most = taken.entry(cell).or_insert(0);
            *most = replications.max(*most);
        }
    }
    let price = |want: &Want| {
        let Cost { replication, done } = cost(want.cell);
        replication * want.replications.saturating_sub(done) as f64
    };
    let wants = taken.into_iter().map(|(cell, replications)| Want { cell, replications });
    let mut wants: Vec<Want> = wants.filter(|want| price(want) > 0.0).collect();
    wants.sort_by(|a, b| price(b).total_cmp(&price(a)));
    wants
}

fn found<'a>(
    plans: &'a [FigurePlan],
    measured: &'a [(&'static str, Measured)],
    cell: CellId,
) -> (&'a FigurePlan, &'a Results) {
    let at = measured.iter().position(|(name, _)| *name == cell.figure);
    let at = at.expect("a statement wants points of figures that it needs");
    (&plans[at], &measured[at].1.results[cell.at])
}

fn cost(plans: &[FigurePlan], measured: &[(&'static str, Measured)], cell: CellId) -> Cost {
    let (plan, results) = found(plans, measured, cell);
    let requests = (results.warm_up + results.measured) as f64;
    Cost { replication: requests * events(plan.point(cell)), done: results.accounts.len() }
}

/// Tasks that a request forks, or slices that it takes under processor sharing; 1 if it runs to completion.
fn events(point: &Point) -> f64 {
    if point.system.parallelism.forks() {
        let service = &point.workload.service;
        return service.dag().mean_leaves(service.mean_ps() as u64, point.system.cores);
    }
    match point.system.discipline {
        DisciplineConfig::ProcessorSharing(sharing) if sharing.quantum.0 > 0 => {
            1.0 + point.workload.service.mean_ps() / sharing.quantum.0 as f64
        }
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn want(at: usize, replications: usize) -> Want {
        Want { cell: CellId { figure: "a", at }, replications }
    }

    fn costs(replication: f64) -> impl Fn(CellId) -> Cost {
        move |_| Cost { replication, done: 16 }
    }

    #[test]
    fn the_cheapest_statements_come_first_and_points_are_paid_once() {
        let wanted = [vec![want(0, 64), want(1, 64)], vec![want(0, 32)], vec![want(2, 512)]];
        let few = chosen(&wanted, 1_000.0, costs(10.0));
        assert_eq!(few, [want(0, 64), want(1, 64)], "16 for the cheapest, 32 and 48 more for the next");
        let all = chosen(&wanted, 1_000.0, costs(1.0));
        assert_eq!(all, [want(2, 512), want(0, 64), want(1, 64)], "the dearest point first");
    }

    #[test]
    fn what_is_there_is_not_simulated_again() {
        assert!(chosen(&[vec![want(0, 16)]], 1_000.0, costs(1.0)).is_empty());
    }
}
