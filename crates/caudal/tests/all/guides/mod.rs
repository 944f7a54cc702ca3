//! Every page of `docs/guides` and `docs/tutorial` is done from top to bottom in an empty folder, and prints what it says.
//!
//! `steps.rs` says how a page is read, `reader.rs` does it. What is not run says why in its own fence.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod reader;
mod steps;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use self::reader::Reader;
use self::steps::Step;

/// Held by a page that begins a service: pages call theirs by the same name.
static SERVES: Mutex<()> = Mutex::new(());

fn clone() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Files of tools, as the workload crate reads them in its tests.
fn inputs() -> PathBuf {
    clone().join("crates/caudal-workload/tests/inputs")
}

/// Does the page `page` of `docs`, in a folder with the reader's own `files`.
fn done(page: &str, files: &[PathBuf]) {
    let text = std::fs::read_to_string(clone().join("docs").join(page)).unwrap();
    let steps = steps::of(&text);
    let serves = steps.iter().any(|step| matches!(step, Step::Begin(_)));
    let _alone = serves.then(|| SERVES.lock().unwrap_or_else(PoisonError::into_inner));
    let mut reader = Reader::new(&clone(), files);
    steps.iter().for_each(|step| reader.does(step));
}

/// A test for each page, and the list of them.
macro_rules! pages {
    ($($(#[$attribute:meta])* $test:ident: $page:literal, $files:expr;)*) => {
        $(
            #[test]
            $(#[$attribute])*
            fn $test() {
                done($page, &$files);
            }
        )*
        const PAGES: &[&str] = &[$($page),*];
    };
}

pages! {
    #[ignore = "long: make test-long"]
    first_plan: "tutorial/first-plan.md", [];
    #[ignore = "long: make test-long"]
    calibrate: "guides/calibrate.md", [];
    #[ignore = "long: make test-long"]
    first_service_in_c: "guides/first-service-in-c.md", [];
    #[ignore = "long: make test-long"]
    first_service_in_rust: "guides/first-service-in-rust.md", [];
    #[ignore = "long: make test-long"]
    instrument_your_code: "guides/instrument-your-code.md", [];
    #[ignore = "long: make test-long"]
    lanes: "guides/lanes.md", [];
    locks_and_preemption: "guides/locks-and-preemption.md", [];
    #[ignore = "long: make test-long"]
    measure_a_service: "guides/measure-a-service.md", [];
    #[ignore = "long: make test-long"]
    measure_your_service: "guides/measure-your-service.md", files_of_tools();
    #[ignore = "long: make test-long"]
    read_a_report: "guides/read-a-report.md", [];
    #[ignore = "long: make test-long"]
    serve_a_cache: "guides/serve-a-cache.md", [];
    #[ignore = "long: make test-long"]
    targets: "guides/targets.md", [];
    timelines: "guides/timelines.md", [];
    #[ignore = "long: make test-long"]
    watch_a_runtime: "guides/watch-a-runtime.md", [];
    write_a_system_file: "guides/write-a-system-file.md", [];
}

#[test]
fn no_page_is_left_out() {
    let mut there: Vec<String> = Vec::new();
    for folder in ["guides", "tutorial"] {
        for entry in std::fs::read_dir(clone().join("docs").join(folder)).unwrap() {
            there.push(format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap()));
        }
    }
    there.sort();
    let mut done = PAGES.to_vec();
    done.sort_unstable();
    assert_eq!(there, done);
}

/// The pages that take long are read at least: a fence that says nothing a reader could do is found by `make test`.
#[test]
fn every_page_can_be_read() {
    for page in PAGES {
        let text = std::fs::read_to_string(clone().join("docs").join(page)).unwrap();
        let _ = steps::of(&text);
    }
}

/// The files that the guide to measuring takes for the reader's own.
fn files_of_tools() -> Vec<PathBuf> {
    ["k6.csv", "vegeta.csv", "vegeta.txt"].map(|name| inputs().join(name)).into()
}

/// Every command in the table of `docs/guides/measure-your-service.md` does what the table says, on a file of that kind.
#[test]
fn every_tool_of_the_table_has_a_command_that_works() {
    let guide = clone().join("docs/guides/measure-your-service.md");
    let text = std::fs::read_to_string(guide).unwrap();
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let commands: Vec<&str> = rows
        .filter_map(|row| row.split('`').find(|part| part.starts_with("caudal workload show ")))
        .collect();
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        let arguments = words(command.strip_prefix("caudal ").unwrap());
        let mut caudal = Command::new(env!("CARGO_BIN_EXE_caudal"));
        let ran = caudal.args(arguments).current_dir(inputs()).output().unwrap();
        let (out, error) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success() && out.contains("Read as "), "{command}: {out}{error}");
    }
}

/// Words as a shell takes them, with single quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in command.split('\'').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}
