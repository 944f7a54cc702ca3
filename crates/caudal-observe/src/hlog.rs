//! A snapshot as an HdrHistogram interval log (`.hlog`): one interval, a tag for each class, values in nanoseconds. The socket answers
//! with it when a client asks, for `caudal top --hlog`. It returns text.
//!
//! `caudal plan --workload FILE.hlog` reads what [`Metric::Service`] writes.

use std::io::Write;
use std::time::{Duration, UNIX_EPOCH};

use caudal_rt::histogram::Histogram;
use caudal_rt::stats::{ClassStats, Snapshot};
use hdrhistogram::serialization::V2Serializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use serde::{Deserialize, Serialize};

use crate::export::to_hdr;

/// Times of which a log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// Time on a worker: what a plan wants.
    #[default]
    Service,
    /// From arrival to completion.
    Sojourn,
    /// From arrival to start.
    Queueing,
    /// In critical sections.
    Sections,
}

impl Metric {
    fn of(self, class: &ClassStats) -> &Histogram {
        match self {
            Metric::Service => &class.service,
            Metric::Sojourn => &class.sojourn,
            Metric::Queueing => &class.queueing,
            Metric::Sections => &class.sections,
        }
    }

    fn says(self) -> &'static str {
        match self {
            Metric::Service => "service times: the time of a request on a worker",
            Metric::Sojourn => "sojourn times: from arrival to completion",
            Metric::Queueing => "queueing times: from arrival to start",
            Metric::Sections => "critical sections: times in which a request can not be pre-empted",
        }
    }
}

crate::text::debug_is_text!(HlogError);

/// A log that could not be written.
#[derive(thiserror::Error)]
#[error("the histograms could not be written: {0}")]
pub struct HlogError(String);

/// See [`Export::write_hlog`](crate::Export::write_hlog).
pub(crate) fn write(snapshot: &Snapshot, metric: Metric, mut out: impl Write) -> Result<(), HlogError> {
    let fails = |error: &dyn std::fmt::Debug| HlogError(format!("{error:?}"));
    let mut serializer = V2Serializer::new();
    let base = UNIX_EPOCH + Duration::from_millis(snapshot.started_unix_ms);
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment(&format!("caudal {}; {} in ns; stalls: raw", snapshot.runtime.version, metric.says()))
        .with_start_time(base)
        .with_base_time(base)
        .begin_log_with(&mut out, &mut serializer)
        .map_err(|error| fails(&error))?;
    let interval = Duration::from_nanos(snapshot.interval_ns);
    let from = Duration::from_nanos(snapshot.uptime_ns.saturating_sub(snapshot.interval_ns));
    for class in &snapshot.classes {
        let histogram = metric.of(class);
        if histogram.is_empty() {
            continue;
        }
        let tag: String =
            class.name.chars().map(|c| if c == ',' || c.is_whitespace() { '_' } else { c }).collect();
        log.write_histogram(&to_hdr(histogram), from, interval, Tag::new(&tag))
            .map_err(|error| fails(&error))?;
    }
    Ok(())
}
