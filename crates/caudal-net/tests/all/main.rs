//! Real sockets on loopback: datagrams, connections, and what goes wrong with both.

mod common;
mod datagrams;
mod listening;
mod streams;
