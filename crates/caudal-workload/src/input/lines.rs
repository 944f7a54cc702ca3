//! A time in each line of a text: of ping, of ioping, of logs, of `strace -T` and `ltrace -T`.
//! The recogniser of formats asks it last, where no other format fits, and calls the reader once if lines have times. Pure.
//!
//! A time is a number and its unit (`time=0.045 ms`, `took 12ms`, `in 1m 12s`). Where lines have several, it is the one with the name that
//! most lines have, or the first one. Lines that say something else of their time than the others (a total below the tests, a wait
//! before the next try) are another kind: it is asked which is meant, or, where there is a line or two, they are passed over, which a note tells.

use std::collections::BTreeMap;
use std::path::Path;

use super::number::{self, Number, Style};
use super::unit::Unit;
use super::{Columns, Data, Place, Read, Taken, Trace, shorten, text, time_ps};
use crate::error::{Answer, Ask, AskKey, RowProblem, WorkloadError};

/// A time in a line: the name before it, and its text.
#[derive(Debug, PartialEq)]
struct Found<'a> {
    name: &'a str,
    /// Does a sign stand between the name and the time, as in `time=5 ms`?
    has_sign: bool,
    value: &'a str,
    before: &'a str,
    after: &'a str,
}

/// How many words around a time tell what it is.
const WORDS: usize = 4;

/// The words of `text`, without those in which there are digits.
fn words(text: &str) -> Vec<&str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .filter(|word| word.contains(char::is_alphabetic) && !word.bytes().any(|byte| byte.is_ascii_digit()))
        .collect()
}

/// Words of what sums up many times in one.
const SUMS: [&str; 14] = [
    "average",
    "avg",
    "mean",
    "minimum",
    "maximum",
    "min",
    "max",
    "median",
    "percentile",
    "deviation",
    "stddev",
    "quantile",
    "phi",
    "stdev",
];

/// Does this word say of a time that it is that of all?
fn is_total(word: Option<&&str>) -> bool {
    const TOTALS: [&str; 7] = ["total", "totals", "summary", "overall", "passing", "failing", "finished"];
    word.is_some_and(|word| TOTALS.contains(&word.to_lowercase().as_str()))
}

impl Found<'_> {
    fn number(&self) -> Result<Number, RowProblem> {
        if let Some((number, _)) = number::with_pattern(self.value) {
            return Ok(number);
        }
        match number::parts(self.value).filter(|parts| parts.bytes == self.value.len()) {
            Some(parts) => Ok(parts.number),
            None => Number::parse(self.value.as_bytes(), Style::POINT),
        }
    }

    /// The words that name this time: the last words before it, or the first ones behind it.
    fn kind(&self) -> String {
        if is_named(self.name) {
            return self.name.to_owned();
        }
        let before = words(self.before);
        let before = &before[before.len().saturating_sub(2)..];
        if before.is_empty() {
            return words(self.after).into_iter().take(WORDS).collect::<Vec<_>>().join(" ");
        }
        before.join(" ")
    }

    /// Does the line say beside the time that it is that of all: `(598 ms total)`, `100 passing (598ms)`, `Summary [ 1.755s]`?
    fn sums_up(&self) -> bool {
        let (before, after) = (words(self.before), words(self.after));
        // `0.013 ms (min round trip time)`
        let is_sum = |word: Option<&&str>| {
            word.is_some_and(|word| SUMS.contains(&word.to_lowercase().as_str()) || *word == "elapsed")
        };
        // `17 passed in 0.23s`
        let passed = before.len() >= 2
            && ["passed", "failed"].contains(&before[before.len() - 2])
            && self.name == "in";
        if passed
            || self
                .after
                .trim_start()
                .strip_prefix('(')
                .is_some_and(|rest| rest.starts_with(char::is_alphabetic))
                && is_sum(after.first())
        {
            return true;
        }
        // Not `total` among the words of a longer sentence.
        !is_named(self.name)
            && (is_total(after.first())
                || is_total(before.last())
                || before.len() < 3 && self.begins_as_total())
    }

    /// Does the line begin so: `Finished `test` profile [unoptimized] target(s) in 2.31s`?
    fn begins_as_total(&self) -> bool {
        is_total(words(self.before).first())
    }

    /// Does the line call it so: by its name, by the last words before it, or by the first ones behind it?
    fn is_called(&self, wanted: &str) -> bool {
        let wanted: Vec<String> = wanted.split_whitespace().map(str::to_lowercase).collect();
        let is = |words: &[&str]| {
            words.len() == wanted.len()
                && words.iter().zip(&wanted).all(|(word, wanted)| word.to_lowercase() == *wanted)
        };
        let (before, after) = (words(self.before), words(self.after));
        is(&[self.name])
            || is(&before[before.len().saturating_sub(wanted.len())..])
            || is(&after[..after.len().min(wanted.len())])
    }
}

