//! A unix socket that shows a runtime to its owner: where it is, who may open it, and what can be asked there.
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
//! | `{"get":"snapshot"}` | `{"snapshot":{…}}`: [`Snapshot`](super::Snapshot) |
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

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;

pub use client::{AskError, Client, Entry, runtimes};

use self::place::Bound;
use crate::error::StartError;
use crate::shared::Shared;

/// Shall there be a socket?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// If it can be had.
    #[default]
    IfPossible,
    Required,
    No,
}

crate::error::debug_is_text!(SocketError);

/// Why there is no socket.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum SocketError {
    /// It was not wanted, or the runtime has stopped.
    #[error("this runtime has no socket: it was started with `Builder::socket(false)`, or has stopped")]
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
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The operating system refused it.
    #[error("`{}` can not be opened: {reason}", path.display())]
    System {
        /// The socket, or its directory.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
}

/// The socket of a runtime, if it has one.
#[derive(Debug, Default)]
pub(crate) enum State {
    #[default]
    Closed,
    Failed(SocketError),
    Open(Server),
}

impl State {
    pub(crate) fn path(&self) -> Result<PathBuf, SocketError> {
        match self {
            State::Closed => Err(SocketError::Closed),
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

/// Opens the socket of a runtime, if one is wanted. Its thread keeps off `busy` processors, where others are left.
///
/// # Errors
/// [`StartError::System`], where a socket is required and can not be had.
pub(crate) fn open(shared: &Arc<Shared>, busy: &[usize]) -> Result<(), StartError> {
    let wanted = shared.settings.observe.socket;
    if wanted == Wanted::No {
        return Ok(());
    }
    let state = match place::bind().and_then(|bound| Server::start(shared, bound, busy)) {
        Ok(server) => State::Open(server),
        Err(error) if wanted == Wanted::Required => {
            let source = std::io::Error::other(error);
            return Err(StartError::System { what: "the socket for `caudal top`", source });
        }
        Err(error) => State::Failed(error),
    };
    *shared.observer.socket.lock().unwrap_or_else(PoisonError::into_inner) = state;
    Ok(())
}

impl Server {
    fn start(shared: &Arc<Shared>, bound: Bound, busy: &[usize]) -> Result<Server, SocketError> {
        let bound = Arc::new(bound);
        let fails = |error: std::io::Error| SocketError::System {
            path: bound.path.clone(),
            reason: error.to_string(),
        };
        let bell = Arc::new(server::bell().map_err(fails)?);
        let (shared, listened, heard) = (Arc::clone(shared), Arc::clone(&bound), Arc::clone(&bell));
        let busy = busy.to_vec();
        let body = move |prepared: crate::start::Prepared| {
            crate::start::keep_off(&busy);
            prepared.tell();
            server::serve(&shared, &listened.listener, &heard);
        };
        let thread = crate::start::spawn_prepared("caudal-observe", body).map_err(fails)?;
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
