//! A binary protocol for synthetic work: a request says how long the server is to be busy with it.
//! `services/spin` answers it; `caudal-load` sends it, to measure schedulers without a store behind them.
//!
//! ```text
//!            0        2       3       4        6        8                16               24               32
//!            +--------+-------+-------+--------+--------+----------------+----------------+
//!  request   | 0xCA5D |version| kind 1| class  |   0    | number         | work, ns       |
//!            +--------+-------+-------+--------+----+---+----------------+----------------+----------------+
//!  reply     | 0xCA5D |version| kind 2| class  |st. |f.| number          | sojourn, ns    | service, ns    |
//!            +--------+-------+-------+--------+----+---+----------------+----------------+----------------+
//! ```
//!
//! Numbers have the high byte first. Messages have a fixed size, so they follow each other in a stream without anything between, and a
//! datagram is one message. The number of a request is the client's, who knows the reply by it: replies come in any order, also in a
//! stream. The flag `f.` says whether the server tells its times; without it, both are 0.

/// The first two bytes of a message.
pub const MAGIC: u16 = 0xCA5D;
/// The version of the layout.
pub const VERSION: u8 = 1;
/// Bytes of a request.
pub const REQUEST_BYTES: usize = 24;
/// Bytes of a reply.
pub const REPLY_BYTES: usize = 32;

const KIND_REQUEST: u8 = 1;
const KIND_REPLY: u8 = 2;
const FLAG_TIMES: u8 = 1;

/// A request for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The client's number of the request.
    pub number: u64,
    /// The class of the request, as the service's policy numbers classes.
    pub class: u16,
    /// How long the server is to be busy, in nanoseconds of an undisturbed core.
    pub work_ns: u64,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The request's number.
    pub number: u64,
    /// The request's class.
    pub class: u16,
    /// The fate of the request.
    pub status: Status,
    /// How long it took on the server, if the server tells.
    pub times: Option<Times>,
}

/// The fate of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The work was done.
    Done,
    /// The server is overloaded and has not begun.
    Overloaded,
    /// The server has no such class, or does not do so much work in one request.
    Invalid,
}

/// Times of a request, as the server measured them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// From when the server had read the request until it wrote the reply, in nanoseconds.
    pub sojourn_ns: u64,
    /// How long the request ran of that, in nanoseconds.
    pub service_ns: u64,
}

/// The result of a parser at the beginning of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed<T> {
    /// A message.
    Message {
        /// The message.
        message: T,
        /// Bytes that it took.
        consumed: usize,
    },
    /// Part of a message.
    Incomplete {
        /// Bytes that the input must have.
        needed: usize,
    },
    /// Something else. A stream has to end, a datagram is dropped.
    Invalid(Strange),
}

/// The reason for which bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Strange {
    /// It does not begin like a message.
    #[error("no message of this protocol")]
    Magic,
    /// It is of another version.
    #[error("a message of version {0}; this program speaks version {VERSION}")]
    Version(u8),
    /// A reply came to a server, or a request to a client.
    #[error("a message of kind {0}, which is for the other side")]
    Kind(u8),
    /// A byte has a value that means nothing in this version.
    #[error("a status, flag or reserved byte means nothing in this version")]
    Field,
}

impl Request {
    /// The bytes of the request.
    #[inline]
    pub fn encode(&self) -> [u8; REQUEST_BYTES] {
        let mut bytes = [0; REQUEST_BYTES];
        bytes[..8].copy_from_slice(&head(KIND_REQUEST, self.class, [0; 2]));
        bytes[8..16].copy_from_slice(&self.number.to_be_bytes());
        bytes[16..].copy_from_slice(&self.work_ns.to_be_bytes());
        bytes
    }

    /// The first request of `input`.
    #[inline]
    pub fn parse(input: &[u8]) -> Parsed<Request> {
        let class = match parse_head(input, KIND_REQUEST) {
            Ok((class, [0, 0])) => class,
            Ok(_) => return Parsed::Invalid(Strange::Field),
            Err(other) => return other.into_parsed(REQUEST_BYTES),
        };
        let Some(body) = input.get(8..REQUEST_BYTES) else {
            return Parsed::Incomplete { needed: REQUEST_BYTES };
        };
        let [number, work_ns] = words(body);
        Parsed::Message { message: Request { number, class, work_ns }, consumed: REQUEST_BYTES }
    }
}