/// Are these calls, as `strace -T` and `ltrace -T` write them?
pub(super) fn holds_calls<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let lines: Vec<String> = lines.take(400).map(text).filter(|line| !line.trim().is_empty()).collect();
    let calls = lines.iter().filter(|line| strace(line).is_some()).count();
    calls >= 3 && 3 * calls >= 2 * lines.len()
}

/// Are there lines with times of single packets, as ping prints above its summary?
pub(super) fn holds_echoes<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    lines.take(400).map(text).any(|line| line.contains(" time=") && !times(&line).is_empty())
}

/// Do at least three lines, and a third of all, have a time?
pub(super) fn holds_times<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let lines: Vec<String> = lines.take(400).map(text).filter(|line| !line.trim().is_empty()).collect();
    let with = lines.iter().filter(|line| strace(line).is_some() || !times(line).is_empty()).count();
    with >= 3 && 3 * with >= lines.len()
}

/// Do at least three lines, and two of three, say `took 6ms` or the like?
pub(super) fn holds_named_times<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let lines: Vec<String> = lines.take(400).map(text).filter(|line| !line.trim().is_empty()).collect();
    let with = lines.iter().filter(|line| times(line).iter().any(|time| is_named(time.name))).count();
    with >= 3 && 3 * with >= 2 * lines.len()
}

/// Does this name say that what follows is what a request took?
fn is_named(name: &str) -> bool {
    ["time", "latency", "duration", "took", "elapsed", "rtt"].contains(&name.to_lowercase().as_str())
}

/// Is this a request before those that count, as ioping marks its first one and leaves it out of its own summary?
pub(super) fn is_warm_up(line: &str) -> bool {
    line.trim_end().ends_with("(warmup)")
}

/// Is there a time with its unit in this line?
pub(super) fn has_time(line: &str) -> bool {
    !times(line).is_empty()
}

/// All times of a line.
fn times(line: &str) -> Vec<Found<'_>> {
    times_of(line, false)
}

/// The same; `with_minutes`: a single `5m` or `1h` is a time as well.
fn times_of(line: &str, with_minutes: bool) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let before = line[..at].chars().next_back();
        let starts = bytes[at].is_ascii_digit()
            && !before.is_some_and(|c| c.is_alphanumeric() || c == '.' || c == '_' || c == '-');
        if !starts {
            at += line[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        }
        let digits = line[at..].bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let behind = &line[at + digits..];
        let blank = behind.len() - behind.trim_start_matches(' ').len();
        let word = behind[blank..]
            .find(|letter: char| !letter.is_alphabetic())
            .map_or(&behind[blank..], |end| &behind[blank..][..end]);
        let in_parts = number::parts(&line[at..]).filter(|parts| parts.units > 1 || with_minutes);
        let with_pattern = number::with_pattern(&line[at..]).map(|(_, bytes)| bytes);
        let whole = with_pattern.or(in_parts.map(|parts| parts.bytes));
        let end = at + whole.unwrap_or(digits + blank + word.len());
        let is_time = whole.is_some() || blank <= 1 && !word.is_empty() && Unit::of_word(word).is_some();
        if is_time && !line[end..].starts_with(['/', '_', '-']) {
            let before = line[..at].trim_end();
            let name = before.trim_end_matches(['=', ':', '<', '~']).trim_end();
            let has_sign = name.len() < before.len();
            let name =
                name.rsplit(|letter: char| !(letter.is_alphanumeric() || letter == '_')).next().unwrap_or("");
            // `GET / 200 26ms`: the status of an answer is no name.
            // Nor is the unit of the time before.
            let is_name = !name.bytes().all(|byte| byte.is_ascii_digit()) && Unit::of_word(name).is_none();
            let name = if is_name { name } else { "" };
            found.push(Found {
                name,
                has_sign,
                value: &line[at..end],
                before: &line[..at],
                after: &line[end..],
            });
            at = end;
        } else {
            at += digits.max(1);
        }
    }
    found
}

