//! The parser of requests: takes the first request off the bytes that a server has read.
//! A server calls it in a loop over its buffer, once for each request.

use memchr::memchr;

use super::answer::Line;
use super::request::{Direction, Keys, Request, Scan, ScanStart, StoreLine, StoreMode};
use super::{KEY_BYTES_MAX, LINE_BYTES_MAX, Limits, storage};
use crate::bytes::{Words, first_not_of_key, number, signed_number, without_return};

/// Words behind the name of a command that are looked at: one more than any command but `get` and its like may have.
const WORDS_MAX: usize = 7;

/// Spaces in front of a long `get`, as in memcached.
const LEADING_SPACES_MAX: usize = 100;

/// The first byte of a request of the binary protocol.
const BINARY_MAGIC: u8 = 0x80;

/// What [`parse`] found at the beginning of its input. It always takes bytes, asks for more of them, or ends the connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parsed<'a> {
    /// A whole request.
    Message {
        /// The request.
        request: Request<'a>,
        /// Bytes that it took.
        consumed: usize,
    },
    /// Part of a line.
    Incomplete {
        /// Bytes that the input must have at least before there can be another result.
        needed: usize,
    },
    /// A whole line of a storage command, without all of its data block. Who keeps the bytes and waits for `needed` of them gets
    /// the whole message; who reads large values straight to where they stay takes `line_bytes` and reads the block by itself, with
    /// two bytes behind it, which [`block_ends`](super::block_ends) looks at.
    Block {
        /// The line.
        line: StoreLine<'a>,
        /// Bytes that the line took.
        line_bytes: usize,
        /// Bytes that the input must have before the message is whole.
        needed: usize,
    },
    /// A storage command that is refused while its data block is on its way.
    Skip {
        /// The answer; none if the client wants none.
        answer: Option<Line>,
        /// The key whose old value must go, because a client that set a new one must not find the old one.
        invalidates: Option<&'a [u8]>,
        /// Bytes that the line took.
        consumed: usize,
        /// Bytes behind it that have to be dropped, whenever they come.
        skip: usize,
    },
    /// A line that is no request, or a data block that does not end where it should.
    Invalid {
        /// The answer; none if the client wants none.
        answer: Option<Line>,
        /// Bytes that it took.
        consumed: usize,
    },
    /// Nothing that can be answered: the connection ends.
    Close {
        /// The reason, for the log.
        reason: Closing,
    },
}

/// Why a connection has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Closing {
    /// A line does not end.
    #[error("a line is longer than its limit")]
    LineTooLong,
    /// A browser, or something that makes a browser attack the cache.
    #[error("a request of HTTP")]
    Http,
    /// A client that speaks memcached's binary protocol.
    #[error("a request of the binary protocol, which is not spoken here")]
    Binary,
}

/// The first request of `input`.
#[inline]
pub fn parse<'a>(input: &'a [u8], limits: &Limits) -> Parsed<'a> {
    match single_get(input) {
        Some(parsed) => parsed,
        None => parse_line(input, limits),
    }
}

/// The request that most requests are, in one pass over its bytes: `get`, one space, one key, and the line's end.
#[inline]
fn single_get(input: &[u8]) -> Option<Parsed<'_>> {
    let rest = input.strip_prefix(b"get ")?;
    let end = first_not_of_key(&rest[..rest.len().min(KEY_BYTES_MAX + 1)])?;
    if end == 0 || rest.get(end..end + 2) != Some(b"\r\n") {
        return None;
    }
    let keys = Keys { first: &rest[..end], rest: &[] };
    Some(Parsed::Message {
        request: Request::Get { keys, with_cas: false },
        consumed: b"get ".len() + end + 2,
    })
}

