//! The drawing of service times in a terminal: a histogram for each class over one logarithmic axis. `caudal workload show` calls it once
//! for a workload. It returns text and prints nothing.
//!
//! The bars are the exact probabilities of their columns, from the distribution itself; nothing is
//! sampled. Every class is scaled to its own highest column, or a rare one could not be seen.

use std::fmt::Write as _;

use crate::service::Service;

const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const NARROWEST: usize = 30;
const WIDEST: usize = 160;
/// Parts of a class beyond these are not drawn, or one outlier would stretch the axis.
const DRAWN: (f64, f64) = (0.0005, 0.9999);

/// A logarithmic axis of whole columns.
struct Axis {
    low_ps: f64,
    high_ps: f64,
    columns: usize,
}

impl Axis {
    /// An axis from just below the shortest to just above the longest time that is drawn.
    fn of(service: &Service, columns: usize) -> Axis {
        let drawn = || (0..service.classes().len()).filter(|&class| service.class_weight(class) > 0.0);
        let low = drawn().map(|class| service.class_quantile(class, DRAWN.0)).min().unwrap_or(1) as f64;
        let high = drawn().map(|class| service.class_quantile(class, DRAWN.1)).max().unwrap_or(1) as f64;
        let margin = (high / low).powf(0.03).max(1.3);
        Axis { low_ps: low / margin, high_ps: high * margin, columns }
    }

    /// Where a column begins.
    fn edge_ps(&self, column: usize) -> f64 {
        self.low_ps * (self.high_ps / self.low_ps).powf(column as f64 / self.columns as f64)
    }

    /// The column into which a time of `ps` picoseconds falls, if it is on the axis.
    fn column(&self, ps: f64) -> Option<usize> {
        let at = (ps / self.low_ps).ln() / (self.high_ps / self.low_ps).ln() * self.columns as f64;
        (at >= 0.0 && at < self.columns as f64).then_some(at as usize)
    }
}

/// The number of classes that are drawn: those with the most work.
const CLASSES_DRAWN: usize = 10;

/// Draws `service` into at most `width` columns (taken into 30 to 160). Lines end in `\n`, none has
/// blanks at its end.
pub fn histogram(service: &Service, width: usize) -> String {
    let axis = Axis::of(service, width.clamp(NARROWEST, WIDEST) - 2);
    let classes = service.classes();
    let rows = match classes.len() {
        1 => 8,
        2 | 3 => 4,
        _ => 2,
    };
    let mut out = String::new();
    let mut drawn: Vec<usize> =
        (0..classes.len()).filter(|&class| service.class_weight(class) > 0.0).collect();
    let others = drawn.len().saturating_sub(CLASSES_DRAWN);
    if others > 0 {
        let work = |class: usize| service.class_weight(class) * service.class_mean_ps(class);
        drawn.sort_by(|&a, &b| work(b).total_cmp(&work(a)));
        drawn.truncate(CLASSES_DRAWN);
    }
    for class in drawn {
        let (name, weight) = (&classes[class], service.class_weight(class));
        if classes.len() > 1 {
            let _ = writeln!(out, "{name}, {} of the requests", crate::format::percent(weight));
        }
        let share = |ps: f64| if ps < 1.0 { 0.0 } else { service.class_cdf(class, ps.ceil() as u64 - 1) };
        let masses: Vec<f64> = (0..axis.columns)
            .map(|c| (share(axis.edge_ps(c + 1)) - share(axis.edge_ps(c))).max(0.0))
            .collect();
        bars(&mut out, &masses, rows);
        line(&mut out, &marks(&axis, |p| service.class_quantile(class, p)));
    }
    line(&mut out, &scale(&axis));
    line(&mut out, &labels(&axis));
    if others > 0 {
        let _ = writeln!(out, "{others} classes with less work are not drawn.");
    }
    out
}

/// `rows` lines of bars, the highest of them full. A column that is not empty always shows.
fn bars(out: &mut String, masses: &[f64], rows: usize) {
    let highest = masses.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let eighths = |mass: f64| match (mass / highest * (rows * 8) as f64).round() as usize {
        0 if mass > 1e-9 => 1,
        height => height,
    };
    for row in (0..rows).rev() {
        let bar: Vec<char> =
            masses.iter().map(|&mass| EIGHTHS[eighths(mass).saturating_sub(row * 8).min(8)]).collect();
        line(out, &bar);
    }
}

/// Marks below the bars: where the percentiles of the class lie.
fn marks(axis: &Axis, quantile: impl Fn(f64) -> u64) -> Vec<char> {
    let mut marks = vec![' '; axis.columns];
    for (p, name) in [(0.5, "p50"), (0.999, "p99.9"), (0.99, "p99")] {
        if let Some(column) = axis.column(quantile(p) as f64) {
            // The caret stands at the percentile; its name turns to the left at the axis's end.
            match column + name.len() < marks.len() {
                true => place(&mut marks, column, &format!("^{name}")),
                false => place(&mut marks, column.saturating_sub(name.len()), &format!("{name}^")),
            }
        }
    }
    marks
}

/// Writes `label` at `column` if there is room for it, a blank on both sides included.
fn place(line: &mut [char], column: usize, label: &str) {
    let end = column + label.chars().count();
    let free = |at: usize| line.get(at).is_none_or(|&c| c == ' ');
    if end <= line.len() && (column.saturating_sub(1)..=end).all(free) {
        line[column..end].iter_mut().zip(label.chars()).for_each(|(to, c)| *to = c);
    }
}

/// The axis with a tick at 1, 2 and 5 of every power of ten.
fn scale(axis: &Axis) -> Vec<char> {
    let mut line = vec!['─'; axis.columns];
    for (tick, major) in ticks(axis) {
        if let Some(column) = axis.column(tick) {
            line[column] = if major { '┴' } else { '╴' };
        }
    }
    line
}

/// Times below the axis; those of whole powers of ten are placed first.
fn labels(axis: &Axis) -> Vec<char> {
    let mut line = vec![' '; axis.columns];
    for wanted in [true, false] {
        for (tick, _) in ticks(axis).into_iter().filter(|&(_, major)| major == wanted) {
            if let Some(column) = axis.column(tick) {
                let label = crate::format::time(tick);
                let column = column.min(axis.columns.saturating_sub(label.len()));
                place(&mut line, column, &label);
            }
        }
    }
    line
}

/// All ticks on the axis with whether they are powers of ten.
fn ticks(axis: &Axis) -> Vec<(f64, bool)> {
    let (first, last) = (axis.low_ps.log10().floor() as i32, axis.high_ps.log10().ceil() as i32);
    let tick = |power: i32| [1.0, 2.0, 5.0].map(|digit| (digit * 10f64.powi(power), digit == 1.0));
    (first..=last).flat_map(tick).collect()
}

fn line(out: &mut String, characters: &[char]) {
    let text: String = characters.iter().collect();
    let _ = writeln!(out, "{}", format!("  {text}").trim_end());
}
