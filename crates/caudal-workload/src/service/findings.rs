//! Suspicious facts about measured values. Compilation of a file collects them once, and `caudal workload show` and the command's notes
//! print them; nothing is ever dropped. Pure.
//!
//! The rule for outliers, per class of at least 20 values: let the *bulk* be all but the largest
//! max(5, n/1000) values (so for large classes it ends at the p99.9). A value is an outlier if it is more
//! than 20 times the end of the bulk and more than 20 scaled MADs (1.4826 × the median absolute
//! deviation) above the median. Below the median a value is one if it is less than a 20th of the smallest
//! of the bulk at that end. A long but populated tail is thereby not flagged, a lone value far beyond is.

use crate::input::Row;

/// The multiple of the bulk's end beyond which a value stands out.
const FACTOR: u64 = 20;
/// And beyond how many scaled MADs from the median.
const MADS: f64 = 20.0;
/// Classes with fewer values are too small to tell.
const FEWEST: usize = 20;
/// With fewer values than this a p99.9 is the maximum, or next to it.
const FEW: usize = 2_000;
/// A first value this many times the median is a cold start.
const COLD: u64 = 5;

/// Something about measured data that its user should know.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// A value far from all others of its class.
    Outlier {
        /// Name of the class.
        class: String,
        /// Line in the file, from 1.
        line: u64,
        /// The value.
        service_ps: u64,
        /// Median of its class.
        median_ps: u64,
        /// Mean of the class with it.
        mean_ps: f64,
        /// Mean of the class without it.
        mean_without_ps: f64,
        /// Squared coefficient of variation of the class with it.
        scv: f64,
        /// Squared coefficient of variation of the class without it.
        scv_without: f64,
    },
    /// The class's first value is far above its median: the measurement began cold.
    ColdStart {
        /// Name of the class.
        class: String,
        /// Line in the file, from 1.
        line: u64,
        /// The value.
        service_ps: u64,
        /// Median of its class.
        median_ps: u64,
    },
    /// Too few values to say anything about the tail.
    FewValues {
        /// Name of the class.
        class: String,
        /// The number of values.
        values: usize,
    },
    /// Buckets so wide that they do not tell the mean.
    Coarse {
        /// Name of the class.
        class: String,
        /// The mean if every value were at the lower end of its bucket.
        low_ps: f64,
        /// The mean if every value were at the upper end of its bucket.
        high_ps: f64,
        /// The mean by the sum of all values, if the file says it.
        mean_ps: Option<f64>,
    },
    /// The times of the class are not measured: they were fitted to percentiles.
    Fitted {
        /// Name of the class.
        class: String,
        /// The percentiles, ascending.
        percentiles: Vec<f64>,
        /// The moments that they were fitted to as well, in words: `the mean of 31 ms`.
        stated: Vec<String>,
    },
    /// Rows next to each other are alike, which drawing them independently loses.
    Correlated {
        /// Correlation of the logarithms of a value and of the next one.
        lag_1: f64,
    },
    /// The rows are in the order of their times, which nobody measures in.
    Sorted,
    /// Anything that a file format of its own brings along.
    Note(String),
}

/// The name of a percentile: the ends have names of their own.
fn named(percentile: f64) -> String {
    match percentile {
        0.0 => "min".to_owned(),
        100.0 => "max".to_owned(),
        _ => format!("p{percentile}"),
    }
}

