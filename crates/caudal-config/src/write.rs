//! Writing of files in this project's format: a `policy.toml` for a system, and the file that a run keeps once overrides are in it. The
//! tuner calls [`write_policy`] for the system that won; `file` writes what a directory of results keeps. It returns text and touches no
//! files.

use crate::plan::to_node;
use crate::tree::{Node, Value, built_in, key};
use crate::{Costs, System};

/// The file with `system` and `costs` and nothing else, under `header` as a comment. Every number is
/// written out, including defaults, so that the file means the same under any later version. Reading it gives an equal system and
/// equal costs back, if the name of the system is one that a file can hold (1 to 64 printable characters).
pub fn write_policy(system: &System, costs: &Costs, header: &str) -> String {
    let mut text = String::new();
    for line in header.lines() {
        // A comment must not hold control characters.
        let line: String = line.chars().filter(|c| !c.is_control()).collect();
        text += format!("# {line}").trim_end();
        text.push('\n');
    }
    if !header.is_empty() {
        text.push('\n');
    }
    table(&mut text, "system", &to_node(system));
    text.push('\n');
    table(&mut text, "costs", &built_in(costs));
    text
}

/// A whole file, its tables in their order; reading it gives the same tree back.
pub(crate) fn file(root: &Node) -> String {
    let mut text = String::new();
    for entry in root.entries() {
        let tables = match &entry.node.value {
            Value::List(tables) => tables.iter().map(|node| (format!("[{}]", entry.key), node)).collect(),
            _ => vec![(entry.key.clone(), &entry.node)],
        };
        for (name, node) in tables {
            text += if text.is_empty() { "" } else { "\n" };
            table(&mut text, &name, node);
        }
    }
    text
}

fn table(text: &mut String, name: &str, node: &Node) {
    *text += &format!("[{name}]\n");
    let width = node.entries().iter().map(|entry| key(&entry.key).len()).max().unwrap_or(0);
    for entry in node.entries() {
        *text += &format!("{:width$} = {}\n", key(&entry.key), entry.node.inline());
    }
}

#[cfg(test)]
mod tests {
    use crate::tree::{parse, set_override};

    #[test]
    fn a_file_with_overrides_is_written_as_it_is_meant() {
        let text = "# c\n[[system]]\nname = \"a\"\ncores = 2\n[[system]]\nname = \"b\"\ncores = 3\n[workload]\n\
                    service = { file = \"x.csv\", weights = { \"a b\" = 0.5, c = 0.5 } }\nload = [0.1, 1e-3]\n";
        let mut root = parse(text, 0).unwrap();
        set_override(&mut root, "system.discipline.quantum=2us", 1).unwrap();
        set_override(&mut root, "measure.seed=7", 2).unwrap();
        let written = super::file(&root);
        let again = parse(&written, 0).unwrap();
        assert_eq!(again.json(), root.json(), "{written}");
        assert_eq!(super::file(&again), written);
        assert!(written.contains("[measure]\nseed = 7\n"), "{written}");
    }
}
