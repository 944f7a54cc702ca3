//! Percentiles of a trace, raw and without the requests that a stall of the machine touched. Comparisons and the fidelity run make a report of each
//! trace by it, when the run has ended. Pure.
//!
//! A request is dropped if the time from its intended arrival to [`AFTER_NS`] after its completion overlaps a gap that the work
//! noticed. Raw percentiles are those that a user of this machine sees; filtered percentiles are those of the contestant alone. A run of which less
//! than [`KEPT_SHARE_MIN`] is kept says little: repeat it. A contestant that lets requests wait for long loses more of
//! them, the slowest first, so the filter flatters it.

use caudal_stats::Histogram;

use crate::gaps::Gap;
use crate::stalls::StallStats;
use crate::trace::{NEVER, Trace};

/// How long before a gap a request must be complete, in ns: what a stall does begins before the gap is noticed.
pub const AFTER_NS: u64 = 30_000;
/// The share of kept requests below which a run is to be repeated.
pub const KEPT_SHARE_MIN: f64 = 0.8;
/// Share of the requests at the start of a run that are left out: caches and pools fill.
pub const WARM_UP_SHARE: f64 = 0.1;

/// The threads whose gaps drop requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GapsOf {
    /// The gaps that the work noticed.
    #[default]
    Work,
    /// Also those of the generator's loop: a request that was to arrive in one, or up to [`AFTER_NS`] after it, is dropped.
    WorkAndGenerator,
}

/// A distribution of sojourn times, in ns; all 0 when nothing was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latency {
    /// Requests.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Maximum.
    pub max_ns: u64,
}

impl Latency {
    /// The distribution of recorded values in ns.
    pub fn of(sojourn_ns: &Histogram) -> Latency {
        if sojourn_ns.count() == 0 {
            return Latency::default();
        }
        Latency {
            count: sojourn_ns.count(),
            mean_ns: sojourn_ns.mean(),
            p50_ns: sojourn_ns.percentile(50.0),
            p99_ns: sojourn_ns.percentile(99.0),
            p999_ns: sojourn_ns.percentile(99.9),
            max_ns: sojourn_ns.max(),
        }
    }
}

/// One class of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassReport {
    /// All that completed.
    pub raw: Latency,
    /// The requests among them that no stall touched.
    pub filtered: Latency,
    /// Requests that did not complete; they are in neither.
    pub unfinished: u64,
}

/// Statistics of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The classes, by number.
    pub classes: Vec<ClassReport>,
    /// Share of the completed requests that the filter kept, of all classes.
    pub kept_share: f64,
    /// The gaps that the work noticed, over the time that it worked.
    pub stalls: StallStats,
    /// Gaps that found no room in a log: above 0, too much was kept.
    pub gaps_lost: u64,
}

impl Report {
    /// Is too little left?
    pub fn must_be_repeated(&self) -> bool {
        self.kept_share < KEPT_SHARE_MIN || self.gaps_lost > 0
    }
}

/// Statistics of a run; its first [`WARM_UP_SHARE`] of requests are left out.
pub fn report(trace: &Trace, gaps_of: GapsOf) -> Report {
    let filter = Filter::new(trace, gaps_of);
    let classes = trace.mix.classes().len();
    let mut raw = vec![Histogram::new(); classes];
    let mut filtered = vec![Histogram::new(); classes];
    let mut unfinished = vec![0; classes];
    for request in &trace.requests[warm_up(trace.requests.len())..] {
        let class = request.class as usize;
        let Some(sojourn_ns) = request.sojourn_ns() else {
            unfinished[class] += 1;
            continue;
        };
        raw[class].record(sojourn_ns);
        if filter.keeps(request.arrival_ns, request.completion_ns) {
            filtered[class].record(sojourn_ns);
        }
    }
    let count = |histograms: &[Histogram]| histograms.iter().map(Histogram::count).sum::<u64>() as f64;
    let kept_share = count(&filtered) / count(&raw).max(1.0);
    let classes = raw.iter().zip(&filtered).zip(unfinished);
    let class = |((raw, filtered), unfinished)| ClassReport {
        raw: Latency::of(raw),
        filtered: Latency::of(filtered),
        unfinished,
    };
    Report {
        classes: classes.map(class).collect(),
        kept_share,
        stalls: StallStats::of(&trace.gaps, worked_ns(trace)),
        gaps_lost: trace.gaps_lost,
    }
}

/// How many of `requests` belong to the warm-up.
pub fn warm_up(requests: usize) -> usize {
    (requests as f64 * WARM_UP_SHARE) as usize
}

/// Service time of all that completed, and the gaps in it.
fn worked_ns(trace: &Trace) -> u64 {
    let completed = trace.requests.iter().filter(|request| request.completion_ns != NEVER);
    let served: u64 = completed.map(|request| trace.mix.classes()[request.class as usize].service_ns).sum();
    served + trace.gaps.iter().map(|gap| gap.end - gap.start).sum::<u64>()
}

/// Says which requests a gap touched.
#[derive(Clone, Debug)]
pub struct Filter {
    work: Vec<Gap>,
    generator: Vec<Gap>,
}

impl Filter {
    /// A filter by the gaps of a trace.
    pub fn new(trace: &Trace, gaps_of: GapsOf) -> Filter {
        let generator = match gaps_of {
            GapsOf::Work => Vec::new(),
            GapsOf::WorkAndGenerator => trace
                .generator_gaps
                .iter()
                .map(|gap| Gap { start: gap.start, end: gap.end + AFTER_NS })
                .collect(),
        };
        Filter { work: disjoint(trace.gaps.clone()), generator: disjoint(generator) }
    }

