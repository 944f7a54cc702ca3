//! The charts that a set of rows makes: tail against load and cores, slowdown, efficiency against tail. The report asks once for all of
//! its rows. Pure.

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use crate::chart::{Axis, Chart, Level, Mark, Plot, Point, Series, Spread, Unit, Variant};
use crate::counted::Counted;
use crate::target::TargetLine;
use caudal_row::{Row, RowMetric, Stat};

/// The horizontal axis of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    Load,
    Cores(Counted),
}

impl Along {
    pub(crate) fn of(self, row: &Row) -> Option<f64> {
        match self {
            // No point has a load of 0: such a row does not say it.
            Self::Load => (row.load > 0.0).then_some(row.load),
            Self::Cores(counted) => counted.held_cores(row),
        }
    }

    fn axis(self) -> Axis {
        match self {
            Self::Load => Axis::new("load", Unit::Plain, Spread::Linear),
            Self::Cores(counted) => {
                Axis::new(format!("{}s", counted.singular()), Unit::Count, Spread::Linear)
            }
        }
    }

    /// Whether a varied key (`load`, `allocation.cores`) is what the curve runs along.
    fn is_key(self, key: &str) -> bool {
        let last = key.rsplit('.').next().unwrap_or(key);
        match self {
            Self::Load => matches!(last, "load" | "rate"),
            Self::Cores(_) => matches!(last, "cores" | "cores_allocated"),
        }
    }
}

/// Rows that make one curve, under the name of the curve, sorted along it.
pub(crate) type Curves<'a> = IndexMap<String, Vec<&'a Row>>;

/// Groups rows by everything that was varied except what the curve runs along.
pub(crate) fn curves(rows: &[Row], along: Along) -> Curves<'_> {
    let mut curves = Curves::new();
    for row in rows {
        curves.entry(name(row, along, &vary_within_system(rows, along))).or_default().push(row);
    }
    for curve in curves.values_mut() {
        let place = |row: &Row| along.of(row).unwrap_or(f64::NAN);
        curve.sort_by(|a, b| place(a).total_cmp(&place(b)));
    }
    curves
}

/// Varied keys that take more than one value, so that a curve's name has to say which.
fn vary_within_system(rows: &[Row], along: Along) -> IndexSet<String> {
    let mut values: IndexMap<(&str, &str), IndexSet<String>> = IndexMap::new();
    for row in rows {
        for (key, value) in row.varied.iter().filter(|(key, _)| !along.is_key(key)) {
            values.entry((&row.system, key)).or_default().insert(value.to_string());
        }
    }
    let several = values.into_iter().filter(|(_, values)| values.len() > 1);
    several.map(|((_, key), _)| key.to_owned()).collect()
}

fn name(row: &Row, along: Along, named: &IndexSet<String>) -> String {
    let mut name = row.system.clone();
    for (key, value) in row.varied.iter().filter(|(key, _)| named.contains(*key) && !along.is_key(key)) {
        let shown = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let key = key.rsplit('.').next().unwrap_or(key);
        if key != "system" {
            name.push_str(&format!(" · {key} {shown}"));
        }
    }
    name
}

/// Whether any curve along this has two points: else there is nothing to draw.
pub(crate) fn varies(rows: &[Row], along: Along) -> bool {
    let two = |curve: &Vec<&Row>| {
        let mut places = curve.iter().filter_map(|row| along.of(row));
        places.next().is_some_and(|first| places.any(|other| other != first))
    };
    curves(rows, along).values().any(two)
}

/// The rows, targets and winner that all charts of a report are about.
pub(crate) struct Subject<'a> {
    pub(crate) rows: &'a [Row],
    pub(crate) targets: &'a [TargetLine],
    /// Name of the system that the report recommends.
    pub(crate) winner: Option<&'a str>,
    /// The cores that are counted where charts say cores.
    pub(crate) counted: Counted,
}

