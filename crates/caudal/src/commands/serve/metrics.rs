//! The page of Prometheus' text format: the runtime's times and the counts of the sockets. A service with `--prometheus` serves it on a thread of
//! its own, which the workers do not notice.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use caudal_net::Net;
use caudal_observe::Export as _;
use caudal_rt::Runtime;
use miette::miette;
use tiny_http::{Header, Response, Server};

/// How long a wait for a request may keep the thread from its end.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The sockets of a service that is being served. Parts of the program that are made before the sockets hold it, and it is set when these are
/// bound.
pub(super) type Served = Arc<OnceLock<Net>>;

/// The bound port, before the runtime has started.
pub(super) struct Metrics(Server);

/// The thread that answers; dropping it ends the thread.
pub(super) struct Answering {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Metrics {
    pub(super) fn bind(address: SocketAddr) -> miette::Result<Metrics> {
        let refused = |error: Box<dyn std::error::Error + Send + Sync>| {
            miette!(help = "choose another address", "cannot serve Prometheus at {address}: {error}")
        };
        Server::http(address).map(Metrics).map_err(refused)
    }

    /// Answers from now on.
    pub(super) fn serve(self, runtime: Arc<Runtime>, served: Served) -> Answering {
        let stop = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !ends.load(Relaxed) {
                if let Ok(Some(request)) = self.0.recv_timeout(LOOK_EVERY) {
                    // A client that has gone does not want its answer.
                    let _: io::Result<()> = request.respond(page(&runtime, &served));
                }
            }
        });
        Answering { stop, thread: Some(thread) }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        self.thread.take().into_iter().for_each(|thread| _ = thread.join());
    }
}

fn page(runtime: &Runtime, served: &Served) -> Response<io::Cursor<Vec<u8>>> {
    let mut text = runtime.stats().to_prometheus();
    if let Some(net) = served.get() {
        let counts = net.counts();
        text += &format!(
            "# HELP caudal_net_open_connections Connections that are open.\n# TYPE caudal_net_open_connections gauge\n\
             caudal_net_open_connections {}\n",
            counts.open()
        );
        for (name, count) in counts.all() {
            text += &format!("# TYPE caudal_net_{name}_total counter\ncaudal_net_{name}_total {count}\n");
        }
    }
    let kind = Header::from_bytes("Content-Type", "text/plain; version=0.0.4").expect("both are ASCII");
    Response::from_string(text).with_header(kind)
}
