//! Requests of the text protocol, as servers see them: borrowed from the buffer that they were parsed from.
//! [`parse`](super::parse()) makes them, services match them.

use crate::bytes::Words;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Request<'a> {
    /// `get` and `gets`: the items of these keys.
    Get {
        /// The keys, at least one.
        keys: Keys<'a>,
        /// Whether each item's `cas` number is asked for (`gets`).
        with_cas: bool,
    },
    /// `gat` and `gats`: the items of these keys, whose expiry changes.
    GetAndTouch {
        /// The new expiry, as in [`StoreLine::exptime`].
        exptime: i64,
        /// The keys, at least one.
        keys: Keys<'a>,
        /// Whether each item's `cas` number is asked for (`gats`).
        with_cas: bool,
    },
    /// `set`, `add`, `replace`, `append`, `prepend` and `cas`.
    Store(Store<'a>),
    /// `incr` and `decr`.
    Arithmetic {
        /// The key.
        key: &'a [u8],
        /// Up or down.
        direction: Direction,
        /// By how much.
        delta: u64,
        /// Whether the client wants no answer.
        noreply: bool,
    },
    /// `touch`: the item's expiry changes.
    Touch {
        /// The key.
        key: &'a [u8],
        /// The new expiry, as in [`StoreLine::exptime`].
        exptime: i64,
        /// Whether the client wants no answer.
        noreply: bool,
    },
    /// `delete`.
    Delete {
        /// The key.
        key: &'a [u8],
        /// Whether the client wants no answer.
        noreply: bool,
    },
    /// `flush_all`: everything that was stored before some moment is gone.
    FlushAll {
        /// The moment, as in [`StoreLine::exptime`]; now, if it is 0 or negative.
        delay: i64,
        /// Whether the client wants no answer.
        noreply: bool,
    },
    /// The extension: see the [module](super).
    Scan(Scan<'a>),
    /// `stats`.
    Stats {
        /// The rest of the line, without spaces in front; empty for the general statistics.
        arguments: &'a [u8],
    },
    /// `version`.
    Version,
    /// `verbosity`, which changes nothing here but is answered.
    Verbosity {
        /// The level.
        level: u32,
        /// Whether the client wants no answer.
        noreply: bool,
    },
    /// `quit`: the connection ends after what was answered before.
    Quit,
}

/// The line of a storage command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoreLine<'a> {
    /// The command.
    pub mode: StoreMode,
    /// The key.
    pub key: &'a [u8],
    /// The client's flags, kept with the item.
    pub flags: u32,
    /// When the item expires: never (0), at once (negative), after so many seconds (up to 30 days), or at that many seconds since 1970.
    pub exptime: i64,
    /// Bytes of the data block, without the line's end behind it.
    pub data_bytes: usize,
    /// Whether the client wants no answer.
    pub noreply: bool,
}

/// A whole storage command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Store<'a> {
    /// Its line.
    pub line: StoreLine<'a>,
    /// Its data block.
    pub data: &'a [u8],
}

/// The storage commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreMode {
    /// `set`: in any case.
    Set,
    /// `add`: if the key is not there.
    Add,
    /// `replace`: if the key is there.
    Replace,
    /// `append`: behind the value that is there.
    Append,
    /// `prepend`: in front of the value that is there.
    Prepend,
    /// `cas`: if the item has this number still.
    Cas(u64),
}

/// The direction of an arithmetic command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `incr`: wraps around at 64 bits.
    Up,
    /// `decr`: stops at 0.
    Down,
}

/// The keys of a retrieval: all of them valid.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a> {
    /// The first key, which for most requests is the only one.
    pub(super) first: &'a [u8],
    /// The rest of the line.
    pub(super) rest: &'a [u8],
}

impl<'a> Keys<'a> {
    /// The first key.
    #[inline]
    pub fn first(&self) -> &'a [u8] {
        self.first
    }

    /// All keys, in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        std::iter::once(self.first).chain(Words::of(self.rest))
    }
}

/// Keys are equal that name the same items, however many spaces are between them.
impl PartialEq for Keys<'_> {
    fn eq(&self, other: &Keys<'_>) -> bool {
        self.iter().eq(other.iter())
    }
}

/// A scan: see the [module](super).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan<'a> {
    /// The most items, at least 1.
    pub limit: u32,
    /// Where it begins.
    pub start: ScanStart<'a>,
}

/// The beginning of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanStart<'a> {
    /// The beginning of the store.
    First,
    /// The place of this key.
    Key(&'a [u8]),
    /// The place where an earlier scan has stopped; its number, or 0. The answer has a cursor.
    Cursor(u64),
}
