//! Tests of the store and of the sessions on it, in one binary.

mod answers;
mod connection;
mod datagrams;
mod history;
mod kinds;
mod linear;
mod memory;
mod model;
mod operations;
mod preempted;
mod scans;
mod sessions;
mod statistics;

use caudal_kv::store::{Config, NoRoom, Store, Stored};
use caudal_proto::text::StoreMode;

/// The second at which most tests begin.
const NOW: u32 = 1_700_000_000;

/// A store of few shards, so that shards have many items.
fn small_store() -> Store {
    Store::new(Config { shards: 4, hash_seed: 7, ..Config::default() })
}

/// `set` without flags and expiry.
fn set(store: &Store, key: &str, value: &str) {
    let stored = store.store(StoreMode::Set, key.as_bytes(), 0, 0, value.as_bytes(), NOW);
    assert_eq!(stored, Ok(Stored::Stored), "{key}");
}

fn value(store: &Store, key: &str) -> Option<String> {
    value_at(store, key, NOW)
}

fn value_at(store: &Store, key: &str, now: u32) -> Option<String> {
    let item = store.get(key.as_bytes(), now)?;
    assert_eq!(item.key(), key.as_bytes());
    Some(String::from_utf8(item.data().to_vec()).expect("a test's values are text"))
}

/// The answer to a storage command without flags and expiry.
fn stored(store: &Store, mode: StoreMode, key: &str, value: &str) -> Result<Stored, NoRoom> {
    store.store(mode, key.as_bytes(), 0, 0, value.as_bytes(), NOW)
}
