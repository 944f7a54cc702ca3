//! Logs: times under keys, as in `latency_ms=3` (logfmt), and where HAProxy and web servers write them,
//! and as fields of InfluxDB's line protocol.
//! The recogniser of formats asks whether a text has one of these forms, and calls the reader once if it has. Pure.
//!
//! A line is a list of keys and values. A line of logfmt has keys; in a line of HAProxy or of a web server, the places of the format have names
//! here, and further fields have their number or their key. The key of the times follows from its name, from units behind its values, or from
//! the user's choice.

use std::collections::BTreeMap;
use std::path::Path;

use super::lines::is_warm_up;
use super::number::{Number, Style};
use super::percentiles::Statistic;
use super::plausible::Plausible;
use super::unit::{Said, Unit, words};
use super::{Columns, Data, Place, Read, Taken, Trace, shorten, source, text, time_ps};
use crate::error::{Answer, Ask, AskKey, RowProblem, WorkloadError};

/// Lines that are looked at.
const LINES: usize = 400;
/// Classes, if a key with such a name has few values.
const CLASSES: [&str; 6] = ["class", "type", "op", "operation", "kind", "label"];
/// More names than this are no classes.
const CLASSES_MAX: usize = 16;

/// How a log writes its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Haproxy,
    Access,
    Influx,
    Pairs,
}

/// A field of a line: its key, and its value.
type Field<'a> = (String, &'a str);

impl Dialect {
    const ALL: [Dialect; 4] = [Dialect::Haproxy, Dialect::Access, Dialect::Influx, Dialect::Pairs];

    fn name(self) -> &'static str {
        match self {
            Dialect::Haproxy => "a log of HAProxy",
            Dialect::Access => "an access log of a web server",
            Dialect::Influx => "InfluxDB's line protocol",
            Dialect::Pairs => "a log with keys and values",
        }
    }

    /// The fields of a line; nothing if it is another line.
    fn fields(self, line: &str) -> Option<Vec<Field<'_>>> {
        match self {
            Dialect::Haproxy => haproxy(line),
            Dialect::Access => access(line),
            Dialect::Influx => influx(line),
            Dialect::Pairs => Some(pairs(line)).filter(|pairs| !pairs.is_empty()),
        }
    }

    /// Is this one of the places that every such log has, none of which is what a request takes?
    fn is_fixed(self, key: &str) -> bool {
        match self {
            Dialect::Access => ACCESS.contains(&key),
            Dialect::Haproxy => ["frontend", "backend", "server", "status"].contains(&key),
            Dialect::Influx => ["measurement", "timestamp"].contains(&key),
            Dialect::Pairs => false,
        }
    }
}

/// Is this a log in which times can be found, or of which it is known where they would be?
pub(super) fn holds_log<'a>(lines: impl Iterator<Item = &'a [u8]>, wanted: &Columns) -> bool {
    let lines: Vec<String> = sample(lines);
    dialect(lines.iter().map(String::as_str), wanted).is_some()
}

fn sample<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    lines.map(text).filter(|line| !line.trim().is_empty()).take(LINES).collect()
}

/// The dialect of most lines, and for pairs, if most lines have the same key of a time.
fn dialect<'a>(lines: impl Iterator<Item = &'a str> + Clone, wanted: &Columns) -> Option<Dialect> {
    let all = lines.clone().count();
    Dialect::ALL.into_iter().find(|&dialect| {
        let rows: Vec<Vec<Field<'_>>> = lines.clone().filter_map(|line| dialect.fields(line)).collect();
        3 * rows.len() >= 2 * all
            && !rows.is_empty()
            && match dialect {
                Dialect::Pairs => {
                    let keys = Keys::of(&rows, dialect);
                    rows.len() >= 2
                        && (!keys.times().is_empty()
                            || wanted.column.as_ref().is_some_and(|key| keys.has(key)))
                }
                _ => true,
            }
    })
}

