//! Latency histograms that one thread writes on the path of a request while any thread reads them. Each worker has one for each measurement
//! of a class and adds to it when a request ends, with plain stores; statistics make snapshots of them.
//!
//! ```text
//! value          bucket width   buckets
//! 0   .. 63      1 (exact)      0   .. 63
//! 64  .. 127     2              64  .. 95
//! 2^e .. 2^e+1   2^(e-5)        (e-4)*32 .. +31
//! ```
//!
//! Every power of two from 32 on is cut into 32 equal buckets, so a bucket is at most 1/32 of the values in it and
//! its midpoint is off by at most 1/64 ([`RELATIVE_ERROR`]). All of `u64` takes 1920 counts of 64 bits, 15 KiB; what
//! is touched is what is used: latencies from 0.5 µs to 1 ms, eleven powers of two, take 3 KiB of a cache. Counts of
//! 32 bits would halve that and overflow after an hour of a million requests a second. The buckets are those of
//! `caudal-stats`, eight of its to one of these, so that a conversion adds nothing to the error.
//!
//! ## Who may touch what
//!
//! [`LiveHistogram::record`] is for one thread: it loads and stores, and never modifies atomically (a locked
//! instruction is some 5 ns; this is one or two). A second writer would lose counts, and nothing worse. Readers only
//! load.
//!
//! The writer stores the largest value and the sum first, then the bucket with Release; a reader loads the buckets
//! with Acquire and the sum and the largest value after them. A snapshot therefore misses at most what was recorded
//! while it was taken, and its sum and its largest value are of all that it counts, and perhaps of a little more.
//! Each bucket only grows, so of two snapshots by one thread the later one counts at least as much, bucket by bucket.

mod json;
mod plain;
#[cfg(all(test, not(loom)))]
mod tests;

// Not from `primitives`: no model has histograms, and two thousand of loom's atomics would be slow.
use std::sync::atomic::{AtomicU64, Ordering};

pub use plain::Histogram;

/// Bits of a value that a bucket keeps below its leading one.
const PRECISION_BITS: u32 = 5;
/// Buckets per power of two.
const PER_OCTAVE: usize = 1 << PRECISION_BITS;
/// Buckets of all of `u64`.
const BUCKETS: usize = (64 - PRECISION_BITS as usize + 1) * PER_OCTAVE;

/// Largest relative error of a percentile: half a bucket's width over its lowest value (1.6 %). Values below 64 of
/// the recorded unit are exact.
pub const RELATIVE_ERROR: f64 = 1.0 / 64.0;

/// The bucket of a value.
#[inline]
fn index_of(value: u64) -> usize {
    // The or-ed bit makes everything below 64 share one shift of 0: no branch for small values.
    let shift = (63 - PRECISION_BITS) - (value | PER_OCTAVE as u64).leading_zeros();
    ((shift as usize) << PRECISION_BITS) + (value >> shift) as usize
}

/// Lowest and highest value of a bucket.
fn bounds_of(index: usize) -> (u64, u64) {
    let shift = (index >> PRECISION_BITS).saturating_sub(1) as u32;
    let mantissa = (index - ((shift as usize) << PRECISION_BITS)) as u64;
    let low = mantissa << shift;
    (low, low + ((1u64 << shift) - 1))
}

/// Value that a bucket reports.
fn midpoint_of(index: usize) -> u64 {
    let (low, high) = bounds_of(index);
    low + (high - low).div_ceil(2)
}

/// A histogram of `u64` values (cycles or nanoseconds) that is written by one thread while others read it.
///
/// ```
/// let live = caudal_rt::histogram::LiveHistogram::new();
/// (1..=1000).for_each(|cycles| live.record(cycles * 1000));
/// let ns = live.snapshot().scaled(0.5);
/// assert!((ns.percentile(99.0) - 495_000.0).abs() <= 495_000.0 / 64.0);
/// ```
#[derive(Debug)]
pub struct LiveHistogram {
    buckets: Box<[AtomicU64; BUCKETS]>,
    /// Modulo 2^64: of cycles at 3 GHz, two centuries of latency.
    sum: AtomicU64,
    max: AtomicU64,
}

impl Default for LiveHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl LiveHistogram {
    /// An empty histogram: 15 KiB of address space, touched where values fall.
    pub fn new() -> Self {
        let buckets: Box<[AtomicU64]> = (0..BUCKETS).map(|_| AtomicU64::new(0)).collect();
        Self {
            buckets: buckets.try_into().expect("as many as were made"),
            sum: AtomicU64::new(0),
            max: AtomicU64::new(0),
        }
    }

    /// Adds a value. One thread only may call this; a second one would make counts disappear.
    #[inline]
    pub fn record(&self, value: u64) {
        if value > self.max.load(Ordering::Relaxed) {
            self.max.store(value, Ordering::Relaxed);
        }
        self.sum.store(self.sum.load(Ordering::Relaxed).wrapping_add(value), Ordering::Relaxed);
        let bucket = &self.buckets[index_of(value)];
        bucket.store(bucket.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// Number of values so far: the sum over every bucket, so that [`Self::record`] has nothing to count.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).sum()
    }

    /// The values so far, as a plain histogram; any thread, any time.
    pub fn snapshot(&self) -> Histogram {
        let counts: Box<[u64]> = self.buckets.iter().map(|bucket| bucket.load(Ordering::Acquire)).collect();
        // After the buckets: see the module's head.
        let sum = self.sum.load(Ordering::Relaxed);
        Histogram::of(counts, sum, self.max.load(Ordering::Relaxed))
    }
}
