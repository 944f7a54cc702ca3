//! Tables and records that programs print for people, made into CSV: tables with borders or rules (psql, mysql, sqlite3, DuckDB,
//! ClickHouse, Polars, Markdown), records whose fields stand below each other (`\x` of psql, `\G` of mysql, `.mode line` of sqlite3,
//! `Vertical` of ClickHouse), and what databases say that each statement took.
//! The recogniser of formats asks whether a text has one of these forms, has it made into CSV once if so, and reads that as a table. Pure.
//!
//! Each becomes CSV whose rows are at the lines where they were, so that a mistake is pointed at where it is.

use super::lines::has_time;
use super::number::{Number, Style};
use super::{Place, text};
use crate::error::WorkloadError;

/// A kind of text that programs print for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printed {
    /// A table with a rule below its header.
    Table,
    /// Records, a field a line.
    Records,
    /// Times of statements, as a database or its shell prints them.
    Timers,
    /// Lines with several times, each behind its name: `Cleanup: 79308 ns, Total: 13026398 ns`.
    Named,
}

impl Printed {
    /// The kind of a text, if it is one of these; `column_is_said` if a column of it is asked for.
    pub(super) fn of<'a>(lines: impl Iterator<Item = &'a [u8]>, column_is_said: bool) -> Option<Printed> {
        let text: Vec<String> = lines.map(text).collect();
        let lines: Vec<&str> = text.iter().map(String::as_str).collect();
        let timers = lines.iter().filter(|line| timer(line).is_some()).count();
        // Between two timers, a table of many rows is what was asked for.
        let is_only_time = || {
            lines.iter().all(|line| {
                timer(line).is_some() || !has_time(line) || line.trim_start().starts_with("Planning Time: ")
            })
        };
        if timers > 1 && 20 * timers >= lines.len() && !column_is_said && is_only_time() {
            return Some(Printed::Timers);
        }
        let table = table(&lines);
        if table.as_ref().is_ok_and(|rows| rows.len() > 1) || table == Err(Fault::LeftOut) {
            return Some(Printed::Table);
        }
        if records(&lines).len() > 1 {
            return Some(Printed::Records);
        }
        (named(&lines).len() > 3).then_some(Printed::Named)
    }

    /// As it is named to the user.
    pub(super) fn name(self) -> &'static str {
        match self {
            Printed::Table => "a printed table",
            Printed::Records => "printed records, a field a line",
            Printed::Timers => "times of SQL statements",
            Printed::Named => "lines with a name before each time",
        }
    }

    /// The same as CSV.
    ///
    /// # Errors
    /// If rows were left out where it was printed, or tables of several kinds follow each other.
    pub(super) fn as_table(self, bytes: &[u8], place: &Place<'_>) -> Result<Vec<u8>, WorkloadError> {
        let text = text(bytes);
        let lines: Vec<&str> = text.lines().collect();
        // ClickHouse prints a thousand rows.
        if lines.iter().any(|line| {
            line.starts_with("Showed ") && (line.contains(" out of ") || line.contains(" first "))
        }) {
            return Err(place.whole(Fault::LeftOut.says()));
        }
        let rows = match self {
            Printed::Table => table(&lines).map_err(|fault| place.whole(fault.says()))?,
            Printed::Records => records(&lines),
            Printed::Named => named(&lines),
            Printed::Timers => {
                let times = || lines.iter().enumerate().filter_map(|(at, line)| Some((at, timer(line)?)));
                // As it is written, so that it shows the clock's step.
                let unit = times().next().map_or("s", |(_, (_, unit))| unit);
                let rows = times().filter(|(_, (_, of))| *of == unit).map(|(at, (time, _))| (at, vec![time]));
                std::iter::once((0, vec![format!("elapsed_{unit}")])).chain(rows).collect()
            }
        };
        as_csv(&rows, place)
    }
}

/// A row, and the line, from 0, where it ends.
type Row = (usize, Vec<String>);

/// The rows as CSV, each at its line as far as there is room.
fn as_csv(rows: &[Row], place: &Place<'_>) -> Result<Vec<u8>, WorkloadError> {
    let mut csv = Vec::new();
    let mut written = 0;
    for (line, fields) in rows {
        csv.resize(csv.len() + line.saturating_sub(written), b'\n');
        written = written.max(*line) + 1;
        let mut row = csv::Writer::from_writer(Vec::new());
        row.write_record(fields).map_err(|error| place.whole(error.to_string()))?;
        csv.extend(row.into_inner().map_err(|error| place.whole(error.to_string()))?);
    }
    Ok(csv)
}

