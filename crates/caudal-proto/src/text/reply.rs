//! The parser of replies: takes the first part of an answer off the bytes that a client has read.
//! Load generators and the tests of servers call it in a loop over their buffer.
//!
//! A request is answered by one line, or by any number of items, statistics and a cursor with `END` behind them:
//! [`Reply::is_last`] says whether what was parsed is the last of its request. Requests of one connection are answered in order.

use memchr::memchr;

use super::answer::Line;
use super::{KEY_BYTES_MAX, LINE_BYTES_MAX};
use crate::bytes::{first_not_of_key, leading_number, line, number};

/// One part of an answer, borrowed from the client's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// An item.
    Value {
        /// Its key.
        key: &'a [u8],
        /// The flags that it was stored with.
        flags: u32,
        /// Its `cas` number, if that was asked for.
        cas: Option<u64>,
        /// Its value.
        data: &'a [u8],
    },
    /// A line that is always the same and no error.
    Line(Line),
    /// The new value of an `incr` or `decr`.
    Number(u64),
    /// The cursor of a scan that goes on.
    Cursor(u64),
    /// A statistic.
    Stat {
        /// Its name.
        name: &'a [u8],
        /// Its value.
        value: &'a [u8],
    },
    /// The answer to `version`.
    Version(&'a [u8]),
    /// An error.
    Failed {
        /// The side that it blames.
        failure: Failure,
        /// The whole line, which says more.
        text: &'a [u8],
    },
}

/// The side that an error blames, and in one case the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// `ERROR`: the server does not know the command.
    Unknown,
    /// `CLIENT_ERROR`.
    Client,
    /// `SERVER_ERROR`.
    Server,
    /// `SERVER_ERROR overloaded`: a server of Caudal's has refused the request, and not begun it.
    Overloaded,
}

impl Reply<'_> {
    /// Whether nothing more belongs to the answer.
    #[inline]
    pub fn is_last(&self) -> bool {
        !matches!(self, Reply::Value { .. } | Reply::Stat { .. } | Reply::Cursor(_))
    }
}

/// The result of [`parse_reply`] at the beginning of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParsedReply<'a> {
    /// A part of an answer.
    Message {
        /// The part.
        reply: Reply<'a>,
        /// Bytes that it took.
        consumed: usize,
    },
    /// A part of a part.
    Incomplete {
        /// Bytes that the input must have at least before there can be another result.
        needed: usize,
    },
    /// No reply: where the next one begins cannot be known, so the connection is of no use.
    Invalid(Strange),
}

/// The reason for which bytes are no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Strange {
    /// A line does not end.
    #[error("a line of the reply is longer than {LINE_BYTES_MAX} bytes")]
    LineTooLong,
    /// The line of an item is malformed, or its block is longer than the client takes.
    #[error("the line of an item is malformed, or its value is longer than the limit")]
    Value,
    /// A data block does not end where its line said.
    #[error("a data block does not end where its line said")]
    Block,
    /// A line that no server of this protocol sends.
    #[error("the line is no reply of this protocol")]
    Line,
}

/// The first part of an answer in `input`. Values of more than `value_bytes_max` bytes are refused.
#[inline]
pub fn parse_reply(input: &[u8], value_bytes_max: usize) -> ParsedReply<'_> {
    match input.strip_prefix(b"VALUE ") {
        Some(words) => value(input, words, value_bytes_max),
        None if input.starts_with(Line::End.text()) => {
            message(Reply::Line(Line::End), Line::End.text().len())
        }
        None => short(input),
    }
}

