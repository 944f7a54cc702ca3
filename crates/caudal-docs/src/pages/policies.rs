//! `policies.md`: every policy by its own documentation, and the refused combinations. It reads the source files of the policies each time that the
//! page is made.

use std::path::{Path, PathBuf};

use caudal_policy::discipline::Runnable;

use crate::DocsError;
use crate::markdown::without_code_links;
use crate::source::SourceFile;

/// The decision points: folder and key of the file, and what they decide.
pub(super) const POINTS: [(&str, &str); 5] = [
    ("dispatch", "A request arrives: which pool gets it, or is it held?"),
    ("discipline", "Which task runs on which worker of a pool, and for how long?"),
    ("rebalance", "A worker is idle, or overloaded: do tasks move between pools?"),
    ("allocation", "Does the application get cores, or give some back?"),
    ("parallelism", "A request forks inside: who may take its tasks, and when is a new one admitted?"),
];

/// Sections that every policy's documentation has, in this order.
const SECTIONS: [&str; 6] =
    ["What it does", "When it helps", "When it hurts", "Parameters", "Source", "Example"];

const INTRO: &str = "\
# Policies

This page is for people who choose policies for [a system file](file-format.md), or who want to know what a plan has chosen. It says
of each policy what it does, when it helps and when it hurts. Words are explained in [the glossary](glossary.md).

A system is a choice of *pools* and of a policy at each *decision point*. A pool is a set of workers that
share queues: `pools = 1` is a central queue, `\"per-core\"` one queue a core, `[13, 2, 1]` pools of that many
cores. Every parameter may be a list; all combinations are then simulated. Where a policy is written by its
name alone, as in `dispatch = \"random\"`, its parameters have their defaults.

`workload.dag` says which parts of a request can be done in parallel. Without it, a request is one task on one core.
";

/// A policy's documentation.
pub(super) struct Policy {
    /// Its name in files.
    pub(super) name: String,
    title: String,
    sections: Vec<(&'static str, String)>,
}

pub(super) fn body(root: &Path) -> Result<String, DocsError> {
    let mut text = INTRO.to_owned();
    for (point, asks) in POINTS {
        text += &format!("\n## {}\n\n{asks}\n", capitalised(point));
        for policy in policies(root, point)? {
            text += &policy.text();
        }
    }
    text += "\n## What does not go together\n\n";
    text += "Refused when a file is read, with the line that is to blame. *by* says who refuses it: the simulator\n";
    text += "and the runtime, or the runtime only. ";
    let names = Runnable::NAMES.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
    text += &format!("Disciplines that the runtime runs: {}.\n\n", names.join(", "));
    Ok(text + &caudal_config::coherence::table_markdown())
}

/// The policies of a decision point, by name of their files.
pub(super) fn policies(root: &Path, point: &str) -> Result<Vec<Policy>, DocsError> {
    let folder = root.join("crates/caudal-policy/src").join(point);
    let io = |source| DocsError::Io { path: folder.clone(), source };
    let entries: Result<Vec<PathBuf>, _> =
        std::fs::read_dir(&folder).map_err(io)?.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut paths = entries.map_err(io)?;
    paths.sort();
    let mut policies = Vec::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "rs")) {
        let file = SourceFile::read(path)?;
        // Other files hold what policies share.
        if file.module_docs().contains("\n## ") {
            policies.push(Policy::new(&file)?);
        }
    }
    Ok(policies)
}

impl Policy {
    fn new(file: &SourceFile<'_>) -> Result<Policy, DocsError> {
        let docs = without_code_links(&file.module_docs());
        let mut parts = docs.split("\n## ");
        let title = parts.next().unwrap_or_default().trim().to_owned();
        let mut sections = Vec::new();
        for expected in SECTIONS {
            let part = parts.next().unwrap_or_default();
            let Some(text) = part.strip_prefix(expected) else {
                return Err(file.error(format!(
                    "the documentation needs a section `## {expected}` here, in the order {SECTIONS:?}"
                )));
            };
            sections.push((expected, text.trim().to_owned()));
        }
        let example = &sections[SECTIONS.len() - 1].1;
        let name = example.split("policy = \"").nth(1).and_then(|rest| rest.split('"').next());
        let name = name.ok_or_else(|| file.error("the example must say policy = \"…\""))?.to_owned();
        Ok(Policy { name, title, sections })
    }

    fn text(&self) -> String {
        let mut text = format!("\n### `{}`\n\n{}\n", self.name, self.title);
        for (section, body) in &self.sections {
            let list = body.starts_with("* ");
            text += &format!("\n**{section}.**{}{body}\n", if list { "\n\n" } else { " " });
        }
        text
    }
}

fn capitalised(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::schema::Schema;
    use std::collections::BTreeSet;

    #[test]
    fn every_policy_that_a_file_can_name_has_an_entry() {
        let schema = Schema::new();
        for (point, _) in POINTS {
            let named: BTreeSet<String> = schema
                .policies(point)
                .into_iter()
                .map(|policy| policy.name)
                .filter(|name| name != "static")
                .collect();
            let documented: BTreeSet<String> =
                policies(&crate::root(), point).unwrap().into_iter().map(|policy| policy.name).collect();
            assert_eq!(documented, named, "{point}");
        }
    }
}
