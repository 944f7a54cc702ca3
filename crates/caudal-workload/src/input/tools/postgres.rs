//! Durations that PostgreSQL logs, with `log_min_duration_statement` or `log_duration`: to a text, as CSV (`csvlog`), as JSON
//! (`jsonlog`). They stand in the message: `duration: 0.123 ms  statement: SELECT 1`, and where the extended protocol is used in a line
//! each for `parse <name>`, `bind <name>` and `execute <name>`.
//! The table of tools (`mod.rs`) asks whether a text has this form, and calls the reader once if it has. Pure.

use serde_json::Value;

use super::{Names, Shown, passed_over};
use crate::error::{RowProblem, WorkloadError};
use crate::input::source::Source;
use crate::input::{Place, text};

/// How a log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) enum Form {
    Text,
    /// With this column of the message.
    Csv(Places),
    Json,
}

/// Where in a row of CSV things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) struct Places {
    user: usize,
    database: usize,
    command: usize,
    severity: usize,
    message: usize,
    application: usize,
}

/// Of a log as it is written, which has no header.
const PLACES: Places =
    Places { user: 1, database: 2, command: 7, severity: 11, message: 13, application: 22 };

/// The parts of a message about a duration.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Duration<'a> {
    ms: &'a str,
    /// `statement`, `parse`, `bind`, `execute`, `plan`, `fastpath`, or nothing if it does not say it.
    kind: &'a str,
    /// The statement that was executed.
    statement: &'a str,
}

/// `duration: 0.123 ms  execute S_1: SELECT 1`
fn duration(message: &str) -> Option<Duration<'_>> {
    const KINDS: [&str; 6] = ["statement", "parse", "bind", "execute", "plan", "fastpath"];
    let (ms, rest) = message.strip_prefix("duration: ")?.split_once(" ms")?;
    ms.parse::<f64>().ok().filter(|ms| *ms >= 0.0)?;
    let rest = rest.trim_start();
    if rest.is_empty() {
        return Some(Duration { ms, kind: "", statement: "" });
    }
    let (head, statement) = rest.split_once(':').unwrap_or((rest, ""));
    let kind = KINDS.into_iter().find(|kind| head.split_whitespace().next() == Some(kind))?;
    Some(Duration { ms, kind, statement: statement.trim_start() })
}

/// The message of a line of the text, behind its severity.
fn message(line: &str) -> Option<&str> {
    let at = line.find("duration: ")?;
    line[..at].trim_end().ends_with("LOG:").then(|| &line[at..])
}

/// The form in which this is written, if it is such a log.
pub(super) fn form(source: &Source) -> Option<Form> {
    let mut lines = 0;
    for line in source.head_lines().take(super::LINES) {
        let line = text(line);
        lines += usize::from(message(&line).and_then(duration).is_some());
        if lines == 2 {
            return Some(Form::Text);
        }
        if line.starts_with('{') && of_json(&line).is_some_and(|row| duration(row.message()).is_some()) {
            return Some(Form::Json);
        }
    }
    csv(source).map(Form::Csv)
}

/// Where things are in a log as CSV.
fn csv(source: &Source) -> Option<Places> {
    // Nothing else has so many columns, and few files begin with less than its first row has.
    let first = source.head_lines().find(|line| !line.is_empty())?;
    if first.iter().filter(|&&byte| byte == b',').count() < 12 {
        return None;
    }
    let mut places = PLACES;
    for (at, record) in reader(source.head()).into_records().take(super::LINES).enumerate() {
        let Ok(record) = record else { return None };
        let find = |name: &str| record.iter().position(|field| field == name);
        if at == 0
            && let (Some(severity), Some(message)) = (find("error_severity"), find("message"))
        {
            let find = |name: &str| find(name).unwrap_or(usize::MAX);
            places = Places {
                severity,
                message,
                user: find("user_name"),
                database: find("database_name"),
                command: find("command_tag"),
                application: find("application_name"),
            };
            continue;
        }
        let field = |at: usize| record.get(at).unwrap_or_default();
        if !SEVERITIES.contains(&field(places.severity)) {
            return None;
        }
        if duration(field(places.message)).is_some() {
            return Some(places);
        }
    }
    None
}

const SEVERITIES: [&str; 8] = ["DEBUG", "LOG", "INFO", "NOTICE", "WARNING", "ERROR", "FATAL", "PANIC"];

fn reader(bytes: &[u8]) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes)
}

/// An entry of a log as JSON.
struct Entry(Value);

impl Entry {
    fn get(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or_default()
    }

    fn message(&self) -> &str {
        self.get("message")
    }
}

fn of_json(line: &str) -> Option<Entry> {
    let value: Value = serde_json::from_str(line).ok()?;
    (value["error_severity"].is_string() && value["message"].is_string()).then_some(Entry(value))
}

/// The state of reading a log.
#[derive(Default)]
struct LogState {
    kinds: Names,
    without: usize,
    /// Durations of which nothing says what took them.
    unsaid: usize,
}

