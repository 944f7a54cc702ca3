//! memcached's text protocol, both sides, with an extension for scans.
//! Servers call [`parse()`] and [`Writer`], clients call [`parse_reply`] and the [`Writer`]'s commands.
//!
//! # What is spoken
//!
//! `get`, `gets`, `gat`, `gats`, `set`, `add`, `replace`, `append`, `prepend`, `cas`, `incr`, `decr`, `touch`, `delete`, `flush_all`,
//! `version`, `verbosity`, `stats`, `quit`, and [`scan`](Scan). The binary protocol and the meta commands are not.
//!
//! Answers are those of memcached 1.6.18, to the byte, also those to malformed lines. These differ, on purpose:
//!
//! | request | memcached 1.6.18 | here | reason |
//! | --- | --- | --- | --- |
//! | a key with a control character or DEL | taken | `CLIENT_ERROR bad command line format` | its protocol forbids them, and a carriage return in a key could forge a reply |
//! | storage command with a good length, but another bad argument | the data block is read as the next command | the block is skipped | data must not become commands; memcached 1.6.22 and later skip it, too |
//! | flags of more than 32 bits | cut to 32 bits | `CLIENT_ERROR bad command line format` | later versions refuse them, too |
//! | a number with a plus or a tab around it | taken | as if it were no number | the protocol has digits |
//! | a number of seconds of more than 32 bits | cut to 32 bits | taken as it is | times after 2038 |
//! | `gat` without keys | `END` | `ERROR` | as `get` without keys |
//! | a line of more than [`LINE_BYTES_MAX`] bytes other than `get` and `gets` | depends on how it was cut by the network | the connection ends | the same bytes get the same answers |
//! | a line of `get` or `gets` beyond [`Limits::get_line_bytes_max`] | any length | the connection ends | memory |
//! | first byte 0x80 | the binary protocol begins | `ERROR`, and the connection ends | it is not spoken |
//!
//! # The extension: `scan`
//!
//! ```text
//! scan <limit>\r\n                    the first items of the store
//! scan <limit> from <key>\r\n         items from the place of the key on, whether or not the key is in the store
//! scan <limit> at <cursor>\r\n        items from the cursor on; 0 is the beginning
//! ```
//!
//! The answer is that of a `get`: any number of `VALUE` lines with their data blocks, at most `<limit>`, and `END`. So whatever can read the
//! answer of a `get` can read that of a scan. Only who sends a cursor is sent one: in front of `END` stands
//!
//! ```text
//! CURSOR <cursor>\r\n
//! ```
//!
//! if there is more, and nothing if the scan has come to the end of the store. An answer may have fewer items than the limit, even
//! none, and a cursor: the server bounds its size. Cursors are decimal numbers of 64 bits that mean something to the server that made
//! them only. A server without scans answers `ERROR`, as to every command that it does not know. What the order of items is, and which items
//! a scan is sure to find while others write, is the promise of the store: see `services/kv`.

mod answer;
mod arguments;
mod command;
mod parse;
mod parsed;
mod reply;
mod request;
mod storage;

pub use answer::{Line, Writer, value_bytes};
pub use parse::parse;
pub use parsed::{Closing, Parsed};
pub use reply::{Failure, ParsedReply, Reply, Strange, parse_reply};
pub use request::{Direction, Keys, Request, Scan, ScanStart, Store, StoreLine, StoreMode};
pub use storage::block_ends;

/// The most bytes of a key.
pub const KEY_BYTES_MAX: usize = 250;

/// The most bytes of a line in front of its end, other than those of `get` and `gets`.
pub const LINE_BYTES_MAX: usize = 2_048;

/// How large things may be that clients send. The server's operator sets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of a value. A longer one is skipped and answered `SERVER_ERROR object too large for cache`.
    pub value_bytes_max: usize,
    /// The most bytes of a line of `get` or `gets` in front of its end, at least [`LINE_BYTES_MAX`].
    pub get_line_bytes_max: usize,
    /// The most items that a scan may ask for. Who asks for more is given this many.
    pub scan_items_max: u32,
}

impl Default for Limits {
    /// Values and lines of a mebibyte, which is memcached's limit of values, and scans of 10,000 items.
    fn default() -> Limits {
        Limits { value_bytes_max: 1 << 20, get_line_bytes_max: 1 << 20, scan_items_max: 10_000 }
    }
}
