//! The table of the few systems of a plan that a reader compares, and the meaning of its words and marks. `caudal plan` prints it, and
//! `plan` puts it into the report. Pure.

use caudal_config::{Limit, find_preset};
use caudal_tune::{Goal, Plan, Question, Role, Shown, SystemResult, spelled};

use crate::columns::Columns;
use crate::table::{digits, estimate, time};

/// The few systems beside each other; the columns that stand for most come first, and go last where there is no room.
#[must_use]
pub fn few(question: &Question, plan: &Plan) -> Columns {
    let shown = &plan.summary.shown;
    let mut columns = Columns::default();
    columns.words("", 2, shown.iter().map(roles));
    columns.words("system", 0, shown.iter().map(|it| it.system.clone()));
    let place = |value: f64| place(question, value);
    columns.numbers(place_name(question), 1, shown.iter().map(|it| reached(question, line(it, plan))));
    let missed = |it: &Shown| line(it, plan).and_then(|line| line.reach.missed).map_or_else(unknown, place);
    columns.numbers("misses at", 5, shown.iter().map(missed));
    let rate = |it: &Shown| it.rate_per_s.filter(|_| is_reached(it, plan)).map_or_else(none, rate);
    columns.numbers("requests/s", 6, shown.iter().map(rate));
    for (at, target) in question.targets.iter().enumerate() {
        let text = target.to_string();
        let head = spelled(text.split(" <").next().unwrap_or_default());
        let cell = |it: &Shown| tail(question, plan, it, at);
        columns.numbers(&head, if at == 0 { 3 } else { 4 }, shown.iter().map(cell));
    }
    let work = |it: &Shown| it.efficiency.filter(|_| is_reached(it, plan));
    let work = |it: &Shown| work(it).map_or_else(none, |share| format!("{:.0} %", 100.0 * share.estimate));
    columns.numbers("work", 7, shown.iter().map(work));
    columns
}

fn none() -> String {
    "none".to_owned()
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn place_name(question: &Question) -> &'static str {
    if question.goal == Goal::HighestLoad { "load" } else { "cores" }
}

fn place(question: &Question, value: f64) -> String {
    if question.goal == Goal::HighestLoad { format!("{value:.3}") } else { format!("{value}") }
}

/// `2.71 M`
fn rate(per_s: f64) -> String {
    match per_s {
        rate if rate >= 1e6 => format!("{} M", digits(rate / 1e6)),
        rate if rate >= 1e3 => format!("{} k", digits(rate / 1e3)),
        rate => digits(rate),
    }
}

fn line<'a>(it: &Shown, plan: &'a Plan) -> Option<&'a SystemResult> {
    plan.systems.iter().find(|line| line.system == it.system)
}

/// Does the system meet the targets where the line is about?
fn is_reached(it: &Shown, plan: &Plan) -> bool {
    line(it, plan).is_some_and(|line| line.reach.pass.is_some())
}

/// How far a system gets: what was confirmed, or what the estimates of short runs say.
fn reached(question: &Question, line: Option<&SystemResult>) -> String {
    match line.map(|line| (line.reach.certain, line.reach.pass, line.untried)) {
        Some((Some(certain), ..)) => match (line.is_some_and(|line| line.budget_ended), question.goal) {
            (false, _) => place(question, certain),
            (true, Goal::HighestLoad) => format!("≥ {}", place(question, certain)),
            (true, Goal::FewestCores(_)) => format!("{} or fewer", place(question, certain)),
        },
        Some((None, Some(pass), _)) => format!("maybe {}", place(question, pass)),
        Some((None, None, false)) => none(),
        Some((None, None, true)) | None => unknown(),
    }
}

