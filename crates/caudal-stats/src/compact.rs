//! A histogram that is finished, with its counts as variable-length integers. `replicated` keeps each replication in this form until all
//! of them are compared. Pure.
//!
//! Intervals need every replication's histogram until the last one is in. A bucket of a replication mostly holds
//! a few thousand values, so two bytes do instead of eight, and memory stays small at hundreds of replications.

use crate::histogram::{Histogram, midpoint_of};

/// Buckets between two entries of the index.
const STRIDE: usize = 128;

/// The part of one replication that is kept.
#[derive(Clone, Debug)]
pub(crate) struct Compact {
    /// Counts from bucket `first` on, LEB128: seven bits a byte, low bits first.
    bytes: Box<[u8]>,
    /// At every [`STRIDE`]-th bucket: where its count starts in `bytes`, and the number of values before it.
    marks: Box<[(u32, u64)]>,
    first: usize,
    pub(crate) count: u64,
    pub(crate) sum: u128,
}

impl Compact {
    pub(crate) fn of(histogram: &Histogram) -> Self {
        let first = histogram.indexed().next().map_or(0, |(index, _)| index);
        Self::encode(first, histogram.indexed().map(|(_, count)| count), histogram.sum())
    }

    fn encode(first: usize, counts: impl Iterator<Item = u64>, sum: u128) -> Self {
        let (mut bytes, mut marks, mut total) = (Vec::new(), Vec::new(), 0);
        for (position, mut count) in counts.enumerate() {
            if position % STRIDE == 0 {
                marks.push((bytes.len() as u32, total));
            }
            total += count;
            while count >= 0x80 {
                bytes.push(count as u8 | 0x80);
                count >>= 7;
            }
            bytes.push(count as u8);
        }
        Self { bytes: bytes.into(), marks: marks.into(), first, count: total, sum }
    }

    /// The counts of this and the other, added.
    pub(crate) fn merged(&self, other: &Self) -> Self {
        if self.count == 0 || other.count == 0 {
            return if self.count == 0 { other.clone() } else { self.clone() };
        }
        let first = self.first.min(other.first);
        let mut counts = Vec::new();
        for part in [self, other] {
            for (position, count) in decode(&part.bytes).enumerate() {
                let at = part.first - first + position;
                counts.resize(counts.len().max(at + 1), 0);
                counts[at] += count;
            }
        }
        Self::encode(first, counts.into_iter(), self.sum + other.sum)
    }

    /// Adds its values to a histogram, at the midpoints of their buckets.
    pub(crate) fn add_to(&self, histogram: &mut Histogram) {
        let counts = decode(&self.bytes).enumerate().filter(|(_, count)| *count > 0);
        counts.for_each(|(position, count)| histogram.record_n(midpoint_of(self.first + position), count));
    }

    /// Bucket of the value with this rank (1 ..= count); none if nothing was recorded.
    pub(crate) fn index_at_rank(&self, rank: u64) -> Option<usize> {
        let stride = self.marks.iter().rposition(|&(_, before)| before < rank)?;
        let (start, mut seen) = self.marks[stride];
        let in_stride = decode(&self.bytes[start as usize..]).enumerate();
        for (position, count) in in_stride {
            seen += count;
            if seen >= rank {
                return Some(self.first + stride * STRIDE + position);
            }
        }
        None
    }

    /// Number of values in the buckets up to and including `index`.
    pub(crate) fn count_up_to(&self, index: usize) -> u64 {
        let Some(position) = index.checked_sub(self.first) else { return 0 };
        let Some(&(start, before)) = self.marks.get(position / STRIDE) else { return self.count };
        before + decode(&self.bytes[start as usize..]).take(position % STRIDE + 1).sum::<u64>()
    }
}

fn decode(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let mut rest = bytes.iter();
    std::iter::from_fn(move || {
        let (mut count, mut shift) = (0u64, 0);
        loop {
            let byte = *rest.next()?;
            count |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(count);
            }
            shift += 7;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[(u64, u64)]) -> Histogram {
        let mut h = Histogram::new();
        values.iter().for_each(|&(value, n)| h.record_n(value, n));
        h
    }

    #[test]
    fn keeps_every_count() {
        let h = sample(&[(3, 1), (900, 127), (901, 128), (5_000, 1 << 40), (1 << 40, u64::MAX >> 2)]);
        let compact = Compact::of(&h);
        assert!(decode(&compact.bytes).eq(h.indexed().map(|(_, count)| count)));
        assert_eq!((compact.count, compact.sum), (h.count(), h.sum()));
        let mut seen = 0;
        for (index, count) in h.indexed() {
            seen += count;
            assert_eq!(compact.count_up_to(index), seen);
        }
        assert_eq!((compact.count_up_to(2), compact.count_up_to(usize::MAX)), (0, h.count()));
    }

    #[test]
    fn empty_ones_count_nothing() {
        let empty = Compact::of(&Histogram::new());
        assert_eq!((empty.count, empty.count_up_to(0), empty.count_up_to(usize::MAX)), (0, 0, 0));
        let one = Compact::of(&sample(&[(1000, 7)]));
        assert_eq!((one.merged(&empty).count, empty.merged(&one).count_up_to(usize::MAX)), (7, 7));
    }

    #[test]
    fn merging_adds() {
        let (a, b) = (sample(&[(10, 3), (70_000, 2)]), sample(&[(4, 1), (10, 200), (1 << 33, 9)]));
        let merged = Compact::of(&a).merged(&Compact::of(&b));
        let mut both = a.clone();
        both.merge(&b);
        let expected = Compact::of(&both);
        assert_eq!(
            (merged.first, &merged.bytes, &merged.marks),
            (expected.first, &expected.bytes, &expected.marks)
        );
        assert_eq!((merged.count, merged.sum), (both.count(), both.sum()));
    }
}