/// `read(3, "…", 832) = 832 <0.000012>`: the name of the call and its seconds.
fn strace(line: &str) -> Option<(&str, &str)> {
    let (rest, seconds) = line.trim_end().strip_suffix('>')?.rsplit_once('<')?;
    let is_number =
        seconds.contains('.') && seconds.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let call = rest.split('(').next()?.rsplit(' ').next()?;
    (is_number && rest.contains('(') && !call.is_empty()).then_some((call, seconds))
}

/// Reads a text for which [`holds_times`].
pub(super) fn read_times(bytes: &[u8], path: &Path, wanted: &Columns) -> Result<Read, WorkloadError> {
    let place = Place(path);
    let text = text(bytes);
    if text.lines().filter(|line| strace(line).is_some()).count() >= 3 {
        return read_strace(&text, &place);
    }
    let name = name(&text, wanted);
    refuse_summaries(&text, name.as_ref(), &place)?;
    let with_minutes =
        text.lines().any(|line| times(line).iter().any(|time| number::parts(time.value).is_some()));
    let times = |line| times_of(line, with_minutes);
    refuse_clocks(&text, name.as_ref(), &place)?;
    let mut other = Other::default();
    if wanted.column.is_none() {
        tell_kinds_apart(&text, &place)?;
        other = Other::of(&text, name.as_ref());
    }
    let mut trace = Trace::default();
    let mut without = 0u64;
    let mut finest_ps = u64::MAX;
    for (index, line) in text.lines().enumerate() {
        let found = times(line);
        let chosen = match &name {
            Some((name, has_sign)) => {
                found.iter().find(|time| time.is_called(name) && (time.has_sign || !has_sign))
            }
            None => found.first(),
        };
        let Some(time) = chosen.filter(|_| !is_warm_up(line)) else {
            without += u64::from(!line.trim().is_empty());
            continue;
        };
        if other.takes(line, time) {
            continue;
        }
        let line = index as u64 + 1;
        let field = time.value.as_bytes();
        let at = |problem| place.row(line, 1, problem);
        let number = time.number().map_err(at)?;
        let ps = time_ps(&number, field, Unit::Ns).map_err(at)?;
        finest_ps = finest_ps.min(number.step_ps(Unit::Ns));
        trace.push(b"all", line, ps).map_err(|problem| place.row(line, 1, problem))?;
    }
    if trace.ps.is_empty() {
        let (name, _) = name.unwrap_or_default();
        return Err(place.whole(format!("no line has a time called `{}`", shorten(&name))));
    }
    let mut notes: Vec<String> = trace.replace_zeros(finest_ps, &place)?.into_iter().collect();
    let taken = Taken {
        format: "a text with a time in its lines".to_owned(),
        column: name.map(|(name, _)| name),
        values: trace.ps.len() as u64,
        ..Taken::default()
    };
    notes.extend(other.note());
    if without > 0 {
        notes.push(match without {
            1 => "1 line has no such time, and was passed over".to_owned(),
            _ => format!("{without} lines have no such time, and were passed over"),
        });
    }
    Ok(Read { taken, data: Data::Trace(trace), notes })
}

