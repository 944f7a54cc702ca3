//! The table of systems in a report: how much load each one carries within the targets, or on how few cores. The report makes it of its
//! rows once; `waits` takes the systems' names from it. Pure.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::counted::Counted;
use crate::target::TargetLine;
use crate::views::{Along, curves, varies};
use caudal_row::{Row, Stat};

/// A system's line in the table.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemLine {
    /// Name of the system, with what was varied.
    pub name: String,
    /// Whether it could be run; the others are reference lines.
    pub deployable: bool,
    /// How far it gets, if it meets the targets anywhere.
    pub reach: Option<Reach>,
    /// Cores that it held there.
    pub cores: Option<f64>,
    /// The statistic of each target there, in the order of the targets.
    pub tails: Vec<Option<Stat>>,
    /// Efficiency there.
    pub efficiency: Option<Stat>,
    /// Preemptions per request there.
    pub preemptions_per_request: Option<Stat>,
}

/// The best point of a system and what is known of the true limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// The highest load, or fewest cores, at which the estimates meet all targets.
    pub value: f64,
    /// The furthest at which the whole intervals of runs that were long enough meet them; none when only the
    /// estimates do.
    pub certain: Option<f64>,
    /// The nearest point beyond `value` at which it was not seen whether the targets are met, if that is nearer than
    /// `missed`.
    pub undecided: Option<f64>,
    /// The nearest point beyond `value` at which a target is certainly missed; none when none was simulated.
    pub missed: Option<f64>,
}

/// The meaning of "best" for a set of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    MostLoad,
    FewestCores(Counted),
}

impl Goal {
    pub(crate) fn of(rows: &[Row], counted: Counted) -> Self {
        let cores_only = varies(rows, Along::Cores(counted)) && !varies(rows, Along::Load);
        if cores_only { Self::FewestCores(counted) } else { Self::MostLoad }
    }

    pub(crate) fn along(self) -> Along {
        match self {
            Self::MostLoad => Along::Load,
            Self::FewestCores(counted) => Along::Cores(counted),
        }
    }

    pub(crate) fn place(self, row: &Row) -> Option<f64> {
        self.along().of(row)
    }
}

#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Meets {
    No,
    Maybe,
    ByEstimate,
    Certainly,
}

/// One line a curve, the best first, lines of reference after the systems that they reach as far as.
pub(crate) fn lines(
    rows: &[Row],
    targets: &[TargetLine],
    found: &IndexMap<String, Reach>,
    counted: Counted,
) -> Vec<SystemLine> {
    let goal = Goal::of(rows, counted);
    let mut lines: Vec<_> = curves(rows, goal.along())
        .into_iter()
        .map(|(name, rows)| line(name, &rows, (targets, found), (goal, counted)))
        .collect();
    let order = |line: &SystemLine| match (goal, line.reach) {
        (_, None) => f64::INFINITY,
        (Goal::MostLoad, Some(reach)) => -reach.value,
        (Goal::FewestCores(_), Some(reach)) => reach.value,
    };
    lines.sort_by(|a, b| order(a).total_cmp(&order(b)).then(b.deployable.cmp(&a.deployable)));
    lines
}

fn line(
    name: String,
    rows: &[&Row],
    (targets, found): (&[TargetLine], &IndexMap<String, Reach>),
    (goal, counted): (Goal, Counted),
) -> SystemLine {
    // From the easy end (little load, many cores) to the hard one.
    let mut path: Vec<(f64, &Row)> = rows.iter().filter_map(|row| Some((goal.place(row)?, *row))).collect();
    if matches!(goal, Goal::FewestCores(_)) {
        path.reverse();
    }
    let met: Vec<Meets> = path.iter().map(|(_, row)| meets(row, targets)).collect();
    let last = |least: Meets| met.iter().rposition(|m| *m >= least);
    // Who searched for the limit knows more than the rows say.
    let found = rows.first().and_then(|row| found.get(&row.system));
    let (best, reach) = match found {
        Some(reach) => (path.iter().position(|(place, _)| is_same(*place, reach.value)), Some(*reach)),
        None => {
            let best = last(Meets::ByEstimate);
            let reach = best.map(|at| Reach {
                value: path[at].0,
                certain: last(Meets::Certainly).map(|at| path[at].0),
                undecided: path.get(at + 1).filter(|_| met[at + 1] == Meets::Maybe).map(|(place, _)| *place),
                missed: (at + 1..path.len())
                    .find(|beyond| met[*beyond] == Meets::No)
                    .map(|beyond| path[beyond].0),
            });
            (best, reach)
        }
    };
    let row = best.map(|at| path[at].1);
    SystemLine {
        name,
        deployable: rows.iter().all(|row| row.deployable),
        reach,
        cores: row.and_then(|row| counted.mean_cores(row)),
        tails: targets.iter().map(|target| row.and_then(|row| target.of(row))).collect(),
        efficiency: row.and_then(|row| Stat::of(row.efficiency)),
        preemptions_per_request: row.and_then(|row| Stat::of(row.preemptions_per_request)),
    }
}

