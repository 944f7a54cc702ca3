//! A client of a session, for tests: sends bytes in whatever pieces, and gives the answers.

use caudal_kv::service::{Config, Service};
use caudal_kv::session::{Session, Then};
use caudal_kv::store::{self, NotCounted, Store, Stored};
use caudal_proto::text::{
    Direction, Line, ParsedReply, Reply, Request, StoreLine, StoreMode, Writer, parse_reply,
};

use crate::NOW;

/// A service of few shards.
pub(crate) fn small_service() -> Service {
    service(Config::default())
}

pub(crate) fn service(config: Config) -> Service {
    let store = store::Config { shards: 4, hash_seed: 7, ..config.store };
    Service::new(Config { store, ..config }, NOW)
}

/// A connection, with the bytes that its session has left, as a socket's owner would keep them.
pub(crate) struct Connection<'a> {
    service: &'a Service,
    session: Session,
    input: Vec<u8>,
    pub(crate) now: u32,
    /// The most bytes of output that one call gave.
    pub(crate) output_bytes_max: usize,
    /// Calls that ended in front of a scan or behind one.
    pub(crate) again: usize,
    pub(crate) is_closed: bool,
}

impl Connection<'_> {
    pub(crate) fn new(service: &Service) -> Connection<'_> {
        Connection {
            service,
            session: Session::new(),
            input: Vec::new(),
            now: NOW,
            output_bytes_max: 0,
            again: 0,
            is_closed: false,
        }
    }

    /// Sends a piece, and gives what is answered by then.
    pub(crate) fn send(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut answers = Vec::new();
        self.input.extend_from_slice(piece);
        while !self.is_closed {
            let mut output = Vec::new();
            let served = self.session.serve(self.service, &self.input, self.now, &mut output);
            self.output_bytes_max = self.output_bytes_max.max(output.len());
            self.input.drain(..served.consumed);
            let progress = served.consumed > 0 || !output.is_empty();
            answers.append(&mut output);
            match served.then {
                Then::Read { needed } => {
                    assert!(needed > self.input.len(), "it asks for what it has");
                    break;
                }
                Then::Send => assert!(progress, "a call that stops has done something"),
                Then::Again => self.again += 1,
                Then::Close => self.is_closed = true,
            }
        }
        answers
    }

    /// The answers to `input`, which are text, sent at once.
    pub(crate) fn ask(&mut self, input: &str) -> String {
        String::from_utf8(self.send(input.as_bytes())).expect("a test's values are text")
    }

    /// The answer to one request.
    fn request(&mut self, request: &Request<'_>, see: impl FnOnce(&[Reply<'_>])) {
        let mut buffer = vec![0; 1 << 16];
        let mut writer = Writer::new(&mut buffer);
        writer.request(request).expect("room for a test's request");
        let answer = self.send(writer.written());
        let (mut replies, mut at) = (Vec::new(), 0);
        while let ParsedReply::Message { reply, consumed } = parse_reply(&answer[at..], 1 << 20) {
            replies.push(reply);
            at += consumed;
        }
        assert_eq!(at, answer.len(), "{}", answer.escape_ascii());
        assert!(replies.last().is_some_and(Reply::is_last), "{}", answer.escape_ascii());
        see(&replies);
    }

    fn line(&mut self, request: &Request<'_>) -> Line {
        let mut line = None;
        self.request(request, |replies| match replies {
            [Reply::Line(only)] => line = Some(*only),
            others => panic!("{others:?}"),
        });
        line.expect("it was seen")
    }
}

/// The operations of a cache on one key, on a store or through a session.
pub(crate) trait Client {
    /// Value and cas number.
    fn get(&mut self, key: &[u8], now: u32) -> Option<(String, u64)>;
    fn store(&mut self, mode: StoreMode, key: &[u8], exptime: i64, data: &[u8], now: u32) -> Stored;
    fn arithmetic(
        &mut self,
        key: &[u8],
        direction: Direction,
        delta: u64,
        now: u32,
    ) -> Result<u64, NotCounted>;
    fn touch(&mut self, key: &[u8], exptime: i64, now: u32) -> bool;
    fn delete(&mut self, key: &[u8], now: u32) -> bool;
    fn flush_all(&mut self, delay: i64, now: u32);
}

