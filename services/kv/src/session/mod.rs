//! A connection of memcached's text protocol: takes bytes, carries out the requests in them, and answers with bytes.
//! A worker that has read from a connection calls [`Session::serve`]; it knows no sockets and no clock.
//!
//! # How to call it
//!
//! ```text
//!  input    [ request ][ request ][ half a req…      stays with the caller, who appends what it reads
//!           └── consumed ───────┘
//!  output   [ answer ][ answer ]                     appended; the caller sends it
//! ```
//!
//! The caller keeps a buffer of input for each connection. After each read it calls `serve` with all bytes that the buffer has, takes off it what
//! was [consumed](Served::consumed), sends the output, and does what [`Then`] says. Data blocks of storage commands go from the input to
//! where the value stays, in whatever pieces they come, so the buffer never has to hold a value: the longest thing that it has to hold is
//! a line, of at most [`Config::get_line_bytes_max`](crate::service::Config::get_line_bytes_max) bytes.
//!
//! A connection that ends is dropped with its session. A value that was not whole by then has changed nothing.
//!
//! # What it promises
//!
//! * The answers depend on the bytes, and not on how they were cut into reads.
//! * Requests of one connection are carried out in order, one after the other, and answered in this order.
//! * Output is bounded: a session stops at [`Config::output_bytes_mark`](crate::service::Config::output_bytes_mark) and goes on where it
//!   was, also in the middle of a `get` of many keys.
//! * It is pre-empted at probes: after each request, after each key of a `get`, after each item of a scan, and in copies of long values. A `get`
//!   that was set aside holds the value that it has read (see [`store`](crate::store)). No lock is held at a probe.
//! * A scan is never carried out in one call with other requests: a call ends in front of a scan, and behind it. So a scan is a request of
//!   the runtime by itself, with a [class](crate::kind) of its own, and service times of gets have no scans in them.
//!
//! # What is not spoken
//!
//! Meta commands (`mg`, `ms`, …) are answered `ERROR`, as any command that it does not know. The first byte of the binary protocol is answered
//! `ERROR`, and the connection ends. There is no authentication and no TLS. `verbosity` is answered and changes nothing.
//! [`caudal_proto::text`] has the table of answers that differ from memcached's.

mod answer;
mod block;
mod commands;
mod stats;

pub use caudal_proto::stream::{Served, Then};
use caudal_proto::text::{Closing, Line, Parsed, Request, parse};

use crate::service::Service;
use block::{Block, Filled};

/// One connection. See the [module](self).
#[derive(Debug, Default)]
pub struct Session {
    state: State,
}

#[derive(Debug, Default)]
enum State {
    /// The input begins with a request.
    #[default]
    Between,
    /// The input begins with a `get`, of which this many keys are answered.
    Within { answered: u32 },
    /// The input begins in a data block.
    Filling(Box<Block>),
    /// The input begins with bytes of a refused data block: this many are to be dropped.
    Skipping(usize),
    /// Nothing more is answered.
    Over,
}

/// The step that one request was.
enum Step {
    /// It took so many bytes, and the next one may follow in the same call.
    Took(usize),
    /// It took so many bytes, and the call ends.
    Ends(usize, Then),
}

impl Session {
    /// A connection on which nothing has come yet.
    pub fn new() -> Session {
        Session::default()
    }

    /// Whether the input begins with a request's line, and not with the rest of a data block.
    pub(crate) fn is_at_line(&self) -> bool {
        matches!(self.state, State::Between | State::Within { .. })
    }

    /// The error for a client that sends nothing more: bytes of a data block are missing. None if none are, or if the refusal is sent already.
    pub(crate) fn misses(&self) -> Option<Line> {
        match &self.state {
            State::Filling(block) if block.wants_answer() => Some(Line::BadChunk),
            _ => None,
        }
    }

    /// Carries out the requests in `input`, which begins where the last call has stopped, and appends their answers to `output`. `now` is in
    /// seconds since 1970.
    ///
    /// # Panics
    /// If the input does not begin with the bytes that the last call has not consumed, where that call has stopped within a request.
    pub fn serve(&mut self, service: &Service, input: &[u8], now: u32, output: &mut Vec<u8>) -> Served {
        self.serve_up_to(service.config().output_bytes_mark, service, input, now, output)
    }

