//! The client's side of memcached's text protocol: commands, and what an answer says of the request that it belongs to.
//! The codec in `protocol` calls it for each request that is sent and for each answer that comes. It only writes into the caller's buffer.

use caudal_proto::text::{
    Failure, Line, ParsedReply, Reply, Request, Scan, ScanStart, Store, StoreLine, StoreMode, Writer,
    parse_reply,
};

use crate::traffic::{Command, KEY_BYTES_MAX, Keys, VALUE_BYTES_MAX};
use crate::transport::Outcome;

/// Bytes of a command beside its key and value, at most.
const WORDS_BYTES_MAX: usize = 64;

/// Writes commands.
#[derive(Debug)]
pub(crate) struct Encoder {
    keys: Keys,
    value: Vec<u8>,
}

impl Encoder {
    pub(crate) fn new(keys: Keys) -> Encoder {
        Encoder { keys, value: vec![0; keys.value_bytes] }
    }

    /// Bytes that any command has at most.
    pub(crate) fn bytes_max(&self) -> usize {
        self.keys.key_bytes + self.keys.value_bytes + WORDS_BYTES_MAX
    }

    /// Writes a command to the beginning of `buffer`, which has at least [`Self::bytes_max`] bytes; returns how many it has.
    ///
    /// # Panics
    /// If the command is none of this protocol, or the buffer is too small.
    #[inline]
    pub(crate) fn encode(&mut self, command: Command, buffer: &mut [u8]) -> usize {
        let mut key_buffer = [0; KEY_BYTES_MAX];
        let mut writer = Writer::new(buffer);
        let written = match command {
            Command::Get { key } => writer.get(self.keys.key(key, &mut key_buffer), false),
            Command::Set { key } => {
                self.keys.fill_value(key, &mut self.value);
                let line = StoreLine {
                    mode: StoreMode::Set,
                    key: self.keys.key(key, &mut key_buffer),
                    flags: 0,
                    exptime: 0,
                    data_bytes: self.value.len(),
                    noreply: false,
                };
                writer.request(&Request::Store(Store { line, data: &self.value }))
            }
            Command::Scan { key, items } => {
                let start = ScanStart::Key(self.keys.key(key, &mut key_buffer));
                writer.request(&Request::Scan(Scan { limit: items, start }))
            }
            Command::Work { .. } => panic!("memcached's protocol has no synthetic work"),
        };
        written.expect("the buffer has room for any command");
        writer.written().len()
    }
}

/// The parts of an answer that have come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    found: bool,
    wrong: bool,
    foreign: bool,
}

/// The result of reading an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// The answer is whole.
    Whole {
        /// The outcome of the request; none if the answer is that of another request, whose key it names.
        outcome: Option<Outcome>,
        /// Bytes that its last parts took.
        consumed: usize,
    },
    /// More has to come.
    More {
        /// Bytes of the parts that have come.
        consumed: usize,
    },
    /// It is no answer of this protocol.
    Strange,
}

/// Reads the answer to `command` from the beginning of `input`. `parts` is what was read of it before, `failure` is told of errors.
#[inline]
pub(crate) fn read_answer(
    keys: &Keys,
    command: Command,
    parts: &mut Parts,
    input: &[u8],
    failure: &mut Option<String>,
) -> Read {
    let mut at = 0;
    loop {
        let (reply, consumed) = match parse_reply(&input[at..], VALUE_BYTES_MAX) {
            ParsedReply::Message { reply, consumed } => (reply, consumed),
            ParsedReply::Incomplete { .. } => return Read::More { consumed: at },
            ParsedReply::Invalid(_) => return Read::Strange,
        };
        at += consumed;
        if let Reply::Value { key, data, .. } = reply {
            parts.value(keys, command, key, data);
        } else if reply.is_last() {
            let outcome = std::mem::take(parts).outcome(command, &reply, failure);
            return Read::Whole { outcome, consumed: at };
        }
    }
}

impl Parts {
    #[inline]
    fn value(&mut self, keys: &Keys, command: Command, key: &[u8], data: &[u8]) {
        let mut buffer = [0; KEY_BYTES_MAX];
        match command {
            Command::Get { key: wanted } if keys.key(wanted, &mut buffer) == key => {
                self.found = true;
                self.wrong |= !keys.is_value(wanted, data);
            }
            Command::Scan { .. } => {
                // Others may have keys of their own in the store, of which no value is known.
                let number = std::str::from_utf8(&key[1..]).ok().and_then(|digits| digits.parse().ok());
                let ours = number.filter(|&number| keys.key(number, &mut buffer) == key);
                self.wrong |= ours.is_some_and(|number| number < keys.count && !keys.is_value(number, data));
            }
            _ => self.foreign = true,
        }
    }

