//! A set of small numbers with a fast "first", "next" and "n-th". The loops keep idle workers and open pools in it, and ask several times
//! for each event. A data structure without other state.

/// Numbers below 4096, as words and a summary of the words that are not zero.
#[derive(Clone)]
pub(crate) struct BitSet {
    summary: u64,
    len: u32,
    /// And one more, which stays empty.
    words: [u64; WORDS + 1],
}

/// One for each bit of the summary. Indices are taken modulo this: no number is so large, which the compiler
/// does not know.
const WORDS: usize = 64;

impl BitSet {
    pub(crate) const CAPACITY_MAX: usize = 64 * WORDS;

    pub(crate) fn new(capacity: usize) -> BitSet {
        assert!(capacity <= Self::CAPACITY_MAX, "{capacity} numbers in a set for {}", Self::CAPACITY_MAX);
        BitSet { summary: 0, len: 0, words: [0; WORDS + 1] }
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub(crate) fn contains(&self, i: usize) -> bool {
        self.words[(i >> 6) % WORDS] >> (i & 63) & 1 == 1
    }

    /// Adds `i`, which is not there.
    #[inline]
    pub(crate) fn insert(&mut self, i: usize) {
        debug_assert!(!self.contains(i));
        self.words[(i >> 6) % WORDS] |= 1 << (i & 63);
        self.summary |= 1 << (i >> 6);
        self.len += 1;
    }

    /// Removes `i`, which is there.
    #[inline]
    pub(crate) fn remove(&mut self, i: usize) {
        debug_assert!(self.contains(i));
        let at = (i >> 6) % WORDS;
        self.words[at] &= !(1 << (i & 63));
        // No branch: whether others are left is often a toss-up.
        self.summary &= !(u64::from(self.words[at] == 0) << at);
        self.len -= 1;
    }

    /// The least number that is at least `from`.
    #[inline]
    pub(crate) fn first_from(&self, from: usize) -> Option<usize> {
        let (at, shift) = (from >> 6, from & 63);
        if at >= WORDS {
            return None;
        }
        // The next 64, whatever word they are in: where words are not crowded, that finds one nearly always. Two
        // shifts, because one by 64 would be one by 0.
        let ahead = (self.words[at] >> shift) | (self.words[at + 1] << 1 << (63 - shift));
        if ahead != 0 {
            return Some(from + ahead.trailing_zeros() as usize);
        }
        let later = if at == 63 { 0 } else { self.summary & (!0 << (at + 1)) };
        if later == 0 {
            return None;
        }
        let at = later.trailing_zeros() as usize;
        Some(at << 6 | self.words[at].trailing_zeros() as usize)
    }

    /// As [`BitSet::first_from`], of a set that has only numbers below 64.
    #[inline(always)]
    pub(crate) fn first_of_few(&self, from: usize) -> Option<usize> {
        let ahead = self.words[0] & (!0 << (from & 63));
        (ahead != 0).then(|| ahead.trailing_zeros() as usize)
    }

    /// The greatest number.
    pub(crate) fn last(&self) -> Option<usize> {
        let at = 63_u32.checked_sub(self.summary.leading_zeros())? as usize;
        Some(at << 6 | (63 - self.words[at].leading_zeros()) as usize)
    }

    /// The `n`-th number in increasing order, `n <` [`BitSet::len`].
    #[inline]
    pub(crate) fn nth(&self, n: u32) -> usize {
        debug_assert!(n < self.len);
        nth_in(self.summary, &self.words[..WORDS], n)
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

/// Many sets of small numbers, one after the other in memory.
///
/// ```text
///   up to 64 numbers   [word]                                                a row
///   more               [which words are not 0 | how many | word 0 | word 1 | …]
/// ```
pub(in crate::engine) struct Rows {
    words: Vec<u64>,
    /// Words of a row.
    width: usize,
    /// Rows.
    len: usize,
}

/// Words of a wide row before those with a bit a number.
const HEAD: usize = 2;

impl Rows {
    /// One empty row for numbers below `capacity`.
    pub(in crate::engine) fn new(capacity: usize) -> Rows {
        assert!(capacity <= BitSet::CAPACITY_MAX, "{capacity} numbers in a set");
        let width = if capacity <= 64 { 1 } else { HEAD + capacity.div_ceil(64) };
        Rows { words: vec![0; width], width, len: 1 }
    }

    #[inline]
    pub(in crate::engine) fn len(&self) -> usize {
        self.len
    }

    /// Adds empty rows until there is a row `row`.
    #[cold]
    pub(in crate::engine) fn reach(&mut self, row: usize) {
        self.len = self.len.max(row + 1);
        self.words.resize(self.len * self.width, 0);
    }

    #[inline]
    fn wide(&self, row: usize) -> &[u64] {
        &self.words[row * self.width..][..self.width]
    }

    #[inline]
    fn wide_mut(&mut self, row: usize) -> &mut [u64] {
        &mut self.words[row * self.width..][..self.width]
    }

    /// Adds `i`, which is not there.
    #[inline(always)]
    pub(in crate::engine) fn insert(&mut self, row: usize, i: usize) {
        if self.width == 1 {
            self.words[row] |= 1 << (i & 63);
        } else {
            wide_insert(self.wide_mut(row), i);
        }
    }

    /// Removes `i`, which is there.
    #[inline(always)]
    pub(in crate::engine) fn remove(&mut self, row: usize, i: usize) {
        if self.width == 1 {
            self.words[row] &= !(1 << (i & 63));
        } else {
            wide_remove(self.wide_mut(row), i);
        }
    }

    /// Moves `i` from one row to another; is row `least` empty then?
    #[inline(always)]
    pub(in crate::engine) fn shift(&mut self, i: usize, from: usize, to: usize, least: usize) -> bool {
        if self.width == 1 {
            let words = &mut self.words[..];
            words[to] |= 1 << (i & 63);
            words[from] &= !(1 << (i & 63));
            return words[least] == 0;
        }
        self.wide_shift(i, from, to);
        self.is_empty(least)
    }

    #[inline(never)]
    fn wide_shift(&mut self, i: usize, from: usize, to: usize) {
        wide_remove(self.wide_mut(from), i);
        wide_insert(self.wide_mut(to), i);
    }

    #[inline(always)]
    pub(in crate::engine) fn is_empty(&self, row: usize) -> bool {
        // Both the word of a narrow row and the summary of a wide one come first.
        self.words[row * self.width] == 0
    }

    /// How many numbers the row has.
    #[inline(always)]
    pub(in crate::engine) fn count(&self, row: usize) -> u32 {
        if self.width == 1 { self.words[row].count_ones() } else { self.wide(row)[1] as u32 }
    }

    /// The least number above `i`.
    #[inline(always)]
    pub(in crate::engine) fn next_after(&self, row: usize, i: usize) -> Option<usize> {
        if self.width == 1 {
            let word = self.words[row] & (!1 << (i & 63));
            return (word != 0).then(|| word.trailing_zeros() as usize);
        }
        wide_from(self.wide(row), i + 1)
    }

    /// The `n`-th number in increasing order, `n <` [`Rows::count`].
    #[inline(always)]
    pub(in crate::engine) fn nth(&self, row: usize, n: u32) -> usize {
        if self.width == 1 {
            return nth_bit(self.words[row], n);
        }
        let row = self.wide(row);
        if n == 0 {
            let at = row[0].trailing_zeros() as usize;
            return at << 6 | row[HEAD + at].trailing_zeros() as usize;
        }
        nth_in(row[0], &row[HEAD..], n)
    }
}

#[inline]
fn wide_insert(row: &mut [u64], i: usize) {
    row[HEAD + (i >> 6)] |= 1 << (i & 63);
    row[0] |= 1 << (i >> 6);
    row[1] += 1;
}

#[inline]
fn wide_remove(row: &mut [u64], i: usize) {
    let word = &mut row[HEAD + (i >> 6)];
    *word &= !(1 << (i & 63));
    let emptied = u64::from(*word == 0);
    row[0] &= !(emptied << (i >> 6));
    row[1] -= 1;
}

/// The least number of a wide row that is at least `from`.
#[inline]
fn wide_from(row: &[u64], from: usize) -> Option<usize> {
    let at = from >> 6;
    let here = row.get(HEAD + at)? & (!0 << (from & 63));
    if here != 0 {
        return Some(at << 6 | here.trailing_zeros() as usize);
    }
    let later = if at == 63 { 0 } else { row[0] & (!0 << (at + 1)) };
    if later == 0 {
        return None;
    }
    let at = later.trailing_zeros() as usize;
    Some(at << 6 | row[HEAD + at].trailing_zeros() as usize)
}

/// The `n`-th set bit, from the lowest.
#[inline(always)]
fn nth_bit(mut word: u64, n: u32) -> usize {
    for _ in 0..n {
        word &= word - 1;
    }
    word.trailing_zeros() as usize
}

/// The `n`-th set bit of `words`; `summary` says which of them are not 0.
#[inline]
fn nth_in(mut summary: u64, words: &[u64], mut n: u32) -> usize {
    loop {
        let at = summary.trailing_zeros() as usize;
        let word = words[at];
        let here = word.count_ones();
        if n < here {
            return at << 6 | nth_bit(word, n);
        }
        n -= here;
        summary &= summary - 1;
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

    #[test]
    fn rows_do_what_sets_do() {
        for capacity in [1, 16, 64, 65, 300, 4096] {
            let mut rows = Rows::new(capacity);
            rows.reach(2);
            let mut sets = vec![BitSet::new(capacity); 3];
            let mut state = 3_u64;
            for _ in 0..3_000 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let (i, row) = ((state >> 40) as usize % capacity, (state >> 20) as usize % 3);
                let set = &mut sets[row];
                if set.contains(i) {
                    set.remove(i);
                    rows.remove(row, i);
                } else {
                    set.insert(i);
                    rows.insert(row, i);
                }
                let i = (state >> 11) as usize % capacity;
                assert_eq!(rows.next_after(row, i), set.first_from(i + 1));
                assert_eq!((rows.count(row), rows.is_empty(row)), (set.len(), set.len() == 0));
                if set.len() > 0 {
                    let n = (state >> 30) as u32 % set.len();
                    assert_eq!(rows.nth(row, n), set.nth(n));
                }
            }
        }
    }
}
