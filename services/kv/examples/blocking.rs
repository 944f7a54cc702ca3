//! A cache server with a thread for each connection, for tests and for trying: the sessions and the store of this crate behind the sockets of
//! the standard library. Nothing is pre-empted here; `caudal serve kv` is the server to measure.
//!
//! ```text
//! cargo run --release -p caudal-kv --example blocking -- -p 11311 -U 11311
//! ```
//!
//! Options are memcached's, so that memcached's tests can start it; those of memcached's that mean nothing here are taken and ignored.
//! It has one command more than the service: `debugtime <seconds>` moves its clock forward, as memcached's own test builds do.

use std::io::{self, Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use caudal_kv::datagram::DATAGRAM_BYTES;
use caudal_kv::kind::Kind;
use caudal_kv::service::{Config, Host, Service};
use caudal_kv::session::{Session, Then};
use caudal_kv::{datagram, store};

const HELP: &str = "\
A cache server with a thread for each connection; it speaks memcached's text protocol.
-l ADDRESS   address to listen on (127.0.0.1)
-p PORT      port of TCP; 0 for none (11211)
-U PORT      port of UDP; 0 for none (0)
-s PATH      path of a socket of the file system, instead of TCP and UDP: unix-socket
-m MEGABYTES memory of items (64)
-I BYTES     the most bytes of a value, from 1k to 128m (1m)
-c NUMBER    the most connections at a time (1024)
-o idle_timeout=SECONDS  connections that send nothing for so long are closed (0: never)
-h           this text
Other options of memcached's are taken and ignored.";

/// Bytes that are read at a time.
const READ_BYTES: usize = 16 << 10;

struct Options {
    address: String,
    tcp: u16,
    udp: u16,
    path: Option<String>,
    megabytes: usize,
    value_bytes_max: usize,
    connections_max: u64,
    idle: Option<Duration>,
}

/// Options of memcached's that have a value and mean nothing here.
const IGNORED_WITH_VALUE: &str = "utRCbBnfaPDeS";

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        address: "127.0.0.1".to_owned(),
        tcp: 11_211,
        udp: 0,
        path: None,
        megabytes: 64,
        value_bytes_max: 1 << 20,
        connections_max: 1_024,
        idle: None,
    };
    while let Some(argument) = arguments.next() {
        let Some(letter) = argument.strip_prefix('-').and_then(|rest| rest.chars().next()) else {
            return Err(format!("`{argument}` is no option; -h lists them"));
        };
        let rest = argument[2..].to_owned();
        let mut value = || match rest.as_str() {
            "" => arguments.next().ok_or(format!("-{letter} needs a value")),
            joined => Ok(joined.to_owned()),
        };
        match letter {
            'h' => return Err(HELP.to_owned()),
            'l' => options.address = value()?,
            'p' => options.tcp = number(&value()?)?,
            'U' => options.udp = number(&value()?)?,
            's' => options.path = Some(value()?),
            'm' => options.megabytes = number(&value()?)?,
            'I' => options.value_bytes_max = bytes(&value()?)?,
            'c' => options.connections_max = number(&value()?)?,
            'o' => {
                let value = value()?;
                let seconds = value.split(',').find_map(|option| option.strip_prefix("idle_timeout="));
                options.idle = match seconds.map(number).transpose()? {
                    None | Some(0) => options.idle,
                    Some(seconds) => Some(Duration::from_secs(seconds)),
                };
            }
            letter if IGNORED_WITH_VALUE.contains(letter) => drop(value()?),
            _ => {}
        }
    }
    Ok(options)
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is no number that this option can have"))
}

/// Bytes, with `k` or `m` behind them or not.
fn bytes(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1 << 10),
        None => text.strip_suffix(['m', 'M']).map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    let bytes = number::<usize>(digits)?.saturating_mul(unit);
    let allowed = 1 << 10..=128 << 20;
    if allowed.contains(&bytes) { Ok(bytes) } else { Err(format!("{text} is not from 1k to 128m")) }
}

