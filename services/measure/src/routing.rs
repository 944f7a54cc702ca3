//! Key routing as McRouter does it: a request is a memcached `get KEY`, which goes on to the leaf that holds the key
//! by consistent hashing. What is timed ends where the forwarded request stands in the leaf's buffer.
//!
//! Each of the 100 leaves has 160 points on a ring of 64-bit SipHashes, so a look-up is a hash and a binary search
//! over 16,000 points. (McRouter's own hash needs no ring; the work is of the same kind and size.)

use anyhow::{Context, Result, ensure};
use hashring::HashRing;
use rand_distr::{Distribution, Zipf};

use crate::random::{Purpose, scatter, stream};
use crate::service::{Requests, Served, Service};

const LEAVES: u8 = 100;
const POINTS_A_LEAF: u16 = 160;
/// memcached's own limit.
const LONGEST_KEY: usize = 250;
/// A leaf's buffer is written out when it holds so much.
const BUFFER_BYTES: usize = 16 << 10;

/// One of a leaf's places on the ring.
#[derive(Clone, Copy, Hash)]
struct Point {
    leaf: u8,
    number: u16,
}

pub(crate) struct Routing {
    ring: HashRing<Point>,
    /// What waits to be sent, by leaf.
    outgoing: Vec<Vec<u8>>,
    /// The leaf of the request before.
    last: usize,
}

impl Routing {
    pub(crate) fn new() -> Routing {
        Routing {
            ring: ring(LEAVES),
            outgoing: (0..LEAVES).map(|_| Vec::with_capacity(2 * BUFFER_BYTES)).collect(),
            last: 0,
        }
    }
}

fn ring(leaves: u8) -> HashRing<Point> {
    let mut ring = HashRing::new();
    ring.batch_add((0..leaves).flat_map(points).collect());
    ring
}

fn points(leaf: u8) -> impl Iterator<Item = Point> {
    (0..POINTS_A_LEAF).map(move |number| Point { leaf, number })
}

fn leaf_of(ring: &HashRing<Point>, key: &[u8]) -> Option<usize> {
    ring.get(&key).map(|point| usize::from(point.leaf))
}

impl Service for Routing {
    const CLASSES: &'static [&'static str] = &[];

    fn reset(&mut self) -> Result<()> {
        self.outgoing.iter_mut().for_each(Vec::clear);
        Ok(())
    }

    fn serve(&mut self, request: &[u8], _reply: &mut Vec<u8>) -> Result<Served> {
        let key = parse(request).context("not a get of one key")?;
        let leaf = leaf_of(&self.ring, key).context("a ring without leaves")?;
        self.last = leaf;
        let outgoing = &mut self.outgoing[leaf];
        outgoing.extend_from_slice(b"get ");
        outgoing.extend_from_slice(key);
        outgoing.extend_from_slice(b"\r\n");
        Ok(Served::default())
    }

    fn settle(&mut self, request: &[u8], _reply: &[u8]) -> Result<()> {
        let outgoing = &mut self.outgoing[self.last];
        ensure!(outgoing.ends_with(request), "the leaf did not get the request");
        if outgoing.len() >= BUFFER_BYTES {
            outgoing.clear();
        }
        Ok(())
    }
}

/// The key of a `get`, if it is one that memcached would take.
fn parse(request: &[u8]) -> Option<&[u8]> {
    let key = request.strip_prefix(b"get ")?.strip_suffix(b"\r\n")?;
    let fits = !key.is_empty() && key.len() <= LONGEST_KEY;
    (fits && key.iter().all(u8::is_ascii_graphic)).then_some(key)
}

/// `count` gets of Zipf-popular keys among a million, 14 to some 70 bytes long.
pub(crate) fn requests(seed: u64, count: usize) -> Requests {
    const KEYS: f64 = 1e6;
    let mut random = stream(seed, Purpose::Keys);
    let ranks = Zipf::new(KEYS, 0.99).expect("keys");
    let mut requests = Requests::default();
    for _ in 0..count {
        let id = scatter(seed ^ ranks.sample(&mut random) as u64);
        requests.push(format!("get {}\r\n", key(id)).as_bytes());
    }
    requests
}

/// A key is the same whenever its `id` is: what it looks like is decided by the id's own bits.
fn key(id: u64) -> String {
    match id % 8 {
        0..4 => format!("user:{:010}", id >> 32),
        4 | 5 => format!("user:{:010}:timeline:{}", id >> 32, (id >> 8) % 50),
        6 => format!("status:{:019}", id >> 1),
        _ => format!("search:{id:016x}:page:{}:lang:en:region:{:03}", (id >> 8) % 20, (id >> 16) % 250),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(count: u64) -> impl Iterator<Item = String> {
        (0..count).map(|rank| key(scatter(rank)))
    }

    #[test]
    fn a_key_stays_at_its_leaf_and_is_forwarded_as_it_came() {
        let mut routing = Routing::new();
        for _ in 0..2 {
            for key in keys(100) {
                let request = format!("get {key}\r\n");
                routing.serve(request.as_bytes(), &mut Vec::new()).unwrap();
                routing.settle(request.as_bytes(), &[]).unwrap();
            }
        }
        let received: usize = routing.outgoing.iter().map(Vec::len).sum();
        assert_eq!(received, 2 * keys(100).map(|key| key.len() + 6).sum::<usize>());
        for key in keys(100) {
            let holders = routing.outgoing.iter().filter(|buffer| {
                String::from_utf8_lossy(buffer).split("\r\n").any(|line| line == format!("get {key}"))
            });
            assert_eq!(holders.count(), 1, "{key}");
        }
    }

    #[test]
    fn a_leaf_that_goes_takes_its_share_of_keys_with_it_and_no_other() {
        let whole = ring(LEAVES);
        let mut without = whole.clone();
        for point in points(17) {
            assert!(without.remove(&point).is_some());
        }
        let (mut moved, mut all) = (0, 0);
        for key in keys(50_000) {
            all += 1;
            let (before, after) = (leaf_of(&whole, key.as_bytes()), leaf_of(&without, key.as_bytes()));
            if before != after {
                assert_eq!(before, Some(17), "{key} was at a leaf that stays");
                moved += 1;
            }
        }
        // With 160 points a leaf's share spreads by 1/sqrt(160), 8 % of it.
        let share = f64::from(moved) / f64::from(all);
        assert!((0.007..0.013).contains(&share), "{share}");
    }

    #[test]
    fn all_leaves_get_keys() {
        let ring = ring(LEAVES);
        let mut load = [0_u32; LEAVES as usize];
        keys(50_000).for_each(|key| load[leaf_of(&ring, key.as_bytes()).unwrap()] += 1);
        assert!(load.iter().all(|&keys| (250..900).contains(&keys)), "{load:?}");
    }

    #[test]
    fn what_is_no_get_is_refused() {
        let long = format!("get {}\r\n", "k".repeat(LONGEST_KEY + 1));
        for request in ["get a", "set a\r\n", "get \r\n", "get a b\r\n", "get a\x7f\r\n", &long] {
            assert!(Routing::new().serve(request.as_bytes(), &mut Vec::new()).is_err(), "{request:?}");
        }
    }

    #[test]
    fn a_seed_is_a_list_of_requests() {
        assert_eq!(requests(3, 500), requests(3, 500));
        assert_ne!(requests(3, 500), requests(4, 500));
    }
}