/// The keys that most lines have, with what their values look like.
struct Keys {
    keys: Vec<Key>,
}

struct Key {
    name: String,
    /// Lines in which it has a number.
    numbers: usize,
    /// Does a unit stand behind these numbers?
    has_unit: bool,
    /// Lines in which it is.
    lines: usize,
    first: String,
    is_fixed: bool,
}

impl Keys {
    fn of(rows: &[Vec<Field<'_>>], dialect: Dialect) -> Keys {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut keys: Vec<Key> = Vec::new();
        for (name, value) in rows.iter().flatten() {
            let at = *places.entry(name.clone()).or_insert_with(|| {
                keys.push(Key {
                    name: name.clone(),
                    numbers: 0,
                    has_unit: false,
                    lines: 0,
                    first: (*value).to_owned(),
                    is_fixed: dialect.is_fixed(name),
                });
                keys.len() - 1
            });
            keys[at].lines += 1;
            if let Ok(number) = Number::parse(value.as_bytes(), Style::POINT) {
                keys[at].numbers += 1;
                keys[at].has_unit |= number.unit.is_some();
            }
        }
        // A key that only some lines have, such as that of an error, is none of the requests; but metrics stand among others.
        let one_of = if dialect == Dialect::Influx { 20 } else { 2 };
        keys.retain(|key| one_of * key.lines > rows.len());
        Keys { keys }
    }

    fn has(&self, name: &str) -> bool {
        self.keys.iter().any(|key| key.name == name)
    }

    /// The keys that may hold what a request takes; of several, the ones whose names say it most clearly.
    fn times(&self) -> Vec<&Key> {
        let ranked = || {
            let numbers = self.keys.iter().filter(|key| 2 * key.numbers >= key.lines && !key.is_fixed);
            numbers.filter(|key| Statistic::of(&key.name).is_none()).map(|key| (key.rank(), key))
        };
        let best = ranked().map(|(rank, _)| rank).max().unwrap_or(0);
        ranked().filter(|(rank, _)| *rank == best && best > 0).map(|(_, key)| key).collect()
    }
}

impl Key {
    /// How clearly it holds what a request takes: by its name, by the units behind its values, by being where only times are
    /// added.
    fn rank(&self) -> usize {
        const DURATIONS: [&str; 14] = [
            "latency",
            "duration",
            "elapsed",
            "took",
            "rtt",
            "rt",
            "service",
            "runtime",
            "lat",
            "dur",
            "urt",
            "resptime",
            "request_time",
            "response_time",
        ];
        let words = words(&self.name);
        let is_named = words.iter().any(|word| DURATIONS.contains(&word.as_str()))
            || words.windows(2).any(|two| DURATIONS.contains(&two.join("_").as_str()));
        let is_when = super::table::is_arrival(&self.name);
        if is_when {
            0
        } else if is_named {
            3
        } else if self.has_unit
            || matches!(Unit::of_name(&self.name), Said::Unit(_))
            || words.last().is_some_and(|word| word == "time")
        {
            2
        } else {
            // What a web server adds to its own format is mostly a time; what a program logs is not.
            usize::from(self.name.bytes().all(|byte| byte.is_ascii_digit()))
        }
    }
}

/// Reads a text for which [`holds_log`].
pub(super) fn read_log(bytes: &[u8], path: &Path, wanted: &Columns) -> Result<Read, WorkloadError> {
    let place = Place(path);
    let text = text(bytes);
    let first = || text.lines().filter(|line| !line.trim().is_empty()).take(LINES);
    let dialect = dialect(first(), wanted)
        .ok_or_else(|| place.whole("holds no log, such as lines with `method=GET latency_ms=3`"))?;
    let rows: Vec<Vec<Field<'_>>> = first().filter_map(|line| dialect.fields(line)).collect();
    let keys = Keys::of(&rows, dialect);
    let column = column(&keys, dialect, wanted, &place)?;
    let class = wanted.class_column.clone().filter(|class| !class.is_empty());
    let class = class.or_else(|| class_of(&rows).filter(|_| wanted.class_column.is_none()));
    let filters = filters(wanted, &place)?;
    let unit = unit(&column, dialect, wanted);
    let mut trace = Trace::default();
    let mut plausible = Plausible::called(&column);
    let (mut left_out, mut without, mut step_ps) = (0, Without::default(), u64::MAX);
    for (index, line) in text.lines().enumerate() {
        if index % 4096 == 0 {
            source::check_stop()?;
        }
        if line.trim().is_empty() || is_warm_up(line) {
            continue;
        }
        let fields = dialect.fields(line).unwrap_or_default();
        let get = |key: &str| fields.iter().find(|(name, _)| name == key).map(|(_, value)| *value);
        if filters.iter().any(|(key, equal, value)| get(key).is_some_and(|found| found == value) != *equal) {
            left_out += 1;
            continue;
        }
        let number = get(&column).map(|value| (value, Number::parse(value.as_bytes(), Style::POINT)));
        let Some((value, Ok(number))) = number else {
            without.add(index, number.map(|(value, _)| value));
            continue;
        };
        let at = |problem: RowProblem| place.row(index as u64 + 1, column_in(line, value), problem);
        match (number.unit, unit) {
            (Some(_), _) => plausible.see_unit(),
            (None, None) => plausible.see(&number, value.as_bytes()),
            (None, Some(_)) => {}
        }
        let in_unit = unit.map_or(Unit::Ns, |(unit, _)| unit);
        step_ps = step_ps.min(number.step_ps(in_unit));
        let ps = match time_ps(&number, value.as_bytes(), in_unit) {
            // Its unit will be asked for: it has fractions.
            Err(RowProblem::TooShort(_)) if unit.is_none() && number.unit.is_none() => 1,
            ps => ps.map_err(at)?,
        };
        let name = class.as_ref().and_then(|class| get(class)).unwrap_or("all");
        trace.push(name.as_bytes(), index as u64 + 1, ps).map_err(at)?;
    }
    if trace.ps.is_empty() {
        return Err(place.whole(match left_out {
            0 => format!("no line has a time under `{}`", shorten(&column)),
            _ => format!("no line is left: `{}` holds for none of {left_out}", wanted.filter.join("` and `")),
        }));
    }
    if let Some(class) = wanted.class_column.as_ref().filter(|class| !class.is_empty())
        && !rows.iter().flatten().any(|(name, _)| name == class)
    {
        return Err(place.whole(format!("no line has `{}`, which is to be its class", shorten(class))));
    }
    let mut notes: Vec<String> = match (dialect, unit) {
        // Nobody's web server writes nanoseconds.
        (Dialect::Access, None) if !plausible.is_untouched() => {
            return Err(plausible.ask(
                &place,
                "may be seconds (`$request_time` of nginx, `%T` of Apache) or microseconds (`%D` of Apache)",
            ));
        }
        _ => plausible.check(&place)?.into_iter().collect(),
    };
    notes.extend(trace.replace_zeros(step_ps, &place)?);
    notes.extend(without.note(&column, trace.ps.len()));
    if dialect == Dialect::Haproxy {
        notes.push(
            "HAProxy counts whole milliseconds: `Tr` until the server begins to answer, `Ta` all of a request with what it waited; \
             `--column` says which"
                .to_owned(),
        );
    }
    let (said, unit_by) = match unit {
        Some((unit, by)) => (Some(unit), by),
        None if plausible.is_untouched() => (None, ""),
        None => (Some(Unit::Ns), "nothing says another one"),
    };
    let taken = Taken {
        format: dialect.name().to_owned(),
        column: Some(column),
        class_column: class,
        unit: said,
        unit_by,
        values: trace.ps.len() as u64,
        left_out,
        filter: wanted.filter.clone(),
        ..Taken::default()
    };
    Ok(Read { taken, data: Data::Trace(trace), notes })
}

/// Lines that have no time, and what the first of them has instead.
#[derive(Default)]
struct Without {
    count: usize,
    first: Option<(usize, String)>,
}

impl Without {
    fn add(&mut self, index: usize, value: Option<&str>) {
        self.count += 1;
        self.first.get_or_insert_with(|| (index + 1, value.map_or_else(String::new, shorten)));
    }

