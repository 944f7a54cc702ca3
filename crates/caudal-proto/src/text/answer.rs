//! The encoder: lines, items and statistics go into a buffer that the caller owns.
//! Servers write answers with it; the commands that clients send are in `command.rs`.

use crate::Full;
use crate::bytes::Decimal;

/// An answer that is one line, always the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// The item was stored.
    Stored,
    /// The condition of an `add`, `replace`, `append` or `prepend` was not met.
    NotStored,
    /// The item has changed since the client read its `cas` number.
    Exists,
    /// No such item.
    NotFound,
    /// The item was deleted.
    Deleted,
    /// The item's expiry was changed.
    Touched,
    /// The command was carried out.
    Ok,
    /// The end of an answer of several parts.
    End,
    /// The statistics were set to 0.
    Reset,
    /// No such command, or one with too few or too many words.
    Error,
    /// A word of the line is not what it should be.
    BadFormat,
    /// The data block does not end where the line said.
    BadChunk,
    /// An expiry that is no number.
    InvalidExptime,
    /// An amount that is no number.
    InvalidDelta,
    /// `incr` and `decr` of a value that is no number.
    NonNumeric,
    /// A `delete` with words that it does not take.
    DeleteUsage,
    /// A value beyond the limit.
    TooLarge,
    /// No memory could be made free for the value.
    OutOfMemory,
    /// The server is overloaded and has not begun the request. memcached has no such answer.
    Overloaded,
}

impl Line {
    /// All of them.
    pub const ALL: [Line; 19] = [
        Line::Stored,
        Line::NotStored,
        Line::Exists,
        Line::NotFound,
        Line::Deleted,
        Line::Touched,
        Line::Ok,
        Line::End,
        Line::Reset,
        Line::Error,
        Line::BadFormat,
        Line::BadChunk,
        Line::InvalidExptime,
        Line::InvalidDelta,
        Line::NonNumeric,
        Line::DeleteUsage,
        Line::TooLarge,
        Line::OutOfMemory,
        Line::Overloaded,
    ];

    /// The line with its end, as it is sent.
    pub const fn text(self) -> &'static [u8] {
        match self {
            Line::Stored => b"STORED\r\n",
            Line::NotStored => b"NOT_STORED\r\n",
            Line::Exists => b"EXISTS\r\n",
            Line::NotFound => b"NOT_FOUND\r\n",
            Line::Deleted => b"DELETED\r\n",
            Line::Touched => b"TOUCHED\r\n",
            Line::Ok => b"OK\r\n",
            Line::End => b"END\r\n",
            Line::Reset => b"RESET\r\n",
            Line::Error => b"ERROR\r\n",
            Line::BadFormat => b"CLIENT_ERROR bad command line format\r\n",
            Line::BadChunk => b"CLIENT_ERROR bad data chunk\r\n",
            Line::InvalidExptime => b"CLIENT_ERROR invalid exptime argument\r\n",
            Line::InvalidDelta => b"CLIENT_ERROR invalid numeric delta argument\r\n",
            Line::NonNumeric => b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n",
            Line::DeleteUsage => b"CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n",
            Line::TooLarge => b"SERVER_ERROR object too large for cache\r\n",
            Line::OutOfMemory => b"SERVER_ERROR out of memory storing object\r\n",
            Line::Overloaded => b"SERVER_ERROR overloaded\r\n",
        }
    }
}

/// The bytes that [`Writer::value`] writes for such an item.
pub fn value_bytes(key: &[u8], flags: u32, cas: Option<u64>, data_bytes: usize) -> usize {
    let digits = |value: u64| value.checked_ilog10().unwrap_or(0) as usize + 1;
    let cas = cas.map_or(0, |cas| 1 + digits(cas));
    let words = key.len() + digits(flags.into()) + digits(data_bytes as u64) + cas;
    b"VALUE   \r\n\r\n".len() + words + data_bytes
}

/// A buffer that is filled from its beginning. What does not fit is not written at all.
#[derive(Debug)]
pub struct Writer<'a> {
    buffer: &'a mut [u8],
    length: usize,
}

