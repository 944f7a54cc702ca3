//! How answers are written to a session's output.
//! Commands call it; nothing here knows what they do.

use caudal_proto::Full;
use caudal_proto::text::{KEY_BYTES_MAX, Line, Writer};

use super::Call;
use crate::store::Item;

/// Bytes of a value that is written in one piece; longer ones are copied with a probe after each such piece, which takes some 100 ns.
const PIECE_BYTES: usize = 4_096;

/// The most bytes of an item's line, and of any other line but `VERSION` and `STAT` ones: words, three numbers of 20 digits, and ends.
const LINE_BYTES: usize = KEY_BYTES_MAX + 80;

impl Call<'_> {
    /// Whether the output has so many bytes that they have to be sent first.
    #[inline]
    pub(super) fn is_at_mark(&self) -> bool {
        self.output.len() >= self.mark
    }

    /// Appends what `write` writes, which has `bytes_max` bytes at most.
    #[inline]
    pub(super) fn append(
        &mut self,
        bytes_max: usize,
        write: impl FnOnce(&mut Writer<'_>) -> Result<(), Full>,
    ) {
        let start = self.output.len();
        self.output.resize(start + bytes_max, 0);
        let mut writer = Writer::new(&mut self.output[start..]);
        write(&mut writer).expect("room for the most bytes that it has");
        let written = writer.written().len();
        self.output.truncate(start + written);
    }

    #[inline]
    pub(super) fn line(&mut self, line: Line) {
        self.output.extend_from_slice(line.text());
    }

    /// Appends a line, if there is one. The parser gives none to a client that wants no answer.
    pub(super) fn line_unless_quiet(&mut self, line: Option<Line>) {
        if let Some(line) = line {
            self.line(line);
        }
    }

    /// Appends an item. Where its value is long, the request may be pre-empted in the middle, and holds the item meanwhile.
    #[inline]
    pub(super) fn item(&mut self, item: &Item, with_cas: bool) {
        let (key, data, cas) = (item.key(), item.data(), with_cas.then_some(item.cas));
        if data.len() <= PIECE_BYTES {
            // The name, the key, three numbers, and the ends of two lines.
            let bytes_max = key.len() + data.len() + 70;
            self.append(bytes_max, |writer| writer.value(key, item.flags, cas, data));
            return;
        }
        self.append(LINE_BYTES, |writer| writer.value_line(key, item.flags, cas, data.len()));
        self.output.reserve(data.len() + 2);
        for piece in data.chunks(PIECE_BYTES) {
            self.output.extend_from_slice(piece);
            caudal_probe::probe();
        }
        self.output.extend_from_slice(b"\r\n");
    }

    pub(super) fn number(&mut self, value: u64) {
        self.append(LINE_BYTES, |writer| writer.number(value));
    }

    pub(super) fn cursor(&mut self, cursor: u64) {
        self.append(LINE_BYTES, |writer| writer.cursor(cursor));
    }

    pub(super) fn stat(&mut self, name: &str, value: &str) {
        self.append(name.len() + value.len() + 10, |writer| writer.stat(name.as_bytes(), value.as_bytes()));
    }

    pub(super) fn stat_number(&mut self, name: &str, value: u64) {
        self.append(name.len() + LINE_BYTES, |writer| writer.stat_number(name.as_bytes(), value));
    }

    pub(super) fn version(&mut self, version: &str) {
        self.append(version.len() + LINE_BYTES, |writer| writer.version(version.as_bytes()));
    }
}
