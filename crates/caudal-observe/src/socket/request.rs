//! The questions of clients, and their answers. The server's thread calls it for each line that a client has sent. It takes a snapshot or
//! a recording of the runtime and returns text.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use caudal_rt::stats::{RecordError, Recording, Running, View};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Draw as _, Export as _, Metric};

/// Most bytes of a trace in an answer.
const TRACE_MAX: usize = 64 << 20;

/// A line from a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "get", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Request {
    About,
    Snapshot,
    Prometheus,
    Hlog {
        #[serde(default)]
        of: Metric,
    },
    Timeline {
        window_ms: u64,
    },
}

/// Answer to a request.
pub(super) enum Reply {
    /// This line, without its end.
    Line(String),
    /// A line after so long.
    Later(Running, Duration),
}

pub(super) fn error(text: &str) -> String {
    json!({ "error": text }).to_string()
}

const FORMS: &str = "write one of {\"get\":\"about\"}, {\"get\":\"snapshot\"}, {\"get\":\"prometheus\"}, \
                     {\"get\":\"hlog\",\"of\":\"service\"} and {\"get\":\"timeline\",\"window_ms\":100}";

/// Answers the request in `line`.
pub(super) fn answer(view: &View, line: &[u8]) -> Reply {
    let request: Request = match serde_json::from_slice(line) {
        Ok(request) => request,
        Err(problem) => return Reply::Line(error(&format!("{problem}; {FORMS}"))),
    };
    let line = match request {
        Request::About => json!({ "about": view.identity() }).to_string(),
        Request::Snapshot => {
            let snapshot = serde_json::to_string(&view.stats());
            snapshot
                .map_or_else(|problem| error(&problem.to_string()), |json| format!("{{\"snapshot\":{json}}}"))
        }
        Request::Prometheus => json!({ "prometheus": view.stats().to_prometheus() }).to_string(),
        Request::Hlog { of } => {
            let mut log = Vec::new();
            match view.stats().write_hlog(of, &mut log) {
                Ok(()) => json!({ "hlog": String::from_utf8_lossy(&log) }).to_string(),
                Err(problem) => error(&problem.to_string()),
            }
        }
        Request::Timeline { window_ms } => {
            let window = Duration::from_millis(window_ms);
            match view.begin_recording(window) {
                Ok(running) => return Reply::Later(running, window),
                Err(problem @ (RecordError::Window(_) | RecordError::Busy)) => error(&problem.to_string()),
            }
        }
    };
    Reply::Line(line)
}

/// The answer when a recording is over.
pub(super) fn recorded(recording: &Recording) -> String {
    let trace = match recording.write_perfetto(Vec::new()) {
        Ok(trace) => trace,
        Err(problem) => return error(&problem.to_string()),
    };
    if trace.len() > TRACE_MAX {
        return error(&format!("the trace has {} bytes; ask for a shorter window", trace.len()));
    }
    let (events, lost) = (recording.events(), recording.lost());
    json!({ "timeline": BASE64_STANDARD.encode(trace), "events": events, "lost": lost }).to_string()
}
