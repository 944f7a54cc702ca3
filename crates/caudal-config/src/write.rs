//! Writing a `policy.toml`.

use crate::plan::to_node;
use crate::tree::{Node, built_in};
use crate::{Costs, System};

/// The file that says `system` and `costs` and nothing else, under `header` as a comment. Every number is
/// spelled out, also defaults: the file means the same under any later version. Reading it gives equal ones
/// back, if the name of the system is one that a file can hold (1 to 64 printable characters).
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

fn table(text: &mut String, name: &str, node: &Node) {
    *text += &format!("[{name}]\n");
    let width = node.entries().iter().map(|entry| entry.key.len()).max().unwrap_or(0);
    for entry in node.entries() {
        *text += &format!("{:width$} = {}\n", entry.key, entry.node.inline());
    }
}
