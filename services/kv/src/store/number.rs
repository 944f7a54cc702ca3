//! `incr` and `decr`: a value that is a number changes under the lock.
//! Sessions call [`Store::arithmetic`].

use std::sync::Arc;

use caudal_proto::text::Direction;

use super::Store;
use super::item::cost;
use super::slab::Entry;

/// Bytes of a value that may be a number, with spaces around its at most 20 digits. A longer one is none, so that reading it is short.
const NUMBER_BYTES_MAX: usize = 64;

/// The reason for which there is no new number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCounted {
    /// No such item.
    NotFound,
    /// The value is no number of 64 bits.
    NonNumeric,
}

impl Store {
    /// Adds to a number or subtracts from it, and answers with what it is then. As in memcached, a sum wraps around, a difference stops at 0,
    /// and a number that has become shorter is filled up with spaces.
    ///
    /// # Errors
    /// [`NotCounted`].
    pub fn arithmetic(
        &self,
        key: &[u8],
        direction: Direction,
        delta: u64,
        now: u32,
    ) -> Result<u64, NotCounted> {
        let home = self.home(key);
        // An old value that somebody holds, to be freed where no lock is held, and the bytes that the item has grown by.
        let (mut replaced, mut grown) = (None, 0);
        let result = self.on_key(home, now, |shard, moment, removed| {
            let Some(slot) = shard.look_up(home.hash, key, moment, removed) else {
                shard.counters.count_arithmetic(direction, false);
                return Err(NotCounted::NotFound);
            };
            let cas = shard.take_cas();
            let entry = shard.slab.get_mut(slot);
            let old = number(entry.data()).ok_or(NotCounted::NonNumeric)?;
            let new = match direction {
                Direction::Up => old.wrapping_add(delta),
                Direction::Down => old.saturating_sub(delta),
            };
            (replaced, grown) = write(entry, new);
            (entry.cas, entry.visited) = (cas, true);
            shard.counters.count_arithmetic(direction, true);
            Ok(new)
        });
        if grown > 0 {
            // A few bytes beyond the limit for a moment: the next item that is stored evicts for them, too.
            self.count_grown(grown);
        }
        drop(replaced);
        result
    }
}

/// The number that a value is, with spaces around it or not.
fn number(data: &[u8]) -> Option<u64> {
    let digits = (data.len() <= NUMBER_BYTES_MAX).then(|| data.trim_ascii())?;
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    if plain { std::str::from_utf8(digits).ok()?.parse().ok() } else { None }
}

/// Makes `number` the value of `entry`: in place if nobody else holds it and it is long enough. Gives the bytes that were replaced, and by
/// how many the new ones are longer.
fn write(entry: &mut Entry, number: u64) -> (Option<Arc<[u8]>>, usize) {
    let mut text = [b' '; NUMBER_BYTES_MAX];
    let length = digits(number, &mut text).max(entry.data().len());
    let text = &text[..length];
    let key_bytes = usize::from(entry.key_bytes);
    if let Some(bytes) = entry.bytes.as_mut().and_then(Arc::get_mut)
        && bytes.len() == key_bytes + length
    {
        bytes[key_bytes..].copy_from_slice(text);
        return (None, 0);
    }
    let bytes: Arc<[u8]> = [entry.key(), text].concat().into();
    let grown = cost(bytes.len()) - entry.bytes.as_ref().map_or(0, |old| cost(old.len()));
    (entry.bytes.replace(bytes), grown)
}

/// Writes the digits of `number` to the beginning of `text`, and says how many.
fn digits(number: u64, text: &mut [u8]) -> usize {
    let length = number.checked_ilog10().unwrap_or(0) as usize + 1;
    let mut rest = number;
    for digit in text[..length].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    length
}