#[inline]
fn message(reply: Reply<'_>, consumed: usize) -> ParsedReply<'_> {
    ParsedReply::Message { reply, consumed }
}

/// An item, of which `words` are all bytes behind the first word.
#[inline]
fn value<'a>(input: &'a [u8], words: &'a [u8], value_bytes_max: usize) -> ParsedReply<'a> {
    let strange = ParsedReply::Invalid(Strange::Value);
    // A line that is not whole is told from one that is malformed only here, where few come by.
    let unfinished = || match memchr(b'\n', words) {
        None if input.len() <= LINE_BYTES_MAX => ParsedReply::Incomplete { needed: input.len() + 1 },
        _ => strange,
    };
    let Some((key, words)) = key(words) else { return unfinished() };
    let Some((flags, words)) = word_number(words) else { return unfinished() };
    let Some((length, words)) = leading_number(words).map(|(length, digits)| (length, &words[digits..]))
    else {
        return unfinished();
    };
    let (cas, words) = match words {
        [b'\r', b'\n', ..] => (None, words),
        [b' ', words @ ..] => match leading_number(words) {
            Some((cas, digits)) => (Some(cas), &words[digits..]),
            None => return unfinished(),
        },
        _ => return unfinished(),
    };
    let [b'\r', b'\n', block @ ..] = words else { return unfinished() };
    let (Ok(flags), Ok(length)) = (u32::try_from(flags), usize::try_from(length)) else { return strange };
    if length > value_bytes_max {
        return strange;
    }
    let consumed = input.len() - block.len() + length + 2;
    match block.get(length..length + 2) {
        None => ParsedReply::Incomplete { needed: consumed },
        Some(b"\r\n") => message(Reply::Value { key, flags, cas, data: &block[..length] }, consumed),
        Some(_) => ParsedReply::Invalid(Strange::Block),
    }
}

/// The key at the beginning of `words`, and what is behind the space after it.
#[inline]
fn key(words: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = first_not_of_key(&words[..words.len().min(KEY_BYTES_MAX + 1)])?;
    (end > 0 && words[end] == b' ').then(|| (&words[..end], &words[end + 1..]))
}

/// The number at the beginning of `words`, and what is behind the space after it.
#[inline]
fn word_number(words: &[u8]) -> Option<(u64, &[u8])> {
    let (value, digits) = leading_number(words)?;
    (words.get(digits) == Some(&b' ')).then(|| (value, &words[digits + 1..]))
}

/// Everything that is one line.
fn short(input: &[u8]) -> ParsedReply<'_> {
    let Some((text, consumed)) = line(&input[..input.len().min(LINE_BYTES_MAX + 1)]) else {
        return if input.len() > LINE_BYTES_MAX {
            ParsedReply::Invalid(Strange::LineTooLong)
        } else {
            ParsedReply::Incomplete { needed: input.len() + 1 }
        };
    };
    match reply_of(text) {
        Some(reply) => message(reply, consumed),
        None => ParsedReply::Invalid(Strange::Line),
    }
}

fn reply_of(text: &[u8]) -> Option<Reply<'_>> {
    if text.first()?.is_ascii_digit() {
        // Old servers fill a number that has lost a digit with spaces.
        return number(text.trim_ascii_end()).map(Reply::Number);
    }
    let (word, rest) = match memchr(b' ', text) {
        Some(space) => (&text[..space], &text[space + 1..]),
        None => (text, &[][..]),
    };
    let line = match word {
        b"STORED" => Line::Stored,
        b"NOT_STORED" => Line::NotStored,
        b"EXISTS" => Line::Exists,
        b"NOT_FOUND" => Line::NotFound,
        b"DELETED" => Line::Deleted,
        b"TOUCHED" => Line::Touched,
        b"OK" => Line::Ok,
        b"END" => Line::End,
        b"RESET" => Line::Reset,
        b"VERSION" => return Some(Reply::Version(rest)),
        b"CURSOR" => return number(rest).map(Reply::Cursor),
        b"STAT" => {
            let (name, value) =
                memchr(b' ', rest).map_or((rest, &[][..]), |space| (&rest[..space], &rest[space + 1..]));
            return Some(Reply::Stat { name, value });
        }
        b"CLIENT_ERROR" => return Some(Reply::Failed { failure: Failure::Client, text }),
        b"SERVER_ERROR" if rest == b"overloaded" => {
            return Some(Reply::Failed { failure: Failure::Overloaded, text });
        }
        b"SERVER_ERROR" => return Some(Reply::Failed { failure: Failure::Server, text }),
        // Some of memcached's refusals have a colon or more words behind it.
        _ if word.starts_with(b"ERROR") => return Some(Reply::Failed { failure: Failure::Unknown, text }),
        _ => return None,
    };
    rest.is_empty().then_some(Reply::Line(line))
}
