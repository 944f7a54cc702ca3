//! The answer on one screen: what to run, what that carries and costs, how sure it is, and why, in two or three sentences.
//! [`super::explain`] has the rest.
//! The last step of a plan calls it.

use caudal_config::find_preset;
use caudal_stats::Estimate;

use super::limits::limits;
use super::roles::{nearest, shown};
use super::winner::SCV_ALIKE;
use super::words::{called, place, results, targets};
use crate::aims::{Aim, statistic, value};
use crate::budget::REQUESTS_PER_S;
use crate::evidence::{Evidence, Rival};
use crate::judge::{Probe, ProbeContext};
use crate::plan::PlanSummary;
use crate::search::Search;
use crate::show::{Fact, digits, percent, rate, spelled, time, within};
use crate::{Goal, Question};

/// Shares of the core time below this are not worth a word.
const WORTH_A_WORD: f64 = 0.0005;
/// Where hardly anything waits, whatever the policy.
const LITTLE_LOAD: f64 = 0.1;
/// Names of a list that are spelled out.
const NAMES: usize = 3;

/// Is the answer confirmed, and was the plan broken off?
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    pub(crate) confirmed: bool,
    pub(crate) interrupted: bool,
}

pub(crate) fn summary(
    context: &ProbeContext<'_>,
    evidence: Option<&Evidence<'_>>,
    searches: &[Search],
    standing: Standing,
) -> PlanSummary {
    let shown = shown(context, evidence, searches);
    let so_far = if standing.interrupted { "So far, as it was interrupted: " } else { "" };
    let Some(evidence) = evidence else {
        let (run, facts) = nothing(context, searches, standing);
        return PlanSummary { run: format!("{so_far}{run}"), facts, shown, why: Vec::new() };
    };
    let fact = |about, text| Fact { about, text };
    PlanSummary {
        run: if standing.interrupted {
            format!("{so_far}{}", evidence.run().replacen('R', "r", 1))
        } else {
            evidence.run()
        },
        facts: vec![
            fact("It is", evidence.is()),
            fact("It carries", evidence.carries()),
            fact("It costs", evidence.costs()),
            fact("How sure", evidence.how_sure(standing)),
        ],
        shown,
        why: evidence.why(),
    }
}

/// Nothing meets the targets: what was shown, what comes nearest, and what can be done.
fn nothing(context: &ProbeContext<'_>, searches: &[Search], standing: Standing) -> (String, Vec<Fact>) {
    let question = context.question;
    let deployable = || searches.iter().filter(|search| search.candidate.deployable());
    let open = deployable().filter(|search| search.probes.is_empty() || search.exhausted).count();
    let (targets, machine) = (targets(question), question.machine);
    let run = match (standing.interrupted, open) {
        (false, 0) => format!("Nothing that can be built meets {targets} on {machine}."),
        (true, _) => format!("nothing has been seen to meet {targets} on {machine}."),
        (false, _) => format!("Nothing was seen to meet {targets} on {machine} before the budget ended."),
    };
    let mut facts = Vec::new();
    let near = nearest(searches).and_then(|search| Some((search, search.probes.values().next()?)));
    if let Some((search, probe)) = near {
        let text = format!(
            "{} at {}: there {}, {} times the limit.",
            called(&search.candidate),
            place(question, probe, search),
            results(&context.aims, probe).join(", "),
            digits(probe.score),
        );
        facts.push(Fact { about: "Nearest", text });
    }
    let mut text = near.map_or(String::new(), |(search, probe)| instead(context, search, probe));
    if standing.interrupted || open > 0 {
        text = format!("{text} {}", longer(question, standing)).trim_start().to_owned();
    } else if text.is_empty() {
        "Every system falls behind at every load that was tried: ask for less load, or offer more --cores."
            .clone_into(&mut text);
    }
    facts.push(Fact { about: "What to do", text });
    (run, facts)
}

/// A sentence on what could be asked instead, where `search` comes nearest to the targets with `probe`.
fn instead(context: &ProbeContext<'_>, search: &Search, probe: &Probe) -> String {
    let ratio = |(aim, found): &(&Aim, &Estimate)| found.estimate / aim.limit;
    let worst = context.aims.iter().zip(&probe.estimates).max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let least = worst.map_or("Ask for less".to_owned(), |(aim, found)| {
        let least = if found.high.is_finite() { found.high } else { found.estimate };
        format!("Ask for a {} above {}", statistic(aim), value(aim, least))
    });
    let why: String = limits(&search.candidate.plan.costs, &context.aims)
        .into_iter()
        .map(|why| format!(" {why}"))
        .collect();
    match context.question.goal {
        Goal::HighestLoad if probe.spot.load <= LITTLE_LOAD => {
            format!("{least}: hardly anything waits at so little load, so more cores do not help.{why}")
        }
        Goal::HighestLoad => format!("{least}.{why}"),
        Goal::FewestCores(_) => format!("{least}, offer more --cores, or ask for less load.{why}"),
    }
}