/// Why a printed table cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The text has no table, or several.
    NoTable,
    /// Rows were left out in the middle.
    LeftOut,
    Several,
}

impl Fault {
    fn says(self) -> &'static str {
        match self {
            Fault::NoTable => "holds no table with a rule below its header",
            Fault::LeftOut => {
                "is a printed table of which rows were left out; write all of them, as CSV (`.mode csv` of DuckDB, `write_csv` of \
                 Polars, `FORMAT CSVWithNames` of ClickHouse)"
            }
            Fault::Several => "holds printed tables with different columns; give one of them",
        }
    }
}

/// The bars that may stand between two columns.
const BARS: [char; 5] = ['|', '│', '┃', '║', '┆'];

/// Is this a line that only separates: `+-----+-----+`, `|:---|---:|`, `├─────┼─────┤`, `-----  -----`?
fn is_rule(line: &str) -> bool {
    let is_part = |letter: char| {
        BARS.contains(&letter) || "+-=:╌ ".contains(letter) || ('\u{2500}'..='\u{257f}').contains(&letter)
    };
    let dashes =
        line.chars().filter(|&letter| letter != ' ' && letter != ':' && !BARS.contains(&letter)).count();
    dashes >= 3 && line.chars().all(is_part)
}

/// A row without the number that ClickHouse puts in front of it: `   1. │ get │ 11.9 │`.
fn without_number(line: &str) -> &str {
    let digits = line.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit());
    match digits.strip_prefix(". ") {
        Some(row) if row.trim_start().starts_with(['│', '┃']) => row,
        _ => line,
    }
}

/// The names in a border above a table, as ClickHouse prints it: `┌─op──┬─latency_us─┐`.
fn names_in_border(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('┌')?.strip_suffix('┐')?;
    let names: Vec<String> = inner.split('┬').map(|name| name.trim_matches('─').to_owned()).collect();
    names.iter().all(|name| !name.is_empty()).then_some(names)
}

/// The fields between the bars of a row, or in the columns that a rule of dashes and blanks spans.
fn fields(line: &str, columns: Option<&[(usize, usize)]>) -> Vec<String> {
    let line = line.trim_end();
    if let Some(columns) = columns {
        let letters: Vec<char> = line.chars().collect();
        let within = |&(from, to): &(usize, usize)| {
            let part = &letters[from.min(letters.len())..to.min(letters.len())];
            part.iter().collect::<String>().trim().to_owned()
        };
        return columns.iter().map(within).collect();
    }
    let inner = without_number(line).trim();
    let is_open = inner.starts_with(BARS);
    let inner = inner.strip_prefix(BARS).unwrap_or(inner);
    let inner = inner.strip_suffix(BARS).filter(|_| is_open).unwrap_or(inner);
    inner.split(BARS).map(|field| field.trim().trim_matches('`').to_owned()).collect()
}

/// The columns that a rule such as `-----  -----` spans, in letters, or nothing if bars separate them.
fn spans(rule: &str) -> Option<Vec<(usize, usize)>> {
    if !rule.chars().all(|letter| letter == '-' || letter == ' ') {
        return None;
    }
    let letters: Vec<char> = rule.chars().collect();
    let (mut spans, mut at) = (Vec::new(), 0);
    for run in letters.chunk_by(|a, b| a == b) {
        if run[0] == '-' {
            spans.push((at, at + run.len()));
        }
        at += run.len();
    }
    Some(spans)
}

