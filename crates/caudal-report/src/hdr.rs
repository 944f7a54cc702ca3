//! Histograms in the formats of the HdrHistogram family: `.hgrm` (a table that its plotters read) and `.hlog`
//! (a log of compressed histograms that its analysers read).

use std::io::Write;
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2Serializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use crate::error::ExportError;

/// Significant digits kept: an error of at most 0.1 %.
const DIGITS: u8 = 3;
/// How many lines a halving of the distance to 100 % gets in a `.hgrm` file, as the reference tools print it.
const TICKS_PER_HALF: u32 = 5;

/// A histogram from values in nanoseconds and how often each came.
///
/// # Errors
/// [`ExportError::Value`] when a value is beyond what the format holds.
pub fn from_counts(counts: impl IntoIterator<Item = (u64, u64)>) -> Result<Histogram<u64>, ExportError> {
    let fails = |value_ns, reason: &dyn std::fmt::Display| ExportError::Value {
        value_ns,
        reason: reason.to_string(),
    };
    let mut histogram = Histogram::new(DIGITS).map_err(|error| fails(0, &error))?;
    for (value_ns, count) in counts {
        histogram.record_n(value_ns, count).map_err(|error| fails(value_ns, &error))?;
    }
    Ok(histogram)
}

/// Writes the percentile table (`.hgrm`) with values divided by `unit_ns`: 1000 for microseconds.
///
/// # Errors
/// [`ExportError::Write`] when the writer fails.
pub fn write_hgrm(histogram: &Histogram<u64>, unit_ns: f64, mut out: impl Write) -> Result<(), ExportError> {
    let mut lines = || -> std::io::Result<()> {
        writeln!(
            out,
            "{:>12} {:>14} {:>10} {:>14}\n",
            "Value", "Percentile", "TotalCount", "1/(1-Percentile)"
        )?;
        let mut total = 0;
        for step in histogram.iter_quantiles(TICKS_PER_HALF) {
            total += step.count_since_last_iteration();
            let (value, share) = (step.value_iterated_to() as f64 / unit_ns, step.quantile_iterated_to());
            write!(out, "{value:12.3} {share:2.12} {total:10}")?;
            if share < 1.0 { writeln!(out, " {:14.2}", 1.0 / (1.0 - share))? } else { writeln!(out)? }
        }
        writeln!(
            out,
            "#[Mean    = {:12.3}, StdDeviation   = {:12.3}]\n\
             #[Max     = {:12.3}, Total count    = {:12}]\n\
             #[Buckets = {:12}, SubBuckets     = {:12}]",
            histogram.mean() / unit_ns,
            histogram.stdev() / unit_ns,
            histogram.max() as f64 / unit_ns,
            histogram.len(),
            histogram.buckets(),
            2048,
        )
    };
    lines().map_err(|error| ExportError::Write(error.to_string()))
}

/// Writes one interval per tagged histogram (a class each) as a log (`.hlog`), all from 0 to `duration`.
/// Tags may hold no comma, space or line break; such letters become `_`.
///
/// # Errors
/// [`ExportError::Write`] when a histogram cannot be encoded or the writer fails.
pub fn write_hlog<'a>(
    histograms: impl IntoIterator<Item = (&'a str, &'a Histogram<u64>)>,
    duration: Duration,
    mut out: impl Write,
) -> Result<(), ExportError> {
    let fails = |error: &dyn std::fmt::Debug| ExportError::Write(format!("{error:?}"));
    let mut serializer = V2Serializer::new();
    // Simulated time begins at the epoch: the same run writes the same bytes.
    let mut log = IntervalLogWriterBuilder::new()
        .with_base_time(SystemTime::UNIX_EPOCH)
        .begin_log_with(&mut out, &mut serializer)
        .map_err(|error| fails(&error))?;
    for (name, histogram) in histograms {
        let tag: String = name.chars().map(|c| if c == ',' || c.is_whitespace() { '_' } else { c }).collect();
        log.write_histogram(histogram, Duration::ZERO, duration, Tag::new(&tag))
            .map_err(|error| fails(&error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::prelude::{BASE64_STANDARD, Engine};
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    fn latencies() -> Histogram<u64> {
        from_counts([(1_000, 990), (50_000, 9), (700_000, 1)]).unwrap()
    }

    #[test]
    fn the_table_holds_the_percentiles_in_the_unit_asked_for() {
        let mut table = Vec::new();
        write_hgrm(&latencies(), 1000.0, &mut table).unwrap();
        let table = String::from_utf8(table).unwrap();
        let last = table.lines().rfind(|line| !line.starts_with('#')).unwrap();
        let fields: Vec<_> = last.split_whitespace().collect();
        assert_eq!(fields[1..], ["1.000000000000", "1000"]);
        let max_us: f64 = fields[0].parse().unwrap();
        assert!((max_us / 700.0 - 1.0).abs() < 0.002, "{max_us}");
        assert!(table.contains("Total count    =         1000"));
    }

    #[test]
    fn a_log_is_read_back_by_the_library() {
        let histogram = latencies();
        let mut log = Vec::new();
        write_hlog([("get 1,2", &histogram)], Duration::from_secs(3), &mut log).unwrap();
        let entries: Vec<_> = IntervalLogIterator::new(&log).map(Result::unwrap).collect();
        let interval = entries.into_iter().find_map(|entry| match entry {
            LogEntry::Interval(interval) => Some(interval),
            _ => None,
        });
        let interval = interval.unwrap();
        assert_eq!(interval.tag().unwrap().as_str(), "get_1_2");
        let bytes = BASE64_STANDARD.decode(interval.encoded_histogram()).unwrap();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!(read, histogram);
    }
}
