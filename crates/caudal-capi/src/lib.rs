//! The runtime for C and C++: what `caudal/caudal.h` declares.
//!
//! The header is made from these sources by cbindgen and checked in; a test fails when it is stale. The comment of each function says
//! what it does, who owns what and which thread may call it; the header repeats it.
//!
//! Rules of this boundary:
//!
//! * No panic crosses it ([`boundary::call`]). A null pointer or a number out of range is answered with an error status, and never crashes.
//! * No C frame is unwound. A call that waits in a cancelled request answers [`caudal_status::CAUDAL_CANCELLED`]. An exception that
//!   leaves a handler ends the process with a line that says so ([`job`]).
//! * A call that succeeds never hands out a null pointer, and a runtime's address stays valid after its end ([`runtime`]).
//! * Structures that callers fill in begin with their size, so that later versions may add fields ([`boundary::read_sized`]).

// The names are those that C sees.
#![allow(non_camel_case_types)]

mod abi;
mod boundary;
mod carry;
mod inside;
mod job;
mod locks;
mod request;
mod runtime;
mod stats;

pub use abi::*;
pub use carry::*;
pub use inside::*;
pub use locks::*;
pub use request::*;
pub use runtime::*;
pub use stats::*;