impl Subject<'_> {
    /// All charts that the rows have data for, in the order of the report.
    pub(crate) fn charts(&self) -> Vec<Chart> {
        let over_load = varies(self.rows, Along::Load);
        let along_cores = Along::Cores(self.counted);
        let over_cores = varies(self.rows, along_cores);
        let mut charts = Vec::new();
        if over_load {
            charts.extend(self.tails("Tail latency against load", Along::Load, RowMetric::Latency));
        }
        if over_cores {
            let title = format!("Tail latency against {}s", self.counted.singular());
            charts.extend(self.tails(&title, along_cores, RowMetric::Latency));
        }
        charts.extend(self.efficiency());
        let along = if over_cores && !over_load { along_cores } else { Along::Load };
        if over_load || over_cores {
            charts.extend(self.tails("Miss ratio", along, RowMetric::Miss));
            charts.extend(self.tails("Waiting: latency less service time", along, RowMetric::Wait));
            charts.extend(self.tails("Slowdown of each class", along, RowMetric::Slowdown));
        }
        charts
    }

    /// Classes in the order of the plots: those with a target first, all requests (`None`) last.
    fn classes(&self) -> Vec<Option<String>> {
        let targeted = self.targets.iter().filter_map(|target| target.class.clone());
        let known: IndexSet<String> =
            self.rows.iter().flat_map(|row| row.classes.names().map(str::to_owned)).collect();
        let mut classes: IndexSet<String> = targeted.filter(|class| known.contains(class)).collect();
        classes.extend(known);
        // One class is all requests.
        if classes.len() < 2 {
            return vec![None];
        }
        classes.into_iter().map(Some).chain([None]).collect()
    }

    /// Names of statistics, mean first, then percentiles upwards, then the largest.
    fn statistics(&self, metric: RowMetric) -> Vec<String> {
        let stats = self.rows.iter().filter_map(|row| row.stats(None, metric));
        let mut names: IndexSet<String> = stats.flatten().map(|(name, _)| name).collect();
        names.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        names.into_iter().collect()
    }

    /// Index of the statistic shown first: the first target's, or the highest percentile.
    fn shown(&self, names: &[String], metric: RowMetric) -> usize {
        let target = self.targets.iter().find(|t| t.metric == metric).or(self.targets.first());
        let wanted = target.and_then(|t| names.iter().position(|name| *name == t.percentile));
        let last = || names.iter().rposition(|name| name.starts_with('p'));
        wanted.or_else(last).unwrap_or(0)
    }

    fn tails(&self, title: &str, along: Along, metric: RowMetric) -> Option<Chart> {
        let names = self.statistics(metric);
        let classes = self.classes();
        let variants: Vec<Variant> = names
            .iter()
            .map(|name| {
                let plots = classes.iter().map(|class| self.tail(class.as_deref(), along, metric, name));
                Variant { name: name.clone(), plots: plots.filter(|plot| !plot.series.is_empty()).collect() }
            })
            .filter(|variant| !variant.plots.is_empty())
            .collect();
        let kept: Vec<_> = variants.iter().map(|variant| variant.name.clone()).collect();
        let note = "The band is the confidence interval. An arrow upwards: no upper end is known, and the band ends \
                    at the estimate. A curve that goes up to a × is overloaded there: its latency has no bound."
            .to_owned();
        let shown = self.shown(&kept, metric);
        (!variants.is_empty()).then(|| Chart { title: title.into(), note, variants, shown })
    }

    fn tail(&self, class: Option<&str>, along: Along, metric: RowMetric, name: &str) -> Plot {
        let y = metric_axis(metric, name);
        let mut plot = Plot::new(class.unwrap_or("all requests"), along.axis(), y);
        for (label, rows) in curves(self.rows, along) {
            let points: Vec<Point> = rows
                .iter()
                .filter_map(|row| {
                    let point = vertical(along.of(row)?, row.steady_stat(class, metric, name)?);
                    Some(Point { note: doubt(row).to_owned(), ..point })
                })
                .collect();
            let overloaded =
                rows.iter().filter(|row| row.overloaded && row.stat(class, metric, name).is_none());
            let unbounded: Vec<f64> = overloaded.filter_map(|row| along.of(row)).collect();
            if !points.is_empty() {
                plot.series.push(Series { unbounded, ..self.series(label, &rows, points) });
            }
        }
        let same =
            |t: &&TargetLine| t.metric == metric && t.percentile == name && t.class.as_deref() == class;
        let level = |t: &TargetLine| Level { at: t.value, label: t.label.clone() };
        plot.levels = self.targets.iter().filter(same).map(level).collect();
        plot
    }

    fn series(&self, name: String, rows: &[&Row], points: Vec<Point>) -> Series {
        let reference = rows.iter().any(|row| !row.deployable);
        let emphasis = rows.iter().any(|row| Some(row.system.as_str()) == self.winner);
        Series { reference, emphasis, ..Series::line(name, points) }
    }

    fn efficiency(&self) -> Option<Chart> {
        let names = self.statistics(RowMetric::Latency);
        let variants: Vec<Variant> = names
            .iter()
            .filter_map(|name| {
                let plots: Vec<_> =
                    self.classes().iter().filter_map(|class| self.trade(class.as_deref(), name)).collect();
                (!plots.is_empty()).then(|| Variant { name: name.clone(), plots })
            })
            .collect();
        let kept: Vec<_> = variants.iter().map(|variant| variant.name.clone()).collect();
        let note = "Each point is one simulated setting; up and to the left is better. The wide line is the Pareto \
                    front: rings mark the settings of systems that can be deployed which no other one beats in both."
            .to_owned();
        let (title, shown) = ("Efficiency against tail".to_owned(), self.shown(&kept, RowMetric::Latency));
        (!variants.is_empty()).then_some(Chart { title, note, variants, shown })
    }

    /// Efficiency against a tail; nothing when no row has both.
    fn trade(&self, class: Option<&str>, name: &str) -> Option<Plot> {
        let x = metric_axis(RowMetric::Latency, name);
        let y = Axis::new("efficiency", Unit::Percent, Spread::Linear);
        let mut plot = Plot::new(class.unwrap_or("all requests"), x, y);
        let along = if varies(self.rows, Along::Load) { Along::Load } else { Along::Cores(self.counted) };
        for (label, rows) in curves(self.rows, along) {
            let points: Vec<Point> =
                rows.iter().filter_map(|row| self.trade_point(row, class, name)).collect();
            if !points.is_empty() {
                plot.series.push(self.series(label, &rows, points));
            }
        }
        if plot.series.is_empty() {
            return None;
        }
        mark_front(&mut plot);
        let same = |t: &&TargetLine| {
            t.metric == RowMetric::Latency && t.percentile == name && t.class.as_deref() == class
        };
        plot.uprights =
            self.targets.iter().filter(same).map(|t| Level { at: t.value, label: t.label.clone() }).collect();
        Some(plot)
    }

    fn trade_point(&self, row: &Row, class: Option<&str>, name: &str) -> Option<Point> {
        let (efficiency, tail) =
            (Stat::of(row.efficiency)?, row.steady_stat(class, RowMetric::Latency, name)?);
        let mut note =
            Along::Load.of(row).map_or(String::new(), |load| format!("load {}", Unit::Plain.show(load)));
        if let Some(cores) = self.counted.mean_cores(row) {
            let cores = Unit::Plain.show(cores);
            let plural = if cores == "1" { "" } else { "s" };
            note.push_str(&format!(", {cores} {}{plural}", self.counted.singular()));
        }
        let doubt = doubt(row);
        if !doubt.is_empty() {
            note.push_str(&format!("\n{doubt}"));
        }
        Some(Point { x_interval: tail.interval, note, ..vertical(tail.estimate, efficiency) })
    }
}

