//! Sentences on requests that fork: which requests a worker helps, and which are given up.
//! The explanation of a plan calls it when the search has ended, for the sentences that apply. Pure.

use caudal_config::System;
use caudal_policy::parallelism::ParallelismConfig;
use caudal_sim::thresholds::ROWS;
use caudal_workload::ServiceSpec;

use crate::Question;
use crate::evidence::{Evidence, Rival};
use crate::judge::Probe;
use crate::show::{percent, time, within};

use super::words::results;

/// Thresholds of a target are worked out where the system runs: how to have them as a table, which a runtime follows.
pub(super) fn table_command(question: &Question, system: &System, rate_per_s: f64) -> Option<String> {
    let ParallelismConfig::TailControl(config) = &system.parallelism else { return None };
    let name = &question.workload_name;
    let shares = match &question.workload.service_spec {
        // Those of a file of settings are in it.
        ServiceSpec::File(file) if !name.ends_with(".toml") => file.weights.as_ref(),
        _ => None,
    };
    let shares = shares.map_or(String::new(), |shares| {
        let each: Vec<String> = shares.iter().map(|(class, share)| format!("{class}={share}")).collect();
        format!(" --weights '{}'", each.join(","))
    });
    let own: String =
        config.classes.iter().map(|(class, own)| format!(" --target '{class} {}'", own.target)).collect();
    Some(format!(
        "Its thresholds are worked out for the work and the rate that it meets. As a table:\n\
         caudal threshold --work-distribution '{name}'{shares} --target {}{own} --rate {rate_per_s}/s --cores {} \
         --most-active {ROWS} --table thresholds.csv",
        config.target, system.cores,
    ))
}

impl Evidence<'_> {
    /// Advice on which requests a worker is to help, where requests fork.
    pub(super) fn advice(&self) -> Option<&'static str> {
        if self.parallel.is_empty() {
            return None;
        }
        Some(match self.winner.candidate.plan.system.parallelism {
            ParallelismConfig::Serial => "Each request does best on one core",
            ParallelismConfig::StealFirst => {
                "Steal first: requests that run are helped before others are admitted, and none is given up"
            }
            ParallelismConfig::AdmitFirst => {
                "Admit first: requests are begun before those that run are helped, and none is given up"
            }
            ParallelismConfig::DefaultTbb(_) => "Requests go to random cores, and none is given up",
            ParallelismConfig::TailControl(_) | ParallelismConfig::Clairvoyant(_) => {
                "Serialise large requests: steal first, and give up those that turn out to be large"
            }
        })
    }

    /// Steal first, admit first, give large requests up, or fork none: what each comes to at the winner's place.
    pub(super) fn parallel(&self) -> Option<String> {
        let advice = self.advice()?;
        let there: Vec<String> = self.parallel.iter().map(|rival| self.there(rival)).collect();
        Some(format!("{advice}. At {}: {}.", self.place(), there.join("; ")))
    }

    /// `admit-first: miss 25ms is 1.2 %`.
    fn there(&self, rival: &Rival<'_>) -> String {
        let candidate = &rival.search.candidate;
        let kind = if candidate.forks() { "" } else { ", one core a request" };
        let found = match self.probe_of(rival) {
            None => "not known".to_owned(),
            Some(probe) if probe.row.overloaded => "falls behind".to_owned(),
            Some(probe) if probe.row.holds() => results(self.aims, probe).join(", "),
            Some(probe) => format!("in a short run {}", results(self.aims, probe).join(", ")),
        };
        format!("{}{kind}: {found}", candidate.name())
    }

    fn probe_of<'a>(&'a self, rival: &Rival<'a>) -> Option<&'a Probe> {
        match rival.search.candidate.name() == self.winner.candidate.name() {
            true => Some(self.probe),
            false => rival.there,
        }
    }

    /// A sentence on the requests that the winner gives up.
    pub(super) fn given_up(&self) -> Option<String> {
        let known = |probe: &&Probe| !probe.row.overloaded && probe.row.holds();
        let of = |rival: &Rival<'_>| {
            self.probe_of(rival).filter(known).is_some_and(|it| it.row.given_up.is_some())
        };
        let rival = self.parallel.iter().find(|rival| of(rival))?;
        let row = &self.probe_of(rival)?.row;
        let given_up = row.given_up?;
        let name = rival.search.candidate.name();
        if given_up.share.estimate == 0.0 {
            return Some(format!("At {} {name} gives up no request.", self.place()));
        }
        let others = self.parallel.iter().find(|other| {
            let candidate = &other.search.candidate;
            candidate.plan.system.parallelism == ParallelismConfig::StealFirst
        });
        let (percentile, slowest) = row.latency_ns.percentiles.last()?;
        let label = caudal_stats::percentile_label(*percentile);
        let theirs = others.and_then(|other| self.probe_of(other)).filter(known);
        let theirs = theirs.and_then(|probe| probe.row.latency_ns.percentiles.last());
        let beside =
            theirs.map_or(String::new(), |(_, other)| format!(", under steal-first {}", within(other, time)));
        Some(format!(
            "What requests pay that are given up: at {} {name} gives up {} of the requests, which take {} on average; the {label} of \
             all latencies is {}{beside}.",
            self.place(),
            within(&given_up.share, percent),
            within(&given_up.mean_ns, time),
            within(slowest, time),
        ))
    }
}
