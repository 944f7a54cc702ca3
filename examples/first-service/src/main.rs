//! A key-value service over TCP: short gets, and scans of half a millisecond. The guide is
//! `docs/guides/first-service-in-rust.md`.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

use caudal_observe::Observe as _;
use caudal_rt::{ClassId, Runtime, Shutdown};

type Store = BTreeMap<u64, u64>;

const ROWS: u64 = 1 << 18;

/// Row k holds 2 k.
fn store() -> Store {
    (0..ROWS).map(|key| (key, 2 * key)).collect()
}

/// Short: nothing special about it.
fn get(store: &Store, key: u64) -> Option<u64> {
    store.get(&key).copied()
}

/// Long: says every few hundred nanoseconds where others may overtake.
fn scan(store: &Store, from: u64) -> u64 {
    let mut sum = 0_u64;
    for (row, value) in store.range(from..).map(|(_, value)| value).enumerate() {
        sum = sum.wrapping_add(*value);
        if row % 64 == 0 {
            caudal_rt::probe();
        }
    }
    sum
}

struct Service {
    runtime: Runtime,
    get: ClassId,
    scan: ClassId,
    store: Arc<Store>,
}

impl Service {
    fn new(policy: &str) -> Result<Service, Box<dyn Error>> {
        let runtime = Runtime::builder(policy)?.name("first-service").observed().start()?;
        let (get, scan) = (runtime.class("get")?, runtime.class("scan")?);
        Ok(Service { runtime, get, scan, store: Arc::new(store()) })
    }

    /// The answer to one line. The calling thread waits; the work is done on a worker.
    fn answer(&self, line: &str) -> Result<String, Box<dyn Error>> {
        let store = Arc::clone(&self.store);
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["get", key] => {
                let key = key.parse()?;
                let found = self.runtime.submit(self.get, move || get(&store, key))?.wait()?;
                Ok(found.map_or("none".to_owned(), |value| value.to_string()))
            }
            ["scan", from] => {
                let from = from.parse()?;
                let sum = self.runtime.submit(self.scan, move || scan(&store, from))?.wait()?;
                Ok(sum.to_string())
            }
            _ => Err("write `get KEY` or `scan KEY`".into()),
        }
    }

    fn talk(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut out = stream.try_clone()?;
        for line in BufReader::new(stream).lines() {
            let answer = self.answer(&line?).unwrap_or_else(|error| format!("error: {error}"));
            out.write_all(format!("{answer}\n").as_bytes())?;
        }
        Ok(())
    }
}

/// Serves until it is asked to stop, by SIGTERM, SIGINT or SIGHUP, or until stdin ends; then all that was accepted is answered.
fn serve(policy: &str, address: &str) -> Result<(), Box<dyn Error>> {
    let (asked, stop) = mpsc::channel();
    let by_signal = asked.clone();
    // Before anybody knows that the service is there. Nobody listens any more once the program is stopping.
    ctrlc::set_handler(move || _ = by_signal.send(()))?;
    let service = Arc::new(Service::new(policy)?);
    let listener = TcpListener::bind(address)?;
    println!("serving at {}", listener.local_addr()?);
    let accepting = Arc::clone(&service);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let service = Arc::clone(&accepting);
            thread::spawn(move || service.talk(stream));
        }
    });
    thread::spawn(move || {
        io::stdin().lines().for_each(drop);
        asked.send(())
    });
    stop.recv()?;
    let left = service.runtime.shutdown(Shutdown::Drain);
    println!("{} requests given up, {} threads left", left.abandoned, left.threads);
    Ok(())
}

/// Service times of both handlers alone, one after the other, as `class,service_ns`.
fn measure() {
    let store = store();
    println!("class,service_ns");
    for turn in 0..20_000_u64 {
        let key = turn.wrapping_mul(7_919) % ROWS;
        let begun = Instant::now();
        std::hint::black_box(get(&store, std::hint::black_box(key)));
        println!("get,{}", begun.elapsed().as_nanos());
        if turn % 200 == 0 {
            let begun = Instant::now();
            std::hint::black_box(scan(&store, std::hint::black_box(0)));
            println!("scan,{}", begun.elapsed().as_nanos());
        }
    }
}

/// A connection that asks and waits for the answer.
struct Client {
    lines: io::Lines<BufReader<TcpStream>>,
    out: TcpStream,
}

impl Client {
    fn new(address: &str) -> io::Result<Client> {
        let out = TcpStream::connect(address)?;
        out.set_nodelay(true)?;
        Ok(Client { lines: BufReader::new(out.try_clone()?).lines(), out })
    }

    fn ask(&mut self, line: &str) -> io::Result<String> {
        self.out.write_all(format!("{line}\n").as_bytes())?;
        self.lines.next().unwrap_or(Err(io::ErrorKind::UnexpectedEof.into()))
    }
}

/// Gets one after the other, while another connection scans all the time; how long the gets take.
fn load(address: &str, gets: usize) -> Result<(), Box<dyn Error>> {
    let over = Arc::new(AtomicBool::new(false));
    let (mut scanner, until) = (Client::new(address)?, Arc::clone(&over));
    let scans = thread::spawn(move || -> io::Result<u64> {
        let mut scans = 0;
        while !until.load(Ordering::Relaxed) {
            scanner.ask("scan 0")?;
            scans += 1;
        }
        Ok(scans)
    });
    let mut getter = Client::new(address)?;
    let mut times = Vec::with_capacity(gets);
    for turn in 0..gets {
        let begun = Instant::now();
        getter.ask(&format!("get {}", turn as u64 % ROWS))?;
        times.push(begun.elapsed());
    }
    over.store(true, Ordering::Relaxed);
    let scans = scans.join().map_err(|_| "the scans failed")??;
    times.sort();
    let at = |share: f64| times[((gets - 1) as f64 * share) as usize];
    println!("{gets} gets beside {scans} scans: p50 {:.1?}, p99 {:.1?}", at(0.5), at(0.99));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["measure"] => measure(),
        ["serve", policy, address] => serve(policy, address)?,
        ["load", address] => load(address, 20_000)?,
        ["load", address, gets] => load(address, gets.parse::<usize>()?.max(1))?,
        _ => return Err("write `measure`, `serve POLICY ADDRESS` or `load ADDRESS [GETS]`".into()),
    }
    Ok(())
}
