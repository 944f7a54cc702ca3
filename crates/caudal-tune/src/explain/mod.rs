//! The explanation of a plan: why the winner wins, in sentences made of numbers of the run.
//! The last step of a plan calls it.

mod limits;
mod nobody;
mod parallel;
mod rivals;
mod roles;
mod short;
mod winner;
mod words;

use caudal_config::System;
use caudal_sim::row::{Row, WaitByCause};

pub(crate) use self::short::{Standing, summary};

use self::nobody::nobody;
use self::winner::tuning;
use self::words::{cores, place};
use crate::Goal;
use crate::aims::Aim;
use crate::evidence::Evidence;
use crate::judge::ProbeContext;
use crate::plan::SystemResult;
use crate::search::Search;

/// The headline, and the reasons.
pub(crate) fn explain(
    context: &ProbeContext<'_>,
    evidence: Option<&Evidence<'_>>,
    systems: &[SystemResult],
    searches: &[Search],
) -> (String, Vec<String>) {
    let Some(evidence) = evidence else { return nobody(context, searches) };
    let reasons = [
        Some(evidence.dispersion()),
        evidence.contrast.map(|rival| evidence.other_kind(rival)),
        Some(evidence.price()),
        evidence.parallel(),
        evidence.given_up(),
        evidence.paid_by_long(),
        evidence.tie().or_else(|| evidence.runner_up.map(|rival| evidence.runner_up(rival))),
        evidence.open_end(),
        evidence.unknown(),
        evidence.reference.map(|reference| evidence.reference(reference)),
        Some(tuning(systems)),
    ];
    (evidence.headline(), reasons.into_iter().flatten().collect())
}

/// The comment at the top of the policy file of `system`, which was simulated at so many requests a second.
pub(crate) fn header(
    context: &ProbeContext<'_>,
    headline: &str,
    (system, rate_per_s): (&System, f64),
) -> String {
    let question = context.question;
    let targets: Vec<String> = question.targets.iter().map(ToString::to_string).collect();
    let made = format!(
        "Made by `caudal plan` {} for {} within {}, seed {}.\n{headline}",
        env!("CARGO_PKG_VERSION"),
        question.workload_name,
        targets.join(" and "),
        question.measure.seed,
    );
    parallel::table_command(question, system, rate_per_s)
        .map_or(made.clone(), |table| format!("{made}\n{table}"))
}

impl Evidence<'_> {
    /// The requests that the tightest target is about: a class, or all.
    fn aim(&self) -> (&Aim, f64) {
        let ratio = |(aim, found): (&'_ Aim, &caudal_stats::Estimate)| found.estimate / aim.limit;
        let pairs = || self.aims.iter().zip(&self.probe.estimates);
        let tightest = pairs().max_by(|a, b| ratio(*a).total_cmp(&ratio(*b)));
        tightest.map_or((&self.aims[0], f64::NAN), |(aim, found)| (aim, found.estimate))
    }

    fn class_name(&self) -> String {
        let aim = self.aim().0;
        let name = aim.quantity.class.map(|class| self.question.workload.service.classes()[class].clone());
        name.map_or("request".to_owned(), |name| format!("`{name}`"))
    }

    /// Why a request of the tightest target's class waits.
    fn waits(&self, row: &Row) -> WaitByCause {
        let waits = match self.aim().0.quantity.class {
            Some(class) => row.classes.0[class].1.wait_ns,
            None => row.wait_ns,
        };
        // Rows of a run have it; one that was read from a file of somebody else may not.
        waits.unwrap_or_default()
    }

    fn place(&self) -> String {
        place(self.question, self.probe, self.winner)
    }

    /// `load 0.78`, or `12 cores`: a place of `search`.
    fn at(&self, search: &Search, hardness: u32) -> String {
        match self.question.goal {
            Goal::HighestLoad => format!("load {}", search.value(hardness)),
            Goal::FewestCores(_) => cores(search.value(hardness)),
        }
    }

    /// The load or the cores that a system is confirmed to reach.
    fn reach(&self, search: &Search) -> String {
        match (search.certain(), search.bracket.pass, self.question.goal) {
            (Some(certain), ..) => self.at(search, certain),
            (None, Some(_), _) => "no load for certain (it was seen in short runs only)".to_owned(),
            (None, None, Goal::HighestLoad) => match search.missed() {
                Some(missed) => format!("not even load {}", search.value(missed)),
                None => "no load that is known".to_owned(),
            },
            (None, None, Goal::FewestCores(_)) => "no number of cores".to_owned(),
        }
    }
}
