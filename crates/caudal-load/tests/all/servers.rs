//! Small services on loopback: a cache that speaks memcached's text protocol by UDP and TCP, and a relay that loses datagrams.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use caudal_policy::random::{Draw, hash};
use caudal_proto::datagram;
use caudal_proto::text::{Limits, Line, Parsed, Request, StoreMode, Writer, parse};

/// Keys and values.
pub(crate) type Store = Arc<Mutex<HashMap<Vec<u8>, Vec<u8>>>>;

/// A thread that ends when this is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) store: Store,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

/// The answers to all whole requests of `input`, and how many bytes these had.
fn answer(store: &Store, input: &[u8], out: &mut Vec<u8>) -> usize {
    let (mut at, mut store) = (0, store.lock().unwrap());
    while let Parsed::Message { request, consumed } = parse(&input[at..], &Limits::default()) {
        at += consumed;
        let mut buffer = vec![0; 4_096];
        let mut writer = Writer::new(&mut buffer);
        match request {
            Request::Get { keys, .. } => {
                if let Some(value) = store.get(keys.first()) {
                    writer.value(keys.first(), 0, None, value).unwrap();
                }
                writer.line(Line::End).unwrap();
            }
            Request::Store(command) => {
                assert_eq!(command.line.mode, StoreMode::Set);
                store.insert(command.line.key.to_vec(), command.data.to_vec());
                writer.line(Line::Stored).unwrap();
            }
            _ => writer.line(Line::Error).unwrap(),
        }
        out.extend_from_slice(writer.written());
    }
    at
}

fn server(address: SocketAddr, run: impl FnOnce(Store, Arc<AtomicBool>) + Send + 'static) -> Server {
    let (store, stop) = (Store::default(), Arc::new(AtomicBool::new(false)));
    let (its_store, its_stop) = (Arc::clone(&store), Arc::clone(&stop));
    let thread = Some(std::thread::spawn(move || run(its_store, its_stop)));
    Server { address, store, stop, thread }
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    rustix::net::sockopt::set_socket_recv_buffer_size(&socket, 4 << 20).unwrap();
    socket
}

/// A cache on UDP.
pub(crate) fn udp() -> Server {
    let socket = socket();
    server(socket.local_addr().unwrap(), move |store, stop| {
        let mut buffer = [0; 2_048];
        while !stop.load(Relaxed) {
            let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
            let (number, text) = datagram::request(&buffer[..length]).unwrap();
            let mut out = Vec::new();
            answer(&store, text, &mut out);
            for piece in datagram::split(number, out.len(), 1_400).unwrap() {
                let bytes = [&piece.header.encode()[..], &out[piece.bytes]].concat();
                socket.send_to(&bytes, from).unwrap();
            }
        }
    })
}

/// A cache on TCP, a thread for each connection.
pub(crate) fn tcp() -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    server(listener.local_addr().unwrap(), move |store, stop| {
        let mut threads = Vec::new();
        while !stop.load(Relaxed) {
            let Ok((mut stream, _)) = listener.accept() else {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            };
            stream.set_nonblocking(false).unwrap();
            let store = Arc::clone(&store);
            threads.push(std::thread::spawn(move || {
                let (mut kept, mut buffer, mut out) = (Vec::new(), [0; 4_096], Vec::new());
                while let Ok(length @ 1..) = stream.read(&mut buffer) {
                    kept.extend_from_slice(&buffer[..length]);
                    let used = answer(&store, &kept, &mut out);
                    kept.drain(..used);
                    if stream.write_all(&out).is_err() {
                        break;
                    }
                    out.clear();
                }
            }));
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    })
}

/// A server on TCP that answers every connection with these bytes, as soon as it has said something, and then closes it.
pub(crate) fn says(text: &'static [u8]) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    server(listener.local_addr().unwrap(), move |_, stop| {
        while !stop.load(Relaxed) {
            let Ok((mut stream, _)) = listener.accept() else {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            };
            stream.set_nonblocking(false).unwrap();
            if stream.read(&mut [0; 1_024]).is_ok() {
                let _ = stream.write_all(text);
            }
        }
    })
}

/// What a relay has done to datagrams.
#[derive(Default)]
pub(crate) struct Done {
    /// Requests and answers that were lost.
    pub(crate) lost: AtomicU64,
    /// Requests and answers that were sent twice.
    pub(crate) doubled: AtomicU64,
    /// Pairs of answers that changed their places.
    pub(crate) swapped: AtomicU64,
}

/// A relay to a service on UDP for one client: of the requests and of the answers behind the first `quiet` requests, it loses 1 of 20 and
/// doubles 1 of 20, and of the answers it holds back 1 of 20 until the next one, by seed.
pub(crate) fn relay(to: SocketAddr, quiet: u64, seed: u64) -> (Server, Arc<Done>) {
    let (front, back) = (socket(), socket());
    back.connect(to).unwrap();
    front.set_nonblocking(true).unwrap();
    back.set_nonblocking(true).unwrap();
    let done = Arc::new(Done::default());
    let its_done = Arc::clone(&done);
    let server = server(front.local_addr().unwrap(), move |_, stop| {
        let (mut buffer, mut client, mut held) = ([0; 2_048], None, None::<Vec<u8>>);
        let (mut requests, mut answers, mut idle) = (0, 0, 0);
        let count = |counter: &AtomicU64| counter.fetch_add(1, Relaxed);
        while !stop.load(Relaxed) {
            let mut worked = false;
            if let Ok((length, from)) = front.recv_from(&mut buffer) {
                (worked, client) = (true, Some(from));
                requests += 1;
                let fate = if requests > quiet { Draw::new(hash(seed, 1), requests).below(20) } else { 9 };
                let copies = match fate {
                    0 => {
                        count(&its_done.lost);
                        0
                    }
                    1 => {
                        count(&its_done.doubled);
                        2
                    }
                    _ => 1,
                };
                (0..copies).for_each(|_| assert_eq!(back.send(&buffer[..length]).unwrap(), length));
            }
            if let Ok(length) = back.recv(&mut buffer) {
                (worked, idle) = (true, 0);
                answers += 1;
                let fate = if requests > quiet { Draw::new(hash(seed, 2), answers).below(20) } else { 9 };
                let send =
                    |bytes: &[u8]| assert_eq!(front.send_to(bytes, client.unwrap()).unwrap(), bytes.len());
                let answer = &buffer[..length];
                match fate {
                    0 => {
                        count(&its_done.lost);
                    }
                    1 => {
                        count(&its_done.doubled);
                        send(answer);
                        send(answer);
                    }
                    2 if held.is_none() => held = Some(answer.to_vec()),
                    _ => {
                        send(answer);
                        if let Some(held) = held.take() {
                            count(&its_done.swapped);
                            send(&held);
                        }
                    }
                }
            }
            if !worked {
                std::thread::sleep(Duration::from_micros(100));
                idle += 1;
                // The last one that is held back has nothing to change places with.
                if let Some(held) = held.take_if(|_| idle > 1_000) {
                    front.send_to(&held, client.unwrap()).unwrap();
                }
            }
        }
    });
    (server, done)
}