/// Refuses texts whose times sum up many requests, and asks where a line has two times and none is known as the right one.
///
/// # Errors
/// If the times of a text are such.
fn refuse_summaries(
    text: &str,
    name: Option<&(String, bool)>,
    place: &Place<'_>,
) -> Result<(), WorkloadError> {
    // What stands behind the time may be a statement: `duration: 0.2 ms  statement: select max(x) …`.
    let sums_up = |line: &&str| {
        let before = times(line).first().and_then(|time| line.split(time.value).next()).unwrap_or(line);
        let mut words = before.split(|letter: char| !letter.is_alphanumeric());
        words.any(|word| SUMS.contains(&word.to_lowercase().as_str()))
    };
    let with: Vec<&str> = text.lines().filter(|line| !times(line).is_empty()).collect();
    if let Some(line) = with.iter().find(|line| sums_up(line))
        && 2 * with.iter().filter(|line| sums_up(line)).count() > with.len()
    {
        return Err(place.whole(format!(
            "its times sum up many requests, as in `{}`; give what each request takes, or percentiles, as in `p50 = 1.2 ms, \
             p99 = 9 ms`",
            shorten(line.trim())
        )));
    }
    match with.iter().find(|line| name.is_none() && times(line).len() > 1) {
        Some(line) => Err(place.whole(format!(
            "has lines with several times, such as `{}`, and nothing says which is meant; give a column of times, one a line",
            shorten(line.trim())
        ))),
        None => Ok(()),
    }
}

/// Lines of a few kinds are several measurements, as those of `curl -w` with a time a line are; and where hardly any two lines are of
/// one kind, they sum up.
///
/// # Errors
/// The question which kind is meant, or what to give instead.
fn tell_kinds_apart(text: &str, place: &Place<'_>) -> Result<(), WorkloadError> {
    /// Most kinds that somebody would choose from.
    const KINDS_MAX: usize = 12;
    /// The largest number of lines of a summary.
    const FEW: usize = 8;
    /// A kind, as the line is up to its time, and without the numbers.
    #[derive(Default)]
    struct Kind<'a> {
        lines: usize,
        first: &'a str,
    }
    let mut kinds: BTreeMap<String, Kind<'_>> = BTreeMap::new();
    let mut lines = 0;
    for line in text.lines() {
        let found = times(line);
        let Some(time) = found.first() else { continue };
        let before = line.split(time.value).next().unwrap_or(line);
        let kind = before.chars().filter(|letter| letter.is_alphabetic() || *letter == '_').collect();
        let kind = kinds.entry(kind).or_insert_with(|| Kind { lines: 0, first: line.trim() });
        kind.lines += 1;
        lines += 1;
    }
    let several = kinds.len() > 1 && kinds.len() <= KINDS_MAX;
    if several && kinds.len() == lines && lines <= FEW && !has_marks(text) {
        let first = kinds.values().next().map_or("", |kind| kind.first);
        return Err(place.whole(format!(
            "has {lines} times that mean something else each, such as `{}`: they seem to sum up a run; give what each request takes, a \
             time a line",
            shorten(first)
        )));
    }
    let said = said(text);
    let fewest = said.values().map(|kind| kind.lines).min().unwrap_or(0);
    if said.len() < 2 || said.len() > KINDS_MAX || fewest < 2 || said.contains_key("") {
        return Ok(());
    }
    let mut answers: Vec<Answer> = said
        .iter()
        .map(|(words, kind)| Answer {
            key: AskKey::Column,
            value: words.clone(),
            means: format!("`{}`, … ({} times)", shorten(kind.first), kind.lines),
        })
        .collect();
    let names: std::collections::BTreeSet<&str> = said.values().map(|kind| kind.name).collect();
    if let (1, Some(name)) = (names.len(), names.first().filter(|name| !name.is_empty())) {
        let means = "all of them: they are requests of one kind".to_owned();
        answers.push(Answer { key: AskKey::Column, value: (*name).to_owned(), means });
    }
    Err(WorkloadError::Ask(Box::new(Ask {
        path: place.0.to_owned(),
        problem: "has times of several kinds, a line each".to_owned(),
        key: AskKey::Column,
        answers,
    })))
}

/// A kind of times: how many lines have it, the name before the time, and the first of the lines.
#[derive(Default)]
struct Said<'a> {
    lines: usize,
    name: &'a str,
    first: &'a str,
}

