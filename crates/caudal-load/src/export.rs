//! Latencies in the formats of HdrHistogram: a percentile listing of one class, and a log of all classes.
//! Used by the crate's users.
//!
//! Requests that were not done are in both with the time-out. In the log, the tag of a class begins with
//! [`TAG`](caudal_workload::LATENCY_TAG), so that nobody plans with latencies as if they were service times.

use std::io::{self, Write};
use std::time::{Duration, UNIX_EPOCH};

use caudal_workload::LATENCY_TAG;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2Serializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use crate::record::ClassRecord;
use crate::run::Run;

/// Half-distances of the listing: ticks before the distance to 100 % halves.
const TICKS: u32 = 5;
/// Equal parts of the first bucket at three significant digits.
const SUB_BUCKETS: u32 = 2_048;

/// All requests that were due, those that were not done with the time-out.
fn whole(requests: &ClassRecord, timeout_ns: u64) -> Histogram<u64> {
    let mut latencies = requests.latency.clone();
    latencies.record_n(timeout_ns, requests.not_done());
    latencies.histogram().clone()
}

/// Writes the percentiles of requests as HdrHistogram's tools list them (`.hgrm`), in µs.
///
/// # Errors
/// If the writer fails.
pub fn write_hgrm(run: &Run, requests: &ClassRecord, mut out: impl Write) -> io::Result<()> {
    let histogram = whole(requests, run.timeout_ns);
    let us = |ns: f64| ns / 1e3;
    writeln!(out, "{:>12} {:>14} {:>10} {:>14}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")?;
    let mut total = 0;
    for value in histogram.iter_quantiles(TICKS) {
        total += value.count_since_last_iteration();
        let (time, quantile) = (us(value.value_iterated_to() as f64), value.quantile_iterated_to());
        if quantile < 1.0 {
            writeln!(out, "{time:12.3} {quantile:2.12} {total:10} {:14.2}", 1.0 / (1.0 - quantile))?;
        } else {
            writeln!(out, "{time:12.3} {quantile:2.12} {total:10}")?;
        }
    }
    writeln!(
        out,
        "#[Mean    = {:12.3}, StdDeviation   = {:12.3}]",
        us(histogram.mean()),
        us(histogram.stdev())
    )?;
    writeln!(
        out,
        "#[Max     = {:12.3}, Total count    = {:12}]",
        us(histogram.max() as f64),
        histogram.len()
    )?;
    writeln!(out, "#[Buckets = {:12}, SubBuckets     = {:12}]", histogram.buckets(), SUB_BUCKETS)
}

/// Writes the latencies as an HdrHistogram log (`.hlog`), a tag for each class, in ns.
///
/// # Errors
/// If the writer fails.
pub fn write_hlog(run: &Run, mut out: impl Write) -> io::Result<()> {
    let failed = |error: &dyn std::fmt::Debug| io::Error::other(format!("{error:?}"));
    let mut serializer = V2Serializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment(&format!(
            "caudal load {}; latencies in ns, from the intended send time to the answer: no service times",
            run.target
        ))
        .with_start_time(UNIX_EPOCH)
        .with_base_time(UNIX_EPOCH)
        .begin_log_with(&mut out, &mut serializer)
        .map_err(|error| failed(&error))?;
    for class in run.classes.iter().filter(|class| class.due > 0) {
        let name: String =
            class.class.chars().map(|c| if c == ',' || c.is_whitespace() { '_' } else { c }).collect();
        let tag = format!("{LATENCY_TAG}{name}");
        let (from, length) = (Duration::from_nanos(run.warm_up_ns), Duration::from_nanos(run.measured_ns));
        log.write_histogram(&whole(class, run.timeout_ns), from, length, Tag::new(&tag))
            .map_err(|error| failed(&error))?;
    }
    Ok(())
}
