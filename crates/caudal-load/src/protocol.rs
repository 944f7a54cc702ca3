//! The protocols that a generator speaks, alike for streams and datagrams.
//! A session names the [`Protocol`]. The transport of its sockets makes a [`Codec`] when it connects, and calls it for each request that leaves
//! and for each answer that comes.

use caudal_proto::spin;

use crate::memcached::{self, Encoder, Parts, Read};
use crate::traffic::{Command, Keys};
use crate::transport::{Broken, Outcome};

/// A protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// memcached's text protocol, over a store with these keys.
    Memcached(Keys),
    /// Synthetic work: [`caudal_proto::spin`].
    Spin,
}

impl Protocol {
    /// The protocol as messages call it.
    pub fn name(&self) -> &'static str {
        match self {
            Protocol::Memcached(_) => "memcached's text protocol",
            Protocol::Spin => "the protocol of `caudal serve spin`",
        }
    }
}

/// Both directions of a protocol.
#[derive(Debug)]
pub(crate) struct Codec {
    protocol: Protocol,
    encoder: Option<Encoder>,
    /// The first error that the service answered with.
    pub(crate) failure: Option<String>,
}

/// An answer that was taken off a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The answer to the request that was asked about, or, where the protocol numbers requests, to this one.
    Answer {
        /// The number that the answer names, if the protocol has numbers.
        number: Option<u64>,
        /// The outcome of the request; none if the answer is that of another one.
        outcome: Option<Outcome>,
        /// Bytes that the last part took.
        consumed: usize,
    },
    /// More has to come.
    More {
        /// Bytes that are of no more use.
        consumed: usize,
    },
}

impl Codec {
    pub(crate) fn new(protocol: Protocol) -> Codec {
        let encoder = match protocol {
            Protocol::Memcached(keys) => Some(Encoder::new(keys)),
            Protocol::Spin => None,
        };
        Codec { protocol, encoder, failure: None }
    }

    pub(crate) fn has_numbers(&self) -> bool {
        self.protocol == Protocol::Spin
    }

    /// Bytes that a request has at most.
    pub(crate) fn request_bytes_max(&self) -> usize {
        self.encoder.as_ref().map_or(spin::REQUEST_BYTES, Encoder::bytes_max)
    }

    /// Writes a request to the beginning of `buffer`; returns how many bytes it has.
    ///
    /// # Panics
    /// If the protocol has no such command, or the buffer is shorter than [`Self::request_bytes_max`].
    #[inline]
    pub(crate) fn encode(&mut self, number: u64, command: Command, buffer: &mut [u8]) -> usize {
        match (&mut self.encoder, command) {
            (Some(encoder), command) => encoder.encode(command, buffer),
            (None, Command::Work { class, work_ns }) => {
                let request = spin::Request { number, class: class.into(), work_ns };
                buffer[..spin::REQUEST_BYTES].copy_from_slice(&request.encode());
                spin::REQUEST_BYTES
            }
            (None, other) => panic!("synthetic work has no {other:?}"),
        }
    }

    /// Takes an answer off `input`, which is that to `command` where the protocol has no numbers.
    ///
    /// # Errors
    /// [`Broken`], if it is no answer of this protocol.
    #[inline]
    pub(crate) fn take(
        &mut self,
        command: Command,
        parts: &mut Parts,
        input: &[u8],
    ) -> Result<Taken, Broken> {
        match self.protocol {
            Protocol::Memcached(keys) => {
                match memcached::read_answer(&keys, command, parts, input, &mut self.failure) {
                    Read::Whole { outcome, consumed } => {
                        Ok(Taken::Answer { number: None, outcome, consumed })
                    }
                    Read::More { consumed } => Ok(Taken::More { consumed }),
                    Read::Strange => Err(self.strange(input)),
                }
            }
            Protocol::Spin => match spin::Reply::parse(input) {
                spin::Parsed::Message { message, consumed } => {
                    let outcome = match message.status {
                        spin::Status::Done => Outcome::Done,
                        spin::Status::Overloaded => Outcome::Refused,
                        spin::Status::Invalid => {
                            self.failure.get_or_insert_with(|| {
                                format!(
                                    "no such class as {}, or more work than it does in one request",
                                    message.class
                                )
                            });
                            Outcome::Failed
                        }
                    };
                    Ok(Taken::Answer { number: Some(message.number), outcome: Some(outcome), consumed })
                }
                spin::Parsed::Incomplete { .. } => Ok(Taken::More { consumed: 0 }),
                spin::Parsed::Invalid(_) => Err(self.strange(input)),
            },
        }
    }

    /// The error of an answer in another protocol.
    pub(crate) fn strange(&self, input: &[u8]) -> Broken {
        let line = input.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let begin = line[..line.len().min(60)].escape_ascii();
        Broken(format!(
            "the service answers in another protocol than {}: its answer begins with `{begin}`; give the address of a service \
             that speaks it",
            self.protocol.name()
        ))
    }
}
