//! Who may take what a request forks, in words.

use caudal_policy::Picos;
use caudal_policy::parallelism::{DequeEnd, ParallelismConfig, TailControlConfig};

use super::counted;

/// `tail-control for a target of 25ms, worked out anew every 1s from the last 10s`; none where requests do not fork.
pub(super) fn words(parallelism: &ParallelismConfig) -> Option<String> {
    Some(match parallelism {
        ParallelismConfig::Serial => return None,
        ParallelismConfig::StealFirst => "requests fork, steal-first".to_owned(),
        ParallelismConfig::AdmitFirst => "requests fork, admit-first".to_owned(),
        ParallelismConfig::DefaultTbb(config) => {
            let end = match config.end {
                DequeEnd::Steal => "end where others steal",
                DequeEnd::Own => "worker's own end",
            };
            format!("requests fork, default-TBB (they go to the {end} of a random deque)")
        }
        ParallelismConfig::TailControl(config) => tail_control("tail-control", config),
        ParallelismConfig::Clairvoyant(config) => tail_control("clairvoyant tail-control", config),
    })
}

/// A policy of thresholds, with all that is not as usual.
fn tail_control(name: &str, config: &TailControlConfig) -> String {
    let mut parts = vec![format!("requests fork, {name} {}", limits(config.target, &config.thresholds))];
    parts.extend(
        config
            .classes
            .iter()
            .map(|(class, own)| format!("`{class}` {}", limits(own.target, &own.thresholds))),
    );
    if config.scale != 1.0 {
        parts.push(format!("thresholds times {}", config.scale));
    }
    if let Some(retune) = config.retune {
        let from = match retune.oracle {
            true => "what is offered then".to_owned(),
            false => format!("the last {}", retune.window),
        };
        parts.push(format!("worked out anew every {} from {from}", retune.every));
    }
    if let Some(lane) = config.lane {
        let workers = counted(lane.workers as usize, "worker");
        parts.push(format!("{workers} for requests up to {}", lane.cutoff));
    }
    if config.age > Picos::ZERO {
        parts.push(format!("processing times read {} late", config.age));
    }
    if config.span {
        parts.push("what is left of serial parts counts".to_owned());
    }
    parts.join(", ")
}

/// `for a target of 25ms`, or `with a threshold of 367ms for 1 active request to 31.9ms for 110`.
fn limits(target: Picos, thresholds: &[(u32, Picos)]) -> String {
    match thresholds {
        [] => format!("for a target of {target}"),
        [(active, only)] => {
            format!("with a threshold of {only} from {} on", counted(*active as usize, "active request"))
        }
        [(from, first), .., (to, last)] => {
            let active = counted(*from as usize, "active request");
            format!("with thresholds of {first} from {active} on to {last} from {to} on")
        }
    }
}
