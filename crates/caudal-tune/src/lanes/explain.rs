//! The sentences that explain the answer of a search for lanes. The search calls them once, when the answer has been judged; `short`
//! takes its words from here. Pure.

use caudal_config::{LatencyStatistic, Metric, Statistic};
use caudal_stats::Estimate;

use super::{AS_LONG, JudgedSystem, LanesAnswer, LanesQuestion, LanesVerdict, Layout, time};
use crate::show::time as ns;
use crate::show::{digits, percent, rate, spelled, within};

/// Writes the headline and the sentences of `answer`.
pub(crate) fn explain(question: &LanesQuestion, answer: &mut LanesAnswer) {
    answer.headline = headline(question, answer);
    let mut said = Vec::new();
    said.extend(against_one_queue(question, answer));
    said.extend(at_gap(question, answer));
    said.extend(overtook(answer));
    said.extend(limits(answer));
    said.extend(of_classes(answer));
    said.extend(preemptions(answer));
    said.extend(lanes(question, answer));
    said.extend(rivals(question, answer));
    said.extend(runner_up(question, answer));
    said.extend(answer.drifts.iter().map(|drift| drifted(question, drift)));
    said.extend(too_short(answer));
    said.push(search(answer));
    answer.explanation = said;
}

/// `13 servers up to 2.1us, 2 up to 40us, 1 beyond`.
pub(super) fn in_words(layout: &Layout) -> String {
    let lane = |(lane, servers): (usize, &u32)| {
        let servers = if lane == 0 {
            format!("{servers} server{}", if *servers == 1 { "" } else { "s" })
        } else {
            servers.to_string()
        };
        match layout.cutoffs.get(lane) {
            Some(&end) => format!("{servers} up to {}", time(end)),
            None => format!("{servers} beyond"),
        }
    };
    layout.reservations.iter().enumerate().map(lane).collect::<Vec<_>>().join(", ")
}

fn headline(question: &LanesQuestion, answer: &LanesAnswer) -> String {
    let target = value(question, answer.judged.first());
    let with =
        target.map_or(String::new(), |target| format!("; {} {target} on fresh requests", question.target));
    let target = &question.target;
    let tried = answer.steps.iter().skip(1).any(|step| !step.tried.is_empty());
    let limits = match answer.limits.iter().filter(|limit| limit.kept == Some(false)).count() {
        0 => String::new(),
        missed => format!("; {missed} of {} limits missed", answer.limits.len()),
    };
    let lanes = || format!("{} lanes: {}", answer.layout.lanes(), in_words(&answer.layout));
    match answer.verdict {
        LanesVerdict::OneQueue if answer.interrupted => {
            "One queue is the best so far: the search was interrupted".to_owned()
        }
        LanesVerdict::OneQueue if !tried && !answer.cut_short => {
            format!("One queue: there is nothing else to try{with}")
        }
        LanesVerdict::OneQueue if answer.cut_short => {
            format!(
                "One queue: nothing that makes {target} certainly shorter was found before the budget ended{with}"
            )
        }
        LanesVerdict::OneQueue => format!("One queue: no lanes make {target} certainly shorter{with}"),
        LanesVerdict::Overloaded => {
            format!("No lanes: the best of the search, {}, are overloaded on fresh requests", answer.layout)
        }
        LanesVerdict::Worse => format!("{}, certainly no better than one queue{with}{limits}", lanes()),
        LanesVerdict::NotBetter => format!("{}, not certainly better than one queue{with}{limits}", lanes()),
        LanesVerdict::Better | LanesVerdict::Unknown => format!("{}{with}{limits}", lanes()),
    }
}

fn shown(question: &LanesQuestion, estimate: &Estimate) -> String {
    match question.target.metric {
        Metric::Slowdown => within(estimate, digits),
        Metric::Latency | Metric::Wait => within(estimate, ns),
    }
}

pub(super) fn value(question: &LanesQuestion, judged: Option<&JudgedSystem>) -> Option<String> {
    let judged = judged?;
    if judged.row.overloaded {
        return Some("overload".to_owned());
    }
    Some(shown(question, &judged.target))
}

pub(super) fn find<'a>(answer: &'a LanesAnswer, name: &str) -> Option<&'a JudgedSystem> {
    answer.judged.iter().find(|judged| judged.system == name)
}