    fn note(self, column: &str, values: usize) -> Option<String> {
        let (line, value) = self.first?;
        let what = match value.is_empty() {
            true => format!("have no `{column}`"),
            false => format!("have no time under `{column}` (line {line} has `{value}`)"),
        };
        Some(format!("{} of {} lines {what}, and were passed over", self.count, self.count + values))
    }
}

/// Where a part of a line begins in it, from 1.
fn column_in(line: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize) + 1
}

/// The key that holds the times.
fn column(
    keys: &Keys,
    dialect: Dialect,
    wanted: &Columns,
    place: &Place<'_>,
) -> Result<String, WorkloadError> {
    if let Some(wanted) = &wanted.column {
        if keys.has(wanted) {
            return Ok(wanted.clone());
        }
        let numbers = keys.keys.iter().filter(|key| key.numbers > 0 && !key.is_fixed);
        let known: Vec<String> = numbers.take(12).map(|key| format!("`{}`", shorten(&key.name))).collect();
        return Err(place.whole(format!(
            "most lines have no key `{}`; those with numbers are {}",
            shorten(wanted),
            known.join(", ")
        )));
    }
    if dialect == Dialect::Haproxy && keys.has("Tr") {
        return Ok("Tr".to_owned());
    }
    match &keys.times()[..] {
        [only] => Ok(only.name.clone()),
        [] if dialect == Dialect::Access => Err(place.whole(
            "is an access log without times: write them into it, for nginx by `rt=$request_time` at the end of `log_format`, for \
             Apache by `%D` at the end of `LogFormat`, and give the new log (then `--column rt --unit s`, or `--unit us`)",
        )),
        times => {
            let numbers = || keys.keys.iter().filter(|key| key.numbers > 0 && !key.is_fixed).collect::<Vec<_>>();
            let times = if times.is_empty() { numbers() } else { times.to_vec() };
            let answer = |key: &&Key| Answer {
                key: AskKey::Column,
                value: key.name.clone(),
                means: format!("{}, …", shorten(&key.first)),
            };
            Err(WorkloadError::Ask(Box::new(Ask {
                path: place.0.to_owned(),
                problem: format!("is {} in which several keys may hold the times", dialect.name()),
                key: AskKey::Column,
                answers: times.iter().take(12).map(answer).collect(),
            })))
        }
    }
}