impl Client for &Store {
    fn get(&mut self, key: &[u8], now: u32) -> Option<(String, u64)> {
        let item = Store::get(self, key, now)?;
        Some((String::from_utf8(item.data().to_vec()).expect("text"), item.cas))
    }

    fn store(&mut self, mode: StoreMode, key: &[u8], exptime: i64, data: &[u8], now: u32) -> Stored {
        Store::store(self, mode, key, 0, exptime, data, now).expect("there is room")
    }

    fn arithmetic(
        &mut self,
        key: &[u8],
        direction: Direction,
        delta: u64,
        now: u32,
    ) -> Result<u64, NotCounted> {
        Store::arithmetic(self, key, direction, delta, now)
    }

    fn touch(&mut self, key: &[u8], exptime: i64, now: u32) -> bool {
        Store::touch(self, key, exptime, now)
    }

    fn delete(&mut self, key: &[u8], now: u32) -> bool {
        Store::delete(self, key, now)
    }

    fn flush_all(&mut self, delay: i64, now: u32) {
        Store::flush_all(self, delay, now);
    }
}

impl Client for Connection<'_> {
    fn get(&mut self, key: &[u8], now: u32) -> Option<(String, u64)> {
        self.now = now;
        let mut found = None;
        let key = std::str::from_utf8(key).expect("text");
        let answer = self.ask(&format!("gets {key}\r\n"));
        if answer != "END\r\n" {
            let (line, rest) = answer.split_once("\r\n").expect("a line");
            let cas = line.rsplit(' ').next().and_then(|cas| cas.parse().ok()).expect("a cas number");
            found = Some((rest.strip_suffix("\r\nEND\r\n").expect("an item").to_owned(), cas));
        }
        found
    }

    fn store(&mut self, mode: StoreMode, key: &[u8], exptime: i64, data: &[u8], now: u32) -> Stored {
        self.now = now;
        let line = StoreLine { mode, key, flags: 0, exptime, data_bytes: data.len(), noreply: false };
        match self.line(&Request::Store(caudal_proto::text::Store { line, data })) {
            Line::Stored => Stored::Stored,
            Line::NotStored => Stored::NotStored,
            Line::Exists => Stored::Exists,
            Line::NotFound => Stored::NotFound,
            other => panic!("{other:?}"),
        }
    }

    fn arithmetic(
        &mut self,
        key: &[u8],
        direction: Direction,
        delta: u64,
        now: u32,
    ) -> Result<u64, NotCounted> {
        self.now = now;
        let mut result = Err(NotCounted::NonNumeric);
        let request = Request::Arithmetic { key, direction, delta, noreply: false };
        self.request(&request, |replies| {
            result = match replies {
                [Reply::Number(value)] => Ok(*value),
                [Reply::Line(Line::NotFound)] => Err(NotCounted::NotFound),
                [Reply::Failed { text, .. }] if *text == Line::NonNumeric.text().trim_ascii() => {
                    Err(NotCounted::NonNumeric)
                }
                others => panic!("{others:?}"),
            };
        });
        result
    }

    fn touch(&mut self, key: &[u8], exptime: i64, now: u32) -> bool {
        self.now = now;
        match self.line(&Request::Touch { key, exptime, noreply: false }) {
            Line::Touched => true,
            Line::NotFound => false,
            other => panic!("{other:?}"),
        }
    }

    fn delete(&mut self, key: &[u8], now: u32) -> bool {
        self.now = now;
        match self.line(&Request::Delete { key, noreply: false }) {
            Line::Deleted => true,
            Line::NotFound => false,
            other => panic!("{other:?}"),
        }
    }

    fn flush_all(&mut self, delay: i64, now: u32) {
        self.now = now;
        assert_eq!(self.line(&Request::FlushAll { delay, noreply: false }), Line::Ok);
    }
}
