//! The bytes of an input: a file, a pipe or standard input, gzip, zstd or plain, as they come. Compilation of a spec opens one for each
//! file; the recogniser looks at its head, and a reader takes the rest. This is the only file of the crate that opens the user's inputs.
//!
//! A thread reads ahead ([`super::ahead`]), so that a request to stop is heard while a pipe is silent. The bytes that were read are not
//! kept: memory does not grow with the file.

use std::cell::Cell;
use std::io::{self, BufRead as _, BufReader, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::Place;
use super::ahead::CHUNK;
pub(crate) use super::stop::check_stop;
use super::stop::is_stopping;
use crate::error::WorkloadError;

/// How many bytes decide what a file is.
const HEAD: usize = 64 << 10;
/// Inputs that are not tables are read whole, up to this size.
const WHOLE_MAX: usize = 1 << 30;

/// An opened input, and what it begins with.
pub(crate) struct Source {
    /// The first [`HEAD`] bytes, or all of them.
    head: Vec<u8>,
    /// Is there nothing behind the head?
    is_short: bool,
    rest: Box<dyn Read>,
}

impl Source {
    /// Opens a file, or standard input as `-`.
    ///
    /// # Errors
    /// If it cannot be read, and when it was asked to stop.
    pub(crate) fn open(path: &Path) -> Result<Source, WorkloadError> {
        let mut chunks = super::ahead::open(path).map_err(|error| failed(path, error))?;
        let magic = take(&mut chunks, 4).map_err(|error| failed(path, error))?;
        let begin = Cursor::new(magic.clone()).chain(chunks);
        let mut rest: Box<dyn Read> = match magic[..] {
            [0x1f, 0x8b, ..] => {
                let tap = Tap::new(begin);
                let seen = tap.seen.clone();
                let unpack = MultiGzDecoder::new(BufReader::with_capacity(CHUNK, tap));
                Box::new(Unpacked {
                    unpack,
                    unread: |unpack| unpack.get_ref().buffer().len(),
                    packing: "gzip",
                    seen,
                })
            }
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
                let tap = Tap::new(begin);
                let seen = tap.seen.clone();
                let unread = |frames: &Frames<Tap<_>>| frames.input.buffer().len();
                Box::new(Unpacked { unpack: Frames::new(tap), unread, packing: "zstd", seen })
            }
            _ => Box::new(begin),
        };
        let mut head = take(&mut rest, HEAD).map_err(|error| failed(path, error))?;
        if let Some(big_endian) = utf_16(&head) {
            rest.read_to_end(&mut head).map_err(|error| failed(path, error))?;
            let text = from_utf_16(&head, big_endian);
            let keep = text.len().min(HEAD);
            rest = Box::new(Cursor::new(text[keep..].to_vec()));
            head = text[..keep].to_vec();
        }
        if head.starts_with(b"\xef\xbb\xbf") {
            head.drain(..3);
        }
        let is_short = head.len() < HEAD - 3;
        Ok(Source { head, is_short, rest })
    }

    /// Bytes that are in memory already.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Source {
        let keep = bytes.len().min(HEAD);
        let rest = Box::new(Cursor::new(bytes[keep..].to_vec()));
        Source { head: bytes[..keep].to_vec(), is_short: keep == bytes.len(), rest }
    }

    /// Is what it begins with all of it?
    pub(crate) fn is_short(&self) -> bool {
        self.is_short
    }

    /// The first bytes of the input, unpacked.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// The lines of the head that are whole: the last one of a longer input may be cut.
    pub(crate) fn head_lines(&self) -> impl Iterator<Item = &[u8]> {
        let end = if self.is_short { None } else { self.head.iter().rposition(|&byte| byte == b'\n') };
        let whole = &self.head[..end.unwrap_or(self.head.len())];
        whole.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// The whole input in memory.
    ///
    /// # Errors
    /// If it cannot be read, is larger than a gigabyte, and when it was asked to stop.
    pub(crate) fn whole(self, place: &Place<'_>) -> Result<Vec<u8>, WorkloadError> {
        let Source { mut head, mut rest, .. } = self;
        let mut limited = (&mut rest).take((WHOLE_MAX - HEAD) as u64);
        limited.read_to_end(&mut head).map_err(|error| failed(place.0, error))?;
        if take(&mut rest, 1).map_err(|error| failed(place.0, error))?.is_empty() {
            return Ok(head);
        }
        Err(place.whole(
            "is larger than 1 GiB, which only tables (CSV) and lines of JSON may be; give a part of it",
        ))
    }

    /// The whole input as a stream.
    pub(crate) fn stream(self) -> impl Read {
        Cursor::new(self.head).chain(self.rest)
    }
}

