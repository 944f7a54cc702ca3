//! A set of small numbers with a fast "first", "next" and "n-th".

/// Numbers below 4096, as words and a summary of the words that are not zero.
#[derive(Clone)]
pub(crate) struct BitSet {
    summary: u64,
    words: Box<[u64]>,
    len: u32,
}

impl BitSet {
    pub(crate) const CAPACITY_MAX: usize = 4096;

    pub(crate) fn new(capacity: usize) -> BitSet {
        assert!(capacity <= Self::CAPACITY_MAX, "{capacity} numbers in a set for {}", Self::CAPACITY_MAX);
        BitSet { summary: 0, words: vec![0; capacity.div_ceil(64)].into_boxed_slice(), len: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub(crate) fn contains(&self, i: usize) -> bool {
        self.words[i >> 6] >> (i & 63) & 1 == 1
    }

    /// Adds `i`, which is not there.
    #[inline]
    pub(crate) fn insert(&mut self, i: usize) {
        debug_assert!(!self.contains(i));
        self.words[i >> 6] |= 1 << (i & 63);
        self.summary |= 1 << (i >> 6);
        self.len += 1;
    }

    /// Removes `i`, which is there.
    #[inline]
    pub(crate) fn remove(&mut self, i: usize) {
        debug_assert!(self.contains(i));
        let word = &mut self.words[i >> 6];
        *word &= !(1 << (i & 63));
        if *word == 0 {
            self.summary &= !(1 << (i >> 6));
        }
        self.len -= 1;
    }

    /// The least number that is at least `from`.
    #[inline]
    pub(crate) fn first_from(&self, from: usize) -> Option<usize> {
        let at = from >> 6;
        let here = self.words.get(at)? & (!0 << (from & 63));
        if here != 0 {
            return Some(at << 6 | here.trailing_zeros() as usize);
        }
        let later = if at == 63 { 0 } else { self.summary & (!0 << (at + 1)) };
        if later == 0 {
            return None;
        }
        let at = later.trailing_zeros() as usize;
        Some(at << 6 | self.words[at].trailing_zeros() as usize)
    }

    /// The greatest number.
    pub(crate) fn last(&self) -> Option<usize> {
        let at = 63_u32.checked_sub(self.summary.leading_zeros())? as usize;
        Some(at << 6 | (63 - self.words[at].leading_zeros()) as usize)
    }

    /// The `n`-th number in increasing order, `n <` [`BitSet::len`].
    #[inline]
    pub(crate) fn nth(&self, mut n: u32) -> usize {
        debug_assert!(n < self.len);
        let mut words = self.summary;
        loop {
            let at = words.trailing_zeros() as usize;
            let mut word = self.words[at];
            let here = word.count_ones();
            if n < here {
                for _ in 0..n {
                    word &= word - 1;
                }
                return at << 6 | word.trailing_zeros() as usize;
            }
            n -= here;
            words &= words - 1;
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let mut next = 0;
        core::iter::from_fn(move || {
            let i = self.first_from(next)?;
            next = i + 1;
            Some(i)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn does_what_a_tree_set_does() {
        let mut bits = BitSet::new(300);
        let mut tree = BTreeSet::new();
        let mut state = 7_u64;
        for _ in 0..5_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let i = (state >> 40) as usize % 300;
            if tree.insert(i) {
                bits.insert(i);
            } else {
                tree.remove(&i);
                bits.remove(i);
            }
            let from = (state >> 20) as usize % 300;
            assert_eq!(bits.first_from(from), tree.range(from..).next().copied());
            assert_eq!(bits.last(), tree.last().copied());
            assert_eq!(bits.len() as usize, tree.len());
            if !tree.is_empty() {
                let n = (state >> 11) as u32 % bits.len();
                assert_eq!(Some(&bits.nth(n)), tree.iter().nth(n as usize));
            }
        }
        assert!(bits.iter().eq(tree.iter().copied()));
    }
}
