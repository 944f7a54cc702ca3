//! What looks suspicious about measured values. Findings are pointed out; nothing is ever dropped.
//!
//! The rule for outliers, per class of at least 20 values: let the *bulk* be all but the largest
//! max(5, n/1000) values (so for large classes it ends at the p99.9). A value is an outlier if it is more
//! than 20 times the end of the bulk and more than 20 scaled MADs (1.4826 × the median absolute
//! deviation) above the median. Below the median a value is one if it is less than a 20th of the smallest
//! of the bulk at that end. A long but populated tail is thereby not flagged, a lone value far beyond is.

use crate::input::Row;

/// Beyond how many times the bulk's end a value stands out.
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
        /// How many there are.
        values: usize,
    },
    /// Anything that a file format of its own brings along.
    Note(String),
}

/// What a request of `class` is called: those of a file without classes are all of one.
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
                write!(
                    f,
                    "line {line}: a {class} of {} stands alone (the median is {}); it is kept. It alone moves \
                     the class's mean from {} to {} and its SCV from {scv_without:.3} to {scv:.3}. If it is no \
                     request of yours but a stall of the machine, delete the line",
                    crate::show::time(*service_ps as f64),
                    crate::show::time(*median_ps as f64),
                    crate::show::time(*mean_without_ps),
                    crate::show::time(*mean_ps),
                )
            }
            Finding::ColdStart { class, line, service_ps, median_ps } => write!(
                f,
                "line {line}: the first {} takes {}, the median is {}: a cold start? It is kept; if \
                 later requests never take so long, delete the line",
                one_of(class),
                crate::show::time(*service_ps as f64),
                crate::show::time(*median_ps as f64),
            ),
            Finding::FewValues { class, values } => {
                let s = if *values == 1 { "" } else { "s" };
                let guesses = match trusted(*values) {
                    Some(percentile) => format!("percentiles beyond p{percentile} are guesses"),
                    None => "its percentiles are guesses".to_owned(),
                };
                write!(f, "{class} has {values} value{s} only: {guesses}; measure {FEW} or more for a p99.9")
            }
            Finding::Note(text) => f.write_str(text),
        }
    }
}

/// The highest percentile with at least two values above it.
fn trusted(values: usize) -> Option<f64> {
    [99.0, 95.0, 90.0, 75.0, 50.0].into_iter().find(|p| values as f64 * (1.0 - p / 100.0) >= 2.0)
}

/// Looks at one class; `rows` in the order of the file.
pub(crate) fn examine(class: &str, rows: &[Row]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if rows.len() < FEW {
        findings.push(Finding::FewValues { class: class.to_owned(), values: rows.len() });
    }
    if rows.len() < FEWEST {
        return findings;
    }
    let mut sorted: Vec<u64> = rows.iter().map(|row| row.ps).collect();
    sorted.sort_unstable();
    let median_ps = sorted[sorted.len() / 2];
    let first = &rows[0];
    if first.ps > COLD.saturating_mul(median_ps) {
        let (class, line, service_ps) = (class.to_owned(), first.line, first.ps);
        findings.push(Finding::ColdStart { class, line, service_ps, median_ps });
    }
    findings.extend(outliers(class, rows, &sorted, median_ps));
    findings
}

fn outliers(class: &str, rows: &[Row], sorted: &[u64], median_ps: u64) -> Vec<Finding> {
    let outside = (sorted.len() / 1000).max(5);
    let (bulk_low, bulk_high) = (sorted[outside], sorted[sorted.len() - 1 - outside]);
    let mut distances: Vec<u64> = sorted.iter().map(|v| v.abs_diff(median_ps)).collect();
    distances.sort_unstable();
    let mads = MADS * 1.4826 * distances[distances.len() / 2] as f64;
    let stands_out = |ps: u64| {
        let far = ps > FACTOR.saturating_mul(bulk_high) || ps.saturating_mul(FACTOR) < bulk_low;
        // Below a median of a wide class nothing can be 20 MADs away; the factor must do there.
        far && (ps < median_ps || (ps - median_ps) as f64 > mads)
    };
    let (mean_ps, scv) = moments(sorted.iter().copied());
    let suspects = rows.iter().filter(|row| stands_out(row.ps));
    suspects
        .map(|row| {
            let at = sorted.partition_point(|&v| v < row.ps);
            let others = sorted[..at].iter().chain(&sorted[at + 1..]).copied();
            let (mean_without_ps, scv_without) = moments(others);
            Finding::Outlier {
                class: class.to_owned(),
                line: row.line,
                service_ps: row.ps,
                median_ps,
                mean_ps,
                mean_without_ps,
                scv,
                scv_without,
            }
        })
        .collect()
}

/// Mean and squared coefficient of variation.
fn moments(values: impl Iterator<Item = u64> + Clone) -> (f64, f64) {
    let (count, sum) = values.clone().fold((0u64, 0.0), |(n, sum), v| (n + 1, sum + v as f64));
    let mean = sum / count as f64;
    let variance = values.map(|v| (v as f64 - mean).powi(2)).sum::<f64>() / count as f64;
    (mean, variance / (mean * mean))
}
