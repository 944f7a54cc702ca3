//! Miss ratios as charts and tables: one plot or table for each load, with the targets along the horizontal axis and a series or a row for each
//! system. The tail-control figures call it when all points are simulated, for their pages and reports. Pure.

use caudal_report::chart::{Axis, Chart, Plot, Point, Series, Spread, Unit};
use caudal_stats::Estimate;

use super::super::cell::CONFIDENCE;
use super::super::claim::interval;
use super::super::measured::Measured;
use super::super::sheet::Sheet;
use super::setting::{Setting, loads, targets};
use super::{ADMIT, CONTROL, STEAL};
use caudal_results::table::estimate;

/// The miss ratios of all systems, a plot for each load.
pub(super) fn chart(measured: &Measured, title: &str) -> Chart {
    let plots = loads(measured).into_iter().map(|load| plot(measured, load)).collect();
    Chart::single(title, "Lower is better. Targets are percentiles of steal-first's latency.", plots)
}

fn plot(measured: &Measured, load: &'static str) -> Plot {
    let settings = targets(measured, load);
    let names = settings.iter().map(|setting| setting.late.to_string()).collect();
    let upwards = Axis::new("miss ratio", Unit::Percent, Spread::Log);
    let mut plot = Plot::new(load, Axis::of_names("target", names), upwards);
    for system in systems(measured) {
        let point = |(place, setting): (usize, &Setting<'_>)| {
            let Estimate { estimate, low, high } = setting.aim(&system)?.share(CONFIDENCE);
            let point = Point::new(place as f64, estimate);
            (estimate > 0.0).then(|| if high.is_finite() { point.within(low, high) } else { point })
        };
        let points = settings.iter().enumerate().filter_map(point).collect();
        plot.series.push(Series::line(&system, points));
    }
    plot
}

fn systems(measured: &Measured) -> Vec<String> {
    measured.values(|cell| cell.system.clone())
}

/// A table for each load: miss ratios, and tail-control's over those of its rivals.
pub(super) fn sheets(measured: &Measured) -> Vec<Sheet> {
    loads(measured).into_iter().map(|load| sheet(measured, load, &[STEAL, ADMIT])).collect()
}

/// The table of a load: miss ratios, and the ratios of tail-control's to those of each of `rivals`.
pub(super) fn sheet(measured: &Measured, load: &'static str, rivals: &[&str]) -> Sheet {
    ratios(measured, load, &rivals.iter().map(|rival| (CONTROL, *rival)).collect::<Vec<_>>())
}

/// The table of a load: miss ratios, and for each of `pairs` the ratios of the first system's to the second's.
pub(super) fn ratios(measured: &Measured, load: &'static str, pairs: &[(&str, &str)]) -> Sheet {
    let settings = targets(measured, load);
    let mut head = vec!["target".to_owned()];
    head.extend(settings.iter().map(|setting| setting.late.to_string()));
    let across = |name: String, of: &dyn Fn(&Setting<'_>) -> Option<String>| {
        let mut row = vec![name];
        row.extend(settings.iter().map(|setting| of(setting).unwrap_or_else(|| "–".to_owned())));
        row
    };
    let mut rows = Vec::new();
    for system in systems(measured) {
        rows.push(across(system.clone(), &|setting| {
            Some(estimate(&setting.aim(&system)?.share(CONFIDENCE), |share| {
                format!("{:.3} %", 100.0 * share)
            }))
        }));
    }
    for &(first, second) in pairs {
        rows.push(across(format!("{first} over {second}"), &|setting| {
            Some(interval(setting.ratio((first, second))?.estimate(CONFIDENCE)))
        }));
    }
    let load = if load.is_empty() { String::new() } else { format!(", {load}") };
    let title = format!("Misses{load} (± half-width of the 95 % interval; ratios with their 95 % intervals)");
    Sheet { title, head, rows }
}
