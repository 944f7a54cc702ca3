//! `caudal sim --check-bounds`: does a discipline keep its bounds, after every event of a run?

use std::collections::BTreeMap;

use caudal_config::{Point, Variant};
use caudal_policy::discipline::DisciplineConfig;
use caudal_policy::discipline::lanes::Broken;
use caudal_policy::rebalance::RebalanceConfig;
use caudal_report::chart::Unit;
use caudal_sim::engine::{Event, Length, Observer, Run, simulate};
use miette::miette;

use crate::global::Global;
use crate::progress::Progress;

/// Requests that are looked at.
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

/// Runs 100,000 requests of each point whose discipline has bounds, and says what became of them; how many points broke
/// one. Thieves take tasks that servers were on their way to, so nothing is promised of their pools.
///
/// # Errors
/// If no point has any.
pub(crate) fn check(points: &[Point], global: &Global) -> miette::Result<usize> {
    let with_bounds: Vec<&Point> = points.iter().filter(|point| has_bounds(point)).collect();
    if with_bounds.is_empty() {
        return Err(miette!(
            help = "leave out --check-bounds, or take sqd-sita or isqd-sita as discipline, and no thieves",
            "no point has a discipline with bounds that can be checked"
        ));
    }
    let progress = Progress::new(global, with_bounds.len() as u64, "checking bounds");
    let mut bad = 0;
    for point in &with_bounds {
        let mut watch = Watch::default();
        simulate(&run(point), &mut watch);
        progress.step();
        bad += usize::from(!watch.broken.is_empty());
        errln!("bounds of {}: {}", point.key, said(&watch));
    }
    progress.finish();
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

fn said(watch: &Watch) -> String {
    if watch.broken.is_empty() {
        return format!("kept after each of {} events", watch.events);
    }
    let part = |(what, (count, first_ps)): (&String, &(u64, u64))| {
        let first = Unit::Nanoseconds.show(*first_ps as f64 / 1e3);
        format!("{what}, after {count} of {} events, at {first} for the first time", watch.events)
    };
    watch.broken.iter().map(part).collect::<Vec<_>>().join("; ")
}
