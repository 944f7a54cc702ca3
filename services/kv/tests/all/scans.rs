//! What a scan promises: every item that was there from its beginning to its end, once; and that it ends.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use caudal_kv::store::{Config, Cursor, Store};
use caudal_proto::text::StoreMode;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{NOW, set, small_store};

/// The keys of a scan by cursors of at most `limit` items each, in the order in which they came, with `between` called between them.
fn scanned(store: &Store, limit: u32, mut between: impl FnMut(usize)) -> Vec<String> {
    let (mut keys, mut cursor, mut calls) = (Vec::new(), Some(Cursor::START), 0);
    while let Some(from) = cursor {
        let mut here = 0;
        let scan = store.scan(from, limit, NOW, |item| {
            here += 1;
            keys.push(String::from_utf8(item.key().to_vec()).unwrap());
            ControlFlow::Continue(())
        });
        assert!(scan.items == here && here <= limit);
        assert_ne!(scan.next, Some(from), "a scan goes on");
        cursor = scan.next;
        calls += 1;
        assert!(calls < 100_000, "a scan ends");
        between(calls);
    }
    keys
}

fn times(keys: Vec<String>) -> BTreeMap<String, usize> {
    let mut times = BTreeMap::new();
    for key in keys {
        *times.entry(key).or_default() += 1;
    }
    times
}

#[test]
fn a_scan_of_a_store_at_rest_gives_every_item_once_in_the_same_order() {
    let store = small_store();
    for index in 0..1_000 {
        set(&store, &format!("k-{index}"), "v");
    }
    let at_once = scanned(&store, 10_000, |_| ());
    assert_eq!(times(at_once.clone()).len(), 1_000);
    assert_eq!(at_once.len(), 1_000);
    for limit in [1, 2, 7, 16, 17, 100] {
        assert_eq!(scanned(&store, limit, |_| ()), at_once, "{limit} at a time");
    }
    assert_eq!(scanned(&small_store(), 5, |_| ()), [""; 0]);
}

#[test]
fn what_grows_replaces_and_evicts_beside_a_scan_costs_it_no_item_that_stays() {
    let store = Store::new(Config { shards: 4, memory_bytes: 4_000 * 120, ..Config::default() });
    let staying = |index: usize| format!("stay-{index}");
    for index in 0..500 {
        set(&store, &staying(index), "v");
    }
    let mut other = 0;
    let keys = scanned(&store, 10, |_| {
        // The store grows to eight times its size, items are replaced, others evicted; those that stay are asked for.
        for _ in 0..200 {
            set(&store, &format!("other-{other}"), "v");
            other += 1;
        }
        for index in 0..500 {
            assert!(store.get(staying(index).as_bytes(), NOW).is_some());
        }
        set(&store, &staying(other % 500), "new");
    });
    assert!(store.stats().of("evictions") > 0);
    let times = times(keys);
    for index in 0..500 {
        assert_eq!(times.get(&staying(index)), Some(&1), "{index}");
    }
}

#[test]
fn a_scan_after_a_flush_gives_what_was_stored_since() {
    let store = small_store();
    for index in 0..300 {
        set(&store, &format!("old-{index}"), "v");
    }
    let mut flushed = false;
    let keys = scanned(&store, 50, |calls| {
        if calls == 2 {
            store.flush_all(0, NOW);
            flushed = true;
            set(&store, "new", "v");
        }
    });
    assert!(flushed && keys.len() <= 101, "{}", keys.len());
    assert_eq!(scanned(&store, 50, |_| ()), ["new"]);
    store.store(StoreMode::Set, b"dead", 0, -1, b"v", NOW).unwrap();
    assert_eq!(scanned(&store, 50, |_| ()), ["new"]);
}

#[test]
fn an_item_that_the_visitor_does_not_take_comes_first_next_time() {
    let store = small_store();
    for index in 0..100 {
        set(&store, &format!("k-{index}"), "v");
    }
    let (mut keys, mut cursor) = (Vec::new(), Some(Cursor::START));
    while let Some(from) = cursor {
        let mut room = 3;
        let scan = store.scan(from, 1_000, NOW, |item| {
            if room == 0 {
                return ControlFlow::Break(());
            }
            room -= 1;
            keys.push(String::from_utf8(item.key().to_vec()).unwrap());
            ControlFlow::Continue(())
        });
        assert_eq!(scan.items, 3 - room);
        cursor = scan.next;
    }
    assert_eq!((keys.len(), times(keys).len()), (100, 100));
}

#[test]
fn a_scan_from_a_key_begins_with_it_or_at_its_place() {
    let store = small_store();
    for index in 0..1_000 {
        set(&store, &format!("k-{index}"), "v");
    }
    let first = |from| {
        let mut first = None;
        store.scan(from, 1, NOW, |item| {
            first = Some(item.key().to_vec());
            ControlFlow::Continue(())
        });
        first
    };
    for index in 0..1_000 {
        let key = format!("k-{index}").into_bytes();
        assert_eq!(first(store.cursor_of(&key, NOW)), Some(key));
    }
    // Places of keys that are not there are all over the store.
    let firsts: std::collections::BTreeSet<_> = (0..1_000)
        .filter_map(|index| first(store.cursor_of(format!("none-{index}").as_bytes(), NOW)))
        .collect();
    assert!(firsts.len() > 400, "{}", firsts.len());
}

#[test]
fn a_scan_that_finds_little_ends_with_a_cursor() {
    let store = small_store();
    for index in 0..100_000 {
        set(&store, &format!("k-{index}"), "v");
    }
    for index in 1..100_000 {
        store.delete(format!("k-{index}").as_bytes(), NOW);
    }
    let scan = store.scan(Cursor::START, 10, NOW, |_| ControlFlow::Continue(()));
    assert!(scan.next.is_some());
    assert_eq!(scanned(&store, 10, |_| ()), ["k-0"]);
}

proptest! {
    #[test]
    fn any_cursor_is_answered(cursor: u64, limit in 1..100_u32) {
        let store = small_store();
        (0..100).for_each(|index| set(&store, &format!("k-{index}"), "v"));
        let scan = store.scan(Cursor(cursor), limit, NOW, |_| ControlFlow::Continue(()));
        prop_assert!(scan.items <= limit && scan.next.is_none_or(|next| next.0 > cursor));
    }

    /// Whatever happens between the parts of a scan: what was there all the time comes once, and no other item comes that was never there.
    #[test]
    fn items_that_stay_come_once(
        changes in vec((0..40_u32, 0..4_u8), 0..80), limit in 1..20_u32, keys in vec(0..40_u32, 0..40)
    ) {
        let store = Store::new(Config { shards: 2, ..Config::default() });
        let name = |key: u32| format!("k-{key}");
        let mut there: BTreeMap<_, _> = keys.iter().map(|&key| (name(key), true)).collect();
        keys.iter().for_each(|&key| set(&store, &name(key), "v"));
        let mut changes = changes.into_iter();
        let keys = scanned(&store, limit, |_| {
            for (key, change) in changes.by_ref().take(5) {
                if change > 0 {
                    set(&store, &name(key), "new");
                    there.entry(name(key)).or_insert(false);
                } else {
                    store.delete(name(key).as_bytes(), NOW);
                    there.entry(name(key)).and_modify(|stays| *stays = false);
                }
            }
        });
        let times = times(keys);
        prop_assert!(times.keys().all(|key| there.contains_key(key)));
        for (key, _) in there.iter().filter(|(_, stays)| **stays) {
            prop_assert_eq!(times.get(key), Some(&1), "{}", key);
        }
    }
}
