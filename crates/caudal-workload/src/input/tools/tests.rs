//! Times of test runs, as `go test -json` writes them.
//! The table of tools (`mod.rs`) asks whether a text has this form, and calls the reader once if it has. Pure.

use std::collections::HashSet;

use serde_json::Value;

use super::{Names, Shown, most, passed_over};
use crate::error::WorkloadError;
use crate::input::{Place, text};

/// An event of a test.
fn event(line: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(line).ok()?;
    (value["Action"].is_string() && value["Package"].is_string()).then_some(value)
}

/// Are these events of `go test -json`?
pub(super) fn holds_go(lines: &[&str]) -> bool {
    lines.first().is_some_and(|line| line.starts_with('{')) && most(lines, |line| event(line).is_some())
}

/// A table of what each test of `go test` took.
pub(super) fn of_go(bytes: &[u8], place: &Place<'_>) -> Result<Shown, WorkloadError> {
    let text = text(bytes);
    let mut shown =
        Shown::new("runs of tests by `go test -json`", &["elapsed_s", "test", "package", "action"]);
    let name = |event: &Value| {
        let package = event["Package"].as_str().unwrap_or_default();
        Some((package.to_owned(), event["Test"].as_str()?.to_owned()))
    };
    let mut parents: HashSet<(String, String)> = HashSet::new();
    for (package, test) in text.lines().filter_map(event).filter_map(|event| name(&event)) {
        let ends = test.match_indices('/').map(|(at, _)| (package.clone(), test[..at].to_owned()));
        parents.extend(ends);
    }
    let (mut names, mut left_out, mut has_benchmarks) = (Names::default(), 0, false);
    for (at, line) in text.lines().enumerate() {
        let Some(event) = event(line) else { continue };
        has_benchmarks |= event["Output"].as_str().is_some_and(|output| output.contains(" ns/op"));
        let action = event["Action"].as_str().unwrap_or_default();
        let (Some(name), true, Some(_)) =
            (name(&event), ["pass", "fail"].contains(&action), event["Elapsed"].as_f64())
        else {
            continue;
        };
        if parents.contains(&name) {
            left_out += 1;
            continue;
        }
        names.see(&name.1);
        shown.rows.add(at + 1, &[&event["Elapsed"].to_string(), &name.1, &name.0, action])?;
    }
    if shown.rows.count == 0 {
        return Err(place.whole(match has_benchmarks {
            true => "is output of Go's benchmarks, the mean of many runs in a line; write what each run takes, a time a line",
            false => "is what `go test -json` writes, of no test that has ended",
        }));
    }
    if names.are_classes() {
        shown.class = Some("test".to_owned());
    }
    shown.notes.push(
        "each value is a run of a whole test, in steps of 10 ms, and none of a request; `--class-column test` tells tests apart"
            .to_owned(),
    );
    shown.notes.extend(passed_over(left_out, "run", "of a test within which others run"));
    Ok(shown)
}
