//! The process by which the machine takes cores away: how often, and how long. The calibration calls [`StallProcess::watch`] at the end of
//! every round: a thread on each processor spins and looks for gaps in the clock, and ends with the round. The other functions are pure; the
//! statement of the calibration calls them, at the end.

use caudal_config::{Rate, Stalls};
use caudal_measure::clock::Tsc;
use caudal_measure::pin::RealTime;
use caudal_measure::stalls::{StallStats, gaps};
use caudal_policy::{List, Picos};

use super::CalibrateError;

/// Shares of all stalls whose lengths are stated: many where the tail is, up to the longest.
const SHARES: [f64; 14] = [0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 1.0];

/// Stalls of all cores, watched at the same time.
#[derive(Clone, Debug, Default)]
pub struct StallProcess {
    /// In ns.
    lengths: Vec<u64>,
    /// Summed over the cores, in ns.
    observed_ns: u64,
    /// By core: its number, stalls and the time observed.
    cores: Vec<(usize, u64, u64)>,
}

impl StallProcess {
    /// Watches `cpus` for `seconds`, all at once, because the machine may take cores away differently while others are idle.
    pub(super) fn watch(
        &mut self,
        tsc: Tsc,
        cpus: &[usize],
        seconds: f64,
        real_time: bool,
    ) -> Result<(), CalibrateError> {
        let threads: Vec<_> = cpus
            .iter()
            .map(|&cpu| {
                std::thread::spawn(move || {
                    let _priority = if real_time { Some(RealTime::enter(1)?) } else { None };
                    Ok::<_, CalibrateError>((cpu, gaps(tsc, cpu, seconds)?))
                })
            })
            .collect();
        for thread in threads {
            let found = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let (cpu, (gaps, observed_ns)) = found?;
            self.add(cpu, gaps.iter().map(|gap| gap.end - gap.start), observed_ns);
        }
        Ok(())
    }

    pub(super) fn add(
        &mut self,
        cpu: usize,
        lengths_ns: impl ExactSizeIterator<Item = u64>,
        observed_ns: u64,
    ) {
        let count = lengths_ns.len() as u64;
        self.lengths.extend(lengths_ns);
        self.observed_ns += observed_ns;
        match self.cores.iter_mut().find(|core| core.0 == cpu) {
            Some(core) => (core.1, core.2) = (core.1 + count, core.2 + observed_ns),
            None => self.cores.push((cpu, count, observed_ns)),
        }
    }

    /// Stalls seen.
    pub fn count(&self) -> u64 {
        self.lengths.len() as u64
    }

    /// How often cores were away, for how long, and for what share of the time.
    pub fn stats(&self) -> StallStats {
        StallStats::of_lengths(&self.lengths, self.observed_ns)
    }

    /// Stalls a second, by processor.
    pub fn by_cpu(&self) -> Vec<(usize, f64)> {
        let rate = |&(cpu, count, observed_ns): &(usize, u64, u64)| {
            (cpu, count as f64 / (observed_ns as f64 * 1e-9))
        };
        self.cores.iter().map(rate).collect()
    }

    /// The stalls as the simulator reads them; `None` where there were fewer than two, or the cores were away nearly all the time.
    pub fn process(&self) -> Option<Stalls> {
        let rate =
            Rate::per_second((self.count() as f64 / (self.observed_ns as f64 * 1e-9) * 10.0).round() / 10.0)?;
        let mut lengths = self.lengths.clone();
        lengths.sort_unstable();
        let mut table: Vec<(f64, Picos)> = Vec::new();
        for share in SHARES {
            // With few stalls, nothing is known of the tail: shares with fewer than five stalls beyond them are left out.
            let at = share * (lengths.len() as f64 - 1.0);
            if share == 0.0 || share == 1.0 || (1.0 - share) * lengths.len() as f64 >= 5.0 {
                table.push((share, Picos::from_nanos(lengths[at.round() as usize])));
            }
        }
        let stalls = Stalls { rate, lengths: List::new(&table).ok()? };
        (lengths.len() >= 2 && stalls.share() <= Stalls::SHARE_MAX).then_some(stalls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stated_process_is_the_one_that_was_seen() {
        let mut seen = StallProcess::default();
        // 2 µs and up, every millisecond.
        for cpu in [0, 1] {
            seen.add(cpu, (0..5_000_u32).map(|n| 2_000 + u64::from(n * n % 9_973)), 5_000_000_000);
        }
        let stats = seen.stats();
        assert_eq!((stats.count, stats.per_second), (10_000, 1000.0));
        assert_eq!(seen.by_cpu(), [(0, 1000.0), (1, 1000.0)]);
        let stalls = seen.process().unwrap();
        assert_eq!(stalls.rate.per_s(), 1000.0);
        assert!((stalls.share() / stats.share - 1.0).abs() < 0.02, "{} and {}", stalls.share(), stats.share);
    }

    #[test]
    fn nothing_seen_is_no_process() {
        assert!(StallProcess::default().process().is_none());
        let mut one = StallProcess::default();
        one.add(0, [5_000].into_iter(), 1_000_000_000);
        assert!(one.process().is_none());
    }
}
