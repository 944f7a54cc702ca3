//! A service of lines, its runtime, and clients.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use caudal_net::{Answers, Counts, Limits, Listen, Net, Origin, Served, Service, Then};
use caudal_rt::{Builder, ClassId, Pinning, Runtime, Shutdown};

/// Time after which a test gives up on an answer. Far longer than any answer takes.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Answers lines: `big N` with N bytes, `wait` and `busy` when they may, which `go` says, `panic` not at all, `many N` with N datagrams, and any other by itself.
pub(crate) struct Lines {
    class: ClassId,
    pub(crate) may: Arc<AtomicBool>,
    pub(crate) waiting: Arc<AtomicU64>,
}

impl Lines {
    fn answer(&self, line: &[u8], answer: &mut Vec<u8>) {
        caudal_rt::probe();
        let text = std::str::from_utf8(line).unwrap_or_default().trim_end();
        match text.split_once(' ') {
            Some(("big", count)) => {
                answer.resize(answer.len() + count.parse::<usize>().unwrap(), b'x');
                return answer.push(b'\n');
            }
            None if text == "panic" => panic!("a fault in the service"),
            None if text == "wait" => {
                self.waiting.fetch_add(1, Relaxed);
                while !self.may.load(Relaxed) {
                    caudal_rt::yield_now();
                }
            }
            None if text == "busy" => {
                self.waiting.fetch_add(1, Relaxed);
                while !self.may.load(Relaxed) {
                    caudal_rt::probe();
                }
            }
            None if text == "go" => self.may.store(true, Relaxed),
            _ => {}
        }
        answer.extend_from_slice(line);
    }
}

impl Service for Lines {
    type Session = u64;

    fn class(&self, _: Origin<'_, u64>, _: &[u8]) -> ClassId {
        self.class
    }

    fn datagram(&self, bytes: &[u8], answers: &mut Answers) {
        let text = std::str::from_utf8(bytes).unwrap_or_default().trim_end();
        let Some(("many", count)) = text.split_once(' ') else {
            return self.answer(bytes, answers.bytes());
        };
        for number in 0..count.parse::<u32>().unwrap() {
            answers.bytes().extend_from_slice(&number.to_be_bytes());
            answers.cut();
        }
    }

    fn stream(&self, served: &mut u64, bytes: &[u8], answer: &mut Vec<u8>) -> Served {
        let mut consumed = 0;
        while let Some(end) = bytes[consumed..].iter().position(|&byte| byte == b'\n') {
            let line = &bytes[consumed..=consumed + end];
            consumed += line.len();
            if line == b"quit\n" {
                return Served { consumed, then: Then::Close };
            }
            self.answer(line, answer);
            *served += 1;
            if answer.len() > 64 << 10 {
                return Served { consumed, then: Then::Send };
            }
        }
        Served { consumed, then: Then::Read { needed: bytes.len() - consumed + 1 } }
    }
}

/// A server of lines at free ports.
pub(crate) struct Server {
    pub(crate) net: Net,
    runtime: Runtime,
    pub(crate) may: Arc<AtomicBool>,
    pub(crate) waiting: Arc<AtomicU64>,
}

impl Server {
    pub(crate) fn start(workers: usize, limits: Limits) -> Server {
        let any = Some("127.0.0.1:0".parse().unwrap());
        Server::at(&Listen { udp: any, tcp: any, ..Listen::default() }, workers, limits)
    }

    pub(crate) fn at(listen: &Listen, workers: usize, limits: Limits) -> Server {
        let text = format!(
            "[system]\ncores = {workers}\npools = \"per-core\"\ndispatch = {{ policy = \"random\" }}\n\
             discipline = {{ policy = \"processor-sharing\", quantum = \"2us\" }}\nrebalance = \"work-stealing\"\n"
        );
        let text = if workers == 1 { text.replace("\"work-stealing\"", "\"none\"") } else { text };
        let builder = Builder::parse(&text, "test.toml").unwrap().pinning(Pinning::None);
        let (may, waiting) = <(Arc<AtomicBool>, Arc<AtomicU64>)>::default();
        let class = builder.class("line").unwrap();
        let service = Lines { class, may: Arc::clone(&may), waiting: Arc::clone(&waiting) };
        let (net, builder) = Net::bind(listen, limits, workers, service).unwrap().attach(builder);
        Server { net, runtime: builder.start().unwrap(), may, waiting }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.net.tcp().unwrap()).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }

    /// A socket that sends to the server, and receives from it alone.
    pub(crate) fn peer(&self) -> UdpSocket {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(self.net.udp().unwrap()).unwrap();
        socket.set_read_timeout(Some(LONG)).unwrap();
        socket
    }

    /// Waits until the counts are as they should be.
    pub(crate) fn until(&self, what: &str, is: impl Fn(&Counts) -> bool) {
        let begun = std::time::Instant::now();
        while !is(&self.net.counts()) {
            assert!(begun.elapsed() < LONG, "{what}: {:?}", self.net.counts());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Ends it; all of its threads come back.
    pub(crate) fn end(self) {
        assert_eq!(self.runtime.shutdown(Shutdown::Drain).threads, 0);
    }
}

/// Sends a line and reads the next one.
pub(crate) fn ask(stream: &TcpStream, line: &str) -> String {
    (&*stream).write_all(format!("{line}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::with_capacity(1, stream).read_line(&mut answer).unwrap();
    answer.trim_end().to_owned()
}