fn against_one_queue(question: &LanesQuestion, answer: &LanesAnswer) -> Option<String> {
    let one = value(question, find(answer, "one queue"))?;
    if answer.layout.lanes() > 1 && find(answer, "one queue")?.row.overloaded {
        return Some("One queue, first come first served, can not carry this load.".to_owned());
    }
    let versus = answer.against_one_queue.as_ref()?;
    let times = |ratio: &Estimate| {
        // Where an end is not known, neither is the other one of the inverse.
        let inverse = Estimate {
            estimate: 1.0 / ratio.estimate,
            low: if ratio.high.is_finite() { 1.0 / ratio.high } else { f64::NEG_INFINITY },
            high: if ratio.low.is_finite() && ratio.low > 0.0 { 1.0 / ratio.low } else { f64::INFINITY },
        };
        within(&inverse, |value| format!("{}x", digits(value)))
    };
    let (lanes, queue) = (answer.judged.first()?, find(answer, "one queue")?);
    let certain = if lanes.is_certainly_shorter(queue) && versus.target.high >= 1.0 {
        "by the intervals of each alone, the lanes' is certainly shorter"
    } else if versus.target.high < 1.0 {
        "the lanes' is certainly shorter"
    } else if versus.target.low > 1.0 && versus.target.high <= AS_LONG {
        "the lanes' is longer by less than 1 %, which does not count"
    } else if versus.target.low > 1.0 || queue.is_certainly_shorter(lanes) {
        "the lanes' is certainly longer"
    } else {
        "not certainly different"
    };
    Some(format!(
        "One queue, first come first served, has a {} of {one}: that is {} of the lanes', on the same {:.1} M fresh requests \
         ({certain}). The p99.9 of its slowdown is {} theirs.",
        question.target,
        times(&versus.target),
        versus.requests as f64 / 1e6,
        times(&versus.slowdown),
    ))
}

/// A sentence that fresh requests have reversed the order that the search had found, if they have.
fn overtook(answer: &LanesAnswer) -> Option<String> {
    let before = answer.overtaken.as_ref()?;
    Some(format!(
        "The search had these lanes second, behind {before}; on fresh requests their target is certainly shorter."
    ))
}

/// A sentence that the target's percentile says little by itself, if it lies at a gap.
pub(super) fn at_gap(question: &LanesQuestion, answer: &LanesAnswer) -> Option<String> {
    let LatencyStatistic { class: None, statistic: Statistic::Percentile(target), metric: Metric::Latency } =
        question.target
    else {
        return None;
    };
    let beside = |judged: &&JudgedSystem| judged.layout.is_some();
    let gap = answer
        .judged
        .iter()
        .filter(beside)
        .find_map(|judged| judged.row.at_gap.iter().find(|gap| gap.percentile == target))?;
    Some(format!(
        "The {} lies at a gap: hardly any request takes a time between {} and {}, and on which side of it a run finds the \
         percentile is luck: ask for one a little higher or lower.",
        question.target,
        ns(gap.low_ns),
        ns(gap.high_ns),
    ))
}

/// Systems whose tails may be longer than it seems.
pub(super) fn too_short(answer: &LanesAnswer) -> Option<String> {
    let short = |judged: &&JudgedSystem| !judged.row.holds() && !judged.row.overloaded;
    let names: Vec<&str> = answer.judged.iter().filter(short).map(|judged| judged.system.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Not in its steady state after so many requests, so its tail may be longer: {}.",
            names.join("; ")
        )
    })
}

/// A sentence on what the classes of requests gain and pay.
fn of_classes(answer: &LanesAnswer) -> Option<String> {
    let (own, one) = (answer.judged.first()?, find(answer, "one queue")?);
    if answer.layout.lanes() == 1 || own.row.classes.0.len() < 2 || own.row.overloaded || one.row.overloaded {
        return None;
    }
    let mean = |judged: &JudgedSystem, class: usize| judged.row.classes.0[class].1.latency_ns.mean;
    let part = |class: usize| {
        let name = spelled(&own.row.classes.0[class].0);
        let (with, without) = (mean(own, class), mean(one, class));
        format!("`{name}` {} instead of {}", within(&with, ns), within(&without, ns))
    };
    // Classes by size may hold nobody.
    let there = |class: &usize| !mean(own, *class).is_missing() && !mean(one, *class).is_missing();
    let parts: Vec<String> = (0..own.row.classes.0.len()).filter(there).map(part).collect();
    Some(format!("Mean latencies by class, against one queue: {}.", parts.join(", ")))
}

fn preemptions(answer: &LanesAnswer) -> Option<String> {
    let own = answer.judged.first()?;
    if answer.layout.lanes() == 1 || own.row.overloaded {
        return None;
    }
    Some(format!(
        "A request is interrupted {} times, at {}.",
        within(&own.preemptions_per_request, |value| format!("{value:.4}")),
        rate(own.row.rate_per_s),
    ))
}