/// The name of a request of `class`: all requests of a file without classes are of one class.
fn one_of(class: &str) -> &str {
    if class == "all" { "request" } else { class }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Finding::Outlier {
                class,
                line,
                service_ps,
                median_ps,
                mean_ps,
                mean_without_ps,
                scv,
                scv_without,
            } => {
                let class = one_of(class);
                let instead =
                    if service_ps > median_ps { "a stall of the machine" } else { "one that failed at once" };
                write!(
                    f,
                    "line {line}: a {class} of {} stands alone (the median is {}); it is kept. It alone moves \
                     the class's mean from {} to {} and its SCV from {scv_without:.3} to {scv:.3}. If it is no \
                     request of yours but {instead}, delete the line",
                    crate::format::time(*service_ps as f64),
                    crate::format::time(*median_ps as f64),
                    crate::format::time(*mean_without_ps),
                    crate::format::time(*mean_ps),
                )
            }
            Finding::ColdStart { class, line, service_ps, median_ps } => write!(
                f,
                "line {line}: the first {} takes {}, the median is {}: a cold start? It is kept; if \
                 later requests never take so long, delete the line",
                one_of(class),
                crate::format::time(*service_ps as f64),
                crate::format::time(*median_ps as f64),
            ),
            Finding::FewValues { class, values } => {
                let s = if *values == 1 { "" } else { "s" };
                let guesses = match trusted(*values) {
                    Some(percentile) => format!("percentiles beyond p{percentile} are guesses"),
                    None => "its percentiles are guesses".to_owned(),
                };
                write!(f, "{class} has {values} value{s} only: {guesses}; measure {FEW} or more for a p99.9")
            }
            Finding::Coarse { class, low_ps, high_ps, mean_ps } => {
                let (low, high) = (crate::format::time(*low_ps), crate::format::time(*high_ps));
                let of = if class == "all" { String::new() } else { format!(" of {class}") };
                match mean_ps {
                    Some(mean_ps) => write!(
                        f,
                        "the mean{of} is {} by the sum of all values; where in its bucket each lies is not known, and \
                         percentiles are known as intervals",
                        crate::format::time(*mean_ps)
                    ),
                    None => write!(
                        f,
                        "the buckets{of} leave the mean between {low} and {high}: values are spread evenly within each, and \
                         percentiles are known as intervals; finer buckets, or the sum of all values, would tell more"
                    ),
                }
            }
            Finding::Fitted { class, percentiles, stated } => {
                let of = if class == "all" { String::new() } else { format!(" of {class}") };
                let shown: Vec<String> = percentiles.iter().take(8).map(|p| named(*p)).collect();
                let more = if percentiles.len() > 8 { ", …" } else { "" };
                let stated: String = stated.iter().map(|moment| format!(", and to {moment}")).collect();
                let last = percentiles.iter().copied().filter(|p| *p < 100.0).fold(0.0, f64::max);
                write!(
                    f,
                    "the times{of} are a guess: a distribution was fitted to {}{more}{stated}. Beyond p{last} nothing is known, and a \
                     tail that is longer than it goes on there changes the answer; measure every request to know it",
                    shown.join(", ")
                )
            }
            Finding::Correlated { lag_1 } => write!(
                f,
                "the order of the rows matters (correlation of one with the next: {lag_1:.2}): long requests come \
                 together. Drawn independently, as here, they do not, and queues are shorter than they were: `--replay` \
                 (`replay = true` in a file) keeps the order"
            ),
            Finding::Sorted => write!(
                f,
                "the rows are in the order of their times, as if somebody had sorted them (`ab -g` does): then whether long requests come \
                 together is not in the file, and `--replay` plays an order that never was"
            ),
            Finding::Note(text) => f.write_str(text),
        }
    }
}

impl Finding {
    /// The finding that the class has few values, if it has.
    pub(crate) fn few(class: &str, values: usize) -> Option<Finding> {
        (values < FEW).then(|| Finding::FewValues { class: class.to_owned(), values })
    }
}

/// The highest percentile with at least two values above it.
fn trusted(values: usize) -> Option<f64> {
    [99.0, 95.0, 90.0, 75.0, 50.0].into_iter().find(|p| values as f64 * (1.0 - p / 100.0) >= 2.0)
}

/// Looks at one class: its values ascending, and its rows in the order of the file.
pub(crate) fn examine(class: &str, sorted: &[u64], rows: impl Iterator<Item = Row> + Clone) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Finding::few(class, sorted.len()).into_iter().collect();
    if sorted.len() < FEWEST {
        return findings;
    }
    let median_ps = sorted[sorted.len() / 2];
    let first = rows.clone().next();
    if let Some(first) = first.filter(|first| first.ps > COLD.saturating_mul(median_ps)) {
        let (class, line, service_ps) = (class.to_owned(), first.line, first.ps);
        findings.push(Finding::ColdStart { class, line, service_ps, median_ps });
    }
    findings.extend(outliers(class, rows, sorted, median_ps));
    findings
}

/// The median distance from `middle` of ascending values.
fn median_distance(sorted: &[u64], middle: u64) -> u64 {
    let within = |distance: u64| {
        let low = sorted.partition_point(|&value| value < middle.saturating_sub(distance));
        sorted.partition_point(|&value| value <= middle.saturating_add(distance)) - low
    };
    let widest = sorted.last().map_or(0, |last| last.abs_diff(middle).max(middle.abs_diff(sorted[0])));
    super::smallest(0, widest, |distance| within(distance) > sorted.len() / 2)
}

