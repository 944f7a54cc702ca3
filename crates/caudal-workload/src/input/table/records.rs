//! The rows of a table, one after the other, each with the number of its line, and the text of the line for errors. The sample of a table takes its
//! first rows, and the readers of tables take all of them, once. It reads the source of the input.

use std::io::{self, BufRead, BufReader, Read};

use csv::{ByteRecord, ReaderBuilder, Trim};

use super::separator::Separator;

/// Bytes of the input that are kept behind the reader: more than it reads ahead and than any sensible row is long.
const KEPT: usize = 1 << 20;
/// Bytes that the reader of CSV reads at once.
const BUFFER: usize = 64 << 10;

/// Rows of fields.
pub(in crate::input) enum Records<R: Read> {
    /// Fields between separators, quoted or not.
    Csv(Box<csv::Reader<Window<R>>>),
    /// Fields between blanks.
    Blanks(Blanks<R>),
}

/// One row.
#[derive(Default)]
pub(in crate::input) struct Record {
    pub(in crate::input) fields: ByteRecord,
    /// The number of the line, from 1.
    pub(in crate::input) line: u64,
    /// Where the row begins in the input.
    byte: u64,
}

impl Record {
    pub(in crate::input) fn get(&self, index: usize) -> &[u8] {
        self.fields.get(index).unwrap_or_default()
    }

    /// Fields up to the last one that is not empty: a row may end in separators.
    #[inline]
    pub(in crate::input) fn width(&self) -> usize {
        let mut width = self.fields.len();
        while width > 0 && self.fields[width - 1].is_empty() {
            width -= 1;
        }
        width
    }
}

impl<R: Read> Records<R> {
    pub(in crate::input) fn new(input: R, separator: Separator) -> Records<R> {
        match separator {
            Separator::Blanks => Records::Blanks(Blanks::new(input)),
            Separator::Byte(byte) => Records::Csv(Box::new(
                ReaderBuilder::new()
                    .has_headers(false)
                    .flexible(true)
                    .trim(Trim::All)
                    .comment(Some(b'#'))
                    .delimiter(byte)
                    .buffer_capacity(BUFFER)
                    .from_reader(Window::new(input, byte)),
            )),
        }
    }

    /// Reads the next row; `false` if there is none.
    #[inline]
    pub(in crate::input) fn next(&mut self, record: &mut Record) -> io::Result<bool> {
        match self {
            Records::Blanks(rows) => rows.next(record),
            Records::Csv(reader) => {
                if !reader.read_byte_record(&mut record.fields).map_err(as_io)? {
                    return Ok(false);
                }
                if let Some(position) = record.fields.position() {
                    (record.line, record.byte) = (position.line(), position.byte());
                }
                // Comments and blank lines in front of a row count as its beginning.
                let window = reader.get_ref();
                while let Some(skipped) = window.passed_over(record.byte) {
                    record.byte += skipped;
                    record.line += 1;
                }
                Ok(true)
            }
        }
    }

    /// Does the input, which is at its end, end within a line?
    pub(in crate::input) fn ends_within_a_line(&self) -> bool {
        match self {
            Records::Blanks(rows) => rows.last != b'\n',
            Records::Csv(reader) => reader.get_ref().kept.last().is_some_and(|&byte| byte != b'\n'),
        }
    }

    /// Where field `index` of this row, which was the last one to be read, begins in its line: from 1, in bytes.
    pub(in crate::input) fn column_of(&self, record: &Record, index: usize) -> usize {
        let (line, separator) = match self {
            Records::Blanks(rows) => (rows.line.as_slice(), None),
            Records::Csv(reader) => {
                let window = reader.get_ref();
                (window.line(record.byte), Some(window.separator))
            }
        };
        column_of(line, index, separator)
    }
}

fn as_io(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// A field without the quotes around it.
fn unquoted(field: &[u8]) -> &[u8] {
    match field {
        [b'"', inner @ .., b'"'] if !inner.contains(&b'"') => inner,
        _ => field,
    }
}

/// Where field `index` begins in `line`, from 1, in bytes.
pub(in crate::input) fn column_of(line: &[u8], index: usize, separator: Option<u8>) -> usize {
    let mut at =
        line.iter().take_while(|byte| byte.is_ascii_whitespace() && Some(**byte) != separator).count();
    let (mut quoted, mut fields) = (false, 0);
    while fields < index && at < line.len() {
        let byte = line[at];
        quoted ^= byte == b'"' && separator.is_some();
        let ends = match separator {
            Some(separator) => byte == separator && !quoted,
            None => byte.is_ascii_whitespace(),
        };
        at += 1;
        if ends {
            fields += 1;
            at += line[at..]
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace() && Some(**byte) != separator)
                .count();
        }
    }
    at + 1
}

/// Passes on what it reads, and remembers the last of it.
pub(in crate::input) struct Window<R> {
    input: R,
    kept: Vec<u8>,
    /// Where in the input the kept bytes begin.
    begin: u64,
    separator: u8,
}

impl<R: Read> Window<R> {
    fn new(input: R, separator: u8) -> Window<R> {
        Window { input, kept: Vec::with_capacity(2 * KEPT + BUFFER), begin: 0, separator }
    }

    /// The bytes from `byte` on, as far as they are kept.
    #[inline]
    fn from(&self, byte: u64) -> &[u8] {
        let at = byte.checked_sub(self.begin).and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| self.kept.get(at..)).unwrap_or_default()
    }

    /// The length of the line at `byte` if it is a comment or blank.
    #[inline]
    fn passed_over(&self, byte: u64) -> Option<u64> {
        let rest = self.from(byte);
        match rest {
            [b'#' | b'\n' | b'\r', ..] => Some(rest.iter().position(|&byte| byte == b'\n')? as u64 + 1),
            _ => None,
        }
    }

    fn line(&self, byte: u64) -> &[u8] {
        self.from(byte).split(|&byte| byte == b'\n').next().unwrap_or_default()
    }
}

impl<R: Read> Read for Window<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(out)?;
        if self.kept.len() > 2 * KEPT {
            let gone = self.kept.len() - KEPT;
            self.kept.drain(..gone);
            self.begin += gone as u64;
        }
        self.kept.extend_from_slice(&out[..count]);
        Ok(count)
    }
}

/// Lines of fields between blanks.
pub(in crate::input) struct Blanks<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    number: u64,
    /// The last byte that was read.
    last: u8,
}

impl<R: Read> Blanks<R> {
    fn new(input: R) -> Blanks<R> {
        Blanks { input: BufReader::with_capacity(BUFFER, input), line: Vec::new(), number: 0, last: b'\n' }
    }

    fn next(&mut self, record: &mut Record) -> io::Result<bool> {
        loop {
            self.line.clear();
            if self.input.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(false);
            }
            self.number += 1;
            self.last = self.line.last().copied().unwrap_or(b'\n');
            record.fields.clear();
            let fields = self.line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
            fields.for_each(|field| record.fields.push_field(unquoted(field)));
            if !record.fields.is_empty() && !record.get(0).starts_with(b"#") {
                record.line = self.number;
                return Ok(true);
            }
        }
    }
}
