//! Opens reports in a real browser: what is drawn must be there, and the script must have run.

use crate::common;
use std::path::{Path, PathBuf};
use std::process::Command;

use caudal_report::{Outcome, Report, Row, Verdict};

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

/// What a reader does: two steps by keys, away, pointing at a point, hiding a curve.
const READER: &str = r#"
    const plots = [...document.querySelectorAll("svg[data-plot]")];
    const visible = plots.find((svg) => svg.getBoundingClientRect().width > 0);
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

#[test]
fn the_browser_finds_the_curves_and_a_reader_can_point_and_hide() {
    let report = common::report();
    page("plan.html", &report);
    let dom = dom(&page_with_reader("reader.html", &report, READER));
    let plots: usize = report.charts().iter().flat_map(|c| &c.variants).map(|v| v.plots.len()).sum();
    assert!(dom.contains(&format!("data-ready=\"{plots}\"")), "the script did not reach its end");
    curves_are_drawn(&dom, plots);
    assert!(!dom.contains("<title>tiny-quanta"), "the script takes over the native tips");
    assert!(dom.contains("id=\"csv\">"), "the button for the data is no longer hidden");
    let said = |key: &str| {
        let from = dom.split(&format!("data-{key}=\"")).nth(1).unwrap_or_else(|| panic!("no {key}"));
        from.split('"').next().unwrap_or_default().to_owned()
    };
    assert!(said("first").contains("load 0.05\np99.9 latency 1."), "{}", said("first"));
    assert!(said("second").contains("load 0.1\np99.9 latency 1."), "{}", said("second"));
    assert!(said("second").contains(" µs to 1."), "the interval: {}", said("second"));
    assert_eq!(said("escaped"), "hidden");
    assert!(said("pointed").starts_with("shinjukuload 0.05"), "{}", said("pointed"));
    assert_eq!(said("off"), plots.to_string(), "a curve that is hidden once is hidden in all plots");
}

/// Every plot keeps every curve of the nine systems, whichever statistic is shown.
fn curves_are_drawn(dom: &str, plots: usize) {
    assert_eq!(count(dom, " data-plot=\""), plots);
    let curves = count(dom, "<path class=\"curve\"");
    assert!(curves >= plots * 9, "{curves} curves in {plots} plots");
    for system in ["tiny-quanta", "caladan-delay-range", "ideal"] {
        assert_eq!(count(dom, &format!("data-name=\"{system}\"")), plots, "{system}");
    }
    assert!(count(dom, "class=\"band\"") >= plots * 5);
    let targets = count(dom, "get p99.9 &lt; 50 µs</text>");
    assert_eq!(targets, 2, "the target is drawn in the plots of tail and efficiency");
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
        let get = row.classes.get("get").expect("the class").clone();
        row.classes.0.push((evil.into(), get));
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
    let empty = Report { title: "empty".into(), ..Report::default() };
    assert!(empty.to_html().contains("<h1>empty</h1>"));
    let rows = Row::from_lines(r#"{"system":"go","load":1.2,"overloaded":true,"latency_ns":null}"#).unwrap();
    let report = Report { rows, ..empty };
    let dom = dom(&page("overloaded.html", &report));
    assert!(dom.contains("data-ready=\"0\"") && dom.contains("never</span>"));
}

/// What a reader does who looks at a few curves at first: switches one on, then all, then only the few.
const SWITCHING: &str = r#"
    const off = () => document.querySelectorAll("svg[data-plot] .series.off").length;
    const drawn = (name) => {
        const all = [...document.querySelectorAll(`svg[data-plot] .series[data-name="${name}"]`)];
        return all.filter((group) => group.getBoundingClientRect().width > 0).length;
    };
    const note = (key) => { document.body.dataset[key] = `${off()} ${drawn("tiny-quanta")} ${drawn("go")}`; };
    const press = (name) => {
        const chips = [...document.querySelectorAll(".legend button")];
        chips.find((chip) => chip.textContent.trim() === name).click();
    };
    note("before");
    press("go"); note("one");
    document.querySelector(".others .every").click(); note("every");
    document.querySelector(".others .few").click(); note("few");
    press("tiny-quanta"); note("none");
"#;

#[test]
fn a_few_curves_are_there_at_first_and_a_click_adds_another() {
    let shown = ["tiny-quanta", "shinjuku", "ideal"].map(ToOwned::to_owned).to_vec();
    let report = Report { shown, ..common::report() };
    let dom = dom(&page_with_reader("few.html", &report, SWITCHING));
    let plots: usize = report.charts().iter().flat_map(|c| &c.variants).map(|v| v.plots.len()).sum();
    let said = |key: &str| -> Vec<usize> {
        let from = dom.split(&format!("data-{key}=\"")).nth(1).unwrap_or_else(|| panic!("no {key}"));
        let words = from.split('"').next().unwrap_or_default().split(' ');
        words.map(|word| word.parse().expect("a number")).collect()
    };
    let [before, one, every, few, none] = ["before", "one", "every", "few", "none"].map(said);
    // Six of nine systems are off, in every plot.
    assert_eq!((before[0], before[2]), (6 * plots, 0), "{before:?}");
    assert!(before[1] > 0, "what is shown is drawn: {before:?}");
    assert_eq!((one[0], one[2]), (5 * plots, before[1]), "{one:?}");
    assert_eq!(every[0], 0, "{every:?}");
    assert_eq!(few, before);
    assert_eq!((none[0], none[1]), (7 * plots, 0), "{none:?}");
}