/// The key of the classes: one that is called so, and has few values.
fn class_of(rows: &[Vec<Field<'_>>]) -> Option<String> {
    let is_class = |key: &&&str| {
        let of = |row: &Vec<Field<'_>>| {
            row.iter().find(|(name, _)| name == **key).map(|(_, value)| (*value).to_owned())
        };
        let mut names: Vec<String> = rows.iter().filter_map(of).collect();
        let lines = names.len();
        names.sort_unstable();
        names.dedup();
        4 * lines >= 3 * rows.len() && names.len() <= CLASSES_MAX && 2 * names.len() <= lines.max(2)
    };
    CLASSES.iter().find(is_class).map(|key| (*key).to_owned())
}

/// The unit of bare numbers, if something says it.
fn unit(column: &str, dialect: Dialect, wanted: &Columns) -> Option<(Unit, &'static str)> {
    const NGINX: [&str; 4] =
        ["request_time", "upstream_response_time", "upstream_connect_time", "upstream_header_time"];
    match (wanted.unit, Unit::of_name(column)) {
        (Some(unit), _) => Some((unit, "as you said")),
        (None, Said::Unit(unit)) => Some((unit, "says its key")),
        (None, _) if dialect == Dialect::Haproxy => Some((Unit::Ms, "as the writer has it")),
        (None, _) if NGINX.contains(&column) => Some((Unit::S, "as nginx has it")),
        _ => None,
    }
}

