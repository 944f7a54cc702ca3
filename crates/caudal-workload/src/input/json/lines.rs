//! JSON with an object a line, read line by line, however many there are.
//! The reader of JSON calls it once for an input with an object in each line, and the recogniser of formats for lines that carry messages. It reads
//! the input's source.

use std::io::BufRead;

use serde_json::Value;

use super::collect::{Collect, class_key};
use super::conditions::{Conditions, lookup};
use super::differences::{difference, ends_of};
use super::keys::time_keys_in;
use super::values::plain;
use crate::error::{Answer, Ask, AskKey, RowProblem, WorkloadError};
use crate::input::percentiles::unit_of_name;
use crate::input::plausible::Plausible;
use crate::input::source::{self, Source};
use crate::input::unit::Unit;
use crate::input::{Columns, Place, Read};

/// A tool that writes lines of JSON, and where it writes the time.
struct KnownTool {
    writer: &'static str,
    /// Where the time is in a line.
    key: &'static str,
    unit: Unit,
    /// The condition on a line: a key and its value.
    condition: Option<(&'static str, &'static str)>,
}

/// The tools whose lines need no question.
const LINES: [KnownTool; 3] = [
    KnownTool {
        writer: "k6",
        key: "data.value",
        unit: Unit::Ms,
        condition: Some(("metric", "http_req_duration")),
    },
    KnownTool { writer: "vegeta", key: "latency", unit: Unit::Ns, condition: None },
    KnownTool { writer: "Rust's tests", key: "exec_time", unit: Unit::S, condition: Some(("type", "test")) },
];