/// Loads and cores are written with some digits only.
fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs()
}

fn meets(row: &Row, targets: &[TargetLine]) -> Meets {
    if row.overloaded {
        return Meets::No;
    }
    // Short runs show nothing for certain.
    let mut worst = if row.holds() { Meets::Certainly } else { Meets::ByEstimate };
    for target in targets {
        let met = match target.of(row) {
            None => Meets::No,
            // A number without an interval is exact; an interval without upper end shows nothing for certain.
            Some(Stat { interval: Some((_, high)), .. }) if high <= target.value => Meets::Certainly,
            Some(Stat { estimate, interval: None }) if estimate <= target.value => Meets::Certainly,
            Some(stat) if stat.estimate <= target.value => Meets::ByEstimate,
            Some(Stat { interval: Some((low, _)), .. }) if low <= target.value => Meets::Maybe,
            Some(_) => Meets::No,
        };
        worst = if met < worst { met } else { worst };
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use caudal_row::RowMetric;

    fn target(value: f64) -> TargetLine {
        let (label, percentile) = ("p99".to_owned(), "p99".to_owned());
        TargetLine { label, class: None, metric: RowMetric::Latency, percentile, value }
    }

    fn point(load: f64, p99: (f64, f64, f64)) -> String {
        let (low, estimate, high) = p99;
        format!(
            r#"{{"system":"a","load":{load},"latency_ns":{{"p99":{{"estimate":{estimate},"low":{low},"high":{high}}}}}}}"#
        )
    }

    #[test]
    fn an_interval_without_upper_end_is_not_sure() {
        let open = |load: f64, low: f64, estimate: f64| {
            point(load, (low, estimate, 0.0)).replace(r#""high":0"#, r#""high":null"#)
        };
        let rows =
            [point(0.2, (1.0, 2.0, 3.0)), open(0.4, 4.0, 9.0), open(0.5, 6.0, 12.0), open(0.6, 11.0, 12.0)];
        let rows = Row::from_lines(&rows.join("\n")).unwrap();
        let reach = super::lines(&rows, &[target(10.0)], &IndexMap::new(), Counted::Cores)[0].reach;
        let expected = Reach { value: 0.4, certain: Some(0.2), undecided: Some(0.5), missed: Some(0.6) };
        assert_eq!(reach, Some(expected), "the open end at 0.5 is no miss, a lower end above the target is");
    }

    #[test]
    fn a_miss_target_is_held_against_the_miss_ratio() {
        let late = |load: f64, share: f64| {
            let ratio = format!(r#"{{"estimate":{share},"low":{share},"high":{share}}}"#);
            format!(
                r#"{{"system":"a","load":{load},"latency_ns":{{"p99":9.0}},"misses":[{{"late_ns":4020.0,"ratio":{ratio}}}]}}"#
            )
        };
        let rows =
            Row::from_lines(&[late(0.5, 0.001), late(0.7, 0.009), late(0.8, 0.02)].join("\n")).unwrap();
        let percentile = crate::miss_name(4_020.0);
        let target = TargetLine { metric: RowMetric::Miss, percentile, ..target(0.01) };
        let line = &super::lines(&rows, &[target], &IndexMap::new(), Counted::Cores)[0];
        assert_eq!(line.reach.map(|reach| (reach.certain, reach.missed)), Some((Some(0.7), Some(0.8))));
        assert_eq!(line.tails[0].map(|tail| tail.estimate), Some(0.009));
    }

    #[test]
    fn who_searched_for_the_limit_knows_more_than_the_rows() {
        let short = point(0.7, (1.0, 2.0, 3.0)).replacen('{', r#"{"steady":false,"#, 1);
        let rows = Row::from_lines(&format!("{}\n{short}", point(0.5, (1.0, 2.0, 3.0)))).unwrap();
        let line = |found: &[(String, Reach)]| {
            let found = found.iter().cloned().collect();
            lines(&rows, &[target(10.0)], &found, Counted::Cores).remove(0)
        };
        let reach = Reach { value: 0.7, certain: Some(0.5), undecided: None, missed: None };
        assert_eq!(line(&[]).reach, Some(reach), "short runs show nothing for certain");
        assert_eq!(
            line(&[]).tails[0].unwrap().interval,
            Some((1.0, f64::INFINITY)),
            "they show a lower bound"
        );
        let known = Reach { value: 0.5, certain: Some(0.5), undecided: Some(0.7), missed: Some(0.9) };
        let found = line(&[("a".to_owned(), known)]);
        assert_eq!(found.reach, Some(known));
        assert_eq!(found.tails[0].unwrap().estimate, 2.0);
    }

    #[test]
    fn the_limit_lies_between_what_surely_meets_and_what_surely_misses() {
        let lines = [
            point(0.2, (1.0, 2.0, 3.0)),
            point(0.4, (8.0, 9.0, 11.0)),
            point(0.5, (9.0, 12.0, 13.0)),
            point(0.6, (20.0, 21.0, 22.0)),
        ];
        let rows = Row::from_lines(&lines.join("\n")).unwrap();
        let table = super::lines(&rows, &[target(10.0)], &IndexMap::new(), Counted::Cores);
        assert_eq!(
            table[0].reach,
            Some(Reach { value: 0.4, certain: Some(0.2), undecided: Some(0.5), missed: Some(0.6) })
        );
        assert_eq!(table[0].tails[0].unwrap().estimate, 9.0);
    }

    #[test]
    fn a_system_that_never_meets_the_target_comes_last() {
        let mut rows = Row::from_lines(&point(0.2, (20.0, 21.0, 22.0))).unwrap();
        rows.extend(Row::from_lines(&point(0.1, (1.0, 1.0, 1.0)).replace("\"a\"", "\"b\"")).unwrap());
        let table = super::lines(&rows, &[target(10.0)], &IndexMap::new(), Counted::Cores);
        assert_eq!(table.iter().map(|line| line.name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(table[1].reach, None);
    }

    #[test]
    fn dedicated_cores_are_cores_unless_workers_are_counted() {
        let row = |system: &str, workers: u32, dedicated: u32| {
            let cores = format!(r#""cores":16,"cores_allocated":{workers},"cores_dedicated":{dedicated}"#);
            format!(r#"{{"system":"{system}","load":0.5,{cores},"latency_ns":{{"p99":{}}}}}"#, 80 / workers)
        };
        let rows = [row("go", 8, 0), row("go", 9, 0), row("tq", 8, 1), row("tq", 9, 1)];
        let rows = Row::from_lines(&rows.join("\n")).unwrap();
        let table = |counted| super::lines(&rows, &[target(10.0)], &IndexMap::new(), counted);
        let reached = |lines: Vec<SystemLine>| -> Vec<(String, f64, Option<f64>)> {
            lines.into_iter().map(|line| (line.name, line.reach.unwrap().value, line.cores)).collect()
        };
        let line = |name: &str, cores: f64| (name.to_owned(), cores, Some(cores));
        assert_eq!(reached(table(Counted::Cores)), [line("go", 8.0), line("tq", 9.0)]);
        assert_eq!(reached(table(Counted::Workers)), [line("go", 8.0), line("tq", 8.0)]);
    }

    #[test]
    fn fewest_cores_wins_when_only_cores_vary() {
        let row = |cores: u32, p99: u32| {
            format!(r#"{{"system":"a","load":0.5,"cores_allocated":{cores},"latency_ns":{{"p99":{p99}}}}}"#)
        };
        let rows = Row::from_lines(&[row(8, 12), row(10, 9), row(12, 7)].join("\n")).unwrap();
        let table = super::lines(&rows, &[target(10.0)], &IndexMap::new(), Counted::Cores);
        assert_eq!(
            table[0].reach,
            Some(Reach { value: 10.0, certain: Some(10.0), undecided: None, missed: Some(8.0) })
        );
    }
}
