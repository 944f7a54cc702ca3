//! JSON of tools: arrays of times, objects with a time each, percentiles, histograms.
//! The recogniser of formats calls [`read_json`] once for an input that begins as JSON does. It reads the input's source.
//!
//! Known writers come first: hyperfine, pyperf, pytest-benchmark, fio, criterion, k6, vegeta, ghz, Prometheus. In anything
//! else, every array of numbers, every array of objects with a time, and every object of percentiles may be what is meant: if
//! there is one, it is taken, otherwise the user is asked.

mod candidates;
mod choosing;
mod collect;
mod conditions;
mod differences;
mod families;
mod keys;
mod lines;
mod values;
mod writers;

use std::path::Path;

use serde_json::{Map, Value};

use self::choosing::anything;
use self::conditions::only_classes;
use self::differences::with_differences;
use self::families::sums_up;
use self::lines::read_lines;
pub(super) use self::lines::{holds_objects, message_key, messages, read_objects};
use self::writers::{known, rows_of_frames};
use super::source::Source;
use super::{Columns, Place, Read, source, spans};
use crate::error::{RowProblem, WorkloadError};

/// Does the input begin as JSON does?
pub(super) fn holds_json(head: &[u8]) -> bool {
    match head.trim_ascii_start() {
        [b'{', rest @ ..] => rest.trim_ascii_start().starts_with(b"\""),
        [b'[', rest @ ..] => begins_array(rest.trim_ascii_start()),
        _ => false,
    }
}

/// Does an array go on like this? Logs begin with `[30/Nov/2026:…] GET`, `[0.604s][info]` or `[1796036093.12] 127.0.0.1`.
fn begins_array(rest: &[u8]) -> bool {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte)).count();
    if digits == 0 {
        return matches!(rest, [b'{' | b'[', ..]);
    }
    match rest[digits..].trim_ascii_start() {
        [b',', ..] | [] => true,
        [b']', behind @ ..] => {
            behind.trim_ascii_start().is_empty() || behind.starts_with(b"\n") || behind.starts_with(b",")
        }
        _ => false,
    }
}

/// Reads JSON, or lines of it.
pub(super) fn read_json(source: Source, path: &Path, wanted: &Columns) -> Result<Read, WorkloadError> {
    let place = Place(path);
    if spans::holds_otlp(source.head()) {
        return spans::read_otlp(&source.whole(&place)?, &place, wanted);
    }
    let first = source.head_lines().find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let is_line = serde_json::from_slice::<Map<String, Value>>(first).is_ok();
    let lines = source.head_lines().filter(|line| line.trim_ascii_start().starts_with(b"{")).take(2).count();
    if is_line && lines == 2 && !spans::holds_sdk(first) && !is_of_runs(first) {
        return read_lines(source, &place, wanted);
    }
    let (json, cut) = values_in(&source.whole(&place)?, &place)?;
    let json = rows_of_frames(json);
    let mut read = match known(&json, path, wanted)? {
        Some(read) => only_classes(read, wanted, &place)?,
        None => {
            let mut json = json;
            with_differences(&mut json);
            anything(&json, &place, wanted)?
        }
    };
    read.notes.extend(cut);
    Ok(read)
}

/// Does a line sum up a run by percentiles, as load generators append one a run?
fn is_of_runs(line: &[u8]) -> bool {
    serde_json::from_slice::<Value>(line).is_ok_and(|line| sums_up(&line))
}

/// The value in a text, or, of values one behind the other, as `jq` and exporters to a console write them, their array; and what to
/// say if the last one is cut off.
fn values_in(bytes: &[u8], place: &Place<'_>) -> Result<(Value, Option<String>), WorkloadError> {
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_slice(bytes).into_iter::<Value>() {
        source::check_stop()?;
        match value {
            Ok(value) => values.push(value),
            Err(error) if error.is_eof() && !values.is_empty() => {
                let cut = "the last object is cut off, and was left out; was the writer still at work?";
                return Ok((Value::Array(values), Some(cut.to_owned())));
            }
            Err(error) => {
                let problem = RowProblem::Format(format!("this is no JSON: {error}"));
                return Err(place.row(error.line() as u64, error.column().max(1), problem));
            }
        }
    }
    let json = if values.len() == 1 { values.pop() } else { None };
    Ok((json.unwrap_or(Value::Array(values)), None))
}