    /// Did no gap touch a request, by its intended arrival and its completion in ns after the run's start?
    pub fn keeps(&self, arrival_ns: u64, completion_ns: u64) -> bool {
        let until = completion_ns.saturating_add(AFTER_NS);
        !overlaps(&self.work, arrival_ns, until) && !overlaps(&self.generator, arrival_ns, arrival_ns)
    }
}

/// The gaps in order, with those that touch made one, so that their ends are in order as well.
fn disjoint(mut gaps: Vec<Gap>) -> Vec<Gap> {
    gaps.sort_unstable_by_key(|gap| gap.start);
    gaps.dedup_by(|later, earlier| {
        let touches = later.start <= earlier.end;
        if touches {
            earlier.end = earlier.end.max(later.end);
        }
        touches
    });
    gaps
}

/// Whether a moment of [from, until] lies in one of `gaps`, which are disjoint and in order; ends count.
fn overlaps(gaps: &[Gap], from: u64, until: u64) -> bool {
    let first = gaps.partition_point(|gap| gap.end < from);
    gaps.get(first).is_some_and(|gap| gap.start <= until)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::schedule::Mix;
    use crate::trace::Request;

    fn trace(requests: Vec<Request>, gaps: Vec<Gap>) -> Trace {
        Trace {
            contestant: String::new(),
            tsc_hz: 1e9,
            seed: 0,
            load: 0.5,
            mix: Mix::extreme_bimodal(),
            requests,
            gaps,
            generator_gaps: Vec::new(),
            gaps_lost: 0,
        }
    }

    fn request(class: u32, arrival_ns: u64, completion_ns: u64) -> Request {
        Request { class, arrival_ns, start_ns: arrival_ns, completion_ns }
    }

    #[test]
    fn drops_what_overlaps_and_nothing_else() {
        let filter = Filter::new(&trace(vec![], vec![Gap { start: 100_000, end: 110_000 }]), GapsOf::Work);
        assert!(filter.keeps(0, 69_999));
        assert!(!filter.keeps(0, 70_000), "complete 30 us before the gap is just too late");
        assert!(!filter.keeps(104_000, 105_000));
        assert!(!filter.keeps(110_000, 111_000), "arrived when the gap ended");
        assert!(filter.keeps(110_001, 111_000));
        assert!(!filter.keeps(0, 1_000_000));
    }

    #[test]
    fn gaps_of_the_generator_drop_what_was_to_arrive_in_them() {
        let mut run = trace(vec![], vec![]);
        run.generator_gaps = vec![Gap { start: 100_000, end: 110_000 }];
        assert!(Filter::new(&run, GapsOf::Work).keeps(105_000, 200_000));
        let filter = Filter::new(&run, GapsOf::WorkAndGenerator);
        assert!(filter.keeps(99_999, 150_000));
        assert!(!filter.keeps(100_000, 100_500));
        assert!(!filter.keeps(140_000, 140_500));
        assert!(filter.keeps(140_001, 140_500));
    }

    proptest! {
        #[test]
        fn as_the_definition_says(
            gaps in prop::collection::vec((0_u64..1_000_000, 1_u64..50_000), 0..20),
            arrival in 0_u64..1_000_000,
            sojourn in 0_u64..100_000,
        ) {
            let gaps: Vec<Gap> = gaps.into_iter().map(|(start, length)| Gap { start, end: start + length }).collect();
            let touched = gaps.iter().any(|gap| gap.start <= arrival + sojourn + AFTER_NS && gap.end >= arrival);
            let filter = Filter::new(&trace(vec![], gaps), GapsOf::Work);
            prop_assert_eq!(filter.keeps(arrival, arrival + sojourn), !touched);
        }
    }

    #[test]
    fn reports_classes_apart_without_the_warm_up() {
        let mut requests: Vec<Request> =
            (0..100).map(|n| request(0, n * 100_000, n * 100_000 + 500 + n)).collect();
        requests[50] = request(1, 5_000_000, 5_600_000);
        requests[60].completion_ns = NEVER;
        // Touches request 20 alone: 19 is complete long before, 21 arrives after it.
        let report = report(&trace(requests, vec![Gap { start: 2_000_100, end: 2_005_100 }]), GapsOf::Work);
        let [short, long] = report.classes[..] else { panic!("two classes") };
        assert_eq!((short.raw.count, short.filtered.count, short.unfinished), (88, 87, 1));
        assert_eq!((long.raw.count, long.raw.p50_ns / 1000, long.raw.max_ns), (1, 600, 600_000));
        assert_eq!(short.raw.max_ns, 599);
        assert_eq!(report.kept_share, 88.0 / 89.0);
        assert!(!report.must_be_repeated());
        assert_eq!(report.stalls.count, 1);
        // 98 short ones, a long one, and the gap.
        assert_eq!(report.stalls.observed_ns, 98 * 500 + 500_000 + 5_000);
    }

    #[test]
    fn too_little_is_to_be_repeated() {
        let requests: Vec<Request> = (0..100).map(|n| request(0, n * 100_000, n * 100_000 + 500)).collect();
        let at = |share: u64| Gap { start: 1_000_000, end: 1_000_000 + share * 100_000 - 1 };
        assert!(!report(&trace(requests.clone(), vec![at(18)]), GapsOf::Work).must_be_repeated());
        assert!(report(&trace(requests.clone(), vec![at(19)]), GapsOf::Work).must_be_repeated());
        let mut lost = trace(requests, vec![]);
        lost.gaps_lost = 1;
        assert!(report(&lost, GapsOf::Work).must_be_repeated());
    }
}