fn parse_line<'a>(input: &'a [u8], limits: &Limits) -> Parsed<'a> {
    if input.first() == Some(&BINARY_MAGIC) {
        return Parsed::Close { reason: Closing::Binary };
    }
    let Some(newline) = line_end(input, limits) else {
        return Parsed::Close { reason: Closing::LineTooLong };
    };
    let Some(newline) = newline else { return Parsed::Incomplete { needed: input.len() + 1 } };
    let consumed = newline + 1;
    let mut words = Words::of(without_return(&input[..newline]));
    let Some(command) = words.next() else { return invalid(Line::Error, consumed) };
    let request = match command {
        b"get" => retrieval(words, false),
        b"gets" => retrieval(words, true),
        b"gat" => touching_retrieval(words, false),
        b"gats" => touching_retrieval(words, true),
        b"set" => return storage::parse(input, consumed, Arguments::of(words), StoreMode::Set, limits),
        b"add" => return storage::parse(input, consumed, Arguments::of(words), StoreMode::Add, limits),
        b"replace" => {
            return storage::parse(input, consumed, Arguments::of(words), StoreMode::Replace, limits);
        }
        b"append" => return storage::parse(input, consumed, Arguments::of(words), StoreMode::Append, limits),
        b"prepend" => {
            return storage::parse(input, consumed, Arguments::of(words), StoreMode::Prepend, limits);
        }
        b"cas" => return storage::parse(input, consumed, Arguments::of(words), StoreMode::Cas(0), limits),
        b"incr" => arithmetic(Arguments::of(words), Direction::Up),
        b"decr" => arithmetic(Arguments::of(words), Direction::Down),
        b"touch" => touch(Arguments::of(words)),
        b"delete" => delete(Arguments::of(words)),
        b"scan" => scan(Arguments::of(words), limits),
        b"flush_all" => flush_all(Arguments::of(words)),
        b"verbosity" => verbosity(Arguments::of(words)),
        b"stats" => Ok(Request::Stats { arguments: words.rest().trim_ascii() }),
        b"version" => Ok(Request::Version),
        b"quit" => Ok(Request::Quit),
        _ if words.last().unwrap_or(command).starts_with(b"HTTP/") => {
            return Parsed::Close { reason: Closing::Http };
        }
        _ => Err(Some(Line::Error)),
    };
    match request {
        Ok(request) => Parsed::Message { request, consumed },
        Err(answer) => Parsed::Invalid { answer, consumed },
    }
}

pub(super) fn invalid<'a>(answer: Line, consumed: usize) -> Parsed<'a> {
    Parsed::Invalid { answer: Some(answer), consumed }
}

/// Where the line's newline is; `Some(None)` if it has not come, `None` if the line is too long. The answer depends on the stream and not
/// on how much of it is there: a line is too long when its newline is behind its limit.
fn line_end(input: &[u8], limits: &Limits) -> Option<Option<usize>> {
    let short = input.len().min(LINE_BYTES_MAX + 1);
    if let Some(newline) = memchr(b'\n', &input[..short]) {
        return Some(Some(newline));
    }
    if input.len() <= LINE_BYTES_MAX {
        return Some(None);
    }
    let spaces = input.iter().take_while(|&&byte| byte == b' ').count();
    let text = &input[spaces..];
    if spaces > LEADING_SPACES_MAX || !(text.starts_with(b"get ") || text.starts_with(b"gets ")) {
        return None;
    }
    let most = limits.get_line_bytes_max.max(LINE_BYTES_MAX);
    match memchr(b'\n', &input[short..input.len().min(most + 1)]) {
        Some(newline) => Some(Some(short + newline)),
        None if input.len() <= most => Some(None),
        None => None,
    }
}

/// The words behind a command's name: the first few of them, and how many there are.
pub(super) struct Arguments<'a> {
    words: [&'a [u8]; WORDS_MAX],
    count: usize,
}