/// The sockets' part of the statistics.
struct Sockets {
    options: Options,
    connections: AtomicU64,
    total: AtomicU64,
    rejected: AtomicU64,
    idle: AtomicU64,
    read_bytes: AtomicU64,
    written_bytes: AtomicU64,
}

impl Sockets {
    fn events(&self) -> [(&'static str, &AtomicU64); 5] {
        [
            ("total_connections", &self.total),
            ("rejected_connections", &self.rejected),
            ("idle_kicks", &self.idle),
            ("bytes_read", &self.read_bytes),
            ("bytes_written", &self.written_bytes),
        ]
    }
}

struct Facts(Arc<Sockets>);

impl Host for Facts {
    fn statistics(&self, see: &mut dyn FnMut(&str, u64)) {
        see("max_connections", self.0.options.connections_max);
        see("curr_connections", self.0.connections.load(Ordering::Relaxed));
        see("accepting_conns", 1);
        for (name, counter) in self.0.events() {
            see(name, counter.load(Ordering::Relaxed));
        }
    }

    fn settings(&self, see: &mut dyn FnMut(&str, &str)) {
        let options = &self.0.options;
        see("maxconns", &options.connections_max.to_string());
        see("tcpport", &options.tcp.to_string());
        see("udpport", &options.udp.to_string());
        see("inter", &options.address);
        see("domain_socket", options.path.as_deref().unwrap_or("NULL"));
        see("idle_timeout", &options.idle.map_or(0, |idle| idle.as_secs()).to_string());
    }

    fn reset(&self) {
        for (_, counter) in self.0.events() {
            counter.store(0, Ordering::Relaxed);
        }
    }
}

struct Server {
    service: Service,
    sockets: Arc<Sockets>,
    /// Seconds by which `debugtime` has moved the clock.
    moved: AtomicU32,
}

fn seconds() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is right");
    u32::try_from(since.as_secs()).expect("before 2106")
}

impl Server {
    fn now(&self) -> u32 {
        seconds() + self.moved.load(Ordering::Relaxed)
    }