/// The rows of a printed table, its header first.
fn table(lines: &[&str]) -> Result<Vec<Row>, Fault> {
    if let Some((above, names)) =
        lines.iter().enumerate().find_map(|(at, line)| Some((at, names_in_border(line)?)))
    {
        let width = names.len();
        let row = |(at, line): (usize, &&str)| {
            let fields =
                Some(fields(line, None)).filter(|fields| fields.len() == width && line.contains('│'));
            Some((above + 1 + at, fields?))
        };
        let rows = lines[above + 1..].iter().enumerate().filter_map(row);
        return Ok(std::iter::once((above, names)).chain(rows).collect());
    }
    let mut rows: Vec<Row> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some((header, rule)) = header(&lines[at..]) else {
            at += 1;
            continue;
        };
        // What stands above a table is short: a name, its shape, a word of the shell.
        if rows.is_empty() && lines[..at].iter().filter(|line| !line.trim().is_empty()).count() > 2 {
            return Err(Fault::NoTable);
        }
        let columns = spans(lines[at + rule]);
        // Below a headline, words go on beyond it.
        let end = columns.as_deref().and_then(<[_]>::last).map_or(usize::MAX, |&(_, end)| end);
        let fits = |line: &str| line.trim_end().chars().count() <= end;
        if !fits(lines[at + header]) {
            return Err(Fault::NoTable);
        }
        let names = fields(lines[at + header], columns.as_deref());
        match rows.first() {
            None => rows.push((at + header, names)),
            Some((_, known)) if *known == names => {}
            Some(_) => return Err(Fault::Several),
        }
        at += rule + 1;
        let width = rows[0].1.len();
        while at < lines.len() && header_follows(&lines[at..]).is_none() {
            let line = lines[at];
            if is_rule(line) {
                at += 1;
                continue;
            }
            let row = fields(line, columns.as_deref());
            if line.trim().is_empty() || is_footer(line) || columns.is_none() && row.len() != width {
                break;
            }
            if !fits(line) {
                return Err(Fault::NoTable);
            }
            if row.iter().any(|field| field == "·" || field == "…")
                && row.iter().all(|field| ["", "·", "…"].contains(&field.as_str()))
            {
                return Err(Fault::LeftOut);
            }
            // ClickHouse repeats the header below many rows.
            if row != rows[0].1 {
                rows.push((at, row));
            }
            at += 1;
        }
        // Only what a shell says of the table stands below it.
        while at < lines.len() && header_follows(&lines[at..]).is_none() {
            let line = lines[at].trim();
            if !(line.is_empty() || is_rule(line) || is_footer(line) || line.starts_with(BARS)) {
                return Err(Fault::NoTable);
            }
            at += 1;
        }
    }
    if rows.is_empty() { Err(Fault::NoTable) } else { Ok(rows) }
}

/// Where the header of a table that begins here is, and the rule below it: at once, or below a rule of its own.
fn header(lines: &[&str]) -> Option<(usize, usize)> {
    if lines.first().is_some_and(|line| line.trim().is_empty()) {
        return None;
    }
    let first = usize::from(lines.first().is_some_and(|line| is_rule(line)));
    if lines.get(first).is_none_or(|line| is_rule(line) || line.trim().is_empty()) {
        return None;
    }
    // DuckDB and Polars print the types of columns below their names.
    let rule = (first + 1..=first + 3).find(|&at| lines.get(at).is_some_and(|line| is_rule(line)))?;
    let is_plain = rule == first + 1;
    // Within borders, a rule has no gaps: Polars prints `│ --- ┆ --- │` between names and types.
    let rule = if first == 0 {
        rule
    } else {
        (rule..=first + 3)
            .find(|&at| lines.get(at).is_some_and(|line| is_rule(line) && !line.trim().contains(' ')))?
    };
    let bars = |line: &str| line.contains(BARS);
    // A corner begins the border above a table.
    let is_below = lines[rule].trim_start().starts_with(|letter: char| "-=|:─━═".contains(letter));
    (is_plain && (first == 0 && is_below || first == 1 && bars(lines[first]))
        || first == 1 && lines[first..rule].iter().all(|line| bars(line)))
    .then_some((first, rule))
}

/// The same of a table that follows another one: one row of a grid below another is none.
fn header_follows(lines: &[&str]) -> Option<(usize, usize)> {
    header(lines).filter(|_| !lines[0].trim_start().starts_with(BARS) && !is_rule(lines[0]))
}

/// `(12 rows)`, `12 rows in set (0.00 sec)`, `Time: 1.2 ms`
fn is_footer(line: &str) -> bool {
    let line = line.trim();
    let line = line.trim_start_matches(['(', '[']);
    let words: Vec<&str> = line.split_whitespace().collect();
    let counts = words.first().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        && words.get(1).is_some_and(|word| word.starts_with("row"));
    counts || timer(line).is_some() || line.starts_with("Timing is")
}

