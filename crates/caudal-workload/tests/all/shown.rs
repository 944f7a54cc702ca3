//! `caudal workload show`.

use caudal_workload::plot::histogram;
use caudal_workload::show::Shown;

use crate::service;

#[test]
fn text_holds_moments_percentiles_findings_and_a_plot() {
    let text = Shown::open("rocksdb-0.5").unwrap().text(80);
    for line in [
        "Source: Measured: data/rocksdb-get-scan.csv",
        "                      all         get        scan",
        "requests            100 %      99.5 %       0.5 %",
        "measured            40000       39818         182",
        "mean               5.8 µs     1.63 µs      834 µs",
        "p50               1.59 µs     1.59 µs      823 µs",
        "max                935 µs      445 µs      935 µs",
        "- line 10682: a get of 445 µs stands alone (the median is 1.59 µs); it is kept.",
        "- scan has 182 values only: percentiles beyond p95 are guesses; measure 2000 or more for a p99.9",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(text.contains('█') && text.contains("^p50") && text.contains("100 µs"));
}

#[test]
fn text_is_as_wide_as_was_asked() {
    let text = Shown::open("finance-like").unwrap().text(72);
    let (prose, _) = text.split_once("service = ").expect("its description");
    assert!(prose.lines().count() > 3 && prose.lines().all(|line| line.chars().count() <= 72), "{prose}");
}

#[test]
fn json_has_the_same_numbers() {
    let json = Shown::open("rocksdb-0.5").unwrap().json();
    assert_eq!(json["workload"], "rocksdb-0.5");
    assert_eq!(json["classes"]["get"]["percentiles_ns"]["p50"], 1592.0);
    assert_eq!(json["classes"]["get"]["samples"], 39818);
    assert_eq!(json["all"]["percentiles_ns"]["max"], 935_307.0);
    assert_eq!(json["findings"][1]["kind"], "outlier");
    assert_eq!(json["findings"][1]["line"], 10_682);
    let endless = Shown::open("exp-1us").unwrap().json();
    assert!(endless["all"]["percentiles_ns"]["max"].is_null());
    assert_eq!(endless["all"]["mean_ns"], 1000.0);
}

#[test]
fn a_file_is_shown_by_its_path_and_a_slip_is_corrected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("own.csv");
    std::fs::write(&path, "1000\n2000\n").unwrap();
    assert!(Shown::open(path.to_str().unwrap()).unwrap().text(80).contains("1.5 µs"));
    std::fs::write(&path, "class,service_ns\nget,1000\nget,1100\nget,1200\nget,1300\nscan,90000\n").unwrap();
    let few = Shown::open(path.to_str().unwrap()).unwrap().text(80);
    assert!(
        few.contains("- get has 4 values only: percentiles beyond p50 are guesses; measure 2000 or more for"),
        "{few}"
    );
    assert!(
        few.contains("- scan has 1 value only: its percentiles are guesses; measure 2000 or more for"),
        "{few}"
    );
    let refused = |text: &str| Shown::open(text).unwrap_err().to_string();
    assert!(refused("system.toml").contains("`caudal check` reads TOML"), "{}", refused("system.toml"));
    assert!(refused("zz").ends_with("named by its path, in TOML as `{ file = \"…\" }`"), "{}", refused("zz"));
    assert!(Shown::open("rocksdb-5").unwrap_err().to_string().contains("did you mean `rocksdb-50`"));
    assert!(Shown::open("absent.csv").unwrap_err().to_string().contains("cannot read absent.csv"));
}

#[test]
fn plots_fit_their_width() {
    for text in [
        r#""exp-1us""#,
        r#""tpcc""#,
        r#""rocksdb-50""#,
        r#""facebook-usr""#,
        r#"{ distribution = "log-normal", mean = "1us", scv = 1e6 }"#,
        r#"{ distribution = "gamma", mean = "1us", scv = 1e6 }"#,
        r#"{ distribution = "gamma", mean = "3600s", scv = 1e-6 }"#,
        r#"{ distribution = "constant", value = "1ps" }"#,
        r#"{ distribution = "bimodal", short = "1ps", long = "3600s", p_long = 0.5 }"#,
    ] {
        for width in [0, 30, 80, 120, 1000] {
            let plot = histogram(&service(text), width);
            let widest = plot.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(widest <= width.clamp(40, 160), "{text}: {widest} in {width}");
            assert!(plot.contains('█'));
        }
    }
}

#[test]
fn the_plot_of_a_bimodal_is_two_columns_on_one_axis() {
    let plot = histogram(
        &service(r#"{ distribution = "bimodal", short = "1us", long = "100us", p_long = 0.1 }"#),
        60,
    );
    let lines: Vec<&str> = plot.lines().collect();
    assert_eq!(lines[0], "short, 90 % of the requests");
    let column = |line: &str| line.chars().position(|c| c == '█').unwrap();
    assert!(column(lines[1]) < 10 && column(lines[7]) > 45, "{plot}");
    let label = |text: &str| lines.last().and_then(|axis| axis.find(text)).unwrap();
    assert_eq!(label("1 µs"), column(lines[1]), "the axis fits the bars\n{plot}");
    assert!(label("100 µs").abs_diff(column(lines[7])) <= 4, "shifted to stay on the axis\n{plot}");
}

/// A column a class is no more than a screen holds; and a plot a class neither.
#[test]
fn many_classes_have_a_line_each() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("calls.csv");
    let rows: String = (0..26)
        .flat_map(|call| (0..5).map(move |at| format!("call{call},{}\n", 1000 * (call + 1) + at)))
        .collect();
    std::fs::write(&path, format!("class,service_ns\n{rows}")).unwrap();
    let text = Shown::open(path.to_str().unwrap()).unwrap().text(100);
    let line = |name: &str| {
        text.lines().position(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"))
    };
    assert!(line("call25 ") < line("call24 ") && line("call24 ") < line("call0 "), "by their work: {text}");
    assert!(text.contains("16 classes with less work are not drawn"), "{text}");
    let numbers = text.lines().take_while(|line| !line.contains(" of the requests"));
    assert!(numbers.filter(|line| line.chars().count() > 110).count() == 0, "{text}");
}
