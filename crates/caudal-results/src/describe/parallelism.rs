//! Parallelism policies in words: which workers may take the tasks that a request forks. `describe` asks for each system whose requests
//! fork. Pure.

use caudal_policy::Picos;
use caudal_policy::parallelism::{DequeEnd, ParallelismConfig, TailControlConfig};

use super::counted;
use crate::table::time;

/// `tail-control for a target of 25ms, worked out anew every 1s from the last 10s`; none where requests do not fork.
pub(super) fn words(parallelism: &ParallelismConfig) -> Option<String> {
    Some(match parallelism {
        ParallelismConfig::Serial => return None,
        ParallelismConfig::StealFirst => "requests fork, steal-first".to_owned(),
        ParallelismConfig::AdmitFirst => "requests fork, admit-first".to_owned(),
        ParallelismConfig::DefaultTbb(config) => {
            let end = match config.end {
                DequeEnd::Steal => "where others steal",
                DequeEnd::Own => "where their workers take",
            };
            format!("requests fork, default-TBB (to random deques, {end})")
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

/// `for a target of 25ms`, or `with thresholds of 367 ms from 1 active request on to 31.9 ms from 110 on`.
fn limits(target: Picos, thresholds: &[(u32, Picos)]) -> String {
    let shown = |threshold: &Picos| time(threshold.as_nanos_f64());
    let active = |from: &u32| counted(*from as usize, "active request");
    match thresholds {
        [] => format!("for a target of {target}"),
        [(from, only)] => format!("with a threshold of {} from {} on", shown(only), active(from)),
        [(from, first), .., (to, last)] => {
            format!(
                "with thresholds of {} from {} on to {} from {to} on",
                shown(first),
                active(from),
                shown(last)
            )
        }
    }
}
