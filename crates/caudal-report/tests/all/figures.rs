//! Figures of a paper beside its statements, and figures as files of their own.

use crate::common;
use std::path::Path;

use caudal_report::chart::{Axis, Chart, Level, Plot, Point, Series, Spread, Unit};
use caudal_report::{Outcome, Report, Row, Verdict};

/// Slowdown against rate for some quanta, as Figure 1 of a paper about quanta would have it.
fn figure() -> Chart {
    let x = Axis::new("rate", Unit::PerSecond, Spread::Linear).from(0.0);
    let y = Axis::new("p99.9 slowdown", Unit::Times, Spread::Linear).from(0.0).to(30.0);
    let mut plot = Plot::new("16 workers, extreme bimodal", x, y);
    for quantum_us in [0.5, 1.0, 2.0, 5.0, 10.0] {
        let points = (1..=11).map(|n| {
            let rate = f64::from(n) * 0.5e6;
            let slowdown = 1.0 + quantum_us * 0.8 / (1.02 - rate / 5.6e6);
            Point::new(rate, slowdown).within(slowdown * 0.96, slowdown * 1.05)
        });
        plot.series.push(Series::line(format!("quantum {quantum_us} µs"), points.collect()));
    }
    plot.levels.push(Level { at: 10.0, label: "slowdown 10".into() });
    Chart::single("Smaller quanta carry more load", "Centralised processor sharing.", vec![plot])
}

fn verdict(statement: &str, verdict: Outcome, numbers: &str) -> Verdict {
    let (statement, numbers) = (statement.into(), numbers.into());
    Verdict { statement, source: "Figure 1, section 2".into(), verdict, numbers }
}

fn keep(name: &str, text: &str) {
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name), text).expect("the file can be written");
}

#[test]
fn a_figure_is_a_file_of_its_own() {
    let svg = figure().to_svg();
    keep("figure.svg", &svg);
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert_eq!(svg.matches("class=\"curve\"").count(), 5);
    assert!(svg.contains("prefers-color-scheme: dark") && !svg.contains("<script"));
    assert!(svg.contains(">5 M/s</text>") && svg.contains(">slowdown 10</text>"));
    assert_eq!(figure().to_svg(), svg, "the same figure gives the same bytes");
    let all_charts = common::report().charts();
    keep("tails.svg", &all_charts[0].to_svg());
}

/// A curve through points that lie 1 apart; an interval each.
fn curve(intervals: &[(f64, f64)]) -> String {
    let point = |(n, &(low, high)): (usize, &(f64, f64))| Point::new(n as f64, 10.0).within(low, high);
    let points = intervals.iter().enumerate().map(point).collect();
    let axis = |label: &str| Axis::new(label, Unit::Plain, Spread::Linear).from(0.0).to(20.0);
    let plot = Plot::new("", axis("load"), axis("p99")).with(Series::line("go", points));
    Chart::single("", "", vec![plot]).to_svg()
}

/// Corners of the bands of a class, `band` or `band open`.
fn bands(svg: &str, class: &str) -> Vec<usize> {
    let opening = format!("<path class=\"{class}\" d=\"");
    let bands = svg.split(&opening).skip(1);
    bands.map(|band| band.split('"').next().unwrap().matches(['M', 'L']).count()).collect()
}

#[test]
fn a_band_without_upper_end_is_drawn_without_one() {
    const CLOSED: (f64, f64) = (9.0, 12.0);
    const OPEN: (f64, f64) = (9.0, f64::INFINITY);
    let svg = curve(&[CLOSED; 4]);
    assert_eq!((bands(&svg, "band"), bands(&svg, "band open")), (vec![8], vec![]));
    assert_eq!(svg.matches("class=\"up\"").count(), 0);
    // Two steps in the middle have an open end.
    let svg = curve(&[CLOSED, CLOSED, OPEN, CLOSED, CLOSED]);
    assert_eq!((bands(&svg, "band"), bands(&svg, "band open")), (vec![4, 4], vec![6]));
    assert_eq!(svg.matches("class=\"up\"").count(), 1);
    assert!(svg.contains("p99 10 (9 to 12)") && svg.contains("p99 10 (9 or more)"), "{svg}");
    // Of what nothing is known, nothing is drawn.
    let svg = curve(&[CLOSED, (f64::NEG_INFINITY, f64::INFINITY), CLOSED]);
    assert_eq!((bands(&svg, "band").len(), bands(&svg, "band open").len()), (0, 0));
    assert!(svg.contains("p99 10 (of unknown precision)"));
}

#[test]
fn statements_and_figures_of_a_paper_make_a_report() {
    let report = Report {
        title: "Tiny Quanta, Figure 1".into(),
        question: "Do the statements of the paper hold in this simulator?".into(),
        charts: Some(vec![figure()]),
        verdicts: vec![
            verdict(
                "about 40 % higher compared with 5 µs quanta",
                Outcome::Holds,
                "5.28 against 3.81 M/s: 39 %",
            ),
            verdict("one that does not", Outcome::DoesNotHold, "1.02 (0.98 to 1.06) against 1.4"),
            verdict("one that needs more requests", Outcome::Undecided, "1.1 (0.7 to 1.6)"),
        ],
        config_toml: "[workload]\nservice = \"extreme-bimodal\"\n".into(),
        ..Report::default()
    };
    let html = report.to_html();
    keep("figure.html", &html);
    for part in [
        "verdict holds",
        "verdict does-not-hold",
        "verdict undecided",
        "quantum 0.5 µs",
        "1.02 (0.98 to 1.06)",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("Highest load"), "no table of systems without rows");
}

#[test]
fn cores_are_an_axis_when_they_are_what_varies() {
    let row = |system: &str, cores: u32, p99_us: f64| {
        let (low, high) = (p99_us * 950.0, p99_us * 1060.0);
        format!(
            r#"{{"system":"{system}","load":0.5,"cores":16,"cores_allocated":{cores},"varied":{{"allocation.cores":{cores}}},
               "latency_ns":{{"p99":{{"estimate":{},"low":{low},"high":{high}}}}},"efficiency":{}}}"#,
            p99_us * 1000.0,
            8.0 / f64::from(cores)
        )
        .replace('\n', " ")
    };
    let systems = [("tiny-quanta", 3.0), ("go", 20.0)];
    let lines: Vec<String> = (9..=16)
        .flat_map(|cores| systems.map(|(name, us)| row(name, cores, us / (1.0 - 8.0 / f64::from(cores)))))
        .collect();
    let rows = Row::from_lines(&lines.join("\n")).unwrap();
    let report = Report { title: "Fewest cores".into(), rows, ..Report::default() };
    let titles: Vec<String> = report.charts().into_iter().map(|chart| chart.title).collect();
    assert_eq!(titles, ["Tail latency against cores", "Efficiency against tail"]);
    keep("cores.html", &report.to_html());
}
