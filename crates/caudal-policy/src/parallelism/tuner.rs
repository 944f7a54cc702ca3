//! Tail-control's table from the requests that completed lately. A host tells it of each arrival and completion, and takes the new table when
//! an epoch is over.
//!
//! Epochs are equally long. In each, arrivals are counted, and the processing times of requests that completed, in
//! buckets of 3 % by class. When an epoch is over, the table is computed anew from the last few epochs, and the oldest is
//! forgotten. So a change of the workload has its full effect on the table after a window.
//!
//! ```text
//!   |  epoch  |  epoch  |  epoch  |  epoch  | now
//!             '----------- window ----------'
//!                                           '--> table for the next epoch
//! ```
//!
//! The host reports events and takes the table; it reads the clock and gives the table to the policy. A measured load above the capacity of
//! the cores counts as [`LOAD_MOST`]: queues grow then whatever the table is, until the load falls again.
//!
//! Source: Li et al., PPoPP 2016, section 5.4: a service could sample its workload and work out the thresholds on-line.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use super::thresholds::classes::{Class, ClassPileup};
use super::thresholds::{Bin, Demand, Knowledge, Pileup};
use super::{ClassTables, RetuneConfig, ThresholdTable};
use crate::Picos;

/// Rows of the table.
pub const ROWS: u32 = 256;
/// The highest load that a table is made for.
pub const LOAD_MOST: f64 = 0.98;
/// Requests that have to have completed in the window.
pub const ENOUGH: u64 = 200;

/// Buckets of an octave.
const PER_OCTAVE: u32 = 32;
const BUCKETS: usize = 64 * PER_OCTAVE as usize;

/// Requests of similar work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    count: u64,
    sum_ps: u64,
}

/// The requests that completed in an epoch, and the ones that arrived.
#[derive(Clone, Debug)]
struct Epoch {
    arrivals: u64,
    /// By class and bucket.
    tallies: Box<[Tally]>,
}

impl Epoch {
    fn new(classes: usize) -> Epoch {
        Epoch { arrivals: 0, tallies: vec![Tally::default(); classes * BUCKETS].into() }
    }

    fn clear(&mut self) {
        self.arrivals = 0;
        self.tallies.fill(Tally::default());
    }
}

/// The purpose of the table, beside what is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Purpose {
    /// Target latencies by class; one for all, if all have the same.
    pub targets: Vec<Picos>,
    /// Cores.
    pub cores: u32,
    /// Share of each request's work that one core does alone.
    pub span: f64,
    /// The factor of all thresholds.
    pub scale: f64,
}

/// The tuner of one table; how it works is in the [module](self).
#[derive(Clone, Debug)]
pub struct Tuner {
    purpose: Purpose,
    every: Picos,
    /// The oldest first; the last is the present one.
    epochs: VecDeque<Epoch>,
    most_epochs: usize,
    /// When the present epoch is over.
    ends_at: Picos,
}

impl Tuner {
    /// Begins at time 0.
    pub fn new(config: RetuneConfig, purpose: Purpose) -> Tuner {
        let every = config.every.max(Picos(1));
        let most_epochs = (config.window.0 / every.0).clamp(1, 1 << 10) as usize;
        let epochs = VecDeque::from([Epoch::new(purpose.targets.len())]);
        Tuner { purpose, every, epochs, most_epochs, ends_at: every }
    }

    /// A request arrives.
    #[inline]
    pub fn on_arrival(&mut self) {
        self.present().arrivals += 1;
    }

    /// A request of `class` has completed, which was processed for `processed`.
    #[inline]
    pub fn on_completed(&mut self, class: u8, processed: Picos) {
        let class = usize::from(class).min(self.purpose.targets.len() - 1);
        let tally = &mut self.present().tallies[class * BUCKETS + bucket(processed.0)];
        tally.count += 1;
        tally.sum_ps = tally.sum_ps.saturating_add(processed.0);
    }

    /// Whether an epoch is over by `now`.
    #[inline]
    pub fn is_due(&self, now: Picos) -> bool {
        now >= self.ends_at
    }

    /// Ends all epochs that are over by `now`, and works out the table; `None` if too few requests have completed, or
    /// nothing has ended.
    pub fn retune(&mut self, now: Picos) -> Option<ClassTables> {
        if !self.is_due(now) {
            return None;
        }
        let over = 1 + (now.0 - self.ends_at.0) / self.every.0;
        // What is older than the window is forgotten first.
        for _ in 1..over.min(self.most_epochs as u64 + 1) {
            self.begin();
        }
        let tables = self.tables();
        self.begin();
        self.ends_at = Picos(self.ends_at.0.saturating_add(over.saturating_mul(self.every.0)));
        tables
    }

