//! The kernel: workers and the dispatcher, what their threads share, and the helper that keeps system calls off the request path.
//!
//! ```text
//!  start ──▶ worker, dispatcher, watchdog ──▶ context ──▶ elision ──▶ shared ──▶ helper, sleep
//! ```

pub(crate) mod collectors;
pub(crate) mod context;
pub(crate) mod dispatcher;
pub(crate) mod elision;
pub(crate) mod entrance;
pub(crate) mod error;
pub(crate) mod helper;
mod panic_hook;
mod place;
pub(crate) mod reserved;
pub(crate) mod settings;
pub(crate) mod shared;
pub(crate) mod sleep;
mod sleeper;
pub(crate) mod start;
pub(crate) mod thread_words;
pub(crate) mod timer;
pub(crate) mod watchdog;
pub(crate) mod worker;

pub(crate) use sleeper::Sleeper;