/// The words by which lines name their first time, without the lines that are a kind of their own.
fn said(text: &str) -> BTreeMap<String, Said<'_>> {
    let mut kinds: BTreeMap<String, Said<'_>> = BTreeMap::new();
    for line in text.lines() {
        if let Some(time) = times(line).first().filter(|time| !time.sums_up()) {
            let kind = kinds.entry(time.kind()).or_insert_with(|| Said {
                name: time.name,
                first: line.trim(),
                lines: 0,
            });
            kind.lines += 1;
        }
    }
    // What is said once is no kind to choose, unless nearly every line says something of its own.
    let lines: usize = kinds.values().map(|kind| kind.lines).sum();
    let single = kinds.values().filter(|kind| kind.lines == 1).count();
    if 10 * single <= lines {
        kinds.retain(|_, kind| kind.lines > 1);
    }
    kinds
}

/// The kind that nine of ten lines are of.
fn usual(kinds: &BTreeMap<String, Said<'_>>) -> Option<String> {
    let all: usize = kinds.values().map(|kind| kind.lines).sum();
    let most = kinds.iter().max_by_key(|(_, kind)| kind.lines)?;
    (kinds.len() > 1 && 10 * most.1.lines >= 9 * all).then(|| most.0.clone())
}

/// The lines that are of another kind than all others, and are passed over: totals, and what is said once or twice.
#[derive(Default)]
struct Other {
    /// The kind of nearly all lines; the others are passed over.
    usual: Option<String>,
    /// Tests begin with such a mark, and what sums them up does not.
    has_marks: bool,
    /// Few lines begin with a word such as `Finished`, which then say it of all.
    has_totals: bool,
    count: u64,
    example: String,
}

/// Marks before what has passed or failed.
const MARKS: [char; 8] = ['✔', '✓', '√', '✖', '✗', '✘', '✕', '×'];

/// Do most lines with a time begin with such a mark?
fn has_marks(text: &str) -> bool {
    let (mut lines, mut marked) = (0, 0);
    for line in text.lines().filter(|line| has_time(line)) {
        lines += 1;
        marked += usize::from(line.trim_start().starts_with(MARKS));
    }
    2 * marked > lines
}

impl Other {
    fn of(text: &str, name: Option<&(String, bool)>) -> Other {
        let mut kinds: BTreeMap<String, Said<'_>> = BTreeMap::new();
        for line in text.lines() {
            let found = times(line);
            let chosen = found.iter().find(|time| name.is_none_or(|(name, _)| time.is_called(name)));
            if let Some(time) = chosen {
                kinds.entry(time.kind()).or_default().lines += 1;
            }
        }
        let begin = |line: &&str| times(line).first().is_some_and(Found::begins_as_total);
        let has_totals =
            2 * text.lines().filter(begin).count() < text.lines().filter(|line| has_time(line)).count();
        // Where all lines say something of their own, such as a test's name, no kind is the usual one.
        Other { usual: usual(&kinds), has_marks: has_marks(text), has_totals, ..Other::default() }
    }

    /// Is this line passed over?
    fn takes(&mut self, line: &str, time: &Found<'_>) -> bool {
        let is_other = time.sums_up()
            || self.has_totals && !is_named(time.name) && time.begins_as_total()
            || self.has_marks && !line.trim_start().starts_with(MARKS)
            || self.usual.as_ref().is_some_and(|usual| time.kind() != *usual);
        if is_other {
            self.count += 1;
            if self.example.is_empty() {
                self.example = shorten(line.trim());
            }
        }
        is_other
    }

    fn note(&self) -> Option<String> {
        let lines = match self.count {
            0 => return None,
            1 => "1 line says something else of its time than the others, and was".to_owned(),
            count => format!("{count} lines say something else of their times than the others, and were"),
        };
        Some(format!("{lines} passed over: `{}`", self.example))
    }
}

