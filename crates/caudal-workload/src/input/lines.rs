//! A time in each line of a text: of ping, of ioping, of logs, of `strace -T` and `ltrace -T`.
//!
//! A time is a number and its unit (`time=0.045 ms`, `took 12ms`). Where lines have several, it is the one with the name that
//! most lines have, or the first one.

use std::collections::BTreeMap;
use std::path::Path;

use super::number::{Number, Style};
use super::unit::Unit;
use super::{Columns, Data, Place, Read, Taken, Trace, shorten, text, time_ps};
use crate::error::{Answer, Ask, AskKey, WorkloadError};

/// A time in a line: the name before it, and its text.
#[derive(Debug, PartialEq)]
struct Found<'a> {
    name: &'a str,
    /// Does a sign stand between the name and the time, as in `time=5 ms`?
    has_sign: bool,
    value: &'a str,
}

/// Are these calls, as `strace -T` and `ltrace -T` write them?
pub(super) fn holds_calls<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let lines: Vec<String> = lines.take(400).map(text).filter(|line| !line.trim().is_empty()).collect();
    let calls = lines.iter().filter(|line| strace(line).is_some()).count();
    calls >= 3 && 3 * calls >= 2 * lines.len()
}

/// Are there lines with times of single packets, as ping prints above its summary?
pub(super) fn holds_echoes<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    lines.take(400).map(text).any(|line| line.contains("time=") && !times(&line).is_empty())
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
        let end = at + digits + blank + word.len();
        if blank <= 1
            && !word.is_empty()
            && Unit::of_word(word).is_some()
            && !line[end..].starts_with(['/', '_', '-'])
        {
            let before = line[..at].trim_end();
            let name = before.trim_end_matches(['=', ':', '<', '~']).trim_end();
            let has_sign = name.len() < before.len();
            let name =
                name.rsplit(|letter: char| !(letter.is_alphanumeric() || letter == '_')).next().unwrap_or("");
            // `GET / 200 26ms`: the status of an answer is no name.
            let name = if name.bytes().all(|byte| byte.is_ascii_digit()) { "" } else { name };
            found.push(Found { name, has_sign, value: &line[at..end] });
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
    if wanted.column.is_none() {
        tell_kinds_apart(&text, &place)?;
    }
    let mut trace = Trace::default();
    let mut without = 0u64;
    let mut finest_ps = u64::MAX;
    for (index, line) in text.lines().enumerate() {
        let found = times(line);
        let chosen = match &name {
            Some((name, has_sign)) => {
                found.iter().find(|time| time.name.eq_ignore_ascii_case(name) && (time.has_sign || !has_sign))
            }
            None => found.first(),
        };
        let Some(time) = chosen.filter(|_| !is_warm_up(line)) else {
            without += u64::from(!line.trim().is_empty());
            continue;
        };
        let line = index as u64 + 1;
        let field = time.value.as_bytes();
        let at = |problem| place.row(line, 1, problem);
        let number = Number::parse(field, Style::POINT).map_err(at)?;
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
    if without > 0 {
        notes.push(match without {
            1 => "1 line has no such time, and was passed over".to_owned(),
            _ => format!("{without} lines have no such time, and were passed over"),
        });
    }
    Ok(Read { taken, data: Data::Trace(trace), notes })
}

/// What sums up many requests is not what one of them takes; and of two times in a line one has to be known as the right one.
///
/// # Errors
/// If the times of a text are such.
fn refuse_summaries(
    text: &str,
    name: Option<&(String, bool)>,
    place: &Place<'_>,
) -> Result<(), WorkloadError> {
    const SUMS: [&str; 8] = ["average", "avg", "mean", "minimum", "maximum", "min", "max", "median"];
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
    /// Most lines of a summary.
    const FEW: usize = 8;
    /// A kind, as the line is up to its time, and without the numbers.
    #[derive(Default)]
    struct Kind<'a> {
        lines: usize,
        name: &'a str,
        first: &'a str,
    }
    let mut kinds: BTreeMap<String, Kind<'_>> = BTreeMap::new();
    let mut lines = 0;
    for line in text.lines() {
        let found = times(line);
        let Some(time) = found.first() else { continue };
        let before = line.split(time.value).next().unwrap_or(line);
        let kind = before.chars().filter(|letter| letter.is_alphabetic() || *letter == '_').collect();
        let kind =
            kinds.entry(kind).or_insert_with(|| Kind { lines: 0, name: time.name, first: line.trim() });
        kind.lines += 1;
        lines += 1;
    }
    let several = kinds.len() > 1 && kinds.len() <= KINDS_MAX;
    if several && kinds.len() == lines && lines <= FEW {
        let first = kinds.values().next().map_or("", |kind| kind.first);
        return Err(place.whole(format!(
            "has {lines} times that mean something else each, such as `{}`: they seem to sum up a run; give what each request takes, a \
             time a line",
            shorten(first)
        )));
    }
    let fewest = kinds.values().map(|kind| kind.lines).min().unwrap_or(0);
    let names: std::collections::BTreeSet<&str> = kinds.values().map(|kind| kind.name).collect();
    if !several || fewest < 2 || names.len() < kinds.len() || names.contains("") {
        return Ok(());
    }
    let answer = |kind: &Kind<'_>| Answer {
        key: AskKey::Column,
        value: kind.name.to_owned(),
        means: format!("`{}`, … ({} times)", shorten(kind.first), kind.lines),
    };
    Err(WorkloadError::Ask(Box::new(Ask {
        path: place.0.to_owned(),
        problem: "has times of several kinds, a line each".to_owned(),
        key: AskKey::Column,
        answers: kinds.values().map(answer).collect(),
    })))
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