fn outliers(class: &str, rows: impl Iterator<Item = Row>, sorted: &[u64], median_ps: u64) -> Vec<Finding> {
    let outside = (sorted.len() / 1000).max(5);
    let (bulk_low, bulk_high) = (sorted[outside], sorted[sorted.len() - 1 - outside]);
    let mads = MADS * 1.4826 * median_distance(sorted, median_ps) as f64;
    let stands_out = |ps: u64| {
        let far = ps > FACTOR.saturating_mul(bulk_high) || ps.saturating_mul(FACTOR) < bulk_low;
        // Below a median of a wide class nothing can be 20 MADs away; the factor must do there.
        far && (ps < median_ps || (ps - median_ps) as f64 > mads)
    };
    // Most files have none, and then their rows need not be gone through.
    if !stands_out(sorted[0]) && !stands_out(sorted[sorted.len() - 1]) {
        return Vec::new();
    }
    let count = sorted.len() as f64;
    let mean_ps = sorted.iter().map(|&value| value as f64).sum::<f64>() / count;
    let squares = sorted.iter().map(|&value| (value as f64 - mean_ps).powi(2)).sum::<f64>();
    let scv = squares / count / (mean_ps * mean_ps);
    let suspects = rows.filter(|row| stands_out(row.ps));
    suspects
        .map(|row| {
            // Without one value the mean moves, and with it all squares around it.
            let away = row.ps as f64 - mean_ps;
            let mean_without_ps = mean_ps - away / (count - 1.0);
            let squares_without = (squares - away * away * count / (count - 1.0)).max(0.0);
            Finding::Outlier {
                class: class.to_owned(),
                line: row.line,
                service_ps: row.ps,
                median_ps,
                mean_ps,
                mean_without_ps,
                scv,
                scv_without: squares_without / (count - 1.0) / (mean_without_ps * mean_without_ps),
            }
        })
        .collect()
}

/// The correlation from which on the order of the rows matters.
const CORRELATED: f64 = 0.1;
/// With fewer rows a correlation may be chance.
const CORRELATED_ROWS: usize = 100;

/// The spread of sums of rows in their order, over that of sums of independent rows, from which on the order matters to a queue:
/// where neighbouring rows are alike, and in any case.
const SPREADS: (f64, f64) = (1.5, 3.0);
/// The number of sums below which their spread may be chance.
const SPREAD_PARTS: usize = 128;

/// Are rows in the order of their times, ascending or descending? Of a dozen different times nobody measures that by chance.
pub(crate) fn are_sorted(ps: &[u64]) -> bool {
    /// The number of steps, of times that differ from the one before, below which an order may be chance.
    const STEPS: usize = 12;
    let steps = || ps.windows(2).filter(|two| two[0] != two[1]).take(STEPS).count();
    (ps.is_sorted() || ps.is_sorted_by(|a, b| a >= b)) && steps() == STEPS
}

/// Whether rows next to each other are alike, by the logarithms of their times (of these, a lone long request is not most),
/// and whether that matters: by how their sums spread, which is what a queue feels.
pub(crate) fn correlation(ps: &[u64]) -> Option<Finding> {
    if are_sorted(ps) {
        return Some(Finding::Sorted);
    }
    if ps.len() < CORRELATED_ROWS {
        return None;
    }
    let log = |ps: u64| (ps as f64).ln();
    let count = ps.len() as f64;
    let mean = ps.iter().map(|&ps| log(ps)).sum::<f64>() / count;
    let (mut squares, mut products, mut before) = (0.0, 0.0, 0.0);
    for &ps in ps {
        let away = log(ps) - mean;
        squares += away * away;
        products += away * before;
        before = away;
    }
    let lag_1 = products / squares;
    let of_one = {
        let mean_ps = ps.iter().map(|&ps| ps as f64).sum::<f64>() / count;
        ps.iter().map(|&ps| (ps as f64 - mean_ps).powi(2)).sum::<f64>() / count / (mean_ps * mean_ps)
    };
    let spreads = super::order::dispersion(ps.iter().copied(), SPREAD_PARTS) / of_one;
    let alike = lag_1 >= CORRELATED && lag_1 > 4.0 / count.sqrt();
    (alike && spreads >= SPREADS.0 || spreads >= SPREADS.1).then_some(Finding::Correlated { lag_1 })
}