    pub(crate) fn serve_up_to(
        &mut self,
        mark: usize,
        service: &Service,
        input: &[u8],
        now: u32,
        output: &mut Vec<u8>,
    ) -> Served {
        let mut consumed = 0;
        loop {
            let mut call = Call { service, now, output, mark };
            match self.step(&mut call, &input[consumed..], consumed == 0) {
                Step::Took(bytes) => consumed += bytes,
                Step::Ends(bytes, then) => return Served { consumed: consumed + bytes, then },
            }
            caudal_probe::probe();
        }
    }

    /// Carries out what the input begins with. `is_first` says that this call has done nothing before.
    #[inline]
    fn step(&mut self, call: &mut Call<'_>, input: &[u8], is_first: bool) -> Step {
        if call.is_at_mark() {
            return Step::Ends(0, Then::Send);
        }
        match &mut self.state {
            // Most calls come to this when they have done everything.
            State::Between if input.is_empty() => Step::Ends(0, Then::Read { needed: 1 }),
            State::Between => self.request(call, input, is_first),
            State::Within { answered } => {
                let answered = *answered;
                match parse(input, call.service.limits()) {
                    Parsed::Message { request, consumed } => self.go_on(call, request, consumed, answered),
                    _ => panic!("a request that was begun is at the beginning of the input no longer"),
                }
            }
            State::Filling(block) => match block.fill(call, input) {
                Filled::Partly(taken) => Step::Ends(taken, Then::Read { needed: 1 }),
                Filled::Wholly(taken) => {
                    self.state = State::Between;
                    Step::Took(taken)
                }
            },
            State::Skipping(left) => {
                let dropped = input.len().min(*left);
                *left -= dropped;
                if *left > 0 {
                    return Step::Ends(dropped, Then::Read { needed: 1 });
                }
                self.state = State::Between;
                Step::Took(dropped)
            }
            State::Over => Step::Ends(input.len(), Then::Close),
        }
    }

    #[inline]
    fn request(&mut self, call: &mut Call<'_>, input: &[u8], is_first: bool) -> Step {
        match parse(input, call.service.limits()) {
            Parsed::Message { request: request @ Request::Get { .. }, consumed } => {
                self.go_on(call, request, consumed, 0)
            }
            Parsed::Message { request: Request::Quit, .. } => self.end(input),
            Parsed::Message { request: request @ Request::Scan(_), consumed } => {
                if !is_first {
                    return Step::Ends(0, Then::Again);
                }
                call.carry_out(&request);
                let then = if consumed < input.len() { Then::Again } else { Then::Read { needed: 1 } };
                Step::Ends(consumed, then)
            }
            Parsed::Message { request: request @ Request::GetAndTouch { .. }, consumed } => {
                self.go_on(call, request, consumed, 0)
            }
            Parsed::Message { request, consumed } => {
                call.carry_out(&request);
                Step::Took(consumed)
            }
            Parsed::Incomplete { needed } => Step::Ends(0, Then::Read { needed }),
            Parsed::Block { line, line_bytes, .. } => {
                self.state = match Block::begin(call, &line) {
                    Ok(block) => State::Filling(Box::new(block)),
                    Err(refused) => State::Skipping(refused.skip),
                };
                Step::Took(line_bytes)
            }
            Parsed::Skip { answer, invalidates, consumed, skip } => {
                call.refuse_block(answer, invalidates, skip);
                self.state = State::Skipping(skip);
                Step::Took(consumed)
            }
            Parsed::Invalid { answer, consumed } => {
                call.line_unless_quiet(answer);
                Step::Took(consumed)
            }
            Parsed::Close { reason } => {
                if reason == Closing::Binary {
                    call.line(Line::Error);
                }
                self.end(input)
            }
        }
    }

    /// Goes on with a retrieval, of which some keys are answered.
    #[inline]
    fn go_on(&mut self, call: &mut Call<'_>, request: Request<'_>, consumed: usize, answered: u32) -> Step {
        match call.retrieve(&request, answered) {
            None => {
                if answered > 0 {
                    self.state = State::Between;
                }
                Step::Took(consumed)
            }
            Some(answered) => {
                self.state = State::Within { answered };
                Step::Ends(0, Then::Send)
            }
        }
    }

    /// Ends the connection; what follows is not looked at.
    fn end(&mut self, input: &[u8]) -> Step {
        self.state = State::Over;
        Step::Ends(input.len(), Then::Close)
    }
}

/// A call of [`Session::serve`]: what requests are carried out on, and where their answers go.
struct Call<'a> {
    service: &'a Service,
    /// Seconds since 1970.
    now: u32,
    output: &'a mut Vec<u8>,
    /// Bytes of output after which it stops.
    mark: usize,
}
