//! The result of `caudal compare` as text: which system is better at what, or every statistic. `compare` calls [`print()`] once, when the
//! simulations are done. It only prints.

use caudal_stats::Estimate;
use caudal_stats::paired::Verdict;
use caudal_tune::compare::{Compared, Line};
use caudal_tune::spelled;

use crate::answer::Screen;
use caudal_results::columns::Columns;
use caudal_results::table::{digits, estimate, time};

/// Lines of a table that a reader takes in at a glance.
const FEW: usize = 5;

/// The question, as far as the text depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) load: f64,
    pub(super) confidence: f64,
    pub(super) explain: bool,
}

/// Prints who is better; with `explain`, all statistics.
pub(super) fn print(compared: &Compared, asked: &Asked) {
    out!("{}", screen(Screen::new(), compared, asked));
}

fn screen(mut screen: Screen, compared: &Compared, asked: &Asked) -> Screen {
    let place = format!("At load {}", short(asked.load));
    if compared.lines.is_empty() {
        let behind = compared.systems.iter().zip(compared.overloaded).filter(|(_, overloaded)| *overloaded);
        let names: Vec<&str> = behind.map(|(system, _)| system.as_str()).collect();
        let (falls, has) = if names.len() == 1 { ("falls", "it has") } else { ("fall", "they have") };
        let names = names.join(" and ");
        screen.headline(&format!("{place} {names} {falls} behind: {has} no latency to compare."));
        screen.paragraph("Ask for less --load, or a lower --rate.");
        return screen;
    }
    screen.headline(&format!("{place} {}.", who_is_better(compared)));
    screen.facts([("How sure", how_sure(compared, asked).as_str())]);
    screen.gap();
    let lines: Vec<&Line> = if asked.explain { compared.lines.iter().collect() } else { few(compared) };
    let table = table(compared, &lines, asked.explain);
    let shown = if asked.explain {
        let text = table.lines().join("\n");
        screen.as_it_is(&format!("{text}\n"));
        text
    } else {
        screen.table(table)
    };
    screen.paragraph(&meanings(compared, asked, &shown));
    if !asked.explain {
        screen.gap();
        screen
            .paragraph(&format!("All {} statistics: the same command with --explain.", compared.lines.len()));
    }
    screen
}

