//! Opens reports in a real browser: what is drawn must be there, and the script must have run.

use std::path::{Path, PathBuf};
use std::process::Command;

use caudal_report::{Outcome, Report, Row, Verdict};

mod common;

/// Writes the page where it can be looked at after the test, and returns the file.
fn page(name: &str, report: &Report) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, report.to_html()).expect("the page can be written");
    file
}

/// A page that does something by itself after loading, as a reader would.
fn page_with_reader(name: &str, report: &Report, actions: &str) -> PathBuf {
    let file = page(name, report);
    let html = report.to_html().replace("</body>", &format!("<script>{actions}</script></body>"));
    std::fs::write(&file, html).expect("the page can be written");
    file
}

/// The document after its scripts have run, as the browser sees it.
fn dom(file: &Path) -> String {
    let profile = tempfile::tempdir().expect("a directory for the browser's profile");
    let mut browser = Command::new("chromium");
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    browser.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    browser.arg(format!("--user-data-dir={}", profile.path().display()));
    browser.arg("--dump-dom").arg(format!("file://{}", file.display()));
    let output = browser.output().unwrap_or_else(|error| {
        panic!("chromium did not start ({error}); the tests of the report need the Debian package `chromium`")
    });
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "chromium failed: {errors}");
    String::from_utf8(output.stdout).expect("a document in UTF-8")
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn the_browser_finds_the_curves_and_runs_the_script() {
    let report = common::report();
    let dom = dom(&page("plan.html", &report));
    let plots: usize = report.charts().iter().flat_map(|c| &c.variants).map(|v| v.plots.len()).sum();
    assert!(dom.contains(&format!("data-ready=\"{plots}\"")), "the script did not reach its end");
    assert_eq!(count(&dom, "<svg class=\"plot\" data-plot="), plots);
    // Nine systems and one statistic shown: the DOM keeps every curve of every plot with its data.
    let curves = count(&dom, "<path class=\"curve\"");
    assert!(curves >= plots * 9, "{curves} curves in {plots} plots");
    for system in ["tiny-quanta", "caladan-delay-range", "ideal"] {
        let groups = count(&dom, &format!("data-name=\"{system}\""));
        assert_eq!(groups, plots, "{system}");
    }
    assert!(count(&dom, "class=\"band\"") >= plots * 5);
    assert_eq!(
        count(&dom, "get p99.9 &lt; 50 µs</text>"),
        2,
        "the target is drawn in the tail and efficiency plots"
    );
    assert!(!dom.contains("<title>tiny-quanta"), "the script takes over the native tips");
    assert!(dom.contains("id=\"csv\">"), "the button for the data is no longer hidden");
}

#[test]
fn a_reader_can_point_hide_and_go_by_keys() {
    let actions = r#"
        const visible = [...document.querySelectorAll("svg[data-plot]")].find((svg) => svg.getBoundingClientRect().width > 0);
        const tip = document.getElementById("tip");
        const note = (key) => { document.body.dataset[key] = tip.hidden ? "hidden" : tip.textContent; };
        const press = (key) => visible.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        press("ArrowRight"); note("first");
        press("ArrowRight"); note("second");
        press("Escape"); note("escaped");
        const point = visible.querySelector('.series[data-name="shinjuku"] .pt').getBoundingClientRect();
        const at = { clientX: point.x + point.width / 2, clientY: point.y + point.height / 2, bubbles: true };
        visible.dispatchEvent(new PointerEvent("pointermove", at)); note("pointed");
        document.querySelector(".legend button[title]").click();
        document.body.dataset.off = document.querySelectorAll(".series.off").length;
    "#;
    let report = common::report();
    let dom = dom(&page_with_reader("reader.html", &report, actions));
    let said = |key: &str| {
        let from = dom.split(&format!("data-{key}=\"")).nth(1).unwrap_or_else(|| panic!("no {key}"));
        from.split('"').next().unwrap_or_default().to_owned()
    };
    assert!(said("first").contains("load 0.05\np99.9 latency 1."), "{}", said("first"));
    assert!(said("second").contains("load 0.1\np99.9 latency 1."), "{}", said("second"));
    assert!(said("second").contains(" µs to 1."), "the interval: {}", said("second"));
    assert_eq!(said("escaped"), "hidden");
    assert!(said("pointed").starts_with("shinjukuload 0.05"), "{}", said("pointed"));
    let plots: usize = report.charts().iter().flat_map(|c| &c.variants).map(|v| v.plots.len()).sum();
    assert_eq!(said("off"), plots.to_string(), "a curve that is hidden once is hidden in all plots");
}

#[test]
fn the_page_asks_for_nothing_from_outside() {
    let html = common::report().to_html();
    let without_namespaces = html.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "//cdn", "src=", "@import", "url(http", "<link"] {
        assert!(!without_namespaces.contains(outside), "{outside}");
    }
}

#[test]
fn names_from_files_stay_text() {
    let evil = "</script><script>document.documentElement.dataset.ready='evil'</script><b>\"'&";
    let mut rows = common::rows();
    rows.truncate(19);
    for row in &mut rows {
        row.system = evil.into();
        row.classes.insert(evil.into(), row.classes["get"].clone());
    }
    let mut report = Report { rows, title: evil.into(), question: evil.into(), ..common::report() };
    report.config_toml = evil.into();
    report.targets[0].label = evil.into();
    report.verdicts = vec![Verdict {
        statement: evil.into(),
        source: evil.into(),
        verdict: Outcome::Undecided,
        numbers: evil.into(),
    }];
    let dom = dom(&page("names.html", &report));
    assert!(!dom.contains("data-ready=\"evil\""));
    assert!(dom.contains("data-ready=\""), "the script ran to its end");
    assert_eq!(count(&dom, "<script"), 2, "only our own scripts");
}

#[test]
fn a_report_without_rows_or_with_overload_alone_is_a_page() {
    let overloaded =
        Row::from_lines(r#"{"system":"go","load":1.2,"overloaded":true,"latency_ns":null}"#).unwrap();
    for (name, rows) in [("empty.html", Vec::new()), ("overloaded.html", overloaded)] {
        let report = Report { title: name.into(), rows, ..Report::default() };
        assert!(dom(&page(name, &report)).contains("data-ready=\"0\""));
    }
}
