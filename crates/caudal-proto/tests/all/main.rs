//! Tests of the codecs, in one binary.

mod datagrams;
mod replies;
mod requests;
mod spin;
mod splits;
mod strategies;
mod table;