/// Times that go on from line to line in even steps are those of a clock: of a program that says every second how far it has come.
///
/// # Errors
/// If the times of a text are such.
fn refuse_clocks(text: &str, name: Option<&(String, bool)>, place: &Place<'_>) -> Result<(), WorkloadError> {
    let mut ticks: Vec<f64> = Vec::new();
    let (mut lines, mut numbers) = (0, 0);
    let mut first = "";
    for line in text.lines() {
        let found = times(line);
        let chosen = found.iter().find(|time| name.is_none_or(|(name, _)| time.is_called(name)));
        let Some(ps) = chosen.and_then(|time| time.number().ok()?.ps(Unit::Ns)) else { continue };
        lines += 1;
        numbers +=
            line.split_whitespace().filter(|word| word.bytes().any(|byte| byte.is_ascii_digit())).count();
        match ticks.last() {
            Some(&last) if ps as f64 == last => {}
            Some(&last) if (ps as f64) < last => return Ok(()),
            _ => ticks.push(ps as f64),
        }
        if first.is_empty() {
            first = line.trim();
        }
    }
    let (Some(&begin), Some(&end)) = (ticks.first(), ticks.last()) else { return Ok(()) };
    let step = (end - begin) / (ticks.len() - 1).max(1) as f64;
    let is_even = ticks.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() <= 0.05 * step);
    // A clock begins with the run, and whoever only lists times has no other numbers in the line.
    if ticks.len() < 3 || !is_even || begin > 2.0 * step || numbers < 3 * lines {
        return Ok(());
    }
    Err(place.whole(format!(
        "has times that go on in even steps, as in `{}`: a clock's, of a run that is summed up now and then; give what each request takes, \
         or percentiles of the whole run, as in `p50 = 1.2 ms, p99 = 9 ms`",
        shorten(first)
    )))
}

/// The name that most times have, if most have one, and whether a sign stands behind it.
fn name(text: &str, wanted: &Columns) -> Option<(String, bool)> {
    if let Some(column) = &wanted.column {
        return Some((column.clone(), false));
    }
    let mut names: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    let mut lines = 0;
    for line in text.lines() {
        let found = times(line);
        lines += usize::from(!found.is_empty());
        for time in found {
            *names.entry((time.name, time.has_sign)).or_default() += 1;
        }
    }
    let most = names.into_iter().filter(|((name, _), count)| !name.is_empty() && 2 * count > lines);
    most.max_by_key(|((name, _), count)| (is_named(name), *count))
        .map(|((name, has_sign), _)| (name.to_owned(), has_sign))
}

fn read_strace(text: &str, place: &Place<'_>) -> Result<Read, WorkloadError> {
    let mut trace = Trace::default();
    let mut zeros = 0;
    for (index, line) in text.lines().enumerate() {
        let Some((call, seconds)) = strace(line) else { continue };
        let line = index as u64 + 1;
        let at = |problem| place.row(line, 1, problem);
        let number = Number::parse(seconds.as_bytes(), Style::POINT).map_err(at)?;
        let ps = time_ps(&number, seconds.as_bytes(), Unit::S).map_err(at)?;
        zeros += u64::from(ps == 0);
        // The step is a microsecond.
        trace.push(call.as_bytes(), line, ps.max(Unit::Us.ps() / 2)).map_err(at)?;
    }
    let mut notes = vec![
        "strace and ltrace stop a program at every call, so that its times are longer than without them"
            .to_owned(),
    ];
    if zeros > 0 {
        notes.push(format!("{zeros} times are 0, below the step of 1 us; each is taken as half of it"));
    }
    let taken = Taken {
        format: "calls by strace or ltrace".to_owned(),
        class_column: Some("call".to_owned()),
        unit: Some(Unit::S),
        unit_by: "as the writer has it",
        values: trace.ps.len() as u64,
        ..Taken::default()
    };
    Ok(Read { taken, data: Data::Trace(trace), notes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_stand_in_lines_with_their_unit() {
        let all = |line| times(line).into_iter().map(|time| (time.name, time.value)).collect::<Vec<_>>();
        assert_eq!(all("64 bytes from 127.0.0.1: icmp_seq=1 ttl=64 time=0.045 ms"), [("time", "0.045 ms")]);
        assert_eq!(all("4 KiB <<< . (ext4 /dev/vda): request=1 time=123.4 us"), [("time", "123.4 us")]);
        assert_eq!(all("took 12ms for 3 rows"), [("took", "12ms")]);
        assert_eq!(all("a 5 MB/s rate, 3 items, v1.2s"), []);
        assert_eq!(strace("read(3, \"x\", 832) = 832 <0.000012>"), Some(("read", "0.000012")));
        assert_eq!(strace("12:00:01.5 read(3) = 8 <0.5>"), Some(("read", "0.5")));
        assert_eq!(strace("a <b>"), None);
    }
}