/// Lanes that are nearly full.
pub(super) fn lanes(question: &LanesQuestion, answer: &LanesAnswer) -> Option<String> {
    let own = answer.judged.first()?;
    let worst = own.lanes.iter().max_by(|a, b| a.busy.total_cmp(&b.busy))?;
    let which = match worst.lane.checked_sub(1).and_then(|before| answer.layout.cutoffs.get(before as usize))
    {
        Some(&end) => format!("Requests beyond {}", time(end)),
        None => "New requests".to_owned(),
    };
    let servers = if worst.servers == 1 {
        "the one server".to_owned()
    } else {
        format!("the {} servers", worst.servers)
    };
    // Contexts slow each other down, and cutoffs count time.
    let least = if question.contexts.is_some() { "at least " } else { "" };
    Some(format!(
        "{which} bring {least}{} of the work that {servers} of their lane can do. From 100 % on they would pile up, whatever the \
         other lanes do.",
        percent(worst.busy)
    ))
}

/// A sentence for each limit on whether it is kept.
pub(super) fn limits(answer: &LanesAnswer) -> Vec<String> {
    let sentence = |limit: &super::Kept| {
        let show = |value: f64| if limit.target.contains("slowdown") { digits(value) } else { ns(value) };
        let word = match limit.kept {
            Some(true) => "kept",
            Some(false) => "missed",
            None => "not certainly kept",
        };
        let value = if limit.estimate.is_missing() {
            "nothing is known".to_owned()
        } else {
            within(&limit.estimate, show)
        };
        format!("`{}` is {word}: {value}.", spelled(&limit.target))
    };
    answer.limits.iter().map(sentence).collect()
}

fn rivals(question: &LanesQuestion, answer: &LanesAnswer) -> Option<String> {
    let known = ["one queue", question.family.name()];
    let others = answer
        .judged
        .iter()
        .filter(|judged| !known.contains(&judged.system.as_str()) && judged.layout.is_none());
    let part = |judged: &JudgedSystem| {
        Some(format!("{} {}", spelled(&judged.system), value(question, Some(judged))?))
    };
    let parts: Vec<String> = others.filter_map(part).collect();
    (!parts.is_empty()).then(|| {
        format!(
            "Other disciplines on one queue of the same {}, at the same cost of a preemption: {}.",
            question.servers_name(),
            parts.join("; ")
        )
    })
}

fn runner_up(question: &LanesQuestion, answer: &LanesAnswer) -> Option<String> {
    let second = answer.runner_up.as_ref()?;
    let times = |value: f64| format!("{}x", digits(value));
    Some(format!(
        "Second: {}, with {} the {} and {} the p99.9 slowdown of the best, on the requests of the search.",
        second.layout,
        within(&second.target_ratio, times),
        question.target,
        within(&second.slowdown_ratio, times),
    ))
}

fn drifted(question: &LanesQuestion, drift: &super::Drifted) -> String {
    let of = |judged: &JudgedSystem| value(question, Some(judged)).unwrap_or_default();
    let loss = match drift.loss {
        Some(loss) => {
            format!("{} of what lanes made for it have", within(&loss, |loss| format!("{}x", digits(loss))))
        }
        None => "not known: one of them is overloaded, or not in its steady state".to_owned(),
    };
    let on = if drift.halves { ", on values that those were not fitted to" } else { "" };
    let refitted = drift.refitted.layout.as_ref().map_or(String::new(), |layout| format!(" ({layout})"));
    format!(
        "With {} at load {:.3}: {} {} with these lanes, {} with one queue, {} with its own{refitted}; that is {loss}{on}.",
        drift.name,
        drift.load,
        question.target,
        of(&drift.kept),
        of(&drift.one_queue),
        of(&drift.refitted),
    )
}

/// `1 layout`, `2 layouts`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn search(answer: &LanesAnswer) -> String {
    let tried: usize = answer.steps.iter().map(|step| step.tried.len()).sum();
    let requests: u64 = answer.steps.iter().map(|step| step.requests).sum();
    let on = if answer.judged.is_empty() {
        "Nothing has been judged on fresh requests yet."
    } else if answer.halves {
        "It was fitted on one half of the measured values and judged on the other."
    } else {
        "It was judged on requests that the search has not seen."
    };
    let ended = if answer.cut_short { " The budget ended the search." } else { "" };
    format!(
        "The search tried {} in {} of {:.1} M requests in all. {on}{ended}",
        counted(tried, "layout"),
        counted(answer.steps.len().saturating_sub(1), "race"),
        requests as f64 / 1e6
    )
}
