//! Key routing as McRouter does it: a request is memcached's `get KEY KEY …`, of which each key goes on to the leaf that holds it
//! by consistent hashing, as a `get` of its own. The time of a request ends when its last `get` stands in the buffer of its leaf.
//!
//! Each of the 100 leaves has 160 points on a ring of 64-bit SipHashes, so a look-up is a hash and a binary search
//! over 16,000 points. (McRouter's own hash needs no ring; the work is of the same kind and size.)
//!
//! One key takes a tenth of a microsecond. The Q-Zilla paper's requests take tens of microseconds, so ours ask for
//! [`KEYS`] at once. That number is ours. It is of the order of what web servers ask for: at Facebook a popular page needed 521 items on
//! average, asked for in batches of 24 on average and 95 at the 95th percentile (Nishtala et al., Scaling Memcache at Facebook,
//! NSDI 2013). It is the same for all requests, because the paper's McRouter is its example of requests that are much alike.

use anyhow::{Context, Result, ensure};
use hashring::HashRing;
use rand_distr::{Distribution, Zipf};

use crate::random::{Purpose, scatter, stream};
use crate::service::{Requests, Served, Service};
use crate::units::Units;

const LEAVES: u8 = 100;
const POINTS_A_LEAF: u16 = 160;
/// Keys of a request.
const KEYS: usize = 200;
/// Keys between two readings of the clock: a microsecond, of which the reading takes a thirtieth.
const KEYS_A_UNIT: usize = 8;
/// memcached's own limit.
const LONGEST_KEY: usize = 250;
/// A leaf's buffer is written out when it holds this many bytes.
const BUFFER_BYTES: usize = 16 << 10;

/// One of a leaf's places on the ring.
#[derive(Clone, Copy, Hash)]
struct Point {
    leaf: u8,
    number: u16,
}

pub(crate) struct Routing {
    ring: HashRing<Point>,
    /// Bytes that wait to be sent, by leaf.
    outgoing: Vec<Vec<u8>>,
    /// Bytes that were forwarded for the request before, and the leaf of its last key.
    forwarded_bytes: usize,
    last: usize,
    units: Units,
}

impl Routing {
    pub(crate) fn new() -> Routing {
        Routing {
            ring: ring(LEAVES),
            outgoing: (0..LEAVES).map(|_| Vec::with_capacity(2 * BUFFER_BYTES)).collect(),
            forwarded_bytes: 0,
            last: 0,
            units: Units::new(),
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
        let keys = keys_of(request).context("not a get of keys")?;
        self.forwarded_bytes = 0;
        let (mut keys_of_unit, mut bytes_of_unit) = (0, 0);
        for key in keys {
            ensure!(is_key(key), "not a key that memcached takes");
            let leaf = leaf_of(&self.ring, key).context("a ring without leaves")?;
            self.last = leaf;
            let outgoing = &mut self.outgoing[leaf];
            outgoing.extend_from_slice(GET);
            outgoing.extend_from_slice(key);
            outgoing.extend_from_slice(END);
            self.forwarded_bytes += GET.len() + key.len() + END.len();
            (keys_of_unit, bytes_of_unit) = (keys_of_unit + 1, bytes_of_unit + key.len() + 1);
            if keys_of_unit == KEYS_A_UNIT {
                self.units.mark(bytes_of_unit);
                (keys_of_unit, bytes_of_unit) = (0, 0);
            }
        }
        if keys_of_unit > 0 {
            self.units.mark(bytes_of_unit);
        }
        Ok(Served::default())
    }

    fn settle(&mut self, request: &[u8], _reply: &[u8]) -> Result<()> {
        let keys = Self::items(request);
        let expected = request.len() - GET.len() - END.len() - (keys - 1) + keys * (GET.len() + END.len());
        ensure!(self.forwarded_bytes == expected, "not every key went out");
        let last = request.rsplit(|&byte| byte == b' ').next().unwrap_or_default();
        ensure!(self.outgoing[self.last].ends_with(last), "the leaf did not get its key");
        self.outgoing.iter_mut().filter(|buffer| buffer.len() >= BUFFER_BYTES).for_each(Vec::clear);
        Ok(())
    }

    fn units(&mut self) -> Option<&mut Units> {
        Some(&mut self.units)
    }

    fn items(request: &[u8]) -> usize {
        keys_of(request).map_or(0, Iterator::count)
    }
}

const GET: &[u8] = b"get ";
const END: &[u8] = b"\r\n";

/// The keys that a `get` names; none if `request` is no `get`.
fn keys_of(request: &[u8]) -> Option<impl Iterator<Item = &[u8]>> {
    Some(request.strip_prefix(GET)?.strip_suffix(END)?.split(|&byte| byte == b' '))
}

/// Whether memcached would accept the key.
fn is_key(key: &[u8]) -> bool {
    !key.is_empty() && key.len() <= LONGEST_KEY && key.iter().all(u8::is_ascii_graphic)
}

/// `count` gets of Zipf-popular keys among a million, 14 to some 70 bytes long.
pub(crate) fn requests(seed: u64, count: usize) -> Requests {
    const DISTINCT: f64 = 1e6;
    let mut random = stream(seed, Purpose::Keys);
    let ranks = Zipf::new(DISTINCT, 0.99).expect("keys");
    let mut requests = Requests::default();
    for _ in 0..count {
        let keys = (0..KEYS).map(|_| key(scatter(seed ^ ranks.sample(&mut random) as u64)));
        requests.push(format!("get {}\r\n", keys.collect::<Vec<_>>().join(" ")).as_bytes());
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
        let all: Vec<String> = keys(100).collect();
        for together in [&all[..], &all[..37], &all[37..38], &all[38..]] {
            let request = format!("get {}\r\n", together.join(" "));
            routing.serve(request.as_bytes(), &mut Vec::new()).unwrap();
            routing.settle(request.as_bytes(), &[]).unwrap();
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
    fn requests_have_as_many_keys_and_the_clock_is_read_within() {
        let requests = requests(1, 5);
        let mut routing = Routing::new();
        for request in requests.all() {
            assert_eq!(Routing::items(request), KEYS);
            routing.serve(request, &mut Vec::new()).unwrap();
        }
        assert_eq!(routing.units.marked(), 5 * KEYS / KEYS_A_UNIT);
        routing.serve(b"get a b c\r\n", &mut Vec::new()).unwrap();
        assert_eq!(routing.units.marked(), 5 * KEYS / KEYS_A_UNIT + 1, "fewer keys are a unit, too");
    }

    #[test]
    fn a_key_that_does_not_arrive_is_noticed() {
        let mut routing = Routing::new();
        routing.serve(b"get a b\r\n", &mut Vec::new()).unwrap();
        assert!(routing.settle(b"get a b\r\n", &[]).is_ok());
        assert!(routing.settle(b"get a b c\r\n", &[]).is_err());
        assert!(routing.settle(b"get a x\r\n", &[]).is_err());
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
        for request in ["get a", "set a\r\n", "get \r\n", "get a  b\r\n", "get a b\x7f\r\n", &long] {
            assert!(Routing::new().serve(request.as_bytes(), &mut Vec::new()).is_err(), "{request:?}");
        }
    }

    #[test]
    fn a_seed_is_a_list_of_requests() {
        assert_eq!(requests(3, 500), requests(3, 500));
        assert_ne!(requests(3, 500), requests(4, 500));
    }
}