/// The time that a database says of a statement, and its unit: `Time: 10.174 ms` of psql, `Execution Time: 0.552 ms` of its `EXPLAIN
/// ANALYZE`, `1 row in set (0.01 sec)` of mysql, `# Query_time: 0.000112  Lock_time: …` of its slow log, `1 row in set. Elapsed: 0.003 sec.`
/// of ClickHouse, `Run Time: real 0.001 user 0.000 sys 0.000` of sqlite3 and DuckDB.
fn timer(line: &str) -> Option<(String, &'static str)> {
    let line = line.trim();
    let number = |text: &str| {
        let number = text.split_whitespace().next()?;
        number.parse::<f64>().ok().filter(|time| *time >= 0.0).map(|_| number.to_owned())
    };
    if let Some(rest) = line.strip_prefix("Time: ").or_else(|| line.strip_prefix("Execution Time: ")) {
        let is_ms = rest.split_whitespace().nth(1) == Some("ms");
        return number(rest).filter(|_| is_ms).map(|ms| (ms, "ms"));
    }
    let seconds = |text: &str| number(text).map(|seconds| (seconds, "s"));
    if let Some(rest) = line.strip_prefix("# Query_time: ") {
        return seconds(rest);
    }
    if let Some(rest) = line.strip_prefix("Run Time") {
        return seconds(rest.trim_start_matches(" (s)").strip_prefix(": real ")?);
    }
    let answers = ["row in set", "rows in set", "Empty set", "Query OK", "row affected", "rows affected"];
    if !answers.iter().any(|answer| line.contains(answer)) {
        return None;
    }
    let (_, time) = line.rsplit_once("Elapsed: ").or_else(|| line.rsplit_once('('))?;
    let is_seconds = time.split_whitespace().nth(1).is_some_and(|unit| unit.starts_with("sec"));
    seconds(time).filter(|_| is_seconds)
}

/// A field of a record: `elapsed_ms = 5.6`, `elapsed_ms | 5.6`, `elapsed_ms: 5.6`.
fn field_of_record(line: &str) -> Option<(&str, &str)> {
    let separator =
        [" = ", " | ", ": "].into_iter().filter_map(|between| Some((line.find(between)?, between)));
    let (at, between) = separator.min()?;
    let name = line[..at].trim();
    let is_name =
        !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || "_.$ -".contains(letter));
    is_name.then_some((name, line[at + between.len()..].trim()))
}

/// `-[ RECORD 1 ]---`, `*** 1. row ***`, `Row 1:`.
fn begins_record(line: &str) -> bool {
    line.starts_with("-[ RECORD ")
        || line.starts_with("Row ") && line.ends_with(':')
        || line.starts_with("***") && line.trim_end_matches('*').ends_with(". row ")
}

/// Printed records as rows, the names first: at least two, all with the same names. Nothing if this is something else.
fn records(lines: &[&str]) -> Vec<Row> {
    let mut names: Vec<String> = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    let mut record: Vec<(&str, &str)> = Vec::new();
    // Lines such as `time_total: 6.6 ms` may be anything, unless something says that they are records.
    let are_said = lines.iter().any(|line| begins_record(line));
    for (at, line) in lines.iter().copied().chain([""]).enumerate() {
        let between = line.trim().is_empty() || begins_record(line) || is_rule(line);
        if !between {
            match field_of_record(line) {
                Some(_) if !are_said && !line.contains(" = ") => return Vec::new(),
                Some(field) => record.push(field),
                None if is_footer(line) => {}
                None => return Vec::new(),
            }
            continue;
        }
        if record.is_empty() {
            continue;
        }
        let found: Vec<String> = record.iter().map(|(name, _)| (*name).to_owned()).collect();
        if names.is_empty() {
            names = found;
        } else if names != found {
            // The last one may be cut.
            let is_cut = at == lines.len() && names.starts_with(&found);
            return if is_cut { with_names(names, rows) } else { Vec::new() };
        }
        rows.push((at.saturating_sub(1), record.drain(..).map(|(_, value)| value.to_owned()).collect()));
    }
    if rows.len() > 1 { with_names(names, rows) } else { Vec::new() }
}