/// Conditions: a key, whether it is to be equal, and to what.
fn filters(wanted: &Columns, place: &Place<'_>) -> Result<Vec<(String, bool, String)>, WorkloadError> {
    let filter = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            let text = shorten(text);
            place.whole(format!(
                "`{text}` is no condition; write a key, `=` or `!=`, and a value, as in status=200"
            ))
        })?;
        let (name, equal) = name.strip_suffix('!').map_or((name, true), |name| (name, false));
        Ok((name.trim().to_owned(), equal, value.trim().to_owned()))
    };
    wanted.filter.iter().map(filter).collect()
}

/// All `key=value` of a line, also `key="a value"`; none of what stands in other quotes, such as the address of a request.
fn pairs(line: &str) -> Vec<Field<'_>> {
    let mut found = Vec::new();
    let bytes = line.as_bytes();
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'"' {
            at = end_of_quotes(bytes, at);
            continue;
        }
        // Not behind `?` and `&`: those are parts of an address.
        let is_free = |before: u8| before.is_ascii_whitespace() || b",;|([{".contains(&before);
        let begins = bytes[at].is_ascii_alphabetic() && (at == 0 || is_free(bytes[at - 1]));
        if !begins {
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|byte| is_key(byte)).count();
        if bytes.get(end) != Some(&b'=') || matches!(bytes.get(end + 1), Some(b'=')) {
            at = end.max(at + 1);
            continue;
        }
        let (key, from) = (&line[at..end], end + 1);
        let (value, next) = if bytes.get(from) == Some(&b'"') {
            let next = end_of_quotes(bytes, from);
            (line[from + 1..next].trim_end_matches('"'), next)
        } else {
            let ends =
                |byte: &&u8| !matches!(byte, b' ' | b'\t' | b',' | b';' | b')' | b']' | b'}' | b'|' | b'"');
            let next = from + bytes[from..].iter().take_while(ends).count();
            with_unit(line, from, next)
        };
        found.push((key.to_owned(), value));
        at = next;
    }
    found
}

/// A value, and the unit that stands behind it after a blank: `time=0.045 ms`.
fn with_unit(line: &str, from: usize, end: usize) -> (&str, usize) {
    let is_number = line[from..end].ends_with(|last: char| last.is_ascii_digit());
    let rest = line[end..].strip_prefix(' ').filter(|_| is_number).unwrap_or("");
    let word = rest.find(|letter: char| !letter.is_alphabetic()).map_or(rest, |end| &rest[..end]);
    let is_unit = Unit::of_word(word).is_some() && !rest[word.len()..].starts_with(['=', '/', '_', '-', ':']);
    let end = if is_unit { end + 1 + word.len() } else { end };
    (&line[from..end], end)
}

