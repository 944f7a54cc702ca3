//! A histogram that is finished: its counts as variable-length integers.
//!
//! Intervals need every replication's histogram until the last one is in. A bucket of a replication mostly holds
//! a few thousand values, so two bytes do instead of eight, and memory stays small at hundreds of replications.

use crate::histogram::Histogram;

/// What is kept of one replication.
#[derive(Clone, Debug)]
pub(crate) struct Compact {
    /// Counts from bucket `first` on, LEB128: seven bits a byte, low bits first.
    bytes: Box<[u8]>,
    first: usize,
    pub(crate) count: u64,
    pub(crate) sum: u128,
}

impl Compact {
    pub(crate) fn of(histogram: &Histogram) -> Self {
        let mut bytes = Vec::new();
        let mut first = None;
        for (index, mut count) in histogram.indexed() {
            first.get_or_insert(index);
            while count >= 0x80 {
                bytes.push(count as u8 | 0x80);
                count >>= 7;
            }
            bytes.push(count as u8);
        }
        Self {
            bytes: bytes.into(),
            first: first.unwrap_or(0),
            count: histogram.count(),
            sum: histogram.sum(),
        }
    }

    /// Counts by bucket number, in order.
    pub(crate) fn indexed(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let mut rest = self.bytes.iter();
        let mut index = self.first;
        std::iter::from_fn(move || {
            let (mut count, mut shift) = (0u64, 0);
            loop {
                let byte = *rest.next()?;
                count |= u64::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
                shift += 7;
            }
            index += 1;
            Some((index - 1, count))
        })
    }

    /// Number of values in the buckets up to and including `index`.
    pub(crate) fn count_up_to(&self, index: usize) -> u64 {
        self.indexed().take_while(|&(i, _)| i <= index).map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_every_count() {
        let mut h = Histogram::new();
        for (v, n) in [(3, 1), (900, 127), (901, 128), (5_000, 1 << 40), (1 << 40, u64::MAX >> 2)] {
            h.record_n(v, n);
        }
        let compact = Compact::of(&h);
        assert!(compact.indexed().eq(h.indexed()));
        assert_eq!((compact.count, compact.sum), (h.count(), h.sum()));
        assert_eq!(compact.count_up_to(3), 1);
        assert_eq!(compact.count_up_to(usize::MAX), h.count());
        assert_eq!(Compact::of(&Histogram::new()).indexed().count(), 0);
    }
}
