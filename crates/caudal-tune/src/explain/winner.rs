//! Sentences on the winner: how far it gets, which systems tie with it, what it pays, what was tuned.
//! The explanation of a plan calls it when the search has ended, for the sentences that apply. Pure.

use super::words::{called, names, parts, results, targets};
use caudal_sim::row::Row;
use caudal_stats::Estimate;

use crate::Goal;
use crate::evidence::Evidence;
use crate::plan::SystemResult;
use crate::search::Search;
use crate::show::{digits, percent, rate, spelled, time, within};

/// Service times whose squared coefficient of variation is below this hardly differ.
pub(super) const SCV_ALIKE: f64 = 0.1;

impl Evidence<'_> {
    pub(super) fn headline(&self) -> String {
        let found = results(self.aims, self.probe).join(", ");
        let (question, name) = (self.question, called(&self.winner.candidate));
        let per_s = rate(self.probe.row.rate_per_s);
        let who = match (self.winner.confirmed(), self.unknown.iter().any(|search| search.is_open())) {
            (false, _) => format!("By the estimates of short runs only, {name}"),
            (true, true) => format!("Of the systems that were tried, {name}"),
            (true, false) => name,
        };
        match question.goal {
            Goal::HighestLoad => format!(
                "{who} carries {} of {}, {per_s}, within {}: there {found}.",
                self.place(),
                question.machine,
                targets(question),
            ),
            Goal::FewestCores(_) => format!(
                "{who} carries {per_s} on {}, within {}: there {found}.",
                self.place(),
                targets(question),
            ),
        }
    }

    /// A sentence on the systems that tie with the winner, and why they are not the answer.
    pub(super) fn tie(&self) -> Option<String> {
        let tied = names(&self.ties)?;
        let simplest =
            self.ties.iter().all(|search| search.candidate.mechanisms() > self.winner.candidate.mechanisms());
        let rule = match simplest {
            true => "has the fewest mechanisms",
            false => "is confirmed to get furthest of those with the fewest mechanisms",
        };
        let name = self.winner.candidate.name();
        Some(format!(
            "It is a tie with {tied}: their difference is smaller than this search can tell apart. {name} is named because it {rule}."
        ))
    }

    /// A sentence on the systems that may get further, for all that is known.
    pub(super) fn unknown(&self) -> Option<String> {
        let (untried, open): (Vec<&Search>, Vec<&Search>) =
            self.unknown.iter().copied().partition(|search| search.is_open());
        let open: Vec<String> = open
            .into_iter()
            .map(|search| match search.certain() {
                Some(_) => format!("{} ({} is confirmed)", search.candidate.name(), self.reach(search)),
                None => format!("{} (nothing is confirmed)", search.candidate.name()),
            })
            .collect();
        let untried =
            names(&untried).map(|names| format!("The budget ended before anything was known of {names}."));
        let open = (!open.is_empty()).then(|| {
            format!("The budget ended before it was known whether these get further: {}.", open.join(", "))
        });
        let both: Vec<String> = [untried, open].into_iter().flatten().collect();
        (!both.is_empty()).then(|| both.join(" "))
    }

    /// A sentence that the winner may get further than shown, if the budget ended before that was known.
    pub(super) fn open_end(&self) -> Option<String> {
        let winner = self.winner;
        if !winner.exhausted || !winner.confirmed() {
            return None;
        }
        let next = winner.failed().filter(|&next| winner.missed() != Some(next));
        let until = match (next, winner.missed()) {
            (Some(next), _) => format!("was decided at {}", self.at(winner, next)),
            (None, Some(missed)) => {
                format!("was tried between that and {}, where it misses", self.at(winner, missed))
            }
            (None, None) => "harder was tried".to_owned(),
        };
        Some(format!(
            "{} may get further itself: the budget ended before anything {until}.",
            winner.candidate.name()
        ))
    }

    /// How much service times differ.
    pub(super) fn dispersion(&self) -> String {
        let service = &self.question.workload.service;
        let (mean_ps, scv) = (service.mean_ps(), service.scv());
        if scv < SCV_ALIKE {
            let alike = format!("All requests take about the same time, {} on average", time(mean_ps / 1e3));
            return format!(
                "{alike} (squared coefficient of variation {scv:.2}), so letting one overtake another gains nothing."
            );
        }
        let long =
            |class: &usize| service.class_weight(*class) > 0.0 && service.class_mean_ps(*class) > mean_ps;
        let classes: Vec<usize> = (0..service.classes().len()).filter(long).collect();
        if classes.is_empty() || classes.len() == service.classes().len() {
            let (p50, p999) = (service.quantile(0.5) as f64 / 1e3, service.quantile(0.999) as f64 / 1e3);
            return format!(
                "Service times differ (squared coefficient of variation {}): half of the requests take up to {}, \
                 one in a thousand more than {}.",
                digits(scv),
                time(p50),
                time(p999),
            );
        }
        let share: f64 = classes.iter().map(|&class| service.class_weight(class)).sum();
        let work: f64 = classes
            .iter()
            .map(|&class| service.class_weight(class) * service.class_mean_ps(class))
            .sum::<f64>();
        let names: Vec<String> =
            classes.iter().map(|&class| format!("`{}`", service.classes()[class])).collect();
        format!(
            "{} of the requests ({}) bring {} of the work, {} each on average; the mean of all is {} (squared \
             coefficient of variation {}).",
            percent(share),
            names.join(", "),
            percent(work / mean_ps),
            time(work / share / 1e3),
            time(mean_ps / 1e3),
            digits(scv),
        )
    }

    /// A sentence on what a policy that lets short requests overtake costs the long ones.
    pub(super) fn paid_by_long(&self) -> Option<String> {
        let service = &self.question.workload.service;
        let mean_of = |class: usize| service.class_mean_ps(class);
        let present = (0..service.classes().len()).filter(|&class| service.class_weight(class) > 0.0);
        let longest = present.max_by(|&a, &b| mean_of(a).total_cmp(&mean_of(b)))?;
        if !self.winner.candidate.preempts() {
            return None;
        }
        let there = [self.contrast, self.runner_up].into_iter().flatten().find_map(|rival| {
            let row = &rival.there?.row;
            let usable = !rival.search.candidate.preempts() && row.holds() && !row.overloaded;
            usable.then(|| (rival.search.candidate.name(), row))
        });
        let beside = |of: &dyn Fn(&Row) -> Estimate| match there {
            Some((rival, row)) => format!("; under {rival} {}, at the same load", within(&of(row), time)),
            None => String::new(),
        };
        if mean_of(longest) > service.mean_ps() {
            let mean = |row: &Row| row.classes.0[longest].1.latency_ns.mean;
            return Some(format!(
                "What long requests pay: a `{}` of {} is done after {} on average{}.",
                service.classes()[longest],
                time(mean_of(longest) / 1e3),
                within(&mean(&self.probe.row), time),
                beside(&mean),
            ));
        }
        // Of one class, the longest are those that take longest.
        let (label, _) = self.probe.row.latency_ns.percentiles.last()?;
        let last = |row: &Row| {
            let found = row.latency_ns.percentiles.iter().find(|(name, _)| name == label);
            found.map_or(Estimate::MISSING, |(_, estimate)| *estimate)
        };
        Some(format!(
            "What long requests pay: the p{label} of all latencies is {}{}.",
            within(&last(&self.probe.row), time),
            beside(&last),
        ))
    }

    /// A sentence on what the winner's own scheduling costs.
    pub(super) fn price(&self) -> String {
        let parts = parts(&self.probe.row, &self.winner.candidate);
        let name = self.winner.candidate.name();
        let efficiency = within(&self.probe.row.efficiency, percent);
        match &parts[..] {
            [] => format!(
                "Scheduling costs {name} next to nothing: {efficiency} of the core time held is work."
            ),
            parts => {
                format!("What {name} pays: {}; {efficiency} of the core time held is work.", parts.join(", "))
            }
        }
    }
}

pub(super) fn tuning(systems: &[SystemResult]) -> String {
    let tuned = systems.iter().filter_map(|system| {
        let tuning = system.tuning.as_ref()?;
        let mut values: Vec<&str> = Vec::new();
        for tried in &tuning.tried {
            if !values.contains(&tried.value.as_str()) {
                values.push(&tried.value);
            }
        }
        let outcome = match (tuning.chosen == tuning.published, values.is_empty()) {
            (true, true) => "not tuned, the budget did not suffice".to_owned(),
            (false, true) => {
                format!("{} instead of {}, because requests take that long", tuning.chosen, tuning.published)
            }
            (true, _) => format!("kept at {} after trying {}", tuning.chosen, values.join(", ")),
            (false, _) => {
                format!("{} instead of {}, out of {}", tuning.chosen, tuning.published, values.join(", "))
            }
        };
        Some(format!("{} of {}: {}", tuning.parameter, system.system, spelled(&outcome)))
    });
    let tuned: Vec<String> = tuned.collect();
    match &tuned[..] {
        [] => "Nothing was tuned: no system near the best has a quantum or a range.".to_owned(),
        tuned => format!("Tuned: {}. All other parameters are those of the presets.", tuned.join("; ")),
    }
}