/// `0.5`: a load in no more digits than it takes.
fn short(load: f64) -> String {
    format!("{load:.3}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Latencies of a class, or of all requests.
fn latencies<'a>(compared: &'a Compared, class: Option<&'a str>) -> impl Iterator<Item = &'a Line> {
    compared.lines.iter().filter(move |line| line.metric == "latency_ns" && line.class.as_deref() == class)
}

/// The furthest part of the tail of which it is certain who is better; else its end.
fn tail<'a>(compared: &'a Compared, class: Option<&'a str>) -> Option<&'a Line> {
    let decided = latencies(compared, class).filter(|line| line.verdict != Verdict::Undecided);
    decided.last().or(latencies(compared, class).last())
}

/// Classes of requests; all requests where there is one.
fn classes(compared: &Compared) -> Vec<Option<&str>> {
    let mut classes: Vec<Option<&str>> = Vec::new();
    for line in compared.lines.iter().filter(|line| line.class.is_some()) {
        if !classes.contains(&line.class.as_deref()) {
            classes.push(line.class.as_deref());
        }
    }
    if classes.is_empty() { vec![None] } else { classes }
}

/// The statistics that say most: the tails of the classes, then the mean of all; shares that are late were asked for.
fn few(compared: &Compared) -> Vec<&Line> {
    let classes = classes(compared);
    let mut few: Vec<&Line> = match &classes[..] {
        [None] => latencies(compared, None).collect(),
        classes => classes.iter().filter_map(|class| tail(compared, *class)).collect(),
    };
    if classes.len() > 1 {
        few.truncate(FEW - 1);
        few.extend(latencies(compared, None).next());
    }
    few.truncate(FEW);
    few.extend(compared.lines.iter().filter(|line| line.metric == "miss" && line.class.is_none()));
    few
}

/// The system with the shorter tail, class by class, in words.
fn who_is_better(compared: &Compared) -> String {
    let classes = classes(compared);
    let tails = classes.into_iter().filter_map(|class| Some((class, tail(compared, class)?)));
    let tails: Vec<(Option<&str>, &Line)> = tails.collect();
    let said = tails.iter().enumerate().map(|(at, (class, line))| {
        let whose = class.map_or(String::new(), |class| format!(" for {class}"));
        let better = match line.verdict {
            Verdict::Better => 0,
            Verdict::Worse => 1,
            Verdict::Undecided => {
                let first =
                    if at == 0 { "it is not decided which is better" } else { "neither is certainly better" };
                return format!("{first}{whose}");
            }
        };
        format!(
            "{} is better{whose} ({} {} instead of {})",
            compared.systems[better],
            line.statistic,
            time(line.values[better].estimate),
            time(line.values[1 - better].estimate),
        )
    });
    said.collect::<Vec<_>>().join(", ")
}

fn how_sure(compared: &Compared, asked: &Asked) -> String {
    let mut said = format!(
        "Both saw the same requests, {} M in {} pairs of replications; what is called better is so with {} confidence.",
        digits(compared.requests as f64 / 1e6),
        compared.pairs,
        percent(asked.confidence),
    );
    if !compared.precise {
        said += " It is not as precise as was asked: leave out --quick, or give `measure.requests` more.";
    }
    for (_, system) in compared.systems.iter().enumerate().filter(|(side, _)| !compared.holds(*side)) {
        said += &format!(
            " {system} has not come to its steady state, so its tail may be longer: give `measure.requests` more, or leave \
             out --quick."
        );
    }
    said
}

fn percent(share: f64) -> String {
    format!("{} %", short(100.0 * share))
}

fn table(compared: &Compared, lines: &[&Line], explain: bool) -> Columns {
    let mut columns = Columns::default();
    columns.words("", 0, lines.iter().map(|line| line.class.clone().unwrap_or_else(|| "all".to_owned())));
    let statistic = |line: &&Line| {
        format!("{}{}", spelled(&line.statistic), if line.metric == "slowdown" { " slowdown" } else { "" })
    };
    columns.words("statistic", 0, lines.iter().map(statistic));
    for side in 0..2 {
        let value =
            |line: &&Line| estimate(&line.values[side], |value| show(line, value)).trim_end().to_owned();
        columns.numbers(&compared.systems[side], 1, lines.iter().map(value));
    }
    let ratio = |line: &&Line| between(&line.ratio, digits);
    columns.numbers("ratio", 2, lines.iter().map(ratio));
    let difference = |line: &&Line| between(&line.difference, |value| show(line, value));
    if explain {
        columns.numbers("difference", 4, lines.iter().map(difference));
    }
    let better = |line: &&Line| match line.verdict {
        Verdict::Better => compared.systems[0].clone(),
        Verdict::Worse => compared.systems[1].clone(),
        Verdict::Undecided => "undecided".to_owned(),
    };
    columns.words("better", 3, lines.iter().map(better));
    columns
}

/// The meaning of the table's marks, of those that stand in `text`.
fn meanings(compared: &Compared, asked: &Asked, text: &str) -> String {
    let confidence = percent(asked.confidence);
    let difference = if asked.explain { ", difference: the first minus the second" } else { "" };
    let mut said = vec![format!(
        "ratio: {} over {}{difference}, with the ends of the {confidence} interval.",
        compared.systems[0], compared.systems[1],
    )];
    if text.contains('±') {
        let open = if text.contains("±?") { "; ? is unknown" } else { "" };
        said.push(format!("±: half of the {confidence} interval{open}."));
    }
    if text.contains('≤') {
        said.push(format!("≤: the upper end of the {confidence} interval."));
    }
    if text.contains('–') {
        said.push("–: nothing is known.".to_owned());
    }
    said.join(" ")
}

fn show(line: &Line, value: f64) -> String {
    match (line.metric, value < 0.0) {
        ("slowdown", _) => digits(value),
        ("miss", _) => format!("{} %", digits(100.0 * value)),
        (_, true) => format!("-{}", time(-value)),
        (_, false) => time(value),
    }
}

fn between(of: &Estimate, show: impl Fn(f64) -> String) -> String {
    match of.is_missing() || !of.half_width().is_finite() {
        true => "–".to_owned(),
        false => format!("{} ({} to {})", show(of.estimate), show(of.low), show(of.high)),
    }
}