    /// Serves a connection until one of the two ends it.
    fn connection(&self, mut stream: impl Read + Write) -> io::Result<()> {
        let (mut session, mut input, mut output) = (Session::new(), Vec::new(), Vec::new());
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let then = match self.debug_time(&session, &mut input, &mut output) {
                true => Then::Again,
                false => {
                    let served = session.serve(&self.service, &input, self.now(), &mut output);
                    input.drain(..served.consumed);
                    served.then
                }
            };
            if !output.is_empty() && then != Then::Again {
                stream.write_all(&output)?;
                self.sockets.written_bytes.fetch_add(output.len() as u64, Ordering::Relaxed);
                output.clear();
            }
            match then {
                Then::Send | Then::Again => {}
                Then::Close => return Ok(()),
                Then::Read { .. } => {
                    let read = stream.read(&mut buffer)?;
                    if read == 0 {
                        return Ok(());
                    }
                    self.sockets.read_bytes.fetch_add(read as u64, Ordering::Relaxed);
                    input.extend_from_slice(&buffer[..read]);
                }
            }
        }
    }

    /// Carries out a `debugtime` that the input begins with, if it does.
    fn debug_time(&self, session: &Session, input: &mut Vec<u8>, output: &mut Vec<u8>) -> bool {
        if session.kind(input) != Kind::Other || !input.starts_with(b"debugtime ") {
            return false;
        }
        let Some(end) = input.iter().position(|&byte| byte == b'\n') else { return false };
        let argument = String::from_utf8_lossy(&input[b"debugtime ".len()..end]).trim().parse::<u32>();
        input.drain(..=end);
        match argument {
            Ok(seconds) => {
                self.moved.fetch_add(seconds, Ordering::Relaxed);
                output.extend_from_slice(b"OK\r\n");
            }
            Err(_) => output.extend_from_slice(b"ERROR\r\n"),
        }
        true
    }

    /// Serves one connection on a thread of its own, or refuses it if there are too many.
    fn begin(self: &Arc<Server>, mut stream: impl Read + Write + Send + 'static) {
        let sockets = &self.sockets;
        sockets.total.fetch_add(1, Ordering::Relaxed);
        if sockets.connections.load(Ordering::Relaxed) >= sockets.options.connections_max {
            sockets.rejected.fetch_add(1, Ordering::Relaxed);
            // Who is refused may be gone already.
            let _ = stream.write_all(b"ERROR Too many open connections\r\n");
            return;
        }
        sockets.connections.fetch_add(1, Ordering::Relaxed);
        let server = self.clone();
        std::thread::spawn(move || {
            let ended = server.connection(stream);
            if ended.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                server.sockets.idle.fetch_add(1, Ordering::Relaxed);
            }
            server.sockets.connections.fetch_sub(1, Ordering::Relaxed);
        });
    }

    fn serve_tcp(self: &Arc<Server>, listener: &TcpListener) -> io::Result<()> {
        loop {
            let (stream, _) = listener.accept()?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(self.sockets.options.idle)?;
            self.begin(stream);
        }
    }

    fn serve_unix(self: &Arc<Server>, listener: &UnixListener) -> io::Result<()> {
        loop {
            let (stream, _) = listener.accept()?;
            stream.set_read_timeout(self.sockets.options.idle)?;
            self.begin(stream);
        }
    }

    fn serve_udp(&self, socket: &UdpSocket) -> io::Result<()> {
        let (mut buffer, mut answer) = (vec![0; 1 << 16], Vec::new());
        loop {
            let (read, peer) = socket.recv_from(&mut buffer)?;
            answer.clear();
            datagram::serve(&self.service, &buffer[..read], self.now(), DATAGRAM_BYTES, &mut answer);
            for piece in answer.chunks(DATAGRAM_BYTES) {
                socket.send_to(piece, peer)?;
            }
        }
    }
}

fn run(options: Options) -> io::Result<()> {
    let items = store::Config {
        memory_bytes: options.megabytes << 20,
        value_bytes_max: options.value_bytes_max,
        hash_seed: std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0),
        ..store::Config::default()
    };
    // A line of `get` as long as memcached takes it, and answers with the largest value.
    let config = Config {
        store: items,
        get_line_bytes_max: 1 << 20,
        datagram_answer_bytes_max: options.value_bytes_max + 1_000,
        ..Config::default()
    };
    let (address, tcp, udp, path) = (options.address.clone(), options.tcp, options.udp, options.path.clone());
    let sockets = Arc::new(Sockets {
        options,
        connections: AtomicU64::new(0),
        total: AtomicU64::new(0),
        rejected: AtomicU64::new(0),
        idle: AtomicU64::new(0),
        read_bytes: AtomicU64::new(0),
        written_bytes: AtomicU64::new(0),
    });
    let service = Service::new(config, seconds()).with_host(Facts(sockets.clone()));
    let server = Arc::new(Server { service, sockets, moved: AtomicU32::new(0) });
    if let Some(path) = path {
        // One of an earlier run, or none.
        let _ = std::fs::remove_file(&path);
        return server.serve_unix(&UnixListener::bind(path)?);
    }
    if udp > 0 {
        let socket = UdpSocket::bind((address.as_str(), udp))?;
        let server = server.clone();
        std::thread::spawn(move || {
            loop {
                // A peer that is gone makes a call fail, and no other peer's.
                let _ = server.serve_udp(&socket);
            }
        });
    }
    if tcp > 0 {
        return server.serve_tcp(&TcpListener::bind((address.as_str(), tcp))?);
    }
    loop {
        std::thread::park();
    }
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(text) if text == HELP => {
            println!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(text) => {
            eprintln!("{text}");
            return ExitCode::FAILURE;
        }
    };
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the server has ended: {error}");
            ExitCode::FAILURE
        }
    }
}
