//! The stalls of the machine: how often, how long, what share of the time. The calibration of a machine calls [`stalls`], which spins on
//! the given processors and logs gaps; the filter summarises what a run logged.

use crate::clock::{self, Tsc};
use crate::gaps::{GAP_NS, Gap, GapLog};
use crate::pin::{PinError, pin_to};

/// Gaps for which a log has room in every second; a hundred times what a bad machine shows.
const GAPS_PER_S: f64 = 100_000.0;

/// Stalls, over a time in which code wanted to run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StallStats {
    /// How long it was watched, in ns.
    pub observed_ns: u64,
    /// Stalls seen.
    pub count: u64,
    /// Stalls per second.
    pub per_second: f64,
    /// Share of the time, from 0 to 1.
    pub share: f64,
    /// Median length, in ns; 0 without stalls, as the rest.
    pub p50_ns: u64,
    /// 99th percentile of the length, in ns.
    pub p99_ns: u64,
    /// Longest, in ns.
    pub max_ns: u64,
}

impl StallStats {
    /// The stalls of gaps in ns, seen in `observed_ns`.
    pub fn of(gaps: &[Gap], observed_ns: u64) -> StallStats {
        let lengths_ns: Vec<u64> = gaps.iter().map(|gap| gap.end - gap.start).collect();
        StallStats::of_lengths(&lengths_ns, observed_ns)
    }

    /// The stalls of gaps of these lengths, seen in `observed_ns`.
    pub fn of_lengths(lengths_ns: &[u64], observed_ns: u64) -> StallStats {
        let mut lengths = caudal_stats::Histogram::new();
        lengths_ns.iter().for_each(|&length_ns| lengths.record(length_ns));
        if lengths.count() == 0 || observed_ns == 0 {
            return StallStats { observed_ns, ..StallStats::default() };
        }
        let stalled_ns: u64 = lengths_ns.iter().sum();
        StallStats {
            observed_ns,
            count: lengths.count(),
            per_second: lengths.count() as f64 / (observed_ns as f64 * 1e-9),
            share: stalled_ns as f64 / observed_ns as f64,
            p50_ns: lengths.percentile(50.0),
            p99_ns: lengths.percentile(99.0),
            max_ns: lengths.max(),
        }
    }
}

/// Reads the clock on `cpu` for `seconds` and does nothing else: the gaps are the machine's own, interrupts included.
///
/// # Errors
/// If the process may not use this CPU.
///
/// # Panics
/// If the thread that reads cannot be started.
pub fn stalls(tsc: Tsc, cpu: usize, seconds: f64) -> Result<StallStats, PinError> {
    let (gaps, observed_ns) = gaps(tsc, cpu, seconds)?;
    Ok(StallStats::of(&gaps, observed_ns))
}

/// As [`stalls`]; the gaps themselves, in ns after the start, and how long it was watched, in ns.
///
/// # Errors
/// As [`stalls`].
///
/// # Panics
/// As [`stalls`].
pub fn gaps(tsc: Tsc, cpu: usize, seconds: f64) -> Result<(Vec<Gap>, u64), PinError> {
    // In a thread of its own: the caller stays where it is.
    let watch = move || {
        pin_to(cpu)?;
        let mut log = GapLog::new(tsc.to_ticks(GAP_NS), (seconds * GAPS_PER_S) as usize + 1);
        let start = clock::now();
        let (end, mut before) = (start + tsc.to_ticks((seconds * 1e9) as u64), start);
        while before < end {
            let now = clock::now();
            log.check(before, now);
            before = now;
        }
        let in_ns = |gap: &Gap| Gap { start: tsc.to_ns(gap.start - start), end: tsc.to_ns(gap.end - start) };
        Ok((log.gaps().iter().map(in_ns).collect(), tsc.to_ns(before - start)))
    };
    std::thread::spawn(watch).join().expect("reading the clock does not panic")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_lengths_are_of_the_time_observed() {
        let gaps: Vec<Gap> =
            (0..100).map(|n| Gap { start: n * 1_000_000, end: n * 1_000_000 + 3_000 + n }).collect();
        let stats = StallStats::of(&gaps, 100_000_000);
        assert_eq!((stats.count, stats.per_second), (100, 1_000.0));
        assert!((stats.share - 304_950.0 / 1e8).abs() < 1e-12);
        assert_eq!(stats.max_ns, 3_099);
        assert!(stats.p50_ns.abs_diff(3_050) < 10 && stats.p99_ns.abs_diff(3_099) < 10, "{stats:?}");
        assert_eq!(StallStats::of(&[], 5), StallStats { observed_ns: 5, ..StallStats::default() });
    }

    #[test]
    fn a_core_is_watched_for_as_long_as_asked() {
        let cpu = crate::pin::allowed_cpus().unwrap().0[0];
        let stats = stalls(Tsc::calibrate().unwrap(), cpu, 0.01).unwrap();
        assert!(stats.observed_ns >= 9_999_990, "{stats:?}");
        assert!((0.0..=1.0).contains(&stats.share));
        assert!(stalls(Tsc::with_hz(1e9), 1000, 0.01).is_err());
    }
}
