//! The highest rates of systems beside each other: the sentences, chart and table that Figures 5 to 12 share. The files of these figures
//! call it when the searches are done. Pure.

use caudal_report::chart::{Axis, Chart, Mark, Plot, Point, Series, Spread, Unit};
use caudal_stats::Estimate;

use super::super::cell::CONFIDENCE;
use super::super::claim::{Ask, Claim, Finding, Limit, interval, one};
use super::super::measured::Measured;
use super::super::search::Highest;
use super::super::sheet::Sheet;
use caudal_results::table::time;

/// The systems.
pub(super) const TQ: &str = "TQ";
pub(super) const SHINJUKU: &str = "Shinjuku";
pub(super) const CALADAN: &str = "Caladan";

/// The highest rate of a system.
fn find<'a>(measured: &'a Measured, about: &str, system: &str) -> Option<&'a Highest> {
    measured.highest.iter().find(|found| found.about == about && found.system == system)
}

/// The highest rate of one over that of another, under what the file called `about` is about.
fn over(measured: &Measured, about: &str, (own, other): (&str, &str), confidence: f64) -> Estimate {
    match (find(measured, about, own), find(measured, about, other)) {
        (Some(own), Some(other)) => own.over(other).interval(confidence),
        _ => Estimate::MISSING,
    }
}

/// The question whether that ratio is where `limit` says.
pub(super) fn rate<'a>(
    measured: &'a Measured,
    about: &'static str,
    systems: (&'static str, &'static str),
    limit: Limit,
) -> Ask<'a> {
    let place = match about {
        "" => format!("{} over {}:", systems.0, systems.1),
        about => format!("{about}, {} over {}:", systems.0, systems.1),
    };
    Box::new(move |confidence| Claim::new(place.clone(), over(measured, about, systems, confidence), limit))
}

/// Does the first system carry a higher rate than the second?
pub(super) fn carries_more(
    measured: &Measured,
    about: &'static str,
    systems: (&'static str, &'static str),
) -> Finding {
    let ask = rate(measured, about, systems, Limit::Above(1.0));
    one(ask)
}

/// Does it carry less?
pub(super) fn carries_less(
    measured: &Measured,
    about: &'static str,
    systems: (&'static str, &'static str),
) -> Finding {
    one(rate(measured, about, systems, Limit::Below(1.0)))
}

/// The highest rate itself, in M/s.
pub(super) fn millions(measured: &Measured, about: &str, system: &str, limit: Limit) -> Finding {
    one(|confidence| {
        let rate =
            find(measured, about, system).map_or(Estimate::MISSING, |found| found.rate_per_s(confidence));
        Claim::new(format!("highest rate of {system} in M/s"), rate.divided_by(1e6), limit)
    })
}

/// One quantum against another, of a figure in which systems differ in nothing else.
pub(super) fn quantum<'a>(measured: &'a Measured, (own, other): (f64, f64), limit: Limit) -> Ask<'a> {
    let of = |ns: f64| measured.highest.iter().find(|found| found.quantum_ns == ns);
    let (first, second) = (of(own), of(other));
    let place = format!("{} over {}:", time(own), time(other));
    Box::new(move |confidence| {
        let ratio = match (first, second) {
            (Some(first), Some(second)) => first.over(second).interval(confidence),
            _ => Estimate::MISSING,
        };
        Claim::new(place.clone(), ratio, limit)
    })
}

fn abouts(measured: &Measured) -> Vec<&'static str> {
    let mut abouts: Vec<&'static str> = measured.highest.iter().map(|found| found.about).collect();
    abouts.dedup();
    abouts
}

/// The name of a system where several differ in their quantum alone.
fn name(measured: &Measured, found: &Highest) -> String {
    let alike = |other: &&Highest| other.about == found.about && other.system == found.system;
    match measured.highest.iter().filter(alike).count() {
        1 => found.system.clone(),
        _ => format!("{}, {}", found.system, time(found.quantum_ns)),
    }
}

/// A plot for each file: the highest rates of its systems, side by side.
pub(super) fn chart(measured: &Measured, title: &str) -> Chart {
    let plot = |about: &'static str| {
        let here: Vec<&Highest> = measured.highest.iter().filter(|found| found.about == about).collect();
        let names = here.iter().map(|found| name(measured, found)).collect();
        let within = here.first().map_or(String::new(), |found| found.within.to_string());
        let title = if about.is_empty() { within } else { format!("{about}: {within}") };
        let upwards = Axis::new("highest rate", Unit::PerSecond, Spread::Linear).from(0.0);
        let mut plot = Plot::new(&title, Axis::of_names("system", names), upwards);
        for (at, found) in here.into_iter().enumerate() {
            let rate = found.rate_per_s(CONFIDENCE);
            if rate.is_missing() {
                continue;
            }
            let point = Point::new(at as f64, rate.estimate).within(rate.low, rate.high);
            plot.series
                .push(Series { mark: Mark::Points, ..Series::line(name(measured, found), vec![point]) });
        }
        plot
    };
    let plots = abouts(measured).into_iter().map(plot).collect();
    Chart::single(title, "Higher is better. Bars: 95 % intervals.", plots)
}

/// A table of all of them, with the share of the first system's rate.
pub(super) fn sheet(measured: &Measured) -> Sheet {
    let row = |found: &Highest| {
        let first = measured.highest.iter().find(|other| other.about == found.about).unwrap_or(found);
        let Estimate { estimate, low, high } = found.rate_per_s(CONFIDENCE);
        let rate = |rate: f64| format!("{:.3} M/s", rate / 1e6);
        let (shown, within) = match estimate.is_nan() {
            true => ("none".to_owned(), "–".to_owned()),
            false => (rate(estimate), format!("{} to {}", rate(low), rate(high))),
        };
        vec![
            found.about.to_owned(),
            found.within.to_string(),
            name(measured, found),
            shown,
            within,
            interval(found.over(first).interval(CONFIDENCE)),
        ]
    };
    Sheet {
        title: "Highest rates (95 % intervals)".to_owned(),
        head: ["requests", "limit", "system", "highest rate", "interval", "over the first system's"]
            .map(str::to_owned)
            .to_vec(),
        rows: measured.highest.iter().map(row).collect(),
    }
}
