//! The summary of a search for lanes on one screen: the system to run, its gains and costs, and how certain they are. The search makes it once,
//! after the judgement; `explain` has the rest. Pure.

use serde::Serialize;

use super::explain::{at_gap, find, in_words, lanes, limits, too_short, value};
use super::{JudgedSystem, LanesAnswer, LanesQuestion, LanesVerdict};
use crate::show::{Fact, digits, percent, rate, time, within};

/// The answer of a search for lanes on one screen.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LanesSummary {
    /// The system to run.
    pub run: String,
    /// Facts about its gains and its costs, and how certain they are.
    pub facts: Vec<Fact>,
    /// A sentence about a statistic that lies in a gap between latencies, if it does, and a sentence about the lanes.
    pub why: Vec<String>,
}

pub(crate) fn summary(question: &LanesQuestion, answer: &LanesAnswer) -> LanesSummary {
    let fact = |about, text: Option<String>| text.map(|text| Fact { about, text });
    let kept = limits(answer);
    let facts = [
        fact("It gives", gives(question, answer)),
        fact("It costs", costs(question, answer)),
        fact("It keeps", (!kept.is_empty()).then(|| kept.join(" "))),
        fact("How sure", Some(how_sure(answer))),
    ];
    LanesSummary {
        run: run(question, answer),
        facts: facts.into_iter().flatten().collect(),
        why: [at_gap(question, answer), lanes(question, answer)].into_iter().flatten().collect(),
    }
}

fn run(question: &LanesQuestion, answer: &LanesAnswer) -> String {
    let target = &question.target;
    let on = format!("{} {}", question.cores, question.servers_name());
    let layout = in_words(&answer.layout);
    let lanes = format!("{} with {} lanes on {on}: {layout}", question.family.name(), answer.layout.lanes());
    let tried = answer.steps.iter().skip(1).any(|step| !step.tried.is_empty());
    match answer.verdict {
        LanesVerdict::Unknown | LanesVerdict::OneQueue if answer.interrupted => {
            let best = if answer.layout.lanes() == 1 { "one queue".to_owned() } else { lanes };
            format!("So far, as it was interrupted: {best}.")
        }
        LanesVerdict::Better if !answer.is_worth_it() => format!("The best lanes miss a limit: {lanes}."),
        LanesVerdict::Better => format!("Run {lanes}."),
        LanesVerdict::Unknown => format!("Whether lanes help is not known. The best are {lanes}."),
        LanesVerdict::NotBetter => {
            format!("Keep one queue: the best lanes ({}) are not certainly better.", answer.layout)
        }
        LanesVerdict::Worse => {
            format!("Keep one queue: the best lanes ({}) are certainly no better.", answer.layout)
        }
        LanesVerdict::Overloaded => {
            format!(
                "Keep one queue: the best lanes of the search ({}) are overloaded on fresh requests.",
                answer.layout
            )
        }
        LanesVerdict::OneQueue if !tried && !answer.cut_short => {
            "Keep one queue: there is nothing else to try.".to_owned()
        }
        LanesVerdict::OneQueue if answer.cut_short => format!(
            "Keep one queue: nothing that makes the {target} certainly shorter was found before the budget ended."
        ),
        LanesVerdict::OneQueue => format!("Keep one queue: no lanes make the {target} certainly shorter."),
    }
}

/// The statistic of the target, beside that of a single queue.
fn gives(question: &LanesQuestion, answer: &LanesAnswer) -> Option<String> {
    let own = answer.judged.first()?;
    let found = value(question, Some(own))?;
    let beside = match value(question, find(answer, "one queue")) {
        Some(one) if answer.layout.lanes() > 1 => format!("; one queue, first come first served, has {one}"),
        _ => String::new(),
    };
    Some(format!(
        "A {} of {found} at load {:.3} of {} {}, {}{beside}.",
        question.target,
        question.load,
        question.cores,
        question.servers_name(),
        rate(own.row.rate_per_s),
    ))
}

/// A sentence about the costs of interruptions, and about the longest requests, which become slower.
fn costs(question: &LanesQuestion, answer: &LanesAnswer) -> Option<String> {
    let own = answer.judged.first().filter(|own| !own.row.overloaded)?;
    let work = percent(own.row.efficiency.estimate);
    if answer.layout.lanes() == 1 {
        return Some(format!("Nothing: no request is interrupted. {work} of the core time is work."));
    }
    let count = within(&own.preemptions_per_request, digits);
    let switching = percent(own.row.overheads.switching);
    let pays = longest(question, answer).map_or(String::new(), |pays| format!(" {pays}"));
    Some(format!("{count} preemptions a request, {switching} of the core time; {work} of it is work.{pays}"))
}

/// The mean latency of the longest class, against one queue.
fn longest(question: &LanesQuestion, answer: &LanesAnswer) -> Option<String> {
    let (own, one) = (answer.judged.first()?, find(answer, "one queue").filter(|one| !one.row.overloaded)?);
    let service = &question.workload.service;
    let mean = |judged: &JudgedSystem, class: &str| {
        let found = judged.row.classes.0.iter().find(|(name, _)| name == class)?;
        Some(found.1.latency_ns.mean).filter(|mean| !mean.is_missing())
    };
    let present = (0..service.classes().len()).filter(|&class| service.class_weight(class) > 0.0);
    let longest = present.max_by(|&a, &b| service.class_mean_ps(a).total_cmp(&service.class_mean_ps(b)))?;
    let name = &service.classes()[longest];
    if service.class_mean_ps(longest) <= service.mean_ps() {
        return None;
    }
    Some(format!(
        "A {name} request takes {} on average instead of {}.",
        within(&mean(own, name)?, time),
        within(&mean(one, name)?, time)
    ))
}

fn how_sure(answer: &LanesAnswer) -> String {
    let mut said = Vec::new();
    said.push(match (answer.judged.is_empty(), answer.halves) {
        (true, _) => "Nothing has been judged on fresh requests yet.".to_owned(),
        (false, true) => "Fitted to one half of the measured values, judged on the other.".to_owned(),
        (false, false) => "Judged on requests that the search had not seen.".to_owned(),
    });
    said.extend(match answer.verdict {
        LanesVerdict::Better => Some("It is certainly better than one queue.".to_owned()),
        _ => None,
    });
    said.extend(too_short(answer));
    if answer.cut_short {
        said.push("The budget ended the search: a longer --budget may find better lanes.".to_owned());
    }
    said.join(" ")
}
