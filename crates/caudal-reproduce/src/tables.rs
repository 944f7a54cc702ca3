//! The numbers of a figure as tables. The files of the figures call it when all points are simulated, for the terminal and for the
//! figure's page. Pure.

use caudal_stats::Estimate;

use super::cell::{CONFIDENCE, Cell, Stat};
use super::compare::LATENCIES;
use super::measured::Measured;
use super::sheet::Sheet;
use caudal_results::table::{digits, time};

/// `12.3 µs`, or what is the matter.
fn shown(cell: Option<&Cell>, stat: Stat) -> String {
    match cell {
        None => "–".to_owned(),
        Some(cell) if cell.overloaded => "overload".to_owned(),
        Some(cell) => with_unit(stat, stat.of(cell, CONFIDENCE).estimate),
    }
}

fn with_unit(stat: Stat, value: f64) -> String {
    match stat {
        Stat::Latency(_) | Stat::OfClass(..) => time(value),
        Stat::Slowdown(_) | Stat::LongSlowdown(_) => digits(value),
    }
}

/// `95 % intervals: ±3.1 % at most`, and how many have no upper end.
fn widest(estimates: impl Iterator<Item = Estimate>) -> String {
    let halves: Vec<f64> = estimates.map(|estimate| estimate.relative_half_width()).collect();
    let bounded = halves.iter().copied().filter(|half| half.is_finite());
    let widest = bounded.fold(None, |most: Option<f64>, half| Some(most.map_or(half, |most| most.max(half))));
    let unbounded = halves.iter().filter(|half| !half.is_finite()).count();
    match (widest, unbounded) {
        (Some(widest), 0) => format!("95 % intervals: ±{:.1} % at most", 100.0 * widest),
        (Some(widest), _) => format!(
            "95 % intervals: ±{:.1} % at most, {unbounded} of {} without an upper bound yet",
            100.0 * widest,
            halves.len()
        ),
        (None, _) => "95 % intervals: no upper bound yet".to_owned(),
    }
}

/// Rows of `series`, columns of `places`, a cell for each pair that was simulated.
pub(crate) fn pivot(
    cells: &[Cell],
    stat: Stat,
    what: &str,
    series: impl Fn(&Cell) -> String,
    (places, place): (&str, impl Fn(&Cell) -> String),
) -> Sheet {
    let (mut names, mut columns): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for cell in cells {
        let (name, column) = (series(cell), place(cell));
        if !names.contains(&name) {
            names.push(name);
        }
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    let at =
        |name: &str, column: &str| cells.iter().find(|cell| series(cell) == name && place(cell) == column);
    let row = |name: &String| {
        let mut row = vec![name.clone()];
        row.extend(columns.iter().map(|column| shown(at(name, column), stat)));
        row
    };
    let mut head = vec![places.to_owned()];
    head.extend(columns.iter().cloned());
    let carried = cells.iter().filter(|cell| !cell.overloaded);
    let widest = widest(carried.map(|cell| stat.of(cell, CONFIDENCE)));
    let title = format!("{} of the {what} ({widest})", stat.label());
    Sheet { title, head, rows: names.iter().map(row).collect() }
}

/// Latencies along the number of cores that are held all the time.
pub(crate) fn static_sheets(measured: &Measured) -> Vec<Sheet> {
    let shown = |cell: &&Cell| !cell.is_dynamic() && paper_name(&cell.system).is_none();
    let cells: Vec<Cell> = measured.cells.iter().filter(shown).cloned().collect();
    let held = |cell: &Cell| cell.held.to_string();
    LATENCIES
        .iter()
        .map(|&stat| pivot(&cells, stat, "latency", |cell| cell.system.clone(), ("cores", held)))
        .collect()
}

/// Points whose cores come and go: cores, efficiency, latencies.
pub(crate) fn dynamic_sheet(measured: &Measured) -> Sheet {
    let head = [
        "balancing",
        "allocation",
        "load",
        "cores held",
        "share of cores",
        "efficiency",
        "p50",
        "p99",
        "p99.9",
    ];
    let estimate =
        |estimate: Estimate, show: fn(f64) -> String| caudal_results::table::estimate(&estimate, show);
    let percent = |value: f64| format!("{:.1} %", 100.0 * value);
    let row = |cell: &Cell| {
        let mut row = vec![cell.system.clone(), cell.allocation.to_owned(), digits(cell.load)];
        let cores = cell.cores_mean(CONFIDENCE);
        row.push(estimate(cores, digits));
        row.push(percent(cores.estimate / f64::from(cell.cores)));
        row.push(estimate(cell.efficiency(CONFIDENCE), percent));
        row.extend(LATENCIES.iter().map(|stat| match cell.overloaded {
            true => "overload".to_owned(),
            false => estimate(stat.of(cell, CONFIDENCE), time),
        }));
        row
    };
    let cells = measured.cells.iter().filter(|cell| cell.is_dynamic() && paper_name(&cell.system).is_none());
    Sheet {
        title: "Cores come and go (± half-width of the 95 % interval)".to_owned(),
        head: head.map(str::to_owned).to_vec(),
        rows: cells.map(row).collect(),
    }
}

/// The ending of the names of systems that follow the authors' simulator.
const AUTHORS: &str = " (authors)";

/// The name of the system that a system follows the authors' simulator instead of.
fn paper_name(system: &str) -> Option<&str> {
    system.strip_suffix(AUTHORS)
}

/// Where the authors' published simulator and the paper's text differ: both, side by side. None if the figure
/// has no system of the one kind.
pub(crate) fn authors_sheet(measured: &Measured) -> Option<Sheet> {
    let row = |theirs: &Cell| {
        let name = paper_name(&theirs.system)?;
        let same = |cell: &&Cell| {
            cell.system == name
                && cell.allocation == theirs.allocation
                && cell.held == theirs.held
                && cell.load == theirs.load
        };
        let ours = measured.cells.iter().find(same)?;
        let mut row = vec![name.to_owned(), theirs.allocation.to_owned()];
        let both = |show: &dyn Fn(&Cell) -> String| format!("{} / {}", show(ours), show(theirs));
        row.push(both(&|cell| digits(cell.cores_mean(CONFIDENCE).estimate)));
        row.push(both(&|cell| format!("{:.1} %", 100.0 * cell.efficiency(CONFIDENCE).estimate)));
        row.extend(LATENCIES.iter().map(|&stat| both(&|cell| shown(Some(cell), stat))));
        Some(row)
    };
    let rows: Vec<Vec<String>> = measured.cells.iter().filter_map(row).collect();
    let head = ["balancing", "allocation", "cores held", "efficiency", "p50", "p99", "p99.9"];
    let title = "The paper's text / the authors' published simulator, where they differ".to_owned();
    (!rows.is_empty()).then(|| Sheet { title, head: head.map(str::to_owned).to_vec(), rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_says_which_intervals_have_no_end() {
        let (known, open) = (Estimate::symmetric(10.0, 0.5), Estimate::unbounded(10.0));
        assert_eq!(widest([known, known].into_iter()), "95 % intervals: ±5.0 % at most");
        let some = "95 % intervals: ±5.0 % at most, 1 of 2 without an upper bound yet";
        assert_eq!(widest([known, open].into_iter()), some);
        assert_eq!(widest([open].into_iter()), "95 % intervals: no upper bound yet");
    }
}
