//! The answer on one screen: what `make demo` prints, in a quick form, and what a reader needs to understand it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The screen that an answer has to fit.
const COLUMNS: usize = 100;
const LINES: usize = 40;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/rocksdb-get-scan.csv")
}

/// `caudal` in a directory, with the measured gets and scans in `service.csv`.
fn caudal(dir: &Path, arguments: &[&str]) -> Output {
    let service = dir.join("service.csv");
    if !service.exists() {
        std::fs::copy(data(), service).expect("the measured values are in the project");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    command.args(arguments).args(["--quick", "--quiet"]).current_dir(dir).output().expect("it starts")
}

/// The demo's question, for a second's budget.
const DEMO: [&str; 11] = [
    "plan",
    "--workload",
    "service.csv",
    "--target",
    "get p99.9 < 50us",
    "--cores",
    "16",
    "--budget",
    "1s",
    "--out",
    "demo",
];

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Every line fits, and there are few enough.
fn fits(screen: &str) {
    for line in screen.lines() {
        assert!(line.chars().count() <= COLUMNS, "{} columns: {line}", line.chars().count());
    }
    assert!(screen.lines().count() <= LINES, "{} lines:\n{screen}", screen.lines().count());
}

/// What people read has one spelling of each unit, no colours where nobody looks, and no mark that is not explained.
fn is_plain(screen: &str) {
    assert!(!screen.contains('\u{1b}'), "colours in a pipe: {screen}");
    let screen = &screen.replace('\n', " ");
    for word in screen.split(|letter: char| letter.is_whitespace() || "(),;".contains(letter)) {
        let unit = word.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        assert!(unit != "us" && !(unit.len() < word.len() && unit == "ms"), "`{word}` in\n{screen}");
    }
    for mark in ['±', '≤', '≥', '–'] {
        let explained = screen.contains(&format!("{mark}: "));
        assert!(!screen.contains(mark) || explained, "what is `{mark}`?\n{screen}");
    }
    assert!(!screen.contains('?') || screen.contains("; ? where it is not known"), "what is `?`?\n{screen}");
}

#[test]
fn the_demos_answer_fits_a_screen_and_begins_with_what_to_run() {
    let dir = tempfile::tempdir().expect("a directory");
    let planned = caudal(dir.path(), &DEMO);
    let screen = text(&planned.stdout);
    assert!(planned.status.success(), "{screen}{}", text(&planned.stderr));
    fits(&screen);
    is_plain(&screen);
    assert!(screen.starts_with("Run caudal-"), "{screen}");
    // Beside each other: the answer first, five lines at most, and each role explained.
    let table: Vec<&str> = screen.split("\n\n").nth(1).expect("a table").lines().skip(1).collect();
    let rows: Vec<&str> = table
        .iter()
        .take_while(|line| !line.starts_with("load: ") && !line.starts_with("No room"))
        .copied()
        .collect();
    assert!((3..=5).contains(&rows.len()) && rows[0].starts_with("answer "), "{screen}");
    // The words are explained in lines that break anywhere.
    let unbroken = screen.replace('\n', " ");
    for role in ["no preemption", "today", "bound"] {
        assert!(
            rows.iter().any(|row| row.contains(role)) && unbroken.contains(&format!("{role}: ")),
            "{role}: {screen}"
        );
    }
    for fact in ["It carries", "It costs", "How sure", "Of the cores' time", "confidence"] {
        assert!(screen.contains(fact), "{fact}: {screen}");
    }
    let plan: serde_json::Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("demo/plan.json")).expect("a plan"))
            .expect("JSON");
    let all = plan["systems"].as_array().expect("all systems").len();
    assert!(all > 20 && screen.contains(&format!("table of {all} systems")), "{all}: {screen}");
    assert_eq!(plan["summary"]["shown"].as_array().map(Vec::len), Some(rows.len()));

    // The rest is there for whoever asks, without another search.
    let explained = text(&caudal(dir.path(), &[&DEMO[..], &["--explain"]].concat()).stdout);
    let same = screen.rsplit_once("\n\n").expect("what to do for more").0;
    assert!(explained.starts_with(same), "{explained}");
    for system in plan["systems"].as_array().expect("all systems") {
        let name = system["system"].as_str().expect("a name");
        assert!(explained.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {explained}");
    }
    assert!(explained.contains("- Tuned: ") && explained.contains("±: "), "{explained}");

    // The report draws the same few, and has the others to be switched on.
    let page = std::fs::read_to_string(dir.path().join("demo/report.html")).expect("a report");
    let pressed = |on: &str| page.matches(&format!("aria-pressed=\"{on}\"")).count();
    assert!(pressed("true") > 0 && pressed("false") > pressed("true"), "{} on", pressed("true"));
}