/// Why the estimates of a point may be too low; empty if they are not.
fn doubt(row: &Row) -> &'static str {
    if row.holds() || row.overloaded { "" } else { "too short a run for the steady state: it may be more" }
}

/// Rings the points that none beats in both, and adds the line through them.
fn mark_front(plot: &mut Plot) {
    let mut best: Vec<(f64, f64)> = Vec::new();
    let choices = plot.series.iter().filter(|series| !series.reference);
    let mut points: Vec<(f64, f64)> = choices.flat_map(|s| &s.points).map(|p| (p.x, p.y)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    for point in points {
        if best.last().is_none_or(|last| point.1 > last.1) {
            best.push(point);
        }
    }
    for series in plot.series.iter_mut().filter(|series| !series.reference) {
        for point in &mut series.points {
            point.ringed = best.contains(&(point.x, point.y));
        }
    }
    if best.len() > 1 {
        let points = best.into_iter().map(|(x, y)| Point::new(x, y)).collect();
        plot.series.insert(0, Series { mark: Mark::Front, ..Series::line("Pareto front", points) });
    }
}

fn vertical(x: f64, stat: Stat) -> Point {
    Point { y_interval: stat.interval, ..Point::new(x, stat.estimate) }
}

fn metric_axis(metric: RowMetric, name: &str) -> Axis {
    match metric {
        RowMetric::Latency => Axis::new(format!("{name} latency"), Unit::Nanoseconds, Spread::Log),
        RowMetric::Slowdown => Axis::new(format!("{name} slowdown"), Unit::Times, Spread::Log),
        RowMetric::Wait => Axis::new(format!("{name} waiting"), Unit::Nanoseconds, Spread::Log),
        RowMetric::Miss => Axis::new(format!("requests over {name}"), Unit::Percent, Spread::Log),
    }
}

/// Order of statistics: mean, percentiles by size, then `max`, then what is unknown.
fn rank(name: &str) -> f64 {
    match name {
        "mean" => -1.0,
        "max" => 200.0,
        _ => name.strip_prefix('p').and_then(|p| p.parse().ok()).unwrap_or(300.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(lines: &[&str]) -> Vec<Row> {
        Row::from_lines(&lines.join("\n")).unwrap()
    }

    #[test]
    fn a_second_swept_key_makes_curves_of_its_own_and_names_them() {
        let rows = rows(&[
            r#"{"system":"a","load":0.5,"varied":{"load":0.5,"discipline.quantum":"1us"},"latency_ns":{"p99":2}}"#,
            r#"{"system":"a","load":0.2,"varied":{"load":0.2,"discipline.quantum":"1us"},"latency_ns":{"p99":1}}"#,
            r#"{"system":"a","load":0.2,"varied":{"load":0.2,"discipline.quantum":"2us"},"latency_ns":{"p99":1}}"#,
        ]);
        let curves = curves(&rows, Along::Load);
        let names: Vec<_> = curves.keys().collect();
        assert_eq!(names, ["a · quantum 1us", "a · quantum 2us"]);
        let loads: Vec<_> = curves[0].iter().map(|row| row.load).collect();
        assert_eq!(loads, [0.2, 0.5]);
    }

    #[test]
    fn overload_is_marked_not_drawn() {
        let rows = rows(&[
            r#"{"system":"a","load":0.5,"latency_ns":{"p99":{"estimate":2000,"low":1900,"high":2100}}}"#,
            r#"{"system":"a","load":0.9,"latency_ns":null,"overloaded":true}"#,
        ]);
        let charts = Subject { rows: &rows, targets: &[], winner: None, counted: Counted::Cores }.charts();
        let series = &charts[0].variants[0].plots[0].series[0];
        assert_eq!((series.points.len(), series.unbounded.as_slice()), (1, &[0.9][..]));
    }

    #[test]
    fn a_run_that_was_too_short_has_no_upper_end_and_says_so() {
        let point = r#"{"estimate":2000,"low":1900,"high":2100}"#;
        let row = |load: f64, steady: bool| {
            format!(
                r#"{{"system":"a","load":{load},"steady":{steady},"efficiency":0.5,"latency_ns":{{"p99":{point}}}}}"#
            )
        };
        let rows = rows(&[&row(0.5, true), &row(0.9, false)]);
        let charts = Subject { rows: &rows, targets: &[], winner: None, counted: Counted::Cores }.charts();
        let tail = &charts[0].variants[0].plots[0].series[0].points;
        let interval = |at: usize| tail[at].y_interval.unwrap();
        assert_eq!((interval(0), interval(1)), ((1900.0, 2100.0), (1900.0, f64::INFINITY)));
        assert!(tail[0].note.is_empty() && tail[1].note.starts_with("too short a run"), "{}", tail[1].note);
        let trade = charts[1].variants[0].plots[0].series.iter().find(|series| series.name == "a").unwrap();
        assert_eq!(trade.points[1].x_interval, Some((1900.0, f64::INFINITY)));
        assert!(trade.points[1].note.ends_with("it may be more") && !trade.points[0].note.contains("short"));
    }

    #[test]
    fn the_front_has_what_nothing_beats_and_no_reference() {
        let rows = rows(&[
            r#"{"system":"a","load":0.5,"efficiency":0.5,"latency_ns":{"p99":10}}"#,
            r#"{"system":"a","load":0.7,"efficiency":0.7,"latency_ns":{"p99":30}}"#,
            r#"{"system":"b","load":0.6,"efficiency":0.4,"latency_ns":{"p99":20}}"#,
            r#"{"system":"ideal","load":0.6,"efficiency":0.9,"latency_ns":{"p99":5},"deployable":false}"#,
        ]);
        let charts = Subject { rows: &rows, targets: &[], winner: None, counted: Counted::Cores }.charts();
        let chart = charts.iter().find(|chart| chart.title.starts_with("Efficiency")).unwrap();
        let front = &chart.variants[0].plots[0].series[0];
        assert_eq!(front.mark, Mark::Front);
        let corners: Vec<_> = front.points.iter().map(|p| (p.x, p.y)).collect();
        assert_eq!(corners, [(10.0, 0.5), (30.0, 0.7)]);
    }

    #[test]
    fn statistics_are_ordered_and_the_target_is_shown_first() {
        let rows = rows(&[
            r#"{"system":"a","load":0.5,"latency_ns":{"max":9,"p99.9":3,"p99":2,"mean":1}}"#,
            r#"{"system":"a","load":0.6,"latency_ns":{"max":9,"p99.9":3,"p99":2,"mean":1}}"#,
        ]);
        let target = TargetLine {
            label: "p99 < 5 µs".into(),
            class: None,
            metric: RowMetric::Latency,
            percentile: "p99".into(),
            value: 5000.0,
        };
        let charts =
            Subject { rows: &rows, targets: &[target], winner: None, counted: Counted::Cores }.charts();
        let names: Vec<_> = charts[0].variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!((names, charts[0].shown), (vec!["mean", "p99", "p99.9", "max"], 1));
    }
}