impl Reply {
    /// The bytes of the reply.
    #[inline]
    pub fn encode(&self) -> [u8; REPLY_BYTES] {
        let status = match self.status {
            Status::Done => 0,
            Status::Overloaded => 1,
            Status::Invalid => 2,
        };
        let (flags, times) = match self.times {
            Some(times) => (FLAG_TIMES, times),
            None => (0, Times { sojourn_ns: 0, service_ns: 0 }),
        };
        let mut bytes = [0; REPLY_BYTES];
        bytes[..8].copy_from_slice(&head(KIND_REPLY, self.class, [status, flags]));
        bytes[8..16].copy_from_slice(&self.number.to_be_bytes());
        bytes[16..24].copy_from_slice(&times.sojourn_ns.to_be_bytes());
        bytes[24..].copy_from_slice(&times.service_ns.to_be_bytes());
        bytes
    }

    /// The first reply of `input`.
    #[inline]
    pub fn parse(input: &[u8]) -> Parsed<Reply> {
        let (class, [status, flags]) = match parse_head(input, KIND_REPLY) {
            Ok(head) => head,
            Err(other) => return other.into_parsed(REPLY_BYTES),
        };
        let status = match status {
            0 => Status::Done,
            1 => Status::Overloaded,
            2 => Status::Invalid,
            _ => return Parsed::Invalid(Strange::Field),
        };
        let Some(body) = input.get(8..REPLY_BYTES) else { return Parsed::Incomplete { needed: REPLY_BYTES } };
        let [number, sojourn_ns, service_ns] = words(body);
        let times = match flags {
            0 if (sojourn_ns, service_ns) == (0, 0) => None,
            FLAG_TIMES => Some(Times { sojourn_ns, service_ns }),
            _ => return Parsed::Invalid(Strange::Field),
        };
        Parsed::Message { message: Reply { number, class, status, times }, consumed: REPLY_BYTES }
    }
}

/// The only message of a datagram; bytes behind it make it none.
pub fn only<T>(parsed: Parsed<T>, datagram: &[u8]) -> Option<T> {
    match parsed {
        Parsed::Message { message, consumed } if consumed == datagram.len() => Some(message),
        _ => None,
    }
}

fn head(kind: u8, class: u16, last: [u8; 2]) -> [u8; 8] {
    let ([m0, m1], [c0, c1], [l0, l1]) = (MAGIC.to_be_bytes(), class.to_be_bytes(), last);
    [m0, m1, VERSION, kind, c0, c1, l0, l1]
}

/// The reason for which there is no head yet, or none at all.
enum NoHead {
    TooFewBytes,
    Strange(Strange),
}

impl NoHead {
    fn into_parsed<T>(self, needed: usize) -> Parsed<T> {
        match self {
            NoHead::TooFewBytes => Parsed::Incomplete { needed },
            NoHead::Strange(strange) => Parsed::Invalid(strange),
        }
    }
}

/// The class, and the two bytes that close the head. What cannot become a message is told as soon as the head is there.
#[inline]
fn parse_head(input: &[u8], kind: u8) -> Result<(u16, [u8; 2]), NoHead> {
    let &[m0, m1, version, its_kind, c0, c1, l0, l1] = input.first_chunk().ok_or(NoHead::TooFewBytes)?;
    if [m0, m1] != MAGIC.to_be_bytes() {
        return Err(NoHead::Strange(Strange::Magic));
    }
    if version != VERSION {
        return Err(NoHead::Strange(Strange::Version(version)));
    }
    if its_kind != kind {
        return Err(NoHead::Strange(Strange::Kind(its_kind)));
    }
    Ok((u16::from_be_bytes([c0, c1]), [l0, l1]))
}

/// Numbers of 64 bits, the high byte first.
#[inline]
fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let (chunks, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|index| u64::from_be_bytes(chunks[index]))
}
