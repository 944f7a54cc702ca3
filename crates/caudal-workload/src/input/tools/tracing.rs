//! Spans that Rust's `tracing-subscriber` prints when they close (`with_span_events(FmtSpan::CLOSE)`): on a line, as `pretty`, as JSON.
//! The table of tools (`mod.rs`) asks whether a text has this form, and calls the reader once if it has. Pure.
//!
//! `time.busy` is how long the span was entered, which is what its code takes; `time.idle` is the rest, in which it waited.

use serde_json::Value;

use super::{Names, Shown, passed_over};
use crate::error::WorkloadError;
use crate::input::{Place, text};

/// A span that has closed.
#[derive(Debug, Default, PartialEq)]
struct Closed {
    busy: String,
    idle: String,
    span: String,
    target: String,
    level: String,
}

const LEVELS: [&str; 5] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"];

/// Are there spans of `tracing-subscriber` in these lines?
pub(super) fn holds(lines: &[&str]) -> bool {
    lines.iter().filter(|line| closed(line).is_some()).count() >= 2
}

fn closed(line: &str) -> Option<Closed> {
    if line.starts_with('{') { of_json(line) } else { of_line(line) }
}

fn of_json(line: &str) -> Option<Closed> {
    let event: Value = serde_json::from_str(line).ok()?;
    let fields = if event["fields"].is_object() { &event["fields"] } else { &event };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let [busy, idle] = ["time.busy", "time.idle"].map(|key| fields[key].as_str());
    Some(Closed {
        busy: busy?.to_owned(),
        idle: idle?.to_owned(),
        span: text(&event["span"]["name"]),
        target: text(&event["target"]),
        level: text(&event["level"]),
    })
}

/// `2026-11-30T15:00:00.01Z  INFO handle{id=1}: app: close time.busy=1.11ms time.idle=30.1µs`, and of `pretty`
/// `… INFO app: close, time.busy: 1.11ms, time.idle: 30.1µs`.
fn of_line(line: &str) -> Option<Closed> {
    let at = line.find("time.busy")?;
    let before = line[..at].trim_end_matches([' ', ',']).strip_suffix("close")?;
    let value = |key: &str| {
        let (_, rest) = line.split_once(key)?;
        let rest = rest.strip_prefix('=').or_else(|| rest.strip_prefix(": "))?;
        Some(rest.split([' ', ',']).next().unwrap_or_default().to_owned())
    };
    let level = LEVELS.into_iter().find(|level| before.split_whitespace().any(|word| word == *level));
    let behind = level.and_then(|level| before.split_once(level)).map_or(before, |(_, behind)| behind);
    let mut parts = outside_braces(behind.trim(), ": ").into_iter();
    let first = parts.next().unwrap_or_default().trim_end_matches(':');
    // `pretty` says the span below.
    let is_pretty = line[at..].starts_with("time.busy:");
    let (spans, target) = match parts.next().map(|part| part.trim_end_matches(':')) {
        Some(target) if !target.is_empty() => (first, target),
        _ if is_pretty => ("", first),
        _ => (first, ""),
    };
    let inner = outside_braces(spans, ":").pop().unwrap_or_default();
    Some(Closed {
        busy: value("time.busy")?,
        idle: value("time.idle")?,
        span: inner.split('{').next().unwrap_or_default().to_owned(),
        target: target.to_owned(),
        level: level.unwrap_or_default().to_owned(),
    })
}

/// The parts of a text between separators, but for those within braces.
fn outside_braces<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let (mut parts, mut from, mut depth) = (Vec::new(), 0, 0_i32);
    for (at, letter) in text.char_indices() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if depth <= 0 && at >= from && text[at..].starts_with(separator) {
            parts.push(&text[from..at]);
            from = at + separator.len();
        }
    }
    parts.push(&text[from..]);
    parts
}

/// `    in app::handle with id: 1`, below a span of `pretty`.
fn span_below<'a>(lines: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let below = lines.take_while(|line| !line.trim().is_empty()).take(3);
    below.map(str::trim).find_map(|line| line.strip_prefix("in ")?.split(' ').next())
}

/// The spans as a table.
pub(super) fn table(bytes: &[u8], place: &Place<'_>) -> Result<Shown, WorkloadError> {
    let text = text(bytes);
    let mut shown =
        Shown::new("spans of Rust's tracing", &["time.busy", "time.idle", "span", "target", "level"]);
    let (mut names, mut without) = (Names::default(), 0);
    let mut lines = text.lines();
    let mut at = 0;
    while let Some(line) = lines.next() {
        at += 1;
        let Some(mut closed) = closed(line) else {
            let is_below = line.starts_with(' ')
                && ["at ", "in "].iter().any(|word| line.trim_start().starts_with(word));
            without += usize::from(!line.trim().is_empty() && !is_below);
            continue;
        };
        if closed.span.is_empty() {
            span_below(lines.clone()).unwrap_or_default().clone_into(&mut closed.span);
        }
        names.see(&closed.span);
        let Closed { busy, idle, span, target, level } = &closed;
        shown.rows.add(at, &[busy, idle, span, target, level])?;
    }
    if shown.rows.count == 0 {
        return Err(place.whole("holds no span of Rust's tracing that has closed"));
    }
    if (2..=256).contains(&names.names.len()) {
        shown.class = Some("span".to_owned());
        shown.notes.push(
            "a span may lie within others, whose times have its own: `--where span=…` takes those that are requests".to_owned(),
        );
    }
    shown.notes.push(
        "of the times of a span the busy one is taken, in which its code ran; `time.idle` is what it waited beside that".to_owned(),
    );
    shown.notes.extend(passed_over(without, "line", "of no span that closes"));
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_told_in_every_format() {
        let known = |line| {
            closed(line).map(|span| [span.busy, span.idle, span.span, span.target, span.level].join("|"))
        };
        for (line, expected) in [
            (
                "2026-11-30T15:00:00.01Z  INFO outer:handle{id=1 a=\"x: y\"}: app::server: close time.busy=1.11ms time.idle=30.1µs",
                "1.11ms|30.1µs|handle|app::server|INFO",
            ),
            ("DEBUG handle{id=1}: close time.busy=2ns time.idle=1s", "2ns|1s|handle||DEBUG"),
            ("  2026  WARN app: close, time.busy: 1.5ms, time.idle: 3µs", "1.5ms|3µs||app|WARN"),
            (
                "{\"level\":\"INFO\",\"fields\":{\"message\":\"close\",\"time.busy\":\"1ms\",\"time.idle\":\"3µs\"},\"target\":\"app\",\
                 \"span\":{\"name\":\"handle\"}}",
                "1ms|3µs|handle|app|INFO",
            ),
        ] {
            assert_eq!(known(line).as_deref(), Some(expected), "{line}");
        }
        for other in ["", "close", "time.busy=1ms", "INFO a: close time.busy=1ms", "{", "close time.busy"] {
            assert_eq!(known(other), None, "{other}");
        }
        let pretty = "    at src/main.rs:10\n    in app::handle with id: 1\n\n    in no::more\n";
        assert_eq!(span_below(pretty.lines()), Some("app::handle"));
    }
}
