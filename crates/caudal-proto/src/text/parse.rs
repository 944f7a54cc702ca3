//! The parser of requests: takes the first request off the bytes that a server has read.
//! A server calls it in a loop over its buffer, once for each request.

use memchr::memchr;

use super::answer::Line;
use super::arguments::{Arguments, is_key, is_noreply, unless};
use super::parsed::{Closing, Parsed};
use super::request::{Direction, Keys, Request, Scan, ScanStart, StoreMode};
use super::{KEY_BYTES_MAX, LINE_BYTES_MAX, Limits, storage};
use crate::bytes::{Words, first_not_of_key, number, signed_number, without_return};

/// Spaces in front of a long `get`, as in memcached.
const LEADING_SPACES_MAX: usize = 100;

/// The first byte of a request of the binary protocol.
const BINARY_MAGIC: u8 = 0x80;

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
    let Some(command) = words.next() else { return Parsed::Invalid { answer: Some(Line::Error), consumed } };
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
