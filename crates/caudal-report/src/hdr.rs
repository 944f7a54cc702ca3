//! Histograms as the tools of the HdrHistogram family read them: `.hlog`, a log of compressed histograms. The directory of results calls it for
//! each point that it keeps. It writes to the output of the caller.

use std::io::Write;
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2Serializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use crate::error::ExportError;

/// Significant digits kept: an error of at most 0.1 %.
const DIGITS: u8 = 3;

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