impl<'a> Arguments<'a> {
    fn of(line: Words<'a>) -> Arguments<'a> {
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

type Result<T, E = Option<Line>> = std::result::Result<T, E>;

fn retrieval(words: Words<'_>, with_cas: bool) -> Result<Request<'_>> {
    Ok(Request::Get { keys: keys(words)?, with_cas })
}

fn touching_retrieval(mut words: Words<'_>, with_cas: bool) -> Result<Request<'_>> {
    let exptime = words.next().ok_or(Some(Line::Error))?;
    let exptime = signed_number(exptime).ok_or(Some(Line::InvalidExptime))?;
    Ok(Request::GetAndTouch { exptime, keys: keys(words)?, with_cas })
}

/// All keys are looked at before any is answered: one bad key spoils the request.
fn keys(mut words: Words<'_>) -> Result<Keys<'_>> {
    let first = words.next().ok_or(Some(Line::Error))?;
    let keys = Keys { first, rest: words.rest() };
    if keys.iter().all(is_key) { Ok(keys) } else { Err(Some(Line::BadFormat)) }
}

fn arithmetic<'a>(arguments: Arguments<'a>, direction: Direction) -> Result<Request<'a>> {
    let words = arguments.within(2..=3)?;
    let (key, noreply) = (words[0], is_noreply(words));
    if !is_key(key) {
        return Err(unless(noreply, Line::BadFormat));
    }
    let delta = number(words[1]).ok_or(unless(noreply, Line::InvalidDelta))?;
    Ok(Request::Arithmetic { key, direction, delta, noreply })
}

fn touch(arguments: Arguments<'_>) -> Result<Request<'_>> {
    let words = arguments.within(2..=3)?;
    let (key, noreply) = (words[0], is_noreply(words));
    if !is_key(key) {
        return Err(unless(noreply, Line::BadFormat));
    }
    let exptime = signed_number(words[1]).ok_or(unless(noreply, Line::InvalidExptime))?;
    Ok(Request::Touch { key, exptime, noreply })
}

/// Old clients send a time of 0 behind the key, which means nothing.
fn delete(arguments: Arguments<'_>) -> Result<Request<'_>> {
    let words = arguments.within(1..=3)?;
    let (key, noreply) = (words[0], words.len() > 1 && is_noreply(words));
    let valid = match words.len() {
        1 => true,
        2 => words[1] == b"0" || noreply,
        _ => words[1] == b"0" && noreply,
    };
    if !valid {
        return Err(unless(noreply, Line::DeleteUsage));
    }
    if is_key(key) { Ok(Request::Delete { key, noreply }) } else { Err(unless(noreply, Line::BadFormat)) }
}

fn flush_all(arguments: Arguments<'_>) -> Result<Request<'_>> {
    let words = arguments.within(0..=2)?;
    let noreply = is_noreply(words);
    let delay = if words.len() == usize::from(noreply) {
        0
    } else {
        signed_number(words[0]).ok_or(unless(noreply, Line::InvalidExptime))?
    };
    Ok(Request::FlushAll { delay, noreply })
}

fn verbosity(arguments: Arguments<'_>) -> Result<Request<'_>> {
    let words = arguments.within(1..=2)?;
    let noreply = is_noreply(words);
    let level = number(words[0]).and_then(|level| u32::try_from(level).ok());
    Ok(Request::Verbosity { level: level.ok_or(unless(noreply, Line::BadFormat))?, noreply })
}

fn scan<'a>(arguments: Arguments<'a>, limits: &Limits) -> Result<Request<'a>> {
    let bad = Some(Line::BadFormat);
    let words = arguments.within(1..=3)?;
    let limit = number(words[0]).filter(|&limit| limit > 0).ok_or(bad)?;
    let start = match words[1..] {
        [] => ScanStart::First,
        [b"from", key] if is_key(key) => ScanStart::Key(key),
        [b"at", cursor] => ScanStart::Cursor(number(cursor).ok_or(bad)?),
        _ => return Err(bad),
    };
    let limit = limit.min(u64::from(limits.scan_items_max)) as u32;
    Ok(Request::Scan(Scan { limit, start }))
}
