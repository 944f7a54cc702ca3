//! The kind of a request before it runs, and the class of the runtime that it has.
//! Sockets ask for the kind of the first request that they have read, and hand it to the runtime as a request of this class, so that policies
//! and measurements know it.

use crate::session::Session;

/// The kind of a request, or of a burst of pipelined requests, which has the kind of its first one. A scan is never in a burst with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `get`, `gets`, `gat` and `gats` of one key.
    Get,
    /// The same of several keys.
    MultiGet,
    /// `set`, `add`, `replace`, `append`, `prepend` and `cas`, or a part of the data block of one.
    Set,
    /// `incr`, `decr`, `touch` and `delete`.
    Update,
    /// `scan`, which may take long.
    Scan,
    /// Everything else: `stats`, `flush_all`, `version`, and what is no request.
    Other,
}

/// Bytes of the first line that are looked at for its kind: enough for a longest key.
const LOOKED_AT: usize = 300;

impl Kind {
    /// All kinds, in the order of their definition.
    pub const ALL: [Kind; 6] = [Kind::Get, Kind::MultiGet, Kind::Set, Kind::Update, Kind::Scan, Kind::Other];

    /// The name of its class.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Get => "get",
            Kind::MultiGet => "multi-get",
            Kind::Set => "set",
            Kind::Update => "update",
            Kind::Scan => "scan",
            Kind::Other => "other",
        }
    }

    /// The kind of the request that `input` begins with: the input of a new connection, or a datagram without its frame. It looks at the
    /// command and, of a `get`, at the first key; whether the request is valid is not its business.
    #[inline]
    pub fn of(input: &[u8]) -> Kind {
        match input {
            [b'g', b'e', b't', b' ', rest @ ..] => Kind::of_keys(rest),
            [b's', b'e', b't', b' ', ..] => Kind::Set,
            _ => Kind::of_rarer(input),
        }
    }

    /// The kind of a retrieval whose words behind the command are these: several keys if a space is behind the first, and another word.
    #[inline]
    fn of_keys(words: &[u8]) -> Kind {
        let words = &words[..words.len().min(LOOKED_AT)];
        let Some(first) = words.iter().position(|&byte| byte != b' ') else { return Kind::Get };
        let Some(end) = words[first..].iter().position(|&byte| byte <= b' ') else { return Kind::Get };
        match words[first + end..].iter().find(|&&byte| byte != b' ') {
            Some(b'\r' | b'\n') | None => Kind::Get,
            Some(_) => Kind::MultiGet,
        }
    }

    #[cold]
    fn of_rarer(input: &[u8]) -> Kind {
        let line = &input[..input.len().min(LOOKED_AT)];
        let line = line.strip_prefix(b" ").map_or(line, <[u8]>::trim_ascii_start);
        let end = line.iter().position(|&byte| byte <= b' ').unwrap_or(line.len());
        let (command, rest) = line.split_at(end);
        match command {
            b"get" | b"gets" => Kind::of_keys(rest),
            b"gat" | b"gats" => {
                let rest = rest.trim_ascii_start();
                let exptime = rest.iter().position(|&byte| byte <= b' ').unwrap_or(rest.len());
                Kind::of_keys(&rest[exptime..])
            }
            b"set" | b"add" | b"replace" | b"append" | b"prepend" | b"cas" => Kind::Set,
            b"incr" | b"decr" | b"touch" | b"delete" => Kind::Update,
            b"scan" => Kind::Scan,
            _ => Kind::Other,
        }
    }
}

impl Session {
    /// The kind of the burst that `input` begins with, where this session goes on with it.
    #[inline]
    pub fn kind(&self, input: &[u8]) -> Kind {
        if self.is_at_line() { Kind::of(input) } else { Kind::Set }
    }
}

/// The classes of a runtime for all kinds; `C` is its `ClassId`.
#[derive(Clone, Copy, Debug)]
pub struct Classes<C>([C; Kind::ALL.len()]);

impl<C: Copy> Classes<C> {
    /// Classes by the names of the kinds. `class` gives the class of a name, as `Builder::class` and `Runtime::class` do.
    ///
    /// # Errors
    /// The first error of `class`.
    pub fn new<E>(mut class: impl FnMut(&str) -> Result<C, E>) -> Result<Classes<C>, E> {
        let mut classes = [class(Kind::ALL[0].name())?; Kind::ALL.len()];
        for (kind, place) in Kind::ALL.into_iter().zip(&mut classes) {
            *place = class(kind.name())?;
        }
        Ok(Classes(classes))
    }

    /// The class of a kind.
    #[inline]
    pub fn of(&self, kind: Kind) -> C {
        self.0[kind as usize]
    }
}