    fn present(&mut self) -> &mut Epoch {
        self.epochs.back_mut().expect("there is always an epoch")
    }

    fn begin(&mut self) {
        let next = match self.epochs.len() < self.most_epochs {
            true => Epoch::new(self.purpose.targets.len()),
            false => {
                let mut oldest = self.epochs.pop_front().expect("there is always an epoch");
                oldest.clear();
                oldest
            }
        };
        self.epochs.push_back(next);
    }

    /// The table of all epochs that are remembered.
    fn tables(&self) -> Option<ClassTables> {
        let mut tallies = vec![Tally::default(); self.purpose.targets.len() * BUCKETS];
        for (sum, tally) in self.epochs.iter().flat_map(tallies_at) {
            tallies[sum].count += tally.count;
            tallies[sum].sum_ps = tallies[sum].sum_ps.saturating_add(tally.sum_ps);
        }
        let completed: u64 = tallies.iter().map(|tally| tally.count).sum();
        let arrivals: u64 = self.epochs.iter().map(|epoch| epoch.arrivals).sum();
        if completed < ENOUGH || arrivals == 0 {
            return None;
        }
        let of_class = |tallies: &[Tally]| bins(tallies, completed, self.purpose.span);
        let classes: Vec<Vec<Bin>> = tallies.chunks(BUCKETS).map(of_class).collect();
        let seconds = self.every.0 as f64 * self.epochs.len() as f64 / 1e12;
        work_out(&self.purpose, classes, arrivals as f64 / seconds)
            .map(|tables| tables.scaled(self.purpose.scale))
    }
}

fn tallies_at(epoch: &Epoch) -> impl Iterator<Item = (usize, &Tally)> {
    epoch.tallies.iter().enumerate().filter(|(_, tally)| tally.count > 0)
}

/// The tables of classes with these bins, whose shares are those of all requests.
fn work_out(purpose: &Purpose, classes: Vec<Vec<Bin>>, rps: f64) -> Option<ClassTables> {
    let cores = f64::from(purpose.cores);
    let mean_s: f64 = classes.iter().flatten().map(|bin| bin.share * bin.mean_s).sum();
    let target_s = |target: Picos| target.0 as f64 / 1e12;
    let demand = Demand {
        target_s: target_s(*purpose.targets.first()?),
        rps: rps.min(LOAD_MOST * cores / mean_s),
        cores,
        knowledge: Knowledge::Processed,
    };
    if let [bins] = &classes[..] {
        let table: ThresholdTable = Pileup::new(bins, demand).ok()?.table(ROWS).into_iter().collect();
        return Some(table.into());
    }
    let class = |(bins, &target): (Vec<Bin>, &Picos)| Class { bins, target_s: target_s(target) };
    let classes: Vec<Class> = classes.into_iter().zip(&purpose.targets).map(class).collect();
    let rows = ClassPileup::new(&classes, demand).ok()?.table(ROWS);
    Some(ClassTables::of_rows(&rows, classes.len()))
}

fn bins(tallies: &[Tally], completed: u64, span: f64) -> Vec<Bin> {
    let bin = |(at, tally): (usize, &Tally)| {
        let mean_s = (tally.sum_ps as f64 / tally.count as f64 / 1e12).max(1e-12);
        Bin {
            share: tally.count as f64 / completed as f64,
            mean_s,
            most_s: (last_of(at) as f64 / 1e12).max(mean_s),
            span_s: span * mean_s,
        }
    };
    tallies.iter().enumerate().filter(|(_, tally)| tally.count > 0).map(bin).collect()
}

/// The bucket that holds `value`, in ps: its highest bit, and the five after that.
#[inline]
fn bucket(value: u64) -> usize {
    let value = value.max(u64::from(PER_OCTAVE));
    let octave = value.ilog2();
    let fine = (value >> (octave - 5)) & u64::from(PER_OCTAVE - 1);
    (octave * PER_OCTAVE) as usize + fine as usize
}

