//! The percentile by which a point is judged, from one trace. The series of Tiny Quanta call it for each measured and each simulated trace, so
//! that both go through the same code. Pure.

use caudal_measure::filter::{Filter, GapsOf, warm_up};
use caudal_measure::trace::Trace;
use caudal_stats::Histogram;

use super::series::Judged;
use crate::workloads::Workload;

/// Slowdowns are recorded in thousandths.
const PARTS: f64 = 1e3;

/// A percentile of a trace, in ns or as a slowdown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    /// The percentile of all requests.
    pub(super) raw: f64,
    /// The percentile of requests without a stall.
    pub(super) filtered: f64,
}

/// The percentile; none if no request of the kind was complete and kept.
pub(super) fn judge(trace: &Trace, workload: &Workload, judged: Judged) -> Option<Found> {
    let filter = Filter::new(trace, GapsOf::WorkAndGenerator);
    let (mut raw, mut filtered) = (Histogram::new(), Histogram::new());
    for request in &trace.requests[warm_up(trace.requests.len())..] {
        let class = &workload.classes[request.class as usize];
        if !class.name.starts_with(judged.kind) {
            continue;
        }
        let Some(sojourn_ns) = request.sojourn_ns() else { continue };
        let value = match judged.is_slowdown {
            true => (sojourn_ns as f64 / class.service_ns as f64 * PARTS).round() as u64,
            false => sojourn_ns,
        };
        raw.record(value);
        if filter.keeps(request.arrival_ns, request.completion_ns) {
            filtered.record(value);
        }
    }
    let unit = if judged.is_slowdown { PARTS } else { 1.0 };
    let of =
        |values: &Histogram| (values.count() > 0).then(|| values.percentile(judged.percentile) as f64 / unit);
    Some(Found { raw: of(&raw)?, filtered: of(&filtered)? })
}

#[cfg(test)]
mod tests {
    use caudal_measure::contestant::mix;
    use caudal_measure::gaps::Gap;
    use caudal_measure::trace::Request;

    use super::*;
    use crate::workloads::Class;

    fn judged(kind: &'static str, is_slowdown: bool) -> Judged {
        Judged { figures: "", kind, percentile: 99.0, is_slowdown, limit: 1.0 }
    }

    #[test]
    fn kinds_slowdowns_and_stalls_are_told_apart() {
        let class = |name: &str, service_ns| Class { name: name.to_owned(), share: 0.5, service_ns };
        let workload = Workload { name: "two", classes: vec![class("get", 1_000), class("scan", 100_000)] };
        let request = |n: u64| {
            let sojourn = if n.is_multiple_of(2) { 2_000 } else { 150_000 };
            Request {
                class: (n % 2) as u32,
                arrival_ns: n * 1_000_000,
                start_ns: n,
                completion_ns: n * 1_000_000 + sojourn,
            }
        };
        let mut requests: Vec<Request> = (0..100).map(request).collect();
        requests[50].completion_ns += 78_000;
        let trace = Trace {
            contestant: String::new(),
            tsc_hz: 1e9,
            seed: 1,
            load: 0.5,
            mix: mix(&workload.mix()).unwrap(),
            requests,
            gaps: vec![Gap { start: 50_001_000, end: 50_079_000 }],
            generator_gaps: Vec::new(),
            gaps_lost: 0,
        };
        let near = |value: f64, wanted: f64| (value / wanted - 1.0).abs() < 0.02;
        let gets = judge(&trace, &workload, judged("get", false)).unwrap();
        assert!(near(gets.raw, 80_000.0) && near(gets.filtered, 2_000.0), "{gets:?}");
        let slowdowns = judge(&trace, &workload, judged("scan", true)).unwrap();
        assert!(near(slowdowns.filtered, 1.5), "{slowdowns:?}");
        assert_eq!(judge(&trace, &workload, judged("none", false)), None);
    }
}