/// A target's statistic where the system is at its limit, or where that was asked that it does not meet.
fn tail(question: &Question, plan: &Plan, it: &Shown, at: usize) -> String {
    let beyond = it.at.filter(|_| !is_reached(it, plan)).map_or(String::new(), |at| {
        let place = place(question, at);
        format!(" at {}", place.trim_end_matches('0').trim_end_matches('.'))
    });
    let Some(result) = it.targets.get(at) else {
        return if it.overloaded { format!("falls behind{beyond}") } else { unknown() };
    };
    let show = |value: f64| match question.targets[at].limit {
        Limit::Latency(_) | Limit::Wait(_) => time(value),
        Limit::Slowdown(_) => digits(value),
        Limit::Share(_) => format!("{} %", digits(100.0 * value)),
    };
    format!("{}{beyond}", estimate(&result.estimate, show).trim_end())
}

fn roles(it: &Shown) -> String {
    let roles: Vec<&str> = it.roles.iter().map(|role| role_name(*role)).collect();
    roles.join(", ")
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Answer => "answer",
        Role::Nearest => "nearest",
        Role::RunnerUp => "runner-up",
        Role::NoPreemption => "no preemption",
        Role::Today => "today",
        Role::Bound => "bound",
    }
}

/// The meaning of the words and marks of the table, of those that stand in `table`.
#[must_use]
pub fn meanings(question: &Question, plan: &Plan, table: &str) -> String {
    let shown = &plan.summary.shown;
    let confidence = digits(100.0 * question.measure.stop.confidence);
    let confidence = format!("{} %", confidence.trim_end_matches('0').trim_end_matches('.'));
    let place = match question.goal {
        Goal::HighestLoad => format!(
            "load: arriving work over what {} can do; the targets are met there with {confidence} confidence.",
            question.machine
        ),
        Goal::FewestCores(_) => {
            format!("cores: the fewest on which the targets are met with {confidence} confidence.")
        }
    };
    let open = if table.contains("±?") { "; ? where it is not known" } else { "" };
    let marks = [
        ("≥ ", "≥: it may carry more, the budget ended.".to_owned()),
        ("maybe ", "maybe: only short runs say so, and they are too optimistic.".to_owned()),
        (
            "misses at",
            "misses at: the next one that was tried at which a target is certainly missed.".to_owned(),
        ),
        ("±", format!("±: half of the {confidence} interval{open}.")),
        ("≤", format!("≤: the upper end of the {confidence} interval.")),
        ("work", "work: the part of the cores' time that is work.".to_owned()),
    ];
    let marks = marks.into_iter().filter(|(mark, _)| table.contains(mark)).map(|(_, meaning)| meaning);
    let roles = shown.iter().flat_map(|it| it.roles.iter().filter_map(|role| meaning(*role, it)));
    let said: Vec<String> =
        std::iter::once(place).chain(marks).chain(roles).chain(shown.iter().filter_map(coincides)).collect();
    said.join(" ")
}

fn meaning(role: Role, it: &Shown) -> Option<String> {
    match role {
        Role::Answer | Role::Nearest | Role::RunnerUp => None,
        Role::NoPreemption => Some("no preemption: the best that never interrupts a request.".to_owned()),
        Role::Today => Some("today: what most services run; nothing is interrupted.".to_owned()),
        Role::Bound => {
            let why =
                find_preset(&it.system).and_then(|preset| preset.reference_only).unwrap_or("it is ideal");
            Some(format!("bound: nobody can build it ({why}), it shows what there is to gain."))
        }
    }
}

/// Fewer lines than roles: which system has several.
fn coincides(it: &Shown) -> Option<String> {
    let name = |role: &Role| match role {
        Role::Answer => "the answer",
        Role::Nearest => "the nearest",
        Role::RunnerUp => "the runner-up",
        Role::NoPreemption => "the best without preemption",
        Role::Today => "what most services run today",
        Role::Bound => "the bound",
    };
    let (last, others) = it.roles.split_last()?;
    if others.is_empty() {
        return None;
    }
    let others: Vec<&str> = others.iter().map(name).collect();
    Some(format!("{} is {} and {} in one line.", it.system, others.join(", "), name(last)))
}