/// A time and its name at the end of a part of a line: `At safepoint: 12943796 ns`.
fn named_time(part: &str) -> Option<(String, String)> {
    let (name, time) = part.rsplit_once(": ")?;
    let is_time =
        Number::parse(time.trim().as_bytes(), Style::POINT).is_ok_and(|number| number.unit.is_some());
    let words: Vec<&str> =
        name.split_whitespace().rev().take_while(|word| word.chars().all(char::is_alphabetic)).collect();
    let name = words.iter().rev().copied().collect::<Vec<_>>().join(" ");
    (is_time && !name.is_empty()).then(|| (name, time.trim().to_owned()))
}

/// Lines of which nine of ten have the same two named times or more, as rows.
fn named(lines: &[&str]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut others = 0;
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (found, times): (Vec<String>, Vec<String>) = line.split(", ").filter_map(named_time).unzip();
        if names.is_empty() && found.len() > 1 {
            names.clone_from(&found);
        }
        if found.len() > 1 && found == names {
            rows.push((at, times));
        } else {
            others += 1;
        }
    }
    let distinct = names.iter().collect::<std::collections::BTreeSet<_>>().len() == names.len();
    if 10 * others > rows.len() || !distinct { Vec::new() } else { with_names(names, rows) }
}

fn with_names(names: Vec<String>, rows: Vec<Row>) -> Vec<Row> {
    std::iter::once((0, names)).chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(text: &str) -> (Option<Printed>, String) {
        let printed = Printed::of(text.as_bytes().split(|&byte| byte == b'\n'), false);
        let place = Place(std::path::Path::new("x"));
        let table = printed.map(|printed| printed.as_table(text.as_bytes(), &place));
        let table = table.map_or_else(String::new, |table| match table {
            Ok(table) => String::from_utf8(table).unwrap(),
            Err(error) => error.to_string(),
        });
        (printed, table)
    }

    #[test]
    fn printed_tables_become_csv_at_their_lines() {
        let same = "op,ms\nget,1.5\nput,2.5\n";
        for (text, above, between) in [
            (" op  |  ms \n-----+-----\n get | 1.5\n put | 2.5\n(2 rows)\n\n", 0, 1),
            (
                "+-----+-----+\n| op  | ms  |\n+-----+-----+\n| get | 1.5 |\n| put | 2.5 |\n+-----+-----+\n",
                1,
                1,
            ),
            ("| op | ms |\n|:---|---:|\n| `get` | 1.5 |\n| put | 2.5 |\n", 0, 1),
            ("op    ms \n----  ---\nget   1.5\nput   2.5\n", 0, 1),
            (
                "┌─────┬─────┐\n│ op  │ ms  │\n├─────┼─────┤\n│ get │ 1.5 │\n│ put │ 2.5 │\n└─────┴─────┘\n",
                1,
                1,
            ),
            (
                "┌─────┬─────┐\n│ op  │ ms  │\n│ varchar │ double │\n├─────┼─────┤\n│ get │ 1.5 │\n│ put │ 2.5 │\n├─────┴─────┤\n│ 2 rows    │\n└───────────┘\n",
                1,
                2,
            ),
            (
                "shape: (2, 2)\n┌─────┬─────┐\n│ op  ┆ ms  │\n│ --- ┆ --- │\n│ str ┆ f64 │\n╞═════╪═════╡\n│ get ┆ 1.5 │\n│ put ┆ 2.5 │\n└─────┴─────┘\n",
                2,
                3,
            ),
        ] {
            let (printed, table) = csv(text);
            assert_eq!(printed, Some(Printed::Table), "{text}");
            let (header, rows) = same.split_once('\n').unwrap();
            assert_eq!(
                table,
                format!("{}{header}\n{}{rows}", "\n".repeat(above), "\n".repeat(between)),
                "{text}"
            );
        }
        let clickhouse = "   ┌─op──┬─ms──┐\n1. │ get │ 1.5 │\n2. │ put │ 2.5 │\n   └─────┴─────┘\n\n2 rows in set. Elapsed: 0.003 sec.\n";
        assert_eq!(csv(clickhouse), (Some(Printed::Table), same.to_owned()));
        let pretty = "   ┏━━━━━┳━━━━━┓\n   ┃ op  ┃ ms  ┃\n   ┡━━━━━╇━━━━━┩\n1. │ get │ 1.5 │\n   ├─────┼─────┤\n2. │ put │ 2.5 │\n   └─────┴─────┘\n";
        assert_eq!(csv(pretty).1.split_whitespace().collect::<Vec<_>>(), ["op,ms", "get,1.5", "put,2.5"]);
        let (_, grid) = csv("+----+\n| ms |\n+====+\n| 1  |\n+----+\n| 2  |\n+----+\n");
        assert_eq!(grid, "\nms\n\n1\n\n2\n");
        let (_, one) = csv(" ms \n----\n 1\n 2\n(2 rows)\n");
        assert_eq!(one, "ms\n\n1\n2\n");
    }

    #[test]
    fn tables_that_are_not_whole_are_refused() {
        let cut = "┌────┐\n│ ms │\n├────┤\n│  1 │\n│  · │\n│  · │\n│  9 │\n└────┘\n";
        assert!(csv(cut).1.contains("rows were left out"), "{}", csv(cut).1);
        let first = "   ┌─ms──┐\n1. │ 1.5 │\n2. │ 2.5 │\n   └─────┘\nShowed 2 out of 9 rows.\n";
        assert!(csv(first).1.contains("rows were left out"), "{}", csv(first).1);
        for text in [
            "a,b\n1,2\n",
            "---\ntitle: x\n---\nhello\n",
            "Results\n-------\nsome words\nand more of them: 5 ms\n",
            "1\n2\n3\n",
        ] {
            assert_eq!(csv(text).0, None, "{text}");
        }
    }

    #[test]
    fn records_become_rows() {
        for text in [
            " op = get\n ms = 1.5\n\n op = put\n ms = 2.5\n",
            "Row 1:\n──────\nop: get\nms: 1.5\n\nRow 2:\n──────\nop: put\nms: 2.5\n",
            "-[ RECORD 1 ]\nop | get\nms | 1.5\n-[ RECORD 2 ]\nop | put\nms | 2.5\n",
            "*************************** 1. row ***************************\nop: get\nms: 1.5\n*************************** 2. row ***************************\nop: put\nms: 2.5\n2 rows in set (0.00 sec)\n",
        ] {
            let (printed, table) = csv(text);
            assert_eq!(printed, Some(Printed::Records), "{text}");
            assert_eq!(
                table.split_whitespace().collect::<Vec<_>>(),
                ["op,ms", "get,1.5", "put,2.5"],
                "{text}"
            );
        }
    }

    #[test]
    fn timers_of_sql_shells_are_times() {
        for (line, time) in [
            ("Time: 10.174 ms", Some(("10.174", "ms"))),
            ("Time: 2310.174 ms (00:02.310)", Some(("2310.174", "ms"))),
            ("Run Time: real 0.012 user 0.000000 sys 0.000000", Some(("0.012", "s"))),
            ("Run Time (s): real 0.012 user 0.000000 sys 0.000000", Some(("0.012", "s"))),
            ("1 row in set (0.01 sec)", Some(("0.01", "s"))),
            ("Query OK, 3 rows affected (0.012 sec)", Some(("0.012", "s"))),
            ("1 row in set. Elapsed: 0.003 sec. Processed 1 thousand rows", Some(("0.003", "s"))),
            ("Time: now", None),
            ("Execution Time: 0.552 ms", Some(("0.552", "ms"))),
            ("# Query_time: 0.000112  Lock_time: 0.000010  Rows_sent: 1", Some(("0.000112", "s"))),
            ("(1 row)", None),
        ] {
            assert_eq!(timer(line).as_ref().map(|(time, unit)| (time.as_str(), *unit)), time, "{line}");
        }
        let plan = " QUERY PLAN \n------------\n Result\n Planning Time: 0.021 ms\n Execution Time: 0.463 ms\n(3 rows)\n\n".repeat(2);
        assert_eq!(csv(&plan).1.split_whitespace().collect::<Vec<_>>(), ["elapsed_ms", "0.463", "0.463"]);
        assert_eq!(csv("Time: 5 ms\nLatency: 3 ms\nTime: 6 ms\nLatency: 4 ms\n").0, None);
        let (printed, table) = csv(
            "Timing is on.\n count \n-------\n 100\n(1 row)\n\nTime: 10.174 ms\n count \n-------\n 0\n(1 row)\n\nTime: 5.293 ms\n",
        );
        assert_eq!(printed, Some(Printed::Timers));
        assert_eq!(table.split_whitespace().collect::<Vec<_>>(), ["elapsed_ms", "10.174", "5.293"]);
    }
}
