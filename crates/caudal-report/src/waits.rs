//! The chart of where requests wait, by cause, for all systems at one load: why a tail is what it is. The report makes it at the load of
//! the answer. Pure.
//!
//! Causes add up. A row's `behind_long` is a part of its `queued`, and nobody knows it under preemption; so where any
//! system has it, queueing is shown as two causes, [`BEHIND_LONG`] and [`OTHER_QUEUEING`].

use indexmap::IndexSet;

use crate::counted::Counted;
use crate::table::{Goal, SystemLine};
use crate::target::TargetLine;
use crate::views::curves;
use caudal_row::{Row, WaitByCause};

/// Keys of a row for the time from arrival to the first slice, and for the part of it behind long requests.
const QUEUED: &str = "queued";
const QUEUED_BEHIND_LONG: &str = "behind_long";
/// The two parts of queueing, where it is split; all of it is in the second one where the first is unknown.
pub(crate) const BEHIND_LONG: &str = "queued behind long";
/// See [`BEHIND_LONG`].
pub(crate) const OTHER_QUEUEING: &str = "other queueing";

/// Mean waiting by cause, of one class at one load (or number of cores).
pub(crate) struct Waits {
    /// The class; all requests if none.
    pub(crate) class: Option<String>,
    /// The load, or the cores where only those vary.
    pub(crate) place: f64,
    /// All causes of any system, in the order of the rows. They are apart from each other: their sum is the waiting.
    pub(crate) causes: Vec<String>,
    /// The systems that were simulated there.
    pub(crate) systems: Vec<SystemWaits>,
}

/// Waiting of one system.
#[derive(Debug, PartialEq)]
pub(crate) struct SystemWaits {
    pub(crate) name: String,
    pub(crate) deployable: bool,
    /// Nanoseconds per cause, none where they are unknown; nothing when it is overloaded there.
    pub(crate) by_cause_ns: Option<Vec<Option<f64>>>,
}

/// Waiting at the place that the best system reaches; nothing when the rows do not say why requests waited.
///
/// `lines` is the table of systems, whose order is kept; `winner` the system that the report recommends.
pub(crate) fn waits(
    rows: &[Row],
    targets: &[TargetLine],
    lines: &[SystemLine],
    winner: Option<&str>,
    counted: Counted,
) -> Option<Waits> {
    let goal = Goal::of(rows, counted);
    let best = lines.iter().find(|line| Some(line.name.as_str()) == winner);
    let place = best.or_else(|| lines.iter().find(|line| line.deployable))?.reach?.value;
    let class = targets.first().and_then(|target| target.class.clone());
    let curves = curves(rows, goal.along());
    let here = |name: &str| {
        let curve = curves.get(name)?;
        curve.iter().find(|row| goal.place(row).is_some_and(|at| (at - place).abs() < 1e-9)).copied()
    };
    let found: Vec<(&SystemLine, &Row)> =
        lines.iter().filter_map(|line| Some((line, here(&line.name)?))).collect();
    let causes = causes(found.iter().filter_map(|(_, row)| of_class(row, class.as_deref())));
    let amounts = |row: &Row| {
        let waits = of_class(row, class.as_deref()).filter(|_| !row.overloaded)?;
        Some(causes.iter().map(|cause| amount_ns(&waits, cause)).collect())
    };
    let systems = found.iter().map(|(line, row)| SystemWaits {
        name: line.name.clone(),
        deployable: line.deployable,
        by_cause_ns: amounts(row),
    });
    let systems = systems.collect();
    let class = class.filter(|name| rows.iter().any(|row| row.classes.get(name).is_some()));
    (!causes.is_empty()).then(|| Waits { class, place, causes: causes.iter().cloned().collect(), systems })
}

/// The causes of all these, queueing split where any of them knows what of it was behind long requests.
fn causes(all: impl Iterator<Item = WaitByCause>) -> IndexSet<String> {
    let known = |waits: WaitByCause| waits.known().map(|(cause, _)| cause).collect::<Vec<_>>();
    let keys: IndexSet<&str> = all.flat_map(known).collect();
    let split = keys.contains(QUEUED_BEHIND_LONG);
    let mut causes = IndexSet::new();
    for key in keys {
        match key {
            QUEUED if split => causes.extend([BEHIND_LONG, OTHER_QUEUEING].map(str::to_owned)),
            QUEUED_BEHIND_LONG => {}
            other => {
                causes.insert(other.to_owned());
            }
        }
    }
    causes
}

/// The mean time of a cause, in ns; nothing where that is unknown.
fn amount_ns(waits: &WaitByCause, cause: &str) -> Option<f64> {
    let of = |key: &str| waits.known().find(|(known, _)| *known == key).map(|(_, ns)| ns.max(0.0));
    match cause {
        BEHIND_LONG => of(QUEUED_BEHIND_LONG),
        OTHER_QUEUEING => Some((of(QUEUED).unwrap_or(0.0) - of(QUEUED_BEHIND_LONG).unwrap_or(0.0)).max(0.0)),
        other => Some(of(other).unwrap_or(0.0)),
    }
}

/// Waiting of the class where the row has it, else of all requests; none where the row does not say why requests waited.
fn of_class(row: &Row, class: Option<&str>) -> Option<WaitByCause> {
    class.and_then(|name| row.classes.get(name)).and_then(|class| class.wait_ns).or(row.wait_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;
    use caudal_row::RowMetric;

    #[test]
    fn waiting_is_compared_where_the_winner_reaches() {
        let row = |system: &str, load: f64, p99: u32, wait: &str| {
            format!(
                r#"{{"system":"{system}","load":{load},"latency_ns":{{"p99":{p99}}},"wait_ns":{{{wait}}},"overloaded":{}}}"#,
                p99 == 0
            )
        };
        let text = [
            row("a", 0.5, 5, r#""queued":1"#),
            row("a", 0.7, 9, r#""queued":5,"behind_long":3,"preempted":0"#),
            row("b", 0.5, 9, r#""queued":4"#),
            row("b", 0.7, 0, r#""queued":9"#),
            row("c", 0.7, 9, r#""queued":4,"behind_long":null,"preempted":2"#),
        ];
        let rows = Row::from_lines(&text.join("\n")).unwrap();
        let target = TargetLine {
            label: String::new(),
            class: None,
            metric: RowMetric::Latency,
            percentile: "p99".into(),
            value: 10.0,
        };
        let lines =
            table::lines(&rows, std::slice::from_ref(&target), &indexmap::IndexMap::new(), Counted::Cores);
        let waits = waits(&rows, &[target], &lines, None, Counted::Cores).unwrap();
        assert_eq!(
            (waits.place, waits.causes),
            (
                0.7,
                [BEHIND_LONG, OTHER_QUEUEING, "preempted", "overhead", "probes"].map(str::to_owned).to_vec()
            )
        );
        let amounts: Vec<_> =
            waits.systems.into_iter().map(|system| (system.name, system.by_cause_ns)).collect();
        let known = |name: &str, [long, other, preempted]: [Option<f64>; 3]| {
            (name.to_owned(), Some(vec![long, other, preempted, Some(0.0), Some(0.0)]))
        };
        let a = known("a", [Some(3.0), Some(2.0), Some(0.0)]);
        let c = known("c", [None, Some(4.0), Some(2.0)]);
        assert_eq!(amounts, [a, c, ("b".to_owned(), None)], "a part of queueing is not counted twice");
    }
}
