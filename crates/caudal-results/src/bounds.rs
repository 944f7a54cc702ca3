//! The bounds that disciplines with lanes promise, checked after every event of a run; `caudal sim --check-bounds` prints what came of it.

use std::collections::BTreeMap;

use caudal_config::{Point, Variant};
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::discipline::lanes::Broken;
use caudal_policy::rebalance::RebalanceConfig;
use caudal_report::chart::Unit;
use caudal_sim::engine::{Event, Length, Observer, Run, simulate};

use crate::error::ResultsError;
use crate::{Control, Progress};

/// Requests that are checked.
const REQUESTS: u64 = 100_000;

/// Counts broken bounds, with the time of the first.
#[derive(Default)]
struct Watch {
    events: u64,
    broken: BTreeMap<String, (u64, u64)>,
}

impl Observer for &mut Watch {
    fn observe(&mut self, _now_ps: u64, _event: Event) {
        self.events += 1;
    }

    fn checks(&self) -> bool {
        true
    }

    fn broken(&mut self, now_ps: u64, pool: u32, promise: Broken) {
        let (count, _) = self.broken.entry(format!("pool {pool}: {promise}")).or_insert((0, now_ps));
        *count += 1;
    }
}

/// Runs 100,000 requests of each point whose discipline has bounds; `said` gets the point's name and what became of its bounds. The
/// number of points that broke one. Thieves take tasks that servers were on their way to, so nothing is promised of their pools.
///
/// # Errors
/// If no point has any.
pub fn check(
    points: &[Point],
    control: &Control<'_, Progress>,
    said: &dyn Fn(&str, &str),
) -> Result<usize, ResultsError> {
    let with_bounds: Vec<&Point> = points.iter().filter(|point| has_bounds(point)).collect();
    if with_bounds.is_empty() {
        return Err(ResultsError::refused(
            "no point has a discipline with bounds that can be checked",
            "leave out --check-bounds, or take sqd-sita or isqd-sita as discipline, and no thieves",
        ));
    }
    let mut bad = 0;
    for point in &with_bounds {
        let mut watch = Watch::default();
        simulate(&run(point), &mut watch);
        control.tell(Progress::Step);
        bad += usize::from(!watch.broken.is_empty());
        said(&point.key, &in_words(&watch));
    }
    Ok(bad)
}

fn run(point: &Point) -> Run<'_> {
    Run::of(point, Length { warm_up: 0, measured: REQUESTS })
}

fn has_bounds(point: &Point) -> bool {
    let lanes =
        matches!(point.system.discipline, DisciplineConfig::SqdSita(_) | DisciplineConfig::IsqdSita(_));
    lanes && point.system.rebalance == RebalanceConfig::None && point.system.variant == Variant::Paper
}

fn in_words(watch: &Watch) -> String {
    if watch.broken.is_empty() {
        return format!("kept after each of {} events", watch.events);
    }
    let part = |(what, (count, first_ps)): (&String, &(u64, u64))| {
        let first = Unit::Nanoseconds.show(*first_ps as f64 / 1e3);
        format!("{what}, after {count} of {} events, at {first} for the first time", watch.events)
    };
    watch.broken.iter().map(part).collect::<Vec<_>>().join("; ")
}

/// The number of points that [`check`] runs: its steps of progress.
#[must_use]
pub fn steps(points: &[Point]) -> usize {
    points.iter().filter(|point| has_bounds(point)).count()
}
