//! The unix socket that shows a runtime to its owner: where it is, who may open it, and what can be asked there. A runtime's program
//! opens it once; `caudal top` connects as a client. It owns one thread and the file of the socket.
//!
//! ```text
//! $XDG_RUNTIME_DIR/caudal/          or /tmp/caudal-UID/        0700, owned by the user, no symbolic link: else refused
//!     1234.sock                     of process 1234            0600; and each peer's user is asked of the kernel
//!     1234-2.sock                   of its second runtime
//! ```
//!
//! A request is a line of JSON, the answer is one:
//!
//! | request | answer |
//! | --- | --- |
//! | `{"get":"about"}` | `{"about":{"name":…,"pid":…,"version":…}}` |
//! | `{"get":"snapshot"}` | `{"snapshot":{…}}`: [`Snapshot`](caudal_rt::stats::Snapshot) |
//! | `{"get":"prometheus"}` | `{"prometheus":"…"}`: the text |
//! | `{"get":"hlog","of":"service"}` | `{"hlog":"…"}`: the text; of `service`, `sojourn` or `queueing` |
//! | `{"get":"timeline","window_ms":100}` | `{"timeline":"…","events":…,"lost":…}`: a Perfetto trace in base64, after the window |
//! | anything else | `{"error":"…"}` |
//!
//! A thread of its own answers, so that workers have nothing to do with it ([`server`]). Sockets of processes that are gone are
//! removed by the next one that opens one.

mod client;
mod place;
mod request;
mod server;

use std::any::Any;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

pub use client::{AskError, Client, Entry, runtimes};

use caudal_rt::{Beside, StartError};

use self::place::Bound;

/// Shall there be a socket?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// If it can be had.
    IfPossible,
    Required,
}

crate::text::debug_is_text!(SocketError);

/// Reason why there is no socket.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum SocketError {
    /// It was not wanted, or the runtime has stopped.
    #[error("this runtime has no socket: it was started without `observed()`, or has stopped")]
    Closed,
    /// The directory is not for this user alone.
    #[error(
        "`{}` {problem}: sockets are in a directory that belongs to their user and that nobody else can enter (0700); \
         remove it, or set XDG_RUNTIME_DIR to another place",
        path.display()
    )]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The fault.
        problem: &'static str,
    },
    /// The operating system refused it.
    #[error("`{}` can not be opened: {reason}", path.display())]
    System {
        /// The socket, or its directory.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
}

/// The socket of a runtime, if it has one.
#[derive(Debug)]
pub(crate) enum State {
    Failed(SocketError),
    Open(Server),
}

impl State {
    pub(crate) fn path(&self) -> Result<PathBuf, SocketError> {
        match self {
            State::Failed(error) => Err(error.clone()),
            State::Open(server) => Ok(server.bound.path.clone()),
        }
    }
}

/// A socket and the thread that answers there. Dropping it ends the thread and then removes the socket.
#[derive(Debug)]
pub(crate) struct Server {
    bound: Arc<Bound>,
    /// Tells the thread to end.
    bell: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// Opens the socket of a runtime. Its thread keeps off the runtime's processors, where others are left.
///
/// # Errors
/// [`StartError::System`], where a socket is required and can not be had.
pub(crate) fn open(beside: &Beside<'_>, wanted: Wanted) -> Result<Box<dyn Any + Send>, StartError> {
    let state = match place::bind().and_then(|bound| Server::start(beside, bound)) {
        Ok(server) => State::Open(server),
        Err(error) if wanted == Wanted::Required => {
            let source = std::io::Error::other(error);
            return Err(StartError::System { what: "the socket for `caudal top`", source });
        }
        Err(error) => State::Failed(error),
    };
    Ok(Box::new(state))
}

impl Server {
    fn start(beside: &Beside<'_>, bound: Bound) -> Result<Server, SocketError> {
        let bound = Arc::new(bound);
        let fails = |error: std::io::Error| SocketError::System {
            path: bound.path.clone(),
            reason: error.to_string(),
        };
        let bell = Arc::new(server::bell().map_err(fails)?);
        let (view, listened, heard) = (beside.view().clone(), Arc::clone(&bound), Arc::clone(&bell));
        let body = move || server::serve(&view, &listened.listener, &heard);
        let thread = beside.spawn("caudal-observe", body).map_err(fails)?;
        Ok(Server { bound, bell, thread: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let one = 1_u64;
        // SAFETY: eight bytes that live during the call, which is what the descriptor takes.
        unsafe { libc::write(self.bell.as_raw_fd(), (&raw const one).cast(), 8) };
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