#[test]
fn notes_about_the_input_end_with_what_to_do() {
    let dir = tempfile::tempdir().expect("a directory");
    let planned = caudal(dir.path(), &[&DEMO[..9], &["--systems", "work-stealing", "--out", "one"]].concat());
    let said = text(&planned.stderr);
    let notes: Vec<&str> = said.lines().filter(|line| line.starts_with("note: ")).collect();
    assert_eq!(notes.len(), 3, "{said}");
    for note in notes {
        assert!(note.ends_with("delete the line") || note.ends_with("for a p99.9"), "{note}");
    }
}

#[test]
fn where_nothing_meets_the_target_the_first_line_says_so_and_what_to_do_follows() {
    let dir = tempfile::tempdir().expect("a directory");
    let asked = ["plan", "--workload", "extreme-bimodal", "--target", "short p99.9 < 510ns", "--cores", "4"];
    let more = ["--budget", "1s", "--systems", "work-stealing,caudal-ps,ideal"];
    let planned = caudal(dir.path(), &[&asked[..], &more].concat());
    let screen = text(&planned.stdout);
    assert_eq!(planned.status.code(), Some(1), "{screen}{}", text(&planned.stderr));
    fits(&screen);
    is_plain(&screen);
    assert!(screen.starts_with("Nothing "), "{screen}");
    assert!(screen.contains("What to do") && screen.contains("nearest"), "{screen}");
}

#[test]
fn roles_that_fall_to_one_system_share_a_line_and_that_is_said() {
    let dir = tempfile::tempdir().expect("a directory");
    let asked =
        ["plan", "--workload", "facebook-usr", "--target", "p99 < 1ms", "--cores", "4", "--budget", "1s"];
    let planned = caudal(dir.path(), &[&asked[..], &["--systems", "work-stealing,caudal-ps,ideal"]].concat());
    let screen = text(&planned.stdout);
    assert!(planned.status.success(), "{screen}{}", text(&planned.stderr));
    fits(&screen);
    is_plain(&screen);
    assert!(screen.contains("\nanswer, no preemption, today  work-stealing "), "{screen}");
    let said = "work-stealing is the answer, the best without preemption and what most services run today in one line.";
    assert!(screen.replace('\n', " ").contains(said), "{screen}");
}

#[test]
fn comparisons_begin_with_who_is_better_at_what() {
    let dir = tempfile::tempdir().expect("a directory");
    let asked = ["compare", "caudal-ps", "work-stealing", "--workload", "extreme-bimodal", "--load", "0.5"];
    let compared = caudal(dir.path(), &[&asked[..], &["--cores", "4"]].concat());
    let screen = text(&compared.stdout);
    assert!(compared.status.success(), "{screen}{}", text(&compared.stderr));
    fits(&screen);
    is_plain(&screen);
    assert!(screen.starts_with("At load 0.5 caudal-ps is better for short (p99"), "{screen}");
    let all = text(&caudal(dir.path(), &[&asked[..], &["--cores", "4", "--explain"]].concat()).stdout);
    assert!(all.contains("slowdown") && all.contains("difference") && !screen.contains("slowdown"), "{all}");
}
