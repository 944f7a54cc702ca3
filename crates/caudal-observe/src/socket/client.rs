//! The other end of the socket: finds the runtimes of this user and asks them. `caudal top` calls it, in another process than the runtime's: it
//! connects once, and asks for a snapshot at each refresh. Calls wait for the answer, up to [`PATIENCE`].

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use caudal_rt::stats::{Identity, Snapshot};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{SocketError, place};
use crate::Metric;

/// Most bytes of an answer; the longest answers are timelines.
const ANSWER_MAX: u64 = 256 << 20;
/// Longest time without any byte of an answer.
const PATIENCE: Duration = Duration::from_secs(10);

crate::text::debug_is_text!(AskError);

/// A runtime that could not be asked.
#[derive(thiserror::Error)]
pub enum AskError {
    /// Its process has ended, or closed the socket.
    #[error("the runtime is gone")]
    Gone,
    /// There was no answer for [`PATIENCE`].
    #[error("the runtime has not answered within {PATIENCE:?}: is its process stopped?")]
    Silent,
    /// The socket can not be used.
    #[error("{0}")]
    System(std::io::Error),
    /// The runtime refused the request.
    #[error("the runtime refuses: {0}")]
    Refused(String),
    /// The answer has a form that this version does not know.
    #[error("the runtime answers what this version of caudal does not read ({0}); use that of the runtime")]
    Foreign(String),
}

impl From<std::io::Error> for AskError {
    fn from(error: std::io::Error) -> AskError {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => AskError::Silent,
            ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::BrokenPipe
            | ErrorKind::NotFound => AskError::Gone,
            _ => AskError::System(error),
        }
    }
}

/// A runtime of this user that has a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name of its socket without the ending: the number of its process, and a further number if it is not the first runtime of that process.
    pub id: String,
    /// The socket.
    pub path: PathBuf,
}

/// The sockets of this user's runtimes. Some may be of runtimes that have ended without removing theirs.
///
/// # Errors
/// [`SocketError`], if other users may write into the directory of sockets.
pub fn runtimes() -> Result<Vec<Entry>, SocketError> {
    let mut all = Vec::new();
    for dir in place::directories() {
        if std::fs::symlink_metadata(&dir).is_err() {
            continue;
        }
        place::check(&dir)?;
        for path in place::sockets(&dir) {
            let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            all.push(Entry { id, path });
        }
    }
    Ok(all)
}

/// A connection to a runtime.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<UnixStream>,
}

impl Client {
    /// Connects to the socket at `path`.
    ///
    /// # Errors
    /// [`AskError`].
    pub fn connect(path: impl AsRef<Path>) -> Result<Client, AskError> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Client { stream: BufReader::new(stream) })
    }

    /// Name, process and version of the runtime.
    ///
    /// # Errors
    /// [`AskError`], as for all requests.
    pub fn about(&mut self) -> Result<Identity, AskError> {
        self.ask(&json!({ "get": "about" }), "about")
    }

    /// Statistics of the runtime.
    ///
    /// # Errors
    /// [`AskError`].
    pub fn snapshot(&mut self) -> Result<Snapshot, AskError> {
        self.ask(&json!({ "get": "snapshot" }), "snapshot")
    }

    /// Statistics of the runtime, in Prometheus' text format.
    ///
    /// # Errors
    /// [`AskError`].
    pub fn prometheus(&mut self) -> Result<String, AskError> {
        self.ask(&json!({ "get": "prometheus" }), "prometheus")
    }

    /// Times of all classes as the text of an HdrHistogram log.
    ///
    /// # Errors
    /// [`AskError`].
    pub fn hlog(&mut self, of: Metric) -> Result<String, AskError> {
        self.ask(&json!({ "get": "hlog", "of": of }), "hlog")
    }

    /// A Perfetto trace of the next `window`, and the number of events that did not fit into it.
    ///
    /// # Errors
    /// [`AskError`].
    pub fn timeline(&mut self, window: Duration) -> Result<(Vec<u8>, u64), AskError> {
        let window_ms = u64::try_from(window.as_millis()).unwrap_or(u64::MAX);
        let mut answer = self.answer(&json!({ "get": "timeline", "window_ms": window_ms }))?;
        let lost = answer["lost"].as_u64().unwrap_or_default();
        let text: String = take(&mut answer, "timeline")?;
        let trace = BASE64_STANDARD.decode(text).map_err(|error| AskError::Foreign(error.to_string()))?;
        Ok((trace, lost))
    }

    fn ask<T: DeserializeOwned>(&mut self, request: &Value, key: &str) -> Result<T, AskError> {
        let mut answer = self.answer(request)?;
        take(&mut answer, key)
    }

    fn answer(&mut self, request: &Value) -> Result<Value, AskError> {
        writeln!(self.stream.get_mut(), "{request}")?;
        let mut line = Vec::new();
        std::io::Read::take(&mut self.stream, ANSWER_MAX).read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") {
            return Err(AskError::Gone);
        }
        let answer: Value =
            serde_json::from_slice(&line).map_err(|error| AskError::Foreign(error.to_string()))?;
        match answer.get("error") {
            Some(error) => Err(AskError::Refused(error.as_str().unwrap_or_default().to_owned())),
            None => Ok(answer),
        }
    }
}

/// Takes the answer's value of `key`.
fn take<T: DeserializeOwned>(answer: &mut Value, key: &str) -> Result<T, AskError> {
    serde_json::from_value(answer[key].take()).map_err(|error| AskError::Foreign(format!("`{key}`: {error}")))
}