/// The largest value of a bucket.
fn last_of(bucket: usize) -> u64 {
    let (octave, fine) = (bucket as u32 / PER_OCTAVE, bucket as u64 % u64::from(PER_OCTAVE));
    let next = u128::from(u64::from(PER_OCTAVE) + fine + 1) << octave >> 5;
    u64::try_from(next - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Draw;

    #[test]
    fn buckets_hold_their_values() {
        for value in (32..5_000).chain([1 << 20, (1 << 40) + 12_345, u64::MAX]) {
            let at = bucket(value);
            assert!(value <= last_of(at), "{value}");
            assert!(value == 32 || value > last_of(at - 1), "{value}");
            assert!(last_of(at) as f64 <= value as f64 * (33.0 / 32.0), "{value} {}", last_of(at));
        }
        assert_eq!([bucket(0), bucket(31)], [bucket(32); 2]);
    }

    fn purpose(targets_ms: &[u64]) -> Purpose {
        let targets = targets_ms.iter().map(|&ms| Picos::from_micros(ms * 1_000)).collect();
        Purpose { targets, cores: 16, span: 0.0, scale: 1.0 }
    }

    fn config(every_ms: u64, window_ms: u64) -> RetuneConfig {
        let ms = |ms: u64| Picos::from_micros(ms * 1_000);
        RetuneConfig { every: ms(every_ms), window: ms(window_ms), oracle: false }
    }

    /// A second of `rps` requests of 1 to 40 ms, most of them short.
    fn second(tuner: &mut Tuner, rps: u64, factor: f64, seed: u64) {
        for number in 0..rps {
            let unit = (Draw::new(seed, number).bits() >> 11) as f64 / (1_u64 << 53) as f64;
            tuner.on_arrival();
            tuner.on_completed(0, Picos((1e9 * factor * 40_f64.powf(unit)) as u64));
        }
    }

    #[test]
    fn the_table_is_that_of_what_completed() {
        let mut tuner = Tuner::new(config(1_000, 1_000), purpose(&[25]));
        second(&mut tuner, 1_000, 1.0, 1);
        assert!(!tuner.is_due(Picos(999_999_999_999)));
        let found = tuner.retune(Picos(1_000_000_000_000)).expect("a table");
        // The same requests, counted by hand.
        let mut tallies = vec![Tally::default(); BUCKETS];
        for number in 0..1_000 {
            let unit = (Draw::new(1, number).bits() >> 11) as f64 / (1_u64 << 53) as f64;
            let work_ps = (1e9 * 40_f64.powf(unit)) as u64;
            let tally = &mut tallies[bucket(work_ps)];
            (tally.count, tally.sum_ps) = (tally.count + 1, tally.sum_ps + work_ps);
        }
        let demand = Demand { target_s: 0.025, rps: 1_000.0, cores: 16.0, knowledge: Knowledge::Processed };
        let table = Pileup::new(&bins(&tallies, 1_000, 0.0), demand).expect("no overload").table(ROWS);
        assert_eq!(found, table.into_iter().collect::<ThresholdTable>().into());
        assert!(found.at(0, 1) > found.at(0, 60), "{found:?}");
    }

    #[test]
    fn what_is_older_than_the_window_is_forgotten() {
        let second_ps = 1_000_000_000_000;
        let mut tuner = Tuner::new(config(1_000, 3_000), purpose(&[25]));
        let mut tables = Vec::new();
        for (at, factor) in [1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5].into_iter().enumerate() {
            second(&mut tuner, 1_000, factor, at as u64 % 3);
            tables.push(tuner.retune(Picos((at as u64 + 1) * second_ps)).expect("a table"));
        }
        assert_ne!(tables[2], tables[3], "half as long requests count at once");
        let mut fresh = Tuner::new(config(1_000, 3_000), purpose(&[25]));
        for at in 3..6 {
            second(&mut fresh, 1_000, 0.5, at % 3);
            fresh.retune(Picos((at - 2) * second_ps));
        }
        second(&mut fresh, 1_000, 0.5, 0);
        let last = fresh.retune(Picos(4 * second_ps)).expect("a table");
        assert_eq!(tables[6], last, "and alone, when the others are older than the window");
    }

    #[test]
    fn silence_and_overload_are_survived() {
        let second_ps = 1_000_000_000_000;
        let mut tuner = Tuner::new(config(1_000, 3_000), purpose(&[25]));
        assert_eq!(tuner.retune(Picos(second_ps)), None, "nothing has completed");
        second(&mut tuner, 100_000, 1.0, 1);
        assert!(tuner.retune(Picos(2 * second_ps)).is_some(), "a load above 1 counts as one below");
        assert_eq!(tuner.retune(Picos(50 * second_ps)), None, "all is forgotten");
        assert!(tuner.is_due(Picos(51 * second_ps)) && !tuner.is_due(Picos(50 * second_ps)));
    }

    #[test]
    fn classes_have_tables_of_their_own() {
        let mut tuner = Tuner::new(config(1_000, 1_000), purpose(&[5, 100]));
        for number in 0..1_000_u64 {
            tuner.on_arrival();
            let class = u8::from(number % 20 == 0);
            let ms = if class == 0 { 1 + number % 7 } else { 50 + number % 100 };
            tuner.on_completed(class, Picos::from_micros(ms * 1_000));
        }
        let found = tuner.retune(Picos(1_000_000_000_000)).expect("tables");
        assert_eq!(found.tables().len(), 2);
        let [short, long] = [0, 1].map(|class| found.at(class, 40));
        assert!(long < Picos::from_micros(50_000) && long < short, "{long} {short}");
    }
}