/// The index behind the quoted text that begins at this one.
fn end_of_quotes(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// Places of the common format of access logs, and of the combined one.
const ACCESS: [&str; 9] = ["host", "ident", "user", "time", "request", "status", "bytes", "referer", "agent"];

/// `127.0.0.1 - - [10/Oct/2025:13:55:36 -0700] "GET / HTTP/1.1" 200 2326 "-" "curl/8" 0.006 rt=0.006`
fn access(line: &str) -> Option<Vec<Field<'_>>> {
    let words = words_of(line);
    let is_date = |word: &str| word.starts_with('[') && word.contains('/') && word.contains(':');
    let at = words.iter().position(|word| is_date(word)).filter(|at| (1..=4).contains(at))?;
    let (date, rest) = (words[at], &words[at + 1..]);
    let [request, status, size, rest @ ..] = rest else { return None };
    let digits = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    if !request.starts_with('"') || status.len() != 3 || !digits(status) || !(digits(size) || *size == "-") {
        return None;
    }
    let mut fields: Vec<Field<'_>> = vec![
        ("host".to_owned(), words[0]),
        ("time".to_owned(), date),
        ("request".to_owned(), unquoted(request)),
        ("status".to_owned(), status),
        ("bytes".to_owned(), size),
    ];
    let mut names = ["referer", "agent"].into_iter();
    for (index, word) in rest.iter().enumerate() {
        let inner = unquoted(word);
        let is_number = Number::parse(inner.as_bytes(), Style::POINT).is_ok();
        if word.starts_with('"')
            && !is_number
            && let Some(name) = names.next()
        {
            fields.push((name.to_owned(), inner));
        } else if let [(key, value)] = &pairs(word)[..] {
            fields.push((key.clone(), value));
        } else {
            fields.push(((at + 5 + index).to_string(), inner));
        }
    }
    Some(fields)
}

/// `requests,host=a,op=get latency_us=11937i,status=200i 1700000000000000000`: what is measured, its tags, its fields, and when. A field
/// that is called `value` is what is measured itself.
fn influx(line: &str) -> Option<Vec<Field<'_>>> {
    let line = line.trim();
    let [names, values, time @ ..] = &split(line, ' ')[..] else { return None };
    let mut names = split(names, ',').into_iter();
    let measurement = names.next().filter(|name| !name.is_empty() && !name.contains(['=', '{', '"']))?;
    let mut fields: Vec<Field<'_>> = vec![("measurement".to_owned(), measurement)];
    for tag in names {
        let (key, value) = tag.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty())?;
        fields.push((key.to_owned(), value));
    }
    for field in split(values, ',') {
        let (key, value) = field.split_once('=').filter(|(key, _)| !key.is_empty())?;
        let number = value.strip_suffix(['i', 'u']).unwrap_or(value);
        let is_number = number.parse::<f64>().is_ok_and(f64::is_finite);
        let is_other = ["t", "T", "true", "True", "TRUE", "f", "F", "false", "False", "FALSE"]
            .contains(&value)
            || value.len() > 1 && value.starts_with('"') && value.ends_with('"');
        if !is_number && !is_other {
            return None;
        }
        let key = if key == "value" { measurement } else { key };
        fields.push((key.to_owned(), if is_number { number } else { unquoted(value) }));
    }
    match time {
        [] if fields.len() > 2 && line.contains(',') => {}
        [time] if time.len() >= 10 && time.bytes().all(|byte| byte.is_ascii_digit()) => {
            fields.push(("timestamp".to_owned(), time));
        }
        _ => return None,
    }
    Some(fields)
}

/// The parts between these marks, but for those in quotes or behind a backslash.
fn split(text: &str, mark: char) -> Vec<&str> {
    let (mut parts, mut from, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, letter) in text.char_indices() {
        if letter == mark && !quoted && !escaped {
            parts.push(&text[from..at]);
            from = at + letter.len_utf8();
        }
        quoted ^= letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
    }
    parts.push(&text[from..]);
    parts
}

/// Words between blanks; what stands in quotes or in brackets is one.
fn words_of(line: &str) -> Vec<&str> {
    let bytes = line.as_bytes();
    let (mut words, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let from = at;
        while at < bytes.len() && !bytes[at].is_ascii_whitespace() {
            at = match bytes[at] {
                b'"' => end_of_quotes(bytes, at),
                b'[' if at == from => {
                    at + bytes[at..].iter().position(|&byte| byte == b']').map_or(1, |end| end + 1)
                }
                _ => at + 1,
            };
        }
        words.push(&line[from..at]);
    }
    words
}

fn unquoted(word: &str) -> &str {
    word.strip_prefix('"').map_or(word, |inner| inner.strip_suffix('"').unwrap_or(inner))
}