/// The error of a file whose reading failed with `error`.
pub(crate) fn failed(path: &Path, error: io::Error) -> WorkloadError {
    if is_stopping() {
        return WorkloadError::Interrupted;
    }
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Damaged>()) {
        Some(damaged) => Place(path).whole(damaged.to_string()),
        None => WorkloadError::Io { path: path.to_owned(), source: error },
    }
}

/// A packed input that cannot be unpacked.
#[derive(Debug, thiserror::Error)]
#[error(
    "is packed by {packing}, and {}; pack it anew, or, to read what comes before, give `{packing} -dc FILE | caudal …` with `-` \
     as the file",
    if *ends { format!("ends too early, after {at} bytes: it was not written or not copied to its end") }
    else { format!("is damaged at byte {at} or shortly before") }
)]
struct Damaged {
    packing: &'static str,
    /// Bytes that were unpacked, or tried.
    at: u64,
    /// Is there nothing behind them?
    ends: bool,
}

/// The unpacked beginning of a packed input.
#[derive(Debug, Default)]
struct SeenBytes {
    bytes: Cell<u64>,
    ends: Cell<bool>,
    /// Did reading fail, rather than unpacking?
    failed: Cell<bool>,
}

/// Counts what is read through it.
struct Tap<R> {
    input: R,
    seen: Rc<SeenBytes>,
}

impl<R> Tap<R> {
    fn new(input: R) -> Tap<R> {
        Tap { input, seen: Rc::default() }
    }
}

impl<R: Read> Read for Tap<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out);
        match &read {
            Ok(count) => {
                self.seen.bytes.set(self.seen.bytes.get() + *count as u64);
                self.seen.ends.set(*count == 0 && !out.is_empty());
            }
            Err(_) => self.seen.failed.set(true),
        }
        read
    }
}

/// Unpacks, and says in words where that fails: what libraries say of it names their own parts.
struct Unpacked<U> {
    unpack: U,
    /// Bytes that were read ahead and not looked at.
    unread: fn(&U) -> usize,
    packing: &'static str,
    seen: Rc<SeenBytes>,
}

impl<U: Read> Read for Unpacked<U> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.unpack.read(out).map_err(|error| {
            if self.seen.failed.get() || error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let unread = (self.unread)(&self.unpack);
            let at = self.seen.bytes.get() - unread as u64;
            io::Error::other(Damaged { packing: self.packing, at, ends: self.seen.ends.get() && unread == 0 })
        })
    }
}

/// As many bytes as there are, up to `count`.
fn take(from: &mut impl Read, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(count as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The frames of a zstd file, one behind the other.
struct Frames<R> {
    input: BufReader<R>,
    decoder: FrameDecoder,
}

impl<R: Read> Frames<R> {
    fn new(input: R) -> Frames<R> {
        Frames { input: BufReader::with_capacity(CHUNK, input), decoder: FrameDecoder::new() }
    }

    /// Goes on to the next frame with data; `false` if there is none.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.input.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.input) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut (&mut self.input).take(u64::from(length)), &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 {
            if self.decoder.is_finished() {
                if !self.next_frame()? {
                    return Ok(0);
                }
            } else {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.input, one).map_err(io::Error::other)?;
            }
        }
        self.decoder.read(out)
    }
}

/// Is this UTF-16, and the first byte of a character its higher one? By the mark at the beginning, or by a first character
/// of which one byte is 0, which no other text has.
fn utf_16(bytes: &[u8]) -> Option<bool> {
    match bytes {
        [0xFF, 0xFE, ..] => Some(false),
        [0xFE, 0xFF, ..] => Some(true),
        [first, 0, second, 0, ..] if *first != 0 && *second != 0 => Some(false),
        [0, first, 0, second, ..] if *first != 0 && *second != 0 => Some(true),
        _ => None,
    }
}

fn from_utf_16(bytes: &[u8], big_endian: bool) -> Vec<u8> {
    let unit = |pair: &[u8]| {
        let pair = [pair[0], *pair.get(1).unwrap_or(&0)];
        if big_endian { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
    };
    let letters = char::decode_utf16(bytes.chunks(2).map(unit)).map(|letter| letter.unwrap_or('\u{fffd}'));
    letters.filter(|&letter| letter != '\u{feff}').collect::<String>().into_bytes()
}