    #[inline]
    fn outcome(self, command: Command, last: &Reply<'_>, failure: &mut Option<String>) -> Option<Outcome> {
        let outcome = match (command, last) {
            _ if self.foreign => return None,
            _ if self.wrong => Outcome::Wrong,
            (Command::Get { .. }, Reply::Line(Line::End)) if !self.found => Outcome::Missing,
            (Command::Get { .. } | Command::Scan { .. }, Reply::Line(Line::End))
            | (Command::Set { .. }, Reply::Line(Line::Stored)) => Outcome::Done,
            (_, Reply::Failed { failure: Failure::Overloaded, .. }) => Outcome::Refused,
            (_, Reply::Failed { text, .. }) => {
                failure.get_or_insert_with(|| String::from_utf8_lossy(text).into_owned());
                Outcome::Failed
            }
            // A datagram that answers an older request of the same number, or nothing that this command is answered with.
            _ => return None,
        };
        Some(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: Keys = Keys { count: 10, key_bytes: 11, value_bytes: 5 };

    fn answer(command: Command, input: &[u8]) -> (Read, Option<String>) {
        let mut failure = None;
        (read_answer(&KEYS, command, &mut Parts::default(), input, &mut failure), failure)
    }

    fn item(key: u32, value_of: u32) -> Vec<u8> {
        let mut value = [0; 5];
        KEYS.fill_value(value_of, &mut value);
        let mut bytes = b"VALUE ".to_vec();
        bytes.extend_from_slice(KEYS.key(key, &mut [0; KEY_BYTES_MAX]));
        bytes.extend_from_slice(b" 0 5\r\n");
        bytes.extend_from_slice(&value);
        bytes.extend_from_slice(b"\r\n");
        bytes
    }

    fn outcome(command: Command, input: &[u8]) -> Option<Outcome> {
        match answer(command, input).0 {
            Read::Whole { outcome, consumed } if consumed == input.len() => outcome,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn commands_are_those_of_the_protocol() {
        let mut encoder = Encoder::new(KEYS);
        let mut buffer = vec![0; encoder.bytes_max()];
        let length = encoder.encode(Command::Get { key: 3 }, &mut buffer);
        assert_eq!(&buffer[..length], b"get k0000000003\r\n");
        let length = encoder.encode(Command::Scan { key: 3, items: 9 }, &mut buffer);
        assert_eq!(&buffer[..length], b"scan 9 from k0000000003\r\n");
        let length = encoder.encode(Command::Set { key: 3 }, &mut buffer);
        assert!(buffer.starts_with(b"set k0000000003 0 0 5\r\n") && buffer[..length].ends_with(b"\r\n"));
        assert!(KEYS.is_value(3, &buffer[length - 7..length - 2]));
    }

    #[test]
    fn values_are_verified() {
        let get = Command::Get { key: 3 };
        let with_end = |parts: &[Vec<u8>]| [parts.concat(), b"END\r\n".to_vec()].concat();
        assert_eq!(outcome(get, &with_end(&[item(3, 3)])), Some(Outcome::Done));
        assert_eq!(outcome(get, &with_end(&[item(3, 4)])), Some(Outcome::Wrong));
        assert_eq!(outcome(get, b"END\r\n"), Some(Outcome::Missing));
        // The answer to another request.
        assert_eq!(outcome(get, &with_end(&[item(4, 4)])), None);
        assert_eq!(outcome(get, b"STORED\r\n"), None);
        let scan = Command::Scan { key: 0, items: 2 };
        assert_eq!(outcome(scan, &with_end(&[item(0, 0), item(7, 7)])), Some(Outcome::Done));
        assert_eq!(outcome(scan, &with_end(&[item(0, 0), item(7, 6)])), Some(Outcome::Wrong));
        assert_eq!(outcome(scan, b"VALUE somebodys 0 1\r\nx\r\nEND\r\n"), Some(Outcome::Done));
        assert_eq!(outcome(Command::Set { key: 1 }, b"STORED\r\n"), Some(Outcome::Done));
    }

    #[test]
    fn an_answer_may_come_in_pieces() {
        let get = Command::Get { key: 3 };
        let bytes = [item(3, 4), b"END\r\n".to_vec()].concat();
        for cut in 0..bytes.len() {
            let (mut parts, mut failure) = (Parts::default(), None);
            let Read::More { consumed } = read_answer(&KEYS, get, &mut parts, &bytes[..cut], &mut failure)
            else {
                panic!("{cut} bytes are not the whole answer");
            };
            let rest = read_answer(&KEYS, get, &mut parts, &bytes[consumed..], &mut failure);
            let consumed = bytes.len() - consumed;
            assert_eq!(rest, Read::Whole { outcome: Some(Outcome::Wrong), consumed });
        }
    }

    #[test]
    fn errors_and_refusals_are_told_apart() {
        let get = Command::Get { key: 3 };
        assert_eq!(outcome(get, b"SERVER_ERROR overloaded\r\n"), Some(Outcome::Refused));
        let (read, failure) = answer(get, b"SERVER_ERROR out of memory\r\n");
        assert!(matches!(read, Read::Whole { outcome: Some(Outcome::Failed), .. }));
        assert_eq!(failure.as_deref(), Some("SERVER_ERROR out of memory"));
        assert_eq!(answer(get, b"HTTP/1.1 400 Bad Request\r\n").0, Read::Strange);
    }
}
