//! Words and numbers in a line of text: what the parsers of requests and of replies share.
//! They call it for every message, so it looks at eight bytes at a time where it can.

use memchr::memchr;

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH_BITS: u64 = ONES << 7;
const FIRST_PRINTABLE: u64 = 0x21;
const DELETE: u64 = 0x7f;

/// The index of the first byte that no key may have: a space, a control character or DEL. `None` if there is none.
#[inline]
pub(crate) fn first_not_of_key(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = bytes[at..].first_chunk() {
        // A subtraction borrows from higher bytes only, and the lowest byte is the first one: the lowest mark of each line is right,
        // whatever stands above it.
        let word = u64::from_le_bytes(*word);
        let low = word.wrapping_sub(ONES * FIRST_PRINTABLE) & !word;
        let deletes = word ^ (ONES * DELETE);
        let marks = (low | (deletes.wrapping_sub(ONES) & !deletes)) & HIGH_BITS;
        if marks != 0 {
            return Some(at + (marks.trailing_zeros() / 8) as usize);
        }
        at += size_of::<u64>();
    }
    bytes[at..].iter().position(|&byte| !of_key(byte)).map(|index| at + index)
}

/// Whether a key may have this byte.
fn of_key(byte: u8) -> bool {
    u64::from(byte) >= FIRST_PRINTABLE && u64::from(byte) != DELETE
}

/// The number that `digits` are: all of them decimal digits, at least one, and no more than 64 bits.
#[inline]
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    match leading_number(digits) {
        Some((value, length)) if length == digits.len() => Some(value),
        _ => None,
    }
}

/// The number at the beginning of `bytes`, and how many digits it has. `None` if there is none, or if it has more than 64 bits.
#[inline]
pub(crate) fn leading_number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    let mut length = 0;
    while let Some(digit) = bytes.get(length).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10)
    {
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
        length += 1;
    }
    (length > 0).then_some((value, length))
}

/// As [`number`], with a minus in front if the number is negative.
pub(crate) fn signed_number(word: &[u8]) -> Option<i64> {
    match word.strip_prefix(b"-") {
        Some(digits) => 0_i64.checked_sub_unsigned(number(digits)?),
        None => i64::try_from(number(word)?).ok(),
    }
}

/// The words of a line, which one space or more separate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Words<'a> {
    pub(crate) fn of(line: &'a [u8]) -> Words<'a> {
        Words { rest: line }
    }

    /// The part of the line that comes after the words which were taken.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        while let Some(rest) = self.rest.strip_prefix(b" ") {
            self.rest = rest;
        }
        if self.rest.is_empty() {
            return None;
        }
        let end = memchr(b' ', self.rest).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(word)
    }
}

/// A line of `input` without its end, and the bytes that it took with it. `None` if its end is not there.
#[inline]
pub(crate) fn line(input: &[u8]) -> Option<(&[u8], usize)> {
    let newline = memchr(b'\n', input)?;
    Some((without_return(&input[..newline]), newline + 1))
}

/// `line` without a carriage return at its end. A line that is nothing else keeps it, as in memcached.
pub(crate) fn without_return(line: &[u8]) -> &[u8] {
    match line {
        [text @ .., b'\r'] if !text.is_empty() => text,
        _ => line,
    }
}

/// The most digits of a number of 64 bits.
pub(crate) const DIGITS_MAX: usize = 20;

/// A number in decimal digits.
#[derive(Clone, Copy)]
pub(crate) struct Decimal {
    digits: [u8; DIGITS_MAX],
    start: u8,
}

impl Decimal {
    #[inline]
    pub(crate) fn of(mut value: u64) -> Decimal {
        let mut digits = [b'0'; DIGITS_MAX];
        let mut start = DIGITS_MAX;
        loop {
            start -= 1;
            digits[start] = b'0' + (value % 10) as u8;
            value /= 10;
            if value == 0 {
                return Decimal { digits, start: start as u8 };
            }
        }
    }

    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.digits[usize::from(self.start)..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_that_is_not_of_a_key_is_found_wherever_it_stands() {
        for length in 0..40 {
            let key = vec![b'k'; length];
            assert_eq!(first_not_of_key(&key), None);
            for at in 0..length {
                for byte in 0..=255_u8 {
                    let mut bytes = key.clone();
                    bytes[at] = byte;
                    let expected = (!(0x21..=0x7e).contains(&byte) && byte < 0x80).then_some(at);
                    assert_eq!(first_not_of_key(&bytes), expected, "{byte:#x} at {at} of {length}");
                }
            }
        }
    }

    #[test]
    fn of_two_bytes_that_are_not_of_a_key_the_first_is_found() {
        for (first, second) in [(0x20, 0x7f), (0x7f, 0x20), (0, 0x21), (0x7f, 0x80), (0x1f, 0x7e)] {
            assert_eq!(first_not_of_key(&[b'a', b'b', first, second, b'c', b'd', b'e', b'f']), Some(2));
        }
    }

    #[test]
    fn numbers_are_digits_and_nothing_else() {
        let cases: [(&[u8], Option<u64>); 9] = [
            (b"0", Some(0)),
            (b"007", Some(7)),
            (b"18446744073709551615", Some(u64::MAX)),
            (b"18446744073709551616", None),
            (b"", None),
            (b"+1", None),
            (b"-1", None),
            (b"1x", None),
            (b" 1", None),
        ];
        for (text, expected) in cases {
            assert_eq!(number(text), expected, "{}", text.escape_ascii());
        }
        assert_eq!(signed_number(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(signed_number(b"-9223372036854775809"), None);
        assert_eq!(signed_number(b"9223372036854775808"), None);
        assert_eq!(signed_number(b"-"), None);
        assert_eq!(signed_number(b"--1"), None);
    }

    #[test]
    fn decimals_are_what_the_standard_library_writes() {
        for value in [0, 1, 9, 10, 99, 100, 12_345, u64::MAX - 1, u64::MAX] {
            assert_eq!(Decimal::of(value).as_bytes(), value.to_string().as_bytes());
        }
    }
}
