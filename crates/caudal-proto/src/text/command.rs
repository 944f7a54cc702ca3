//! The client's half of the encoder: commands go into a buffer that the caller owns.
//! Load generators and the tests of servers write requests with it.
//!
//! Keys are taken as they are: a client that takes keys from elsewhere has to look whether they can be keys.

use super::answer::Writer;
use super::request::{Direction, Keys, Request, Scan, ScanStart, Store, StoreMode};
use crate::Full;
use crate::bytes::Decimal;

impl Writer<'_> {
    /// Appends a `get`, or a `gets` where `with_cas`, of one key.
    ///
    /// # Errors
    /// [`Full`].
    #[inline]
    pub fn get(&mut self, key: &[u8], with_cas: bool) -> Result<(), Full> {
        self.parts([if with_cas { b"gets " } else { b"get " }, key, b"\r\n"])
    }

    /// Appends a request.
    ///
    /// # Errors
    /// [`Full`]; then nothing was appended.
    pub fn request(&mut self, request: &Request<'_>) -> Result<(), Full> {
        let before = self.written().len();
        let result = self.request_parts(request);
        if result.is_err() {
            self.truncate(before);
        }
        result
    }

    fn request_parts(&mut self, request: &Request<'_>) -> Result<(), Full> {
        match *request {
            Request::Get { keys, with_cas } => {
                self.raw(if with_cas { b"gets" } else { b"get" })?;
                self.keys(keys)
            }
            Request::GetAndTouch { exptime, keys, with_cas } => {
                self.raw(if with_cas { b"gats" } else { b"gat" })?;
                self.signed(exptime)?;
                self.keys(keys)
            }
            Request::Store(store) => self.store(&store),
            Request::Arithmetic { key, direction, delta, noreply } => {
                let name: &[u8] = match direction {
                    Direction::Up => b"incr ",
                    Direction::Down => b"decr ",
                };
                self.parts([name, key, b" ", Decimal::of(delta).as_bytes(), line_end(noreply)])
            }
            Request::Touch { key, exptime, noreply } => {
                self.parts([b"touch ", key])?;
                self.signed(exptime)?;
                self.raw(line_end(noreply))
            }
            Request::Delete { key, noreply } => self.parts([b"delete ", key, line_end(noreply)]),
            Request::FlushAll { delay, noreply } => {
                self.raw(b"flush_all")?;
                self.signed(delay)?;
                self.raw(line_end(noreply))
            }
            Request::Scan(scan) => self.scan(&scan),
            Request::Stats { arguments: [] } => self.raw(b"stats\r\n"),
            Request::Stats { arguments } => self.parts([b"stats ", arguments, b"\r\n"]),
            Request::Version => self.raw(b"version\r\n"),
            Request::Verbosity { level, noreply } => {
                self.parts([b"verbosity ", Decimal::of(level.into()).as_bytes(), line_end(noreply)])
            }
            Request::Quit => self.raw(b"quit\r\n"),
        }
    }

    /// Appends a storage command with its data block. The block's length is that of the data.
    ///
    /// # Errors
    /// [`Full`]; then part of it may have been appended.
    fn store(&mut self, store: &Store<'_>) -> Result<(), Full> {
        let line = &store.line;
        let (name, cas): (&[u8], _) = match line.mode {
            StoreMode::Set => (b"set ", None),
            StoreMode::Add => (b"add ", None),
            StoreMode::Replace => (b"replace ", None),
            StoreMode::Append => (b"append ", None),
            StoreMode::Prepend => (b"prepend ", None),
            StoreMode::Cas(cas) => (b"cas ", Some(cas)),
        };
        self.parts([name, line.key, b" ", Decimal::of(line.flags.into()).as_bytes()])?;
        self.signed(line.exptime)?;
        self.parts([b" ", Decimal::of(store.data.len() as u64).as_bytes()])?;
        if let Some(cas) = cas {
            self.parts([b" ", Decimal::of(cas).as_bytes()])?;
        }
        self.parts([line_end(line.noreply), store.data, b"\r\n"])
    }

    fn scan(&mut self, scan: &Scan<'_>) -> Result<(), Full> {
        self.parts([b"scan ", Decimal::of(scan.limit.into()).as_bytes()])?;
        match scan.start {
            ScanStart::First => self.raw(b"\r\n"),
            ScanStart::Key(key) => self.parts([b" from ", key, b"\r\n"]),
            ScanStart::Cursor(cursor) => self.parts([b" at ", Decimal::of(cursor).as_bytes(), b"\r\n"]),
        }
    }

    fn keys(&mut self, keys: Keys<'_>) -> Result<(), Full> {
        for key in keys.iter() {
            self.parts([b" ", key])?;
        }
        self.raw(b"\r\n")
    }

    /// Appends a space and a number with its sign.
    fn signed(&mut self, value: i64) -> Result<(), Full> {
        let sign: &[u8] = if value < 0 { b" -" } else { b" " };
        self.parts([sign, Decimal::of(value.unsigned_abs()).as_bytes()])
    }
}

/// The end of a command's line.
fn line_end(noreply: bool) -> &'static [u8] {
    if noreply { b" noreply\r\n" } else { b"\r\n" }
}