/// Reads an object a line, as they come.
pub(super) fn read_lines(source: Source, place: &Place<'_>, wanted: &Columns) -> Result<Read, WorkloadError> {
    let sample: Vec<Value> =
        source.head_lines().take(200).filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let refs: Vec<&Value> = sample.iter().collect();
    let mut conditions = Conditions::of(wanted, place)?;
    // Where nothing says what something took, what lies between its beginning and its end does.
    let is_open = wanted.column.is_none() && time_keys_in(&refs, 5).is_empty();
    let ends = sample.first().filter(|_| is_open).and_then(ends_of);
    let writer = LINES.iter().find(|known| match known.writer {
        "k6" => sample.iter().any(|line| line["type"] == "Point" && lookup(line, known.key).is_some()),
        // What a suite took as a whole stands among the tests.
        "Rust's tests" => sample
            .iter()
            .any(|line| line["type"] == "test" && line["event"] == "ok" && line["exec_time"].is_number()),
        _ => sample.iter().all(|line| {
            let named = line["timestamp"].is_string() && line["attack"].is_string();
            named && lookup(line, known.key).is_some()
        }),
    });
    let (key, unit, condition, format) = match (writer, &wanted.column) {
        (Some(known), None) => {
            let unit = wanted.unit.map_or((known.unit, "as the writer has it"), |unit| (unit, "as you said"));
            let format = format!("lines of JSON of {}", known.writer);
            (known.key.to_owned(), Some(unit), known.condition, format)
        }
        (_, column) => {
            let key = match column {
                Some(column) => column.clone(),
                None if ends.is_some() => String::new(),
                None => only_key(&refs, place)?,
            };
            let said = wanted.unit.map(|unit| (unit, "as you said"));
            let said = said.or_else(|| unit_of_name(&key).map(|unit| (unit, "says its name")));
            (key, said, None, "lines of JSON".to_owned())
        }
    };
    let condition = condition.filter(|_| conditions.is_empty());
    let class = class_key(&refs, wanted, place)?;
    let plausible = Plausible::called(key.rsplit('.').next().unwrap_or(&key));
    let mut collect = Collect { unit, plausible, ..Collect::default() };
    let (mut left_out, mut without) = (0, 0);
    let mut notes = Vec::new();
    let mut reader = std::io::BufReader::with_capacity(256 << 10, source.stream());
    // Lines of the file are numbered for errors; only those that are not blank are rows.
    let (mut text, mut number, mut rows) = (Vec::new(), 0u64, 0u64);
    loop {
        text.clear();
        if reader.read_until(b'\n', &mut text).map_err(|error| source::failed(place.0, error))? == 0 {
            break;
        }
        number += 1;
        source::check_stop()?;
        if text.trim_ascii().is_empty() {
            continue;
        }
        rows += 1;
        let line: Value = match serde_json::from_slice(&text) {
            Ok(line) => line,
            Err(_) if !text.ends_with(b"\n") && !collect.trace.ps.is_empty() => {
                notes.push(format!(
                    "line {number}, the last one, is cut off, and was left out; was the writer still at work?"
                ));
                break;
            }
            Err(error) => {
                let problem = RowProblem::Format(format!("this is no JSON: {error}"));
                return Err(place.row(number, error.column().max(1), problem));
            }
        };
        let holds = |key: &str, value: &str| lookup(&line, key).is_some_and(|found| plain(found) == value);
        let meant =
            condition.is_none_or(|(key, value)| holds(key, value)) && conditions.hold(std::iter::once(&line));
        if !meant {
            left_out += 1;
            continue;
        }
        let between = match &ends {
            Some((start, end)) => difference(&line[start], &line[end]).map(Value::String),
            None => None,
        };
        let Some(value) = between.as_ref().or_else(|| lookup(&line, &key)) else {
            without += 1;
            continue;
        };
        collect.line = Some(number);
        let name = class.as_ref().and_then(|class| lookup(&line, class));
        collect.add(&name.map_or_else(|| "all".to_owned(), plain), value, place)?;
    }
    conditions.left_out = left_out;
    let keys: Vec<String> =
        sample.first().and_then(Value::as_object).into_iter().flat_map(|map| map.keys().cloned()).collect();
    conditions.check(rows > left_out, &keys, place)?;
    if collect.trace.ps.is_empty() && without > 0 {
        return Err(place.whole(format!("none of the {without} lines that are meant has `{key}`")));
    }
    let key = ends.map_or(key, |(start, end)| format!("{end} - {start}"));
    let mut read = collect.finish(&format, Some(key), place)?;
    read.taken.left_out = left_out;
    read.taken.class_column = class;
    read.taken.filter = wanted.filter.clone();
    if let Some((key, value)) = condition {
        read.taken.filter = vec![format!("{key}={value}")];
    }
    if without > 0 {
        let key = read.taken.column.as_deref().unwrap_or_default();
        notes.push(format!("{without} of {rows} lines have no `{key}`, and were passed over"));
    }
    read.notes.extend(notes);
    Ok(read)
}

/// The key of the text that each of these lines carries, if nothing else in them may be a time: what containers and journals write around
/// the lines of a program.
pub(in crate::input) fn message_key(source: &Source, wanted: &Columns) -> Option<&'static str> {
    const MESSAGES: [&str; 6] = ["log", "message", "msg", "MESSAGE", "line", "textPayload"];
    let lines = source.head_lines().filter(|line| !line.trim_ascii().is_empty()).take(200);
    let sample: Vec<Value> = lines.map(|line| serde_json::from_slice(line).ok()).collect::<Option<_>>()?;
    let refs: Vec<&Value> = sample.iter().collect();
    let is_in = |key: &str| sample.iter().any(|line| lookup(line, key).is_some());
    if sample.len() < 2 || !time_keys_in(&refs, 5).is_empty() || wanted.column.as_deref().is_some_and(is_in) {
        return None;
    }
    MESSAGES.into_iter().find(|key| sample.iter().all(|line| line[key].is_string()))
}

/// The texts that these lines carry under a key, a line each.
pub(in crate::input) fn messages(bytes: &[u8], key: &str) -> Result<Vec<u8>, WorkloadError> {
    let mut text = Vec::with_capacity(bytes.len() / 2);
    for (at, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if at % 4096 == 0 {
            source::check_stop()?;
        }
        // What is no line of them, as the last one if it is cut, is a blank one.
        let line = serde_json::from_slice::<Value>(line).unwrap_or_default();
        let message = line[key].as_str().unwrap_or_default().trim_end();
        text.extend(message.bytes().map(|byte| if byte == b'\n' { b' ' } else { byte }));
        text.push(b'\n');
    }
    Ok(text)
}

