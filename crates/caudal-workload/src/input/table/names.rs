//! The vocabulary of names of columns and of rows: of arrivals, of counts, of classes, of sums. `columns` and the reader of logs look up
//! each name, and `content` the name of each row. Pure.

use crate::input::shorten;
use crate::input::unit::{Said, Unit, words};

/// Columns that say how often a row's value occurs.
pub(super) const WEIGHTS: [&str; 10] = [
    "count",
    "counts",
    "share",
    "weight",
    "frequency",
    "freq",
    "probability",
    "p",
    "occurrences",
    "requests",
];

/// Columns that hold classes, besides `class`: if they have few names.
pub(super) const CLASSES: [&str; 10] =
    ["type", "op", "operation", "kind", "label", "request_type", "method", "endpoint", "route", "command"];

/// Words of names that count something, which is no time.
pub(super) const SIZES: [&str; 12] = [
    "tokens", "token", "bytes", "byte", "size", "sizes", "length", "count", "requests", "items", "rows",
    "packets",
];

/// Names of columns that may be an index.
const INDEX: [&str; 14] = [
    "",
    "index",
    "idx",
    "unnamed: 0",
    "row",
    "i",
    "id",
    "no",
    "nr",
    "#",
    "seq",
    "iteration",
    "iter",
    "request",
];

/// The unit in brackets in the name of a row: `Request Latency (ms)`, `Output Sequence Length (tokens)`.
pub(super) fn row_unit(name: &[u8]) -> Option<Said> {
    let name = crate::input::text(name);
    let (_, unit) = name.trim().strip_suffix(')')?.rsplit_once('(')?;
    Some(Unit::of_word(unit).map_or(Said::Unknown, Said::Unit))
}

/// Is this the name of a row that sums up the others?
pub(super) fn is_sum(name: &str) -> bool {
    const SUMS: [&str; 11] = [
        "total",
        "totals",
        "average",
        "avg",
        "mean",
        "sum",
        "aggregated",
        "overall",
        "grand total",
        "median",
        "max",
    ];
    let name = name.trim_end_matches(':');
    SUMS.iter().any(|sum| name.eq_ignore_ascii_case(sum))
}

/// May a column with this name be an index?
pub(super) fn is_index(name: &str) -> bool {
    INDEX.contains(&name.to_lowercase().as_str())
}

/// Is a row with this name among percentiles none of a time: how many there were, or what it says of names?
pub(super) fn is_no_time(name: &str) -> bool {
    ["count", "null_count", "unique", "top", "freq", "n", "samples"]
        .contains(&name.trim().to_lowercase().as_str())
}

/// Does a column's name say that it holds when something arrived?
pub(in crate::input) fn is_arrival(name: &str) -> bool {
    const FIRST: [&str; 13] = [
        "timestamp",
        "timestamps",
        "arrival",
        "arrivals",
        "arrived",
        "start",
        "started",
        "begin",
        "ts",
        "epoch",
        "date",
        "datetime",
        "offset",
    ];
    let words = words(name);
    let duration = words.iter().any(|word| ["duration", "latency", "elapsed"].contains(&word.as_str()));
    let first = match words.first().map(String::as_str) {
        // `at_ms`, but not `At safepoint`.
        Some("at") => words[1..].iter().all(|word| Unit::of_word(word).is_some()),
        Some(word) => FIRST.contains(&word),
        None => false,
    };
    let any = words.iter().any(|word| word == "timestamp" || word == "arrival");
    let pair = words.windows(2).any(|two| two == ["time", "stamp"] || two == ["request", "start"]);
    (first || any || pair) && !duration
}

/// How clearly a name says that it holds what a request takes.
pub(super) fn rank(name: &str) -> usize {
    const DURATIONS: [&str; 13] = [
        "latency",
        "latencies",
        "lat",
        "duration",
        "durations",
        "elapsed",
        "took",
        "rtt",
        "rt",
        "runtime",
        "resptime",
        "responsetime",
        "dur",
    ];
    const OF_TIME: [&str; 10] = [
        "response",
        "request",
        "execution",
        "exec",
        "processing",
        "query",
        "handling",
        "total",
        "run",
        "taken",
    ];
    let words = words(name);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    if words.first().is_some_and(|word| word == "service") {
        3
    } else if has(&DURATIONS) || has(&["time"]) && has(&OF_TIME) {
        2
    } else {
        usize::from(matches!(Unit::of_name(name), Said::Unit(_)))
    }
}

/// Names for a message.
pub(super) fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names
        .iter()
        .filter(|name| !name.is_empty())
        .take(12)
        .map(|name| format!("`{}`", shorten(name)))
        .collect();
    shown.join(", ")
}
