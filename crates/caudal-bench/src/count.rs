//! Instructions and mispredicted branches per request, counted by callgrind: figures that no noise touches.
//! `caudal-bench count` runs it; it starts `caudal-bench` again under callgrind for each case, and reads the files that callgrind writes.
//!
//! Two runs of different length; what is divided by the difference of their requests is the difference of
//! their counts, so that starting up does not count.

use std::process::Command;

use serde_json::{Value, json};

use crate::case::Case;
use crate::child::{ChildError, LIMIT, arguments, output, parse, this_program};

/// The events that are counted per request. Branches are as callgrind's simple predictor guesses them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Counts {
    instructions: f64,
    branches: f64,
    mispredicted: f64,
}

impl Counts {
    fn per(self, other: Counts, requests: f64) -> Counts {
        Counts {
            instructions: (self.instructions - other.instructions) / requests,
            branches: (self.branches - other.branches) / requests,
            mispredicted: (self.mispredicted - other.mispredicted) / requests,
        }
    }
}

/// Reads `Collected : Ir Bc Bcm Bi Bim`, the line of totals.
fn collected(stderr: &str) -> Option<Counts> {
    let line = stderr.lines().find_map(|line| line.split_once("Collected :"))?.1;
    let numbers: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
    let [instructions, conditional, conditional_wrong, indirect, indirect_wrong] = numbers.ok()?[..] else {
        return None;
    };
    let (branches, mispredicted) = (conditional + indirect, conditional_wrong + indirect_wrong);
    Some(Counts { instructions, branches, mispredicted })
}

/// One run under callgrind: its totals, and how many requests it simulated.
fn run(key: &str, case: Option<&Case>, requests: u64, seed: u64) -> Result<(Counts, u64), ChildError> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--branch-sim=yes", "--callgrind-out-file=/dev/null"]);
    command.arg(this_program()?).args(arguments(key, requests, seed));
    let (stdout, stderr) = output(&mut command)?;
    let counts = collected(&stderr).ok_or_else(|| ChildError::Says("valgrind".to_owned(), stderr.clone()))?;
    let report = parse(&stdout)?;
    let arrived = match case {
        Some(case) => case.arrivals_until(report.end_ps, seed),
        None => report.arrived.unwrap_or(requests),
    };
    Ok((counts, arrived))
}

/// Requests of the shorter run; the longer one has five times as many.
const REQUESTS: u64 = 50_000;

fn count(key: &str, case: Option<&Case>, seed: u64) -> Result<Counts, ChildError> {
    // On many cores it takes more requests until the queues are what they will be.
    let requests = if case.is_some_and(|case| case.cores() > 100) { 4 * REQUESTS } else { REQUESTS };
    let (few, arrived_few) = run(key, case, requests, seed)?;
    let (many, arrived_many) = run(key, case, 5 * requests, seed)?;
    Ok(many.per(few, (arrived_many - arrived_few) as f64))
}

fn as_json(key: &str, counts: &Counts) -> Value {
    json!({
        "case": key,
        "instructions_per_request": counts.instructions,
        "branches_per_request": counts.branches,
        "mispredicted_per_request": counts.mispredicted,
    })
}

/// Counts every case, or only those whose key contains `only`.
///
/// # Errors
/// If valgrind is missing or fails; what was counted before has been printed.
pub(crate) fn table(only: Option<&str>, seed: u64, json: bool) -> Result<(), ChildError> {
    if !json {
        println!(
            "{:<24}{:>14}{:>10}{:>14}   per request",
            "case", "instructions", "branches", "mispredicted"
        );
    }
    let cases = Case::all();
    let named = cases.iter().map(|case| (case.key.as_str(), Some(case)));
    for (key, case) in std::iter::once((LIMIT, None)).chain(named) {
        if only.is_some_and(|only| !key.contains(only)) {
            continue;
        }
        eprintln!("counting {key}");
        let counts = count(key, case, seed)?;
        let Counts { instructions, branches, mispredicted } = counts;
        if json {
            println!("{}", as_json(key, &counts));
        } else {
            println!("{key:<24}{instructions:>14.0}{branches:>10.0}{mispredicted:>14.2}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_and_divided() {
        let text = "==7== \n==7== Events    : Ir Bc Bcm Bi Bim\n==7== Collected : 1000 200 20 10 1\n";
        let few = collected(text).unwrap();
        assert_eq!(few, Counts { instructions: 1000.0, branches: 210.0, mispredicted: 21.0 });
        let many = collected("Collected : 3000 600 60 30 3").unwrap();
        assert_eq!(many.per(few, 20.0), Counts { instructions: 100.0, branches: 21.0, mispredicted: 2.1 });
        assert_eq!(collected("Collected : 1000"), None);
        assert_eq!(collected(""), None);
    }
}
