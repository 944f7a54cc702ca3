//! One cache server: its store, its limits, and the counters that belong to no item.
//! Whoever starts a server makes one [`Service`], and all workers share it; sessions and datagrams are carried out on it.

use std::sync::atomic::{AtomicU64, Ordering};

use caudal_proto::text::{LINE_BYTES_MAX, Limits};

use crate::store::{self, Store};

/// The version that clients are told: that of the memcached whose text protocol is spoken, because clients decide by it what they may send, and
/// that of this service.
pub const VERSION: &str = concat!("1.6.18-caudal-", env!("CARGO_PKG_VERSION"));

/// The limits of a server.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The size of the store, and of a value.
    pub store: store::Config,
    /// The most bytes of a line of `get` or `gets`, from 2,048. A connection's input must be able to hold such a line.
    pub get_line_bytes_max: usize,
    /// The most items that a scan may ask for.
    pub scan_items_max: u32,
    /// Bytes of items after which a scan ends early. A scan gives at least one item, if there is one.
    pub scan_bytes_max: usize,
    /// Bytes of output after which a session stops until they have been sent. A session's output may exceed it by the answer to one command
    /// for one key, so by one value, or by one scan.
    pub output_bytes_mark: usize,
    /// The most bytes of the answer to a datagram, without the frames of the datagrams that carry it.
    pub datagram_answer_bytes_max: usize,
}

impl Default for Config {
    /// The store of [`store::Config`]; lines of 64 KiB; scans of 10,000 items and 1 MiB; output of 64 KiB; answers to datagrams of 2 MiB, so
    /// that the largest value fits.
    fn default() -> Config {
        Config {
            store: store::Config::default(),
            get_line_bytes_max: 64 << 10,
            scan_items_max: 10_000,
            scan_bytes_max: 1 << 20,
            output_bytes_mark: 64 << 10,
            datagram_answer_bytes_max: 2 << 20,
        }
    }
}

/// The rest of a server, which has its sockets and threads: `stats` asks it for what a session cannot know. It is asked only when a client
/// sends `stats`.
pub trait Host: Send + Sync {
    /// Gives the statistics that are numbers, such as `curr_connections` and `bytes_read`, by memcached's names.
    fn statistics(&self, see: &mut dyn FnMut(&str, u64)) {
        let _ = see;
    }

    /// Gives the settings, such as `maxconns` and `tcpport`, by memcached's names.
    fn settings(&self, see: &mut dyn FnMut(&str, &str)) {
        let _ = see;
    }

    /// Sets the counters of events to 0, for `stats reset`.
    fn reset(&self) {}
}

/// A host that knows nothing.
struct NoHost;

impl Host for NoHost {}

/// See the [module](self).
pub struct Service {
    store: Store,
    config: Config,
    limits: Limits,
    host: Box<dyn Host>,
    /// The second since 1970 at which it was made.
    started: u32,
    pub(crate) flushes: Counter,
    pub(crate) scans: Counter,
}

/// A counter of rare events.
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Service {
    /// A server with an empty store; `now` is in seconds since 1970.
    ///
    /// # Panics
    /// If a limit is impossible: a line of `get` below 2,048 bytes, an answer of no bytes, or a scan of no items; and as [`Store::new`].
    pub fn new(config: Config, now: u32) -> Service {
        assert!(
            config.get_line_bytes_max >= LINE_BYTES_MAX,
            "lines of get may have {} bytes; they must be allowed {LINE_BYTES_MAX} at least",
            config.get_line_bytes_max
        );
        assert!(config.scan_items_max > 0, "scans may have no items; allow 1 at least");
        assert!(
            config.output_bytes_mark > 0 && config.datagram_answer_bytes_max > 0,
            "answers may have no bytes; allow 1 at least"
        );
        Service {
            store: Store::new(config.store),
            limits: Limits {
                value_bytes_max: config.store.value_bytes_max,
                get_line_bytes_max: config.get_line_bytes_max,
                scan_items_max: config.scan_items_max,
            },
            config,
            host: Box::new(NoHost),
            started: now,
            flushes: Counter::default(),
            scans: Counter::default(),
        }
    }

    /// The same with a host, which `stats` asks for what it knows.
    #[must_use]
    pub fn with_host(self, host: impl Host + 'static) -> Service {
        Service { host: Box::new(host), ..self }
    }

    /// The items.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The limits that it was made with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn host(&self) -> &dyn Host {
        &*self.host
    }

    /// The second since 1970 at which it was made.
    pub(crate) fn started(&self) -> u32 {
        self.started
    }

    /// Sets all counters of events to 0.
    pub(crate) fn reset(&self) {
        self.store.reset_stats();
        self.host.reset();
        self.flushes.reset();
        self.scans.reset();
    }
}
