//! What the store costs on this machine, in nanoseconds an operation, beside a map behind a lock and a well-kept concurrent cache.
//!
//! ```text
//! cargo build --release -p caudal-kv --example store_cost && taskset -c 1 target/release/examples/store_cost
//! cargo build --release -p caudal-kv --example store_cost && target/release/examples/store_cost 2
//! ```
//!
//! The argument is the number of threads, each of which does all operations of a trial; 1 without it. Keys have 16 bytes, values 32; a hundred
//! thousand items, chosen at random. Contestants alternate, and medians over many trials are printed. The rivals know no expiry, flags
//! and cas numbers, and the map never evicts.

use std::collections::HashMap;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use caudal_kv::store::{Config, Cursor, Store};
use caudal_proto::text::StoreMode;

const ITEMS: usize = 100_000;
const OPERATIONS: usize = 20_000;
const TRIALS: usize = 41;
const NOW: u32 = 1_700_000_000;
const VALUE: [u8; 32] = [b'v'; 32];

type Key = [u8; 16];

fn key(index: usize) -> Key {
    format!("key-{index:012}").into_bytes().try_into().expect("sixteen bytes")
}

/// Keys in an order that no processor guesses.
fn keys(seed: u64) -> Vec<Key> {
    let mut random = seed | 1;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random as usize % ITEMS
    };
    (0..OPERATIONS).map(|_| key(next())).collect()
}

trait Cache: Sync {
    fn get(&self, key: &Key) -> usize;
    fn set(&self, key: &Key);
}

impl Cache for Store {
    fn get(&self, key: &Key) -> usize {
        Store::get(self, key, NOW).map_or(0, |item| item.data().len())
    }

    fn set(&self, key: &Key) {
        self.store(StoreMode::Set, key, 0, 0, &VALUE, NOW).expect("there is room");
    }
}

impl Cache for Mutex<HashMap<Vec<u8>, Arc<[u8]>>> {
    fn get(&self, key: &Key) -> usize {
        let value = self.lock().unwrap().get(&key[..]).cloned();
        value.map_or(0, |value| value.len())
    }

    fn set(&self, key: &Key) {
        let old = self.lock().unwrap().insert(key.to_vec(), VALUE[..].into());
        drop(old);
    }
}

impl Cache for quick_cache::sync::Cache<Vec<u8>, Arc<[u8]>> {
    fn get(&self, key: &Key) -> usize {
        quick_cache::sync::Cache::get(self, &key[..]).map_or(0, |value| value.len())
    }

    fn set(&self, key: &Key) {
        self.insert(key.to_vec(), VALUE[..].into());
    }
}

/// Nanoseconds of an operation of `work`, which each thread does with keys of its own.
fn timed_ns(keys: &[Vec<Key>], work: impl Fn(&Key) + Sync) -> f64 {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for keys in &keys[1..] {
            scope.spawn(|| keys.iter().for_each(&work));
        }
        keys[0].iter().for_each(&work);
    });
    start.elapsed().as_nanos() as f64 / OPERATIONS as f64
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let threads: usize = std::env::args().nth(1).map_or(1, |text| text.parse().expect("a number of threads"));
    let store = Store::new(Config { items_expected: ITEMS, ..Config::default() });
    let map: Mutex<HashMap<Vec<u8>, Arc<[u8]>>> = Mutex::default();
    let quick: quick_cache::sync::Cache<Vec<u8>, Arc<[u8]>> = quick_cache::sync::Cache::new(2 * ITEMS);
    let caches: [(&str, &dyn Cache); 3] =
        [("this store", &store), ("HashMap behind a Mutex", &map), ("quick_cache", &quick)];
    for (_, cache) in caches {
        (0..ITEMS).for_each(|index| cache.set(&key(index)));
    }
    let keys: Vec<_> = (0..threads).map(|thread| keys(0x1234_5678_9abc + thread as u64 * 77)).collect();
    let mut times = vec![[Vec::new(), Vec::new()]; caches.len()];
    let mut scans = Vec::new();
    for _ in 0..TRIALS {
        for ((_, cache), [gets, sets]) in caches.iter().zip(&mut times) {
            gets.push(timed_ns(&keys, |key| {
                black_box(cache.get(key));
            }));
            sets.push(timed_ns(&keys, |key| cache.set(key)));
        }
        let start = Instant::now();
        let scan = store.scan(Cursor::START, 5_000, NOW, |item| {
            black_box(item.data().len());
            ControlFlow::Continue(())
        });
        scans.push(start.elapsed().as_nanos() as f64 / f64::from(scan.items));
    }
    println!("{threads} threads; ns an operation of each thread, medians of {TRIALS} trials");
    println!("{:<26} {:>8} {:>8}", "", "get hit", "set");
    for ((name, _), [gets, sets]) in caches.iter().zip(&mut times) {
        println!("{name:<26} {:>8.0} {:>8.0}", median(gets), median(sets));
    }
    println!("scan of 5,000 items, an item {:>6.0}", median(&mut scans));
}