/// `a, b, c and 4 more`; `None` for no system.
fn few_names(searches: &[&Search]) -> Option<String> {
    let names: Vec<&str> = searches.iter().map(|search| search.candidate.name()).collect();
    match &names[..] {
        [] => None,
        [one] => Some((*one).to_owned()),
        names if names.len() <= NAMES + 1 => {
            let (last, others) = names.split_last()?;
            Some(format!("{} and {last}", others.join(", ")))
        }
        names => Some(format!("{} and {} more", names[..NAMES].join(", "), names.len() - NAMES)),
    }
}

impl Evidence<'_> {
    /// `Run caudal-ps with a quantum of 1 µs on 16 cores.`
    fn run(&self) -> String {
        let on = match self.question.goal {
            Goal::HighestLoad => self.question.machine.to_string(),
            Goal::FewestCores(_) => self.place(),
        };
        format!("Run {} on {on}.", called(&self.winner.candidate))
    }

    /// The kind of system that the winner is, in a line.
    fn is(&self) -> String {
        let summary = find_preset(self.winner.candidate.name()).map_or("", |preset| preset.summary);
        let mut letters = summary.chars();
        let first = letters.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
        format!("{}.", spelled(&format!("{first}{}", letters.as_str())))
    }

    fn carries(&self) -> String {
        let (per_s, there) = (rate(self.probe.row.rate_per_s), results(self.aims, self.probe).join(", "));
        let what = match self.question.goal {
            Goal::HighestLoad => format!("{per_s}, {} of {}", self.place(), self.question.machine),
            Goal::FewestCores(_) => {
                let place = self.place();
                format!(
                    "{per_s} on {} of {}",
                    place.split(' ').next().unwrap_or_default(),
                    self.question.machine
                )
            }
        };
        format!("{what}, within {}: there {there}.", targets(self.question))
    }

    /// Where the time of the cores goes.
    fn costs(&self) -> String {
        let row = &self.probe.row;
        let count = row.preemptions_per_request;
        let switching = match count.estimate > 0.0 {
            true => format!("switching ({} preemptions a request)", digits(count.estimate)),
            false => "switching".to_owned(),
        };
        let over = row.overheads;
        let parts: Vec<String> = [
            (over.probes, "probes".to_owned()),
            (over.switching, switching),
            (over.looking, "looking for work".to_owned()),
            (over.moving, "moving it".to_owned()),
            (over.placing, "placing requests".to_owned()),
            (over.allocating, "waiting for granted cores".to_owned()),
            (over.stalled, "taken away by the machine".to_owned()),
            (over.dedicated, dispatcher(self.winner.candidate.dedicated)),
            (over.idle, "idle".to_owned()),
        ]
        .into_iter()
        .filter(|(share, _)| *share >= WORTH_A_WORD)
        .map(|(share, what)| format!("{} {what}", percent(share)))
        .collect();
        let rest = if parts.is_empty() { String::new() } else { format!(", {}", parts.join(", ")) };
        let pays = self
            .long_ones()
            .or_else(|| self.given_up_in_short())
            .map_or(String::new(), |pays| format!(" {pays}"));
        format!("Of the cores' time {} is work{rest}.{pays}", percent(row.efficiency.estimate))
    }

    fn how_sure(&self, standing: Standing) -> String {
        let confidence = percent(self.question.measure.stop.confidence);
        let mut said = vec![match (self.winner.confirmed(), standing.confirmed) {
            (true, true) => {
                format!("Confirmed with {confidence} confidence on requests that the search had not seen.")
            }
            (true, false) => format!(
                "Seen with {confidence} confidence, but not confirmed on requests that the search had not seen."
            ),
            (false, _) => {
                "Not confirmed: only estimates of short runs say so, and these are too optimistic near saturation."
                    .to_owned()
            }
        }];
        let open =
            self.winner.exhausted && self.winner.failed().is_none_or(|at| self.winner.missed() != Some(at));
        if self.winner.confirmed() && open {
            said.push("It may carry more: that takes longer runs than the budget holds.".to_owned());
        }
        if let Some(tied) = few_names(&self.ties) {
            let name = self.winner.candidate.name();
            said.push(format!(
                "It is a tie with {tied}; {name} is the simplest, or gets furthest of the simplest."
            ));
        }
        if let Some(unknown) = few_names(&self.unknown) {
            said.push(format!("Whether {unknown} would get further is not known."));
        }
        if open || !self.winner.confirmed() || !self.unknown.is_empty() {
            said.push(longer(self.question, standing));
        }
        said.join(" ")
    }

    /// A sentence on what the requests pay that no worker helps any more.
    fn given_up_in_short(&self) -> Option<String> {
        let given_up = self.probe.row.given_up.filter(|given_up| given_up.share.estimate > 0.0)?;
        let (share, mean) = (percent(given_up.share.estimate), within(&given_up.mean_ns, time));
        Some(format!("{share} of the requests are given up, and take {mean} on average."))
    }

    /// How long the longest requests take where others may overtake them.
    fn long_ones(&self) -> Option<String> {
        let service = &self.question.workload.service;
        let present = (0..service.classes().len()).filter(|&class| service.class_weight(class) > 0.0);
        let longest =
            present.max_by(|&a, &b| service.class_mean_ps(a).total_cmp(&service.class_mean_ps(b)))?;
        let mean_ps = service.class_mean_ps(longest);
        if !self.winner.candidate.preempts() || mean_ps <= service.mean_ps() {
            return None;
        }
        let mean = self.probe.row.classes.0[longest].1.latency_ns.mean;
        let name = &service.classes()[longest];
        let ideal = time(mean_ps / 1e3);
        Some(format!("A {name} request of {ideal} takes {} on average.", within(&mean, time)))
    }

    fn why(&self) -> Vec<String> {
        let advice = self.advice().map(|advice| format!("{advice}."));
        let other = advice.or_else(|| self.contrast.map(|rival| self.other_kind_in_short(rival)));
        [Some(self.lengths()), other].into_iter().flatten().collect()
    }

    /// How service times differ, and what that means for requests that wait.
    fn lengths(&self) -> String {
        let service = &self.question.workload.service;
        let mean_ps = service.mean_ps();
        if service.scv() < SCV_ALIKE {
            let mean = time(mean_ps / 1e3);
            return format!(
                "All requests take about the same time, {mean} on average, so letting one overtake another gains nothing."
            );
        }
        let weight = |class: &usize| service.class_weight(*class);
        let long = |class: &usize| weight(class) > 0.0 && service.class_mean_ps(*class) > mean_ps;
        let classes: Vec<usize> = (0..service.classes().len()).filter(long).collect();
        if classes.is_empty() || classes.len() == service.classes().len() {
            let quantile = |p: f64| time(service.quantile(p) as f64 / 1e3);
            return format!(
                "Half of the requests take up to {}, and one in a thousand takes more than {}. A request that arrives behind a long one has \
                 to wait for it.",
                quantile(0.5),
                quantile(0.999),
            );
        }
        let share: f64 = classes.iter().map(weight).sum();
        let work: f64 = classes.iter().map(|class| weight(class) * service.class_mean_ps(*class)).sum();
        let names: Vec<&str> = classes.iter().map(|&class| service.classes()[class].as_str()).collect();
        format!(
            "{} of the requests ({}) bring {} of the work, {} each. A request that arrives behind one has to wait for it.",
            percent(share),
            names.join(", "),
            percent(work / mean_ps),
            time(work / share / 1e3),
        )
    }

    /// A sentence on the requests without preemption, or with it where the answer has none.
    fn other_kind_in_short(&self, rival: Rival<'_>) -> String {
        let name = called(&rival.search.candidate);
        if !self.winner.candidate.preempts() {
            let pays = match self.winner.is_told_apart_from(rival.search) {
                true => "Interrupting them does not pay",
                false => "Whether interrupting them would pay is not known",
            };
            return format!("{pays}: {name}, the best that does, {}.", self.how_far(rival));
        }
        let known = rival.there.filter(|there| there.row.holds() && !there.row.overloaded);
        let Some(there) = known else {
            return format!("Without preemption the best is {name}: it {}.", self.how_far(rival));
        };
        let (theirs, ours) = (self.waits(&there.row), self.waits(&self.probe.row));
        let behind = theirs.behind_long.filter(|_| theirs.queued > 0.0).map_or(String::new(), |behind_ns| {
            format!(", {} of that while longer ones run", percent(behind_ns / theirs.queued))
        });
        let class = self.aim().0.quantity.class;
        let class = class
            .map_or(String::new(), |class| format!("{} ", self.question.workload.service.classes()[class]));
        let between = match ours.preempted >= 1.0 {
            true => format!(", and {} between its time slices", time(ours.preempted)),
            false => String::new(),
        };
        format!(
            "Without preemption ({name}) a {class}request waits {} for its first time slice at {}{behind}; here it waits \
             {}{between}.",
            time(theirs.queued),
            self.place(),
            time(ours.queued),
        )
    }

    /// How far a rival gets: `reaches load 0.49, and misses at load 0.51`.
    fn how_far(&self, rival: Rival<'_>) -> String {
        let search = rival.search;
        let missed = search.missed().map(|missed| self.at(search, missed));
        let first = match (search.certain(), search.bracket.pass) {
            (Some(certain), _) => format!("is confirmed to reach {}", self.at(search, certain)),
            (None, Some(_)) => "reaches nothing that was confirmed".to_owned(),
            (None, None) => "meets the targets nowhere that was tried".to_owned(),
        };
        missed.map_or(first.clone(), |missed| format!("{first}, and misses at {missed}"))
    }
}

/// A sentence on how to know more.
fn longer(question: &Question, standing: Standing) -> String {
    if standing.interrupted {
        return "The same command goes on where it stopped.".to_owned();
    }
    if question.quick {
        return "A plan without --quick knows more.".to_owned();
    }
    let seconds = (4 * question.budget.requests).div_ceil(REQUESTS_PER_S);
    format!("More time tells more, as in --budget {seconds}s.")
}

/// The words for dedicated cores.
fn dispatcher(dedicated: u32) -> String {
    match dedicated {
        1 => "the core that dispatches".to_owned(),
        _ => "the cores that dispatch".to_owned(),
    }
}
