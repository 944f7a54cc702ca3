//! The table of thresholds as a report in HTML. `threshold` makes it when the user asks for a report; writing it to a file is left to
//! `threshold`.

use caudal_report::chart::{Axis, Chart, Level, Plot, Point as Dot, Series, Spread, Unit};
use caudal_report::{Answer, Report};
use caudal_tune::spelled;
use caudal_tune::thresholds::{Refined, Row, changes};

use super::words::{all_given_up, refined_sentence, sentences};
use super::{Answered, ThresholdArgs};
use caudal_results::table::digits;

/// Each threshold holds from its number of active requests to the next one's.
fn steps(rows: &[Row], scale: f64) -> Vec<Dot> {
    let mut dots: Vec<Dot> = Vec::new();
    for row in rows {
        let threshold_ns = row.threshold_ns * scale;
        if let Some(before) = dots.last().map(|dot| dot.y).filter(|&before| before != threshold_ns) {
            dots.push(Dot::new(f64::from(row.active), before));
        }
        dots.push(Dot::new(f64::from(row.active), threshold_ns));
    }
    dots
}

/// The report.
pub(super) fn report(args: &ThresholdArgs, answer: &Answered<'_>) -> Report {
    let found = answer.found;
    let across = Axis::new("Active requests", Unit::Count, Spread::Linear);
    let mut plot =
        Plot::new("", across.clone(), Axis::new("Large-request threshold", Unit::Nanoseconds, Spread::Log));
    let mut misses = Plot::new("", across, Axis::new("Expected misses", Unit::Plain, Spread::Log));
    for (class, rows) in found.tables() {
        // Beyond the last change there is a straight line.
        let end = changes(rows).last().map_or(1, |row| row.active) as usize;
        let shown = &rows[..(end + end / 4 + 2).min(rows.len())];
        plot.series.push(Series::line(class.unwrap_or("threshold"), steps(shown, 1.0)));
        if answer.scale() != 1.0 {
            let name = format!(
                "{}written: x {}",
                class.map_or(String::new(), |class| format!("{class}, ")),
                answer.scale()
            );
            plot.series.push(Series::line(name, steps(shown, answer.scale())));
        }
        // Those of all classes together.
        if misses.series.is_empty() {
            let expected = shown.iter().filter_map(|row| Some(Dot::new(f64::from(row.active), row.misses?)));
            misses.series.push(Series::line("in a pile-up", expected.collect()));
        }
    }
    for own in &args.target {
        let label = format!(
            "target {}{}",
            own.class.as_ref().map_or(String::new(), |class| format!("{class} ")),
            spelled(&own.target.to_string())
        );
        plot.levels.push(Level { at: own.target.as_nanos_f64(), label });
    }
    let mut charts = vec![
        Chart::single(
            "Threshold by active requests",
            "A request that has been processed for longer is not stolen from any more, and ends on the cores that it has.",
            vec![plot],
        ),
        Chart::single(
            "Expected misses",
            "Requests that are expected to miss the target until the pile-up is over that a large request began.",
            vec![misses],
        ),
    ];
    charts.extend(answer.refined.as_ref().map(refined_chart));
    let mut said = sentences(args, found);
    let by_formula = said.remove(1.min(said.len() - 1));
    let headline = match answer.scale() {
        1.0 => by_formula,
        scale => {
            said.push(format!("By the formulas alone: {}", by_formula.replacen('A', "a", 1)));
            all_given_up(found, scale)
        }
    };
    said.extend(answer.requests_are.as_ref().map(|graph| format!("Simulated requests: {graph}.")));
    said.extend(answer.refined.as_ref().map(|refined| refined_sentence(found, refined)));
    Report {
        title: "Caudal threshold: when a parallel request is large".to_owned(),
        question: format!(
            "From how much work on is a request of {} run on one core, so that the fewest of {}/s miss {} on {} cores?",
            args.work_distribution.to_string_lossy(),
            digits(args.rate.per_s()),
            args.targets(),
            args.cores
        ),
        answer: Some(Answer { headline, sentences: said, ..Answer::default() }),
        charts: Some(charts),
        provenance: vec![
            ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("source".to_owned(), "Li et al., PPoPP 2016, section 4.1".to_owned()),
        ],
        ..Report::default()
    }
}

/// The share of late requests along multiples of the thresholds.
fn refined_chart(refined: &Refined) -> Chart {
    let across = Axis::new("Thresholds times", Unit::Plain, Spread::Log);
    let mut plot = Plot::new("", across, Axis::new("Requests that are late", Unit::Percent, Spread::Log));
    let dot = |of: &caudal_tune::thresholds::Scaled| {
        Dot::new(of.scale, of.late.estimate).within(of.late.low, of.late.high)
    };
    plot.series.push(Series::line("simulated", refined.tried.iter().map(dot).collect()));
    Chart::single(
        "Multiples of the table, simulated",
        "The share of requests that are late, by what the thresholds are multiplied by.",
        vec![plot],
    )
}