impl LogState {
    /// The class of a duration: as the message says it, or the command beside it.
    fn kind<'a>(&mut self, duration: Duration<'a>, command: Option<&str>) -> &'a str {
        let kind = match (duration.kind, command) {
            ("", Some("PARSE")) => "parse",
            ("", Some("BIND")) => "bind",
            ("", command) => {
                self.unsaid += usize::from(command.is_none());
                "statement"
            }
            (kind, _) => kind,
        };
        self.kinds.see(kind);
        kind
    }
}

/// The durations as a table.
pub(super) fn table(form: Form, bytes: &[u8], place: &Place<'_>) -> Result<Shown, WorkloadError> {
    const NAMES: [&str; 6] = ["duration_ms", "kind", "command", "user", "database", "application"];
    let mut seen = LogState::default();
    let (format, columns) = match form {
        Form::Text => ("durations in a log of PostgreSQL", 3),
        Form::Csv(_) => ("durations in a log of PostgreSQL as CSV", 6),
        Form::Json => ("durations in a log of PostgreSQL as JSON", 6),
    };
    let mut shown = Shown::new(format, &NAMES[..columns]);
    match form {
        Form::Text => {
            for (at, line) in text(bytes).lines().enumerate() {
                let Some(found) = message(line).and_then(duration) else {
                    // Statements go on in lines that are indented.
                    seen.without += usize::from(!line.trim().is_empty() && !line.starts_with(['\t', ' ']));
                    continue;
                };
                let command: String =
                    found.statement.chars().take_while(|letter| letter.is_alphabetic()).collect();
                let kind = seen.kind(found, None);
                shown.rows.add(at + 1, &[found.ms, kind, &command.to_uppercase()])?;
            }
        }
        Form::Csv(places) => {
            for record in reader(bytes).into_byte_records() {
                let record = record.map_err(|error| place.whole(error.to_string()))?;
                let line = record.position().map_or(1, csv::Position::line);
                let field = |at: usize| text(record.get(at).unwrap_or_default());
                let message = field(places.message);
                let Some(found) = duration(&message) else {
                    seen.without += 1;
                    continue;
                };
                let command = field(places.command);
                let kind = seen.kind(found, Some(&command));
                let [user, database, application] =
                    [places.user, places.database, places.application].map(field);
                shown.rows.add(line as usize, &[found.ms, kind, &command, &user, &database, &application])?;
            }
        }
        Form::Json => {
            let text = text(bytes);
            let lines = text.lines().count();
            for (at, line) in text.lines().enumerate() {
                let Some(entry) = of_json(line) else {
                    if at + 1 == lines || line.trim().is_empty() {
                        seen.without += usize::from(!line.trim().is_empty());
                        continue;
                    }
                    let problem = "this is no entry of PostgreSQL's log as JSON".to_owned();
                    return Err(place.row(at as u64 + 1, 1, RowProblem::Format(problem)));
                };
                let Some(found) = duration(entry.message()) else {
                    seen.without += 1;
                    continue;
                };
                let command = entry.get("ps");
                let kind = seen.kind(found, Some(command));
                let [user, database, application] =
                    ["user", "dbname", "application_name"].map(|key| entry.get(key));
                shown.rows.add(at + 1, &[found.ms, kind, command, user, database, application])?;
            }
        }
    }
    if seen.kinds.names.len() > 1 {
        shown.class = Some("kind".to_owned());
    }
    if seen.kinds.names.contains("execute") && seen.kinds.names.contains("bind") {
        shown.notes.push(
            "a statement of the extended protocol is parsed, bound and executed, and has a duration for each: they are classes here; \
             `--where kind=execute` takes the executions alone"
                .to_owned(),
        );
    }
    if seen.kinds.names.contains("plan") && seen.kinds.names.len() > 1 {
        shown.notes.push(
            "`auto_explain` writes a duration of its own for each plan, of a statement that has one already: `--where kind!=plan` leaves \
             them out"
                .to_owned(),
        );
    }
    if seen.unsaid > 0 {
        shown.notes.push(format!(
            "nothing says what took {} of the durations: parsing, binding and executing have one each; with \
             `log_min_duration_statement = 0` PostgreSQL says it",
            seen.unsaid
        ));
    }
    let without = passed_over(seen.without, "message", "without a duration");
    shown.notes.extend(without);
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_a_duration_and_what_took_it() {
        let known = |text| duration(text).map(|found| (found.ms, found.kind, found.statement));
        assert_eq!(known("duration: 0.120 ms  statement: BEGIN;"), Some(("0.120", "statement", "BEGIN;")));
        assert_eq!(known("duration: 0.1 ms  execute a/b: SELECT 1"), Some(("0.1", "execute", "SELECT 1")));
        assert_eq!(
            known("duration: 0.1 ms  execute fetch from a/b: SELECT 1"),
            Some(("0.1", "execute", "SELECT 1"))
        );
        assert_eq!(known("duration: 0.028 ms"), Some(("0.028", "", "")));
        for other in ["duration: x ms", "duration: 3 ms of 5", "took 3 ms", "duration: 3 s"] {
            assert_eq!(known(other), None, "{other}");
        }
        assert_eq!(message("2026 [1] LOG:  duration: 1 ms"), Some("duration: 1 ms"));
        assert_eq!(message("took a duration: 1 ms"), None);
    }
}
