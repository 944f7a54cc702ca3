//! Sweeps: a list where one value belongs stands for several, and every combination of them is a point. `file` asks for the axes of a
//! table, and then for the table of each combination. Pure functions over the tree of a document.

use crate::finding::{Finding, Place};
use crate::tree::{Node, Value, join};

/// Most points of a file.
pub const POINTS_MAX: usize = 10_000;

/// Keys whose value is a list by nature, or can not vary.
const NEVER_SWEPT: [&str; 9] = [
    "pools",
    "name",
    "cutoffs",
    "reservations",
    "throughput",
    "adaptation",
    "break_even_per_s",
    "thresholds",
    "lengths",
];

/// A swept key.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// Keys from the table down.
    steps: Vec<String>,
    /// Its name in results: `discipline.quantum`, `costs.preemption`.
    pub(crate) key: String,
    pub(crate) values: Vec<Node>,
    pub(crate) place: Place,
}

/// The swept keys of a table, in the order of the text.
pub(crate) fn axes(table: &Node, prefix: &str) -> Result<Vec<Axis>, Vec<Finding>> {
    let (mut axes, mut findings) = (Vec::new(), Vec::new());
    collect(table, prefix, &mut Vec::new(), &mut axes, &mut findings);
    axes.sort_by_key(|axis: &Axis| axis.place);
    if findings.is_empty() { Ok(axes) } else { Err(findings) }
}

fn collect(
    table: &Node,
    prefix: &str,
    steps: &mut Vec<String>,
    axes: &mut Vec<Axis>,
    findings: &mut Vec<Finding>,
) {
    for entry in table.entries() {
        if NEVER_SWEPT.contains(&entry.key.as_str()) {
            continue;
        }
        let key = join(prefix, &entry.key);
        steps.push(entry.key.clone());
        match &entry.node.value {
            Value::Table(_) => collect(&entry.node, &key, steps, axes, findings),
            Value::List(values) => {
                findings.extend(wrong_list(&key, &entry.node, values));
                let (steps, place) = (steps.clone(), entry.node.place);
                axes.push(Axis { steps, key, values: values.clone(), place });
            }
            _ => {}
        }
        steps.pop();
    }
}

fn wrong_list(key: &str, list: &Node, values: &[Node]) -> Option<Finding> {
    if values.is_empty() {
        let finding = Finding::new(list.place, key, "an empty list sweeps nothing");
        return Some(finding.help("write at least one value"));
    }
    let twice = values
        .iter()
        .enumerate()
        .find(|(i, value)| values[..*i].iter().any(|earlier| earlier.inline() == value.inline()));
    twice.map(|(_, value)| {
        let message = format!("{} stands twice in the list", value.inline());
        Finding::new(value.place, key, message).help("remove one of them")
    })
}

/// The number of combinations; `usize::MAX` if there are more.
pub(crate) fn combinations(axes: &[Axis]) -> usize {
    axes.iter().fold(1, |product, axis| product.saturating_mul(axis.values.len()))
}

/// The `n`-th combination, the last axis varying fastest: an index into the values of each.
pub(crate) fn combination(axes: &[Axis], mut n: usize) -> Vec<usize> {
    let mut picks: Vec<usize> = axes
        .iter()
        .rev()
        .map(|axis| {
            let pick = n % axis.values.len();
            n /= axis.values.len();
            pick
        })
        .collect();
    picks.reverse();
    picks
}

/// `table` with one value for each of `axes`.
pub(crate) fn fixed(table: &Node, axes: &[Axis], picks: &[usize]) -> Node {
    let mut table = table.clone();
    for (axis, &pick) in axes.iter().zip(picks) {
        if let Some(node) = table.at_mut(&axis.steps) {
            *node = axis.values[pick].clone();
        }
    }
    table
}
