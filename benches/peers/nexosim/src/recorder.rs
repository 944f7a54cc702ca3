//! What both idioms record of a request that finishes.

use serde_json::{Map, Value, json};
use std::time::Duration;

/// Log-linear over the bits of a double: 256 buckets an octave, from 2^-64 to 2^64. A bucket is at most 1/256
/// of its lower edge wide and answers with its middle, so a percentile is at most 0.2 % off.
struct LogHistogram {
    counts: Vec<u64>,
    total: u64,
    sum: f64,
    max: f64,
}

const SUB_BITS: u32 = 8;
const SHIFT: u32 = 52 - SUB_BITS;
const LOWEST: u64 = (1023 - 64) << SUB_BITS;
const BUCKETS: usize = 128 << SUB_BITS;

impl LogHistogram {
    fn new() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0, sum: 0.0, max: 0.0 }
    }

    fn record(&mut self, value: f64) {
        self.counts[((value.to_bits() >> SHIFT) - LOWEST) as usize] += 1;
        self.total += 1;
        self.sum += value;
        self.max = self.max.max(value);
    }

    fn quantile(&self, share: f64) -> f64 {
        let wanted = (share * self.total as f64).ceil() as u64;
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return f64::from_bits((bucket as u64 + LOWEST) << SHIFT | 1 << (SHIFT - 1));
            }
        }
        f64::NAN
    }
}

/// Sojourn times and slowdowns of all requests but the first tenth.
pub(crate) struct Recorder {
    sojourn_ps: LogHistogram,
    slowdown: LogHistogram,
    finished: u64,
    warm_up: u64,
}

impl Recorder {
    pub(crate) fn new(requests: u64) -> Self {
        Self {
            sojourn_ps: LogHistogram::new(),
            slowdown: LogHistogram::new(),
            finished: 0,
            warm_up: requests / 10,
        }
    }

    pub(crate) fn finish(&mut self, sojourn: Duration, service: Duration) {
        self.finished += 1;
        if self.finished > self.warm_up {
            // Through u64: the conversion of a u128 is a call into the runtime library.
            let sojourn_ps = sojourn.as_nanos() as u64 as f64;
            self.sojourn_ps.record(sojourn_ps);
            self.slowdown.record(sojourn_ps / service.as_nanos() as u64 as f64);
        }
    }

    pub(crate) fn describe(&self) -> Map<String, Value> {
        let mut line = Map::new();
        for (histogram, unit, head, tail) in
            [(&self.sojourn_ps, 1e-3, "", "_ns"), (&self.slowdown, 1.0, "slowdown_", "")]
        {
            let mut put = |name: &str, value: f64| {
                line.insert(format!("{head}{name}{tail}"), json!(value * unit));
            };
            put("mean", histogram.sum / histogram.total as f64);
            put("p50", histogram.quantile(0.5));
            put("p99", histogram.quantile(0.99));
            put("p99.9", histogram.quantile(0.999));
            put("max", histogram.max);
        }
        line
    }
}
