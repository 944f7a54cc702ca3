//! The report that the pass wrote, in words. The drivers read it after a compilation that asked for one, and `caudal probes` when it is called.

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::Path;

use serde_json::Value;

use crate::error::DriverError;

/// Number of functions that the text names at most, of each kind.
const NAMED_MAX: usize = 10;

/// A function with probes.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Probed {
    pub name: String,
    pub module: String,
    pub probes: u64,
    /// Longest estimated path without a probe that ends at one of them, or, where it was verified, of all.
    pub longest_cycles: u64,
}

/// A function that was left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct LeftAlone {
    pub name: String,
    pub module: String,
    pub why: String,
}

/// The contents of a report.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Summary {
    pub probed: Vec<Probed>,
    pub left_alone: Vec<LeftAlone>,
    /// Functions whose time was assumed, and by how many others they are called.
    pub assumed: Vec<(String, usize)>,
}

impl Summary {
    /// Reads a report; `None`: there is none, for no pass wrote one.
    ///
    /// # Errors
    /// A file that can not be read.
    pub fn read(file: &Path) -> Result<Option<Summary>, DriverError> {
        match std::fs::read_to_string(file) {
            Ok(text) => Ok(Some(Summary::of(&text))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(DriverError::at(file)(error)),
        }
    }

    /// Reads the lines of a report. Unknown lines are passed over: a later pass may write more kinds.
    pub fn of(text: &str) -> Summary {
        let mut summary = Summary::default();
        for line in text.lines() {
            if let Ok(line) = serde_json::from_str::<Value>(line) {
                summary.add(&line);
            }
        }
        summary.assumed.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        summary
    }

    fn add(&mut self, line: &Value) {
        let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let (name, module) = (text("function"), text("module"));
        match line["event"].as_str() {
            Some("probed") => {
                let sites = line["sites"].as_array().into_iter().flatten();
                let longest_cycles =
                    sites.filter_map(|site| site["longest_cycles"].as_u64()).max().unwrap_or(0);
                let probes = line["probes"].as_u64().unwrap_or(0);
                self.probed.push(Probed { name, module, probes, longest_cycles });
                for callee in line["assumed_calls"].as_array().into_iter().flatten().filter_map(Value::as_str)
                {
                    self.count_assumed(callee);
                }
            }
            Some("verified") => {
                let longest = line["longest_cycles"].as_u64().unwrap_or(0);
                let same = |known: &&mut Probed| known.name == name && known.module == module;
                if let Some(known) = self.probed.iter_mut().rev().find(same) {
                    known.longest_cycles = longest;
                }
            }
            Some("left-alone") => self.left_alone.push(LeftAlone { name, module, why: text("why") }),
            _ => {}
        }
    }

    fn count_assumed(&mut self, callee: &str) {
        match self.assumed.iter_mut().find(|(name, _)| name == callee) {
            Some((_, calls)) => *calls += 1,
            None => self.assumed.push((callee.to_owned(), 1)),
        }
    }

    /// Probes of all functions.
    pub fn probes(&self) -> u64 {
        self.probed.iter().map(|function| function.probes).sum()
    }

    /// A few lines for a person, each beginning with `name`.
    pub fn in_words(&self, name: &str) -> String {
        let mut text = String::new();
        let with = self.probed.iter().filter(|function| function.probes > 0).count();
        let without = self.probed.len() - with;
        let left = self.left_alone.len();
        let probes = counted(self.probes(), "probe");
        let functions = counted(with as u64, "function");
        let _ = writeln!(text, "{name}: {probes} in {functions}; {without} need none, {left} left alone");
        if let Some(longest) = self.probed.iter().max_by_key(|function| function.longest_cycles) {
            let Probed { name: function, module, longest_cycles, .. } = longest;
            if *longest_cycles > 0 {
                let _ = writeln!(
                    text,
                    "{name}: longest path without a probe: {longest_cycles} cycles, in {function} ({module})"
                );
            }
        }
        for LeftAlone { name: function, why, .. } in self.left_alone.iter().take(NAMED_MAX) {
            let _ = writeln!(text, "{name}: left alone: {function}: {why}");
        }
        if left > NAMED_MAX {
            let _ = writeln!(text, "{name}: and {} more", left - NAMED_MAX);
        }
        if !self.assumed.is_empty() {
            let _ = writeln!(text, "{name}: time assumed of calls to {}", self.assumed_in_words());
        }
        text
    }

    fn assumed_in_words(&self) -> String {
        let mut names: Vec<_> = self.assumed.iter().take(NAMED_MAX).map(|(name, _)| name.clone()).collect();
        if self.assumed.len() > NAMED_MAX {
            names.push(format!("and {} more", self.assumed.len() - NAMED_MAX));
        }
        names.join(", ")
    }
}

fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = r#"
{"event":"probed","function":"work","module":"a.c","probes":2,"sites":[{"at":"","longest_cycles":180}],"assumed_calls":["qsort","puts"]}
{"event":"probed","function":"main","module":"a.c","probes":0,"sites":[],"assumed_calls":["puts"]}
{"event":"left-alone","function":"jumps","module":"a.c","why":"calls a function that returns twice"}
{"event":"verified","function":"work","module":"a.c","longest_cycles":243}
not a line
{"event":"something new"}
"#;

    #[test]
    fn a_report_is_summed_up() {
        let summary = Summary::of(LINES);
        assert_eq!(summary.probes(), 2);
        assert_eq!(
            summary.in_words("cc"),
            "cc: 2 probes in 1 function; 1 need none, 1 left alone\n\
             cc: longest path without a probe: 243 cycles, in work (a.c)\n\
             cc: left alone: jumps: calls a function that returns twice\n\
             cc: time assumed of calls to puts, qsort\n"
        );
    }
}