/// The object of JSON that stands in a line of a log behind something else: `2026-11-30 15:00:11 INFO {"latency_ms": 1.2}`.
fn object_in(line: &[u8]) -> Option<&[u8]> {
    let begins = |at: &usize| line[*at] == b'{' && line[at + 1..].trim_ascii_start().starts_with(b"\"");
    (1..line.len()).filter(begins).take(4).find_map(|at| {
        let mut objects =
            serde_json::Deserializer::from_slice(&line[at..]).into_iter::<serde::de::IgnoredAny>();
        objects.next()?.ok()?;
        Some(&line[at..at + objects.byte_offset()])
    })
}

/// Does an object of JSON with a time stand in most lines, behind something else? What stands before it may have one too, which is
/// another matter.
pub(in crate::input) fn holds_objects<'a>(lines: impl Iterator<Item = &'a [u8]>, wanted: &Columns) -> bool {
    let lines: Vec<&[u8]> = lines.filter(|line| !line.trim_ascii().is_empty()).take(200).collect();
    let objects = lines.iter().filter_map(|line| serde_json::from_slice(object_in(line)?).ok());
    let objects: Vec<Value> = objects.collect();
    let is_in = |key: &str| objects.iter().any(|object| lookup(object, key).is_some());
    let has_time = || match &wanted.column {
        Some(column) => is_in(column),
        None => !time_keys_in(&objects.iter().collect::<Vec<_>>(), 5).is_empty(),
    };
    objects.len() >= 2 && 3 * objects.len() >= 2 * lines.len() && has_time()
}

/// Reads the objects that stand in the lines of a log.
pub(in crate::input) fn read_objects(
    bytes: &[u8],
    place: &Place<'_>,
    wanted: &Columns,
) -> Result<Read, WorkloadError> {
    let mut text = Vec::with_capacity(bytes.len());
    let mut without = 0;
    for (at, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if at % 4096 == 0 {
            source::check_stop()?;
        }
        let object = object_in(line).unwrap_or_default();
        without += usize::from(object.is_empty() && !line.trim_ascii().is_empty());
        text.extend_from_slice(object);
        text.push(b'\n');
    }
    let mut read = read_lines(Source::of_bytes(&text), place, wanted)?;
    "JSON within the lines of a log".clone_into(&mut read.taken.format);
    if without > 0 {
        read.notes.push(format!(
            "passed over: {without} line{} without an object of JSON",
            if without == 1 { "" } else { "s" }
        ));
    }
    Ok(read)
}

/// The only key of the lines that may hold the times, also within objects.
fn only_key(sample: &[&Value], place: &Place<'_>) -> Result<String, WorkloadError> {
    let keys: Vec<String> = time_keys_in(sample, 5).iter().map(|keys| keys.join(".")).collect();
    if let [only] = &keys[..] {
        return Ok(only.clone());
    }
    let first = sample.first().and_then(|line| line.as_object());
    let of_first =
        |key: &str| sample.iter().find_map(|line| lookup(line, key)).map_or_else(String::new, plain);
    let numbers =
        first.into_iter().flatten().filter(|(_, value)| value.is_number()).map(|(key, _)| key.clone());
    let keys = if keys.is_empty() { numbers.collect() } else { keys };
    let answer = |key: &String| Answer {
        key: AskKey::Column,
        value: key.clone(),
        means: format!("{}, …", of_first(key)),
    };
    Err(WorkloadError::Ask(Box::new(Ask {
        path: place.0.to_owned(),
        problem: "its lines have no key, or several, that may hold the times".to_owned(),
        key: AskKey::Column,
        answers: keys.iter().take(12).map(answer).collect(),
    })))
}