/// `… 10.0.1.2:33317 [06/Feb/2026:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 …`
fn haproxy(line: &str) -> Option<Vec<Field<'_>>> {
    const HTTP: [&str; 5] = ["TR", "Tw", "Tc", "Tr", "Ta"];
    const TCP: [&str; 3] = ["Tw", "Tc", "Tt"];
    let words = words_of(line);
    let date =
        words.iter().position(|word| word.starts_with('[') && word.contains('/') && word.contains(':'))?;
    let [frontend, backend, timers, status, ..] = words[date + 1..] else { return None };
    let parts: Vec<&str> = timers.split('/').map(|part| part.trim_start_matches('+')).collect();
    let are_timers = parts.iter().all(|part| part.parse::<i64>().is_ok());
    let names: &[&str] = match parts.len() {
        5 => &HTTP,
        3 => &TCP,
        _ => return None,
    };
    let (backend, server) = backend.split_once('/').filter(|_| are_timers)?;
    let mut fields: Vec<Field<'_>> = vec![
        ("frontend".to_owned(), frontend.trim_end_matches('~')),
        ("backend".to_owned(), backend),
        ("server".to_owned(), server),
    ];
    fields.extend(names.iter().zip(&parts).map(|(name, part)| ((*name).to_owned(), *part)));
    fields.push(("status".to_owned(), status));
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(fields: Option<Vec<Field<'_>>>) -> String {
        let fields = fields.unwrap_or_default();
        fields.iter().map(|(key, value)| format!("{key}:{value}")).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn lines_are_keys_and_values() {
        assert_eq!(
            shown(Some(pairs(
                "ts=1 level=info msg=\"a b=c\" latency_ms=3, took=1.5 ms (rt=0.006) a==b x=\"u\\\"v\""
            ))),
            "ts:1|level:info|msg:a b=c|latency_ms:3|took:1.5 ms|rt:0.006|x:u\\\"v"
        );
        assert_eq!(shown(Some(pairs("\"GET /?a=1 HTTP/1.1\" 200 rt=0.006 üx=1 é=2 /?b=1&c=2"))), "rt:0.006");
        let line = "10.0.0.1 - - [10/Oct/2025:13:55:36 -0700] \"GET / HTTP/1.1\" 200 12 \"-\" \"a b\" \"0.005\" rt=0.006 7";
        assert_eq!(
            shown(access(line)),
            "host:10.0.0.1|time:[10/Oct/2025:13:55:36 -0700]|request:GET / HTTP/1.1|status:200|bytes:12|referer:-|agent:a b|10:0.005\
             |rt:0.006|12:7"
        );
        let line = "Feb  6 12:14:14 lb haproxy[14389]: 10.0.1.2:33317 [06/Feb/2026:12:14:14.655] http-in~ static/srv1 \
                    10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {a} \"GET /i HTTP/1.1\"";
        assert_eq!(
            shown(haproxy(line)),
            "frontend:http-in|backend:static|server:srv1|TR:10|Tw:0|Tc:30|Tr:69|Ta:109|status:200"
        );
        assert_eq!(
            shown(influx(
                r#"m\ x,host=a\,b,op=get latency_us=11937i,ok=t,text="a b,c",value=1.5 1700000000000000000"#
            )),
            r"measurement:m\ x|host:a\,b|op:get|latency_us:11937|ok:t|text:a b,c|m\ x:1.5|timestamp:1700000000000000000"
        );
        for other in
            ["GET latency_ms=3", "level=info latency_ms=3", "a,b c=1 x", "a,b=c d=e", "took 5 ms", "a,b=1"]
        {
            assert_eq!(influx(other), None, "{other}");
        }
        for line in ["", "a", "[", "\"", "x=", "=", "a=\"", "[1/2:3] a b/c 1/2/3", "ü [a/b:c] \"x\" 200 5"] {
            for dialect in Dialect::ALL {
                let _ = dialect.fields(line);
            }
        }
    }
}