impl<'a> Writer<'a> {
    /// An empty one.
    pub fn new(buffer: &'a mut [u8]) -> Writer<'a> {
        Writer { buffer, length: 0 }
    }

    /// The bytes that were written.
    pub fn written(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// Bytes that are free.
    pub fn free(&self) -> usize {
        self.buffer.len() - self.length
    }

    /// Drops what was written after the first `length` bytes, for instance the items of a `get` that is answered with an error.
    ///
    /// # Panics
    /// If fewer bytes were written.
    pub fn truncate(&mut self, length: usize) {
        assert!(length <= self.length, "{length} bytes of {} cannot be kept", self.length);
        self.length = length;
    }

    /// Appends `parts`, or nothing.
    #[inline]
    pub(super) fn parts<const N: usize>(&mut self, parts: [&[u8]; N]) -> Result<(), Full> {
        let needed: usize = parts.iter().map(|part| part.len()).sum();
        let free = self.free();
        let Some(mut space) = self.buffer.get_mut(self.length..self.length + needed) else {
            return Err(Full { needed, free });
        };
        for part in parts {
            let (here, behind) = space.split_at_mut(part.len());
            here.copy_from_slice(part);
            space = behind;
        }
        self.length += needed;
        Ok(())
    }

    /// Appends bytes that are encoded already.
    ///
    /// # Errors
    /// [`Full`].
    #[inline]
    pub fn raw(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.parts([bytes])
    }

    /// Appends a line.
    ///
    /// # Errors
    /// [`Full`].
    #[inline]
    pub fn line(&mut self, line: Line) -> Result<(), Full> {
        self.parts([line.text()])
    }

    /// Appends an item: its line and its data block.
    ///
    /// # Errors
    /// [`Full`].
    #[inline]
    pub fn value(&mut self, key: &[u8], flags: u32, cas: Option<u64>, data: &[u8]) -> Result<(), Full> {
        let (flags, length) = (Decimal::of(flags.into()), Decimal::of(data.len() as u64));
        let (flags, length) = (flags.as_bytes(), length.as_bytes());
        match cas {
            None => self.parts([b"VALUE ", key, b" ", flags, b" ", length, b"\r\n", data, b"\r\n"]),
            Some(cas) => {
                let cas = Decimal::of(cas);
                self.parts([
                    b"VALUE ",
                    key,
                    b" ",
                    flags,
                    b" ",
                    length,
                    b" ",
                    cas.as_bytes(),
                    b"\r\n",
                    data,
                    b"\r\n",
                ])
            }
        }
    }

    /// Appends the line of an item alone, for a server that sends a large data block, and the end behind it, from where the item is.
    ///
    /// # Errors
    /// [`Full`].
    pub fn value_line(
        &mut self,
        key: &[u8],
        flags: u32,
        cas: Option<u64>,
        data_bytes: usize,
    ) -> Result<(), Full> {
        let (flags, length) = (Decimal::of(flags.into()), Decimal::of(data_bytes as u64));
        let (flags, length) = (flags.as_bytes(), length.as_bytes());
        match cas {
            None => self.parts([b"VALUE ", key, b" ", flags, b" ", length, b"\r\n"]),
            Some(cas) => {
                let cas = Decimal::of(cas);
                self.parts([b"VALUE ", key, b" ", flags, b" ", length, b" ", cas.as_bytes(), b"\r\n"])
            }
        }
    }

    /// Appends the new value of an `incr` or `decr`.
    ///
    /// # Errors
    /// [`Full`].
    pub fn number(&mut self, value: u64) -> Result<(), Full> {
        self.parts([Decimal::of(value).as_bytes(), b"\r\n"])
    }

    /// Appends the cursor of a scan that goes on.
    ///
    /// # Errors
    /// [`Full`].
    pub fn cursor(&mut self, cursor: u64) -> Result<(), Full> {
        self.parts([b"CURSOR ", Decimal::of(cursor).as_bytes(), b"\r\n"])
    }

    /// Appends a statistic.
    ///
    /// # Errors
    /// [`Full`].
    pub fn stat(&mut self, name: &[u8], value: &[u8]) -> Result<(), Full> {
        self.parts([b"STAT ", name, b" ", value, b"\r\n"])
    }

    /// Appends a statistic that is a number.
    ///
    /// # Errors
    /// [`Full`].
    pub fn stat_number(&mut self, name: &[u8], value: u64) -> Result<(), Full> {
        self.stat(name, Decimal::of(value).as_bytes())
    }

    /// Appends the answer to `version`.
    ///
    /// # Errors
    /// [`Full`].
    pub fn version(&mut self, version: &[u8]) -> Result<(), Full> {
        self.parts([b"VERSION ", version, b"\r\n"])
    }
}
