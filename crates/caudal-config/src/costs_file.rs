//! A file that holds `[costs]` and nothing else, as `caudal calibrate` writes it. `caudal sim`, `plan` and `compare` read it for `--costs`,
//! before the user's file, and give its values to that file as overrides. It reads one file.

#[cfg(feature = "host")]
use std::path::Path;

use crate::de::read_all;
#[cfg(feature = "host")]
use crate::error::BYTES_MAX;
use crate::error::ConfigError;
use crate::finding::{Finding, Place};
use crate::tree::{self, Node, Value};
use crate::{Costs, coherence};

/// The settings that put what the `[costs]` of a file say into another file: `costs.start=…` and so on, for
/// [`Options::overrides`](crate::Options::overrides).
///
/// # Errors
/// If the file cannot be read, says something else, or a cost is wrong; the error names every place.
#[cfg(feature = "host")]
pub fn costs_as_overrides(path: impl AsRef<Path>) -> Result<Vec<String>, ConfigError> {
    let path = path.as_ref();
    let io = |source| ConfigError::Io { path: path.to_owned(), source };
    let bytes = std::fs::metadata(path).map_err(io)?.len();
    if bytes > BYTES_MAX {
        return Err(ConfigError::TooLarge { path: path.to_owned(), bytes });
    }
    let text = std::fs::read_to_string(path).map_err(io)?;
    parse(&text, &path.display().to_string())
}

/// As [`costs_as_overrides`], of the text of such a file.
///
/// # Errors
/// As [`costs_as_overrides`].
pub fn costs_as_overrides_of_text(text: &str) -> Result<Vec<String>, ConfigError> {
    parse(text, "costs.toml")
}

fn parse(text: &str, name: &str) -> Result<Vec<String>, ConfigError> {
    let sources = tree::sources(name, text, &[]);
    overrides_of(text).map_err(|findings| ConfigError::invalid(findings, &sources))
}

fn overrides_of(text: &str) -> Result<Vec<String>, Vec<Finding>> {
    let root = tree::parse(text, 0)?;
    let foreign = root.entries().iter().filter(|entry| entry.key != "costs");
    let mut findings: Vec<Finding> = foreign
        .map(|entry| {
            let message = format!("a file of costs can not have `{}`, only the table [costs]", entry.key);
            let finding = Finding::new(entry.key_place, &entry.key, message);
            finding.help("remove it, or simulate that file itself")
        })
        .collect();
    let Some(table) = root.get("costs").filter(|node| node.is_table()) else {
        let finding = Finding::new(root.place, "costs", "there is no table [costs]");
        findings.push(finding.help("`caudal calibrate -o costs.toml` writes one"));
        return Err(findings);
    };
    match read_all::<Costs>(table, "costs") {
        Ok(costs) => findings.extend(wrong(&costs, table)),
        Err(more) => findings.extend(more),
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    let set = |key: &str, node: &Node| format!("costs.{key}={}", node.inline());
    Ok(table.entries().iter().map(|entry| set(&entry.key, &entry.node)).collect())
}

/// The rules that costs break on any system.
fn wrong(costs: &Costs, table: &Node) -> Vec<Finding> {
    let broken = coherence::check(&crate::System::single_queue(1), costs, coherence::SystemHost::Simulator);
    let of_costs =
        broken.iter().filter(|broken| broken.rule.keys.iter().all(|key| key.starts_with("costs.")));
    of_costs
        .map(|broken| {
            let named = broken.rule.keys.iter().filter_map(|key| {
                let steps: Vec<String> = key.split('.').skip(1).map(str::to_owned).collect();
                Some((*key, table.at(&steps)?.place))
            });
            let (key, place) = named
                .clone()
                .find(|(key, _)| is_long(table, key))
                .or(named.clone().next())
                .unwrap_or((broken.rule.keys[0], Place::BUILT_IN));
            Finding::new(place, key, format!("{}: {}", broken.rule.refused, broken.rule.why))
                .help(broken.instead())
        })
        .collect()
}

/// Whether the cost of `key` is a time above [`COST_MAX`](crate::coherence::COST_MAX).
fn is_long(table: &Node, key: &str) -> bool {
    let text = table.get(key.trim_start_matches("costs.")).map(|node| &node.value);
    let Some(Value::Text(text)) = text else { return false };
    caudal_policy::Picos::parse(text).is_ok_and(|cost| cost > coherence::COST_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_of_costs_says_is_set_in_another() {
        let text = "# of a machine\n[costs]\nstart = \"41ns\"\nstalls = { rate = \"1200/s\", lengths = [[0, \"2us\"], [1, \"90us\"]] }\n";
        let overrides = overrides_of(text).unwrap();
        let options = crate::Options { overrides, ..crate::Options::default() };
        let file = crate::File::parse_with("[system]\ncores = 2\n[costs]\nhop = \"9ns\"", "a.toml", &options)
            .unwrap();
        let costs = file.systems[0].costs;
        assert_eq!((costs.start.0, costs.hop.0), (41_000, 9_000));
        assert_eq!(costs.stalls.map(|stalls| stalls.rate.per_s()), Some(1200.0));
    }

    #[test]
    fn anything_else_in_it_is_refused_with_its_place() {
        for (text, key) in [
            ("[system]\ncores = 2\n[costs]\n", "system"),
            ("", "costs"),
            ("[costs]\nstrat = \"1ns\"", "costs.strat"),
            ("[costs]\nstart = \"2s\"", "costs.start"),
            ("[costs]\nstart = [\"1ns\", \"2ns\"]", "costs.start"),
            ("[costs]\nstalls = { rate = \"1/s\", lengths = [[0, \"1us\"]] }", "costs.stalls.lengths"),
            (
                "[costs]\nstalls = { rate = \"1M/s\", lengths = [[0, \"1us\"], [1, \"1us\"]] }",
                "costs.stalls.rate",
            ),
        ] {
            let findings = overrides_of(text).unwrap_err();
            assert_eq!(
                findings.iter().map(|finding| finding.key.as_str()).collect::<Vec<_>>(),
                [key],
                "{text}"
            );
        }
    }

    #[test]
    fn a_preset_takes_them_and_a_line_of_reference_does_not() {
        let settings = overrides_of("[costs]\nhop = \"9ns\"").unwrap();
        let costs = |name, settings: &[String]| {
            let plan = crate::SystemPlan::of_preset(crate::find_preset(name).unwrap(), 4);
            plan.with_costs(settings).map(|plan| plan.costs)
        };
        let hop = caudal_policy::Picos::from_nanos(9);
        let own = costs("tiny-quanta", &[]).unwrap();
        assert_eq!(costs("tiny-quanta", &settings).unwrap(), Costs { hop, ..own });
        assert_eq!(costs("ideal", &settings).unwrap(), costs("ideal", &[]).unwrap());
        for wrong in ["costs.hop=fast", "costs.hopp=9ns", "system.cores=2", "hop"] {
            let error = costs("tiny-quanta", &[wrong.to_owned()]).unwrap_err();
            assert_eq!(error.problems().len(), 1, "{wrong}: {error}");
        }
    }
}
