//! The runtime for C and C++: what `caudal/caudal.h` declares.
//!
//! The header is made from these sources by cbindgen and checked in; a test says when it is stale. What a function does, who owns
//! what and which thread may call it stands at the function, and so in the header.
//!
//! Rules of this boundary:
//!
//! * No panic crosses it ([`boundary::call`]). Null pointers and numbers out of range are answers, not crashes.
//! * No C frame is unwound. What waits in a cancelled request answers [`caudal_status::CAUDAL_CANCELLED`]. An exception that
//!   leaves a handler ends the process with a line that says so ([`job`]).
//! * What is handed out is never null, and a runtime's address stays valid after its end ([`runtime`]).
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
