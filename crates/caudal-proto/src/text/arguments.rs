//! The words behind a command's name, and what many commands ask of them.
//! The parser and its part for storage commands call it, for all commands but `get` and its like.

use super::KEY_BYTES_MAX;
use super::answer::Line;
use crate::bytes::{Words, first_not_of_key};

/// Words behind the name of a command that are looked at: one more than any command but `get` and its like may have.
const WORDS_MAX: usize = 7;

/// The words behind a command's name: the first few of them, and how many there are.
pub(super) struct Arguments<'a> {
    words: [&'a [u8]; WORDS_MAX],
    count: usize,
}

impl<'a> Arguments<'a> {
    pub(super) fn of(line: Words<'a>) -> Arguments<'a> {
        let mut words: [&[u8]; WORDS_MAX] = [&[]; WORDS_MAX];
        let mut count = 0;
        for word in line.take(WORDS_MAX) {
            words[count] = word;
            count += 1;
        }
        Arguments { words, count }
    }

    /// The words, if their number is in `range`; else the answer `ERROR`.
    pub(super) fn within(&self, range: std::ops::RangeInclusive<usize>) -> Result<&[&'a [u8]], Option<Line>> {
        if range.contains(&self.count) { Ok(&self.words[..self.count]) } else { Err(Some(Line::Error)) }
    }
}

/// Whether the last word says that no answer is wanted.
pub(super) fn is_noreply(arguments: &[&[u8]]) -> bool {
    arguments.last().is_some_and(|word| *word == b"noreply")
}

/// `answer`, unless none is wanted.
pub(super) fn unless(noreply: bool, answer: Line) -> Option<Line> {
    (!noreply).then_some(answer)
}

/// Whether `key` can be one.
pub(super) fn is_key(key: &[u8]) -> bool {
    (1..=KEY_BYTES_MAX).contains(&key.len()) && first_not_of_key(key).is_none()
}
