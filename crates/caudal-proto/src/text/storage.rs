//! Storage commands: a line, and behind it a block of data whose length the line says.
//! The parser of requests calls it for `set` and its like.

use super::Limits;
use super::answer::Line;
use super::arguments::{Arguments, is_key, is_noreply, unless};
use super::parsed::Parsed;
use super::request::{Request, Store, StoreLine, StoreMode};
use crate::bytes::{number, signed_number};

/// The two bytes behind a data block.
const END: [u8; 2] = *b"\r\n";

/// The most bytes of a block whose length a line may say: memcached keeps the length and the end in 31 bits.
const LENGTH_MAX: u64 = i32::MAX as u64 - END.len() as u64;

/// Whether these are the two bytes that must stand behind a data block. If not, the answer is [`Line::BadChunk`].
pub fn block_ends(bytes: [u8; 2]) -> bool {
    bytes == END
}

/// The storage command at the beginning of `input`, whose line took `line_bytes` and has these arguments.
pub(super) fn parse<'a>(
    input: &'a [u8],
    line_bytes: usize,
    arguments: Arguments<'a>,
    mode: StoreMode,
    limits: &Limits,
) -> Parsed<'a> {
    let least = if matches!(mode, StoreMode::Cas(_)) { 5 } else { 4 };
    let words = match arguments.within(least..=least + 1) {
        Ok(words) => words,
        Err(answer) => return Parsed::Invalid { answer, consumed: line_bytes },
    };
    let noreply = is_noreply(words);
    let data_bytes = match number(words[3]) {
        Some(length) if length <= LENGTH_MAX => length as usize,
        // Where the block ends is unknown, so what follows is read as commands.
        _ => return Parsed::Invalid { answer: unless(noreply, Line::BadFormat), consumed: line_bytes },
    };
    let skip = |answer, invalidates| Parsed::Skip {
        answer: unless(noreply, answer),
        invalidates,
        consumed: line_bytes,
        skip: data_bytes + END.len(),
    };
    let Some(line) = store_line(words, mode, data_bytes, noreply) else { return skip(Line::BadFormat, None) };
    if data_bytes > limits.value_bytes_max {
        return skip(Line::TooLarge, (mode == StoreMode::Set).then_some(line.key));
    }
    let block_end = line_bytes + data_bytes;
    let needed = block_end + END.len();
    match input.get(block_end..needed) {
        None => Parsed::Block { line, line_bytes, needed },
        Some(b"\r\n") => {
            let store = Store { line, data: &input[line_bytes..block_end] };
            Parsed::Message { request: Request::Store(store), consumed: needed }
        }
        Some(_) => Parsed::Invalid { answer: unless(noreply, Line::BadChunk), consumed: needed },
    }
}

fn store_line<'a>(
    words: &[&'a [u8]],
    mode: StoreMode,
    data_bytes: usize,
    noreply: bool,
) -> Option<StoreLine<'a>> {
    let key = words[0];
    let flags = u32::try_from(number(words[1])?).ok()?;
    let exptime = signed_number(words[2])?;
    let mode = match mode {
        StoreMode::Cas(_) => StoreMode::Cas(number(words[4])?),
        other => other,
    };
    is_key(key).then_some(StoreLine { mode, key, flags, exptime, data_bytes, noreply })
}
