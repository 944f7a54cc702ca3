//! The memory limit: what gives way, and what somebody still holds.

use caudal_kv::store::{Config, NoRoom, Store, Stored};
use caudal_proto::text::StoreMode;

use crate::{NOW, set, small_store, stored, value};

/// Bytes that an item of a key and a value of these lengths counts.
fn cost(key: usize, value: usize) -> usize {
    key + value + 96
}

fn limited(memory_bytes: usize, shards: usize) -> Store {
    Store::new(Config { memory_bytes, value_bytes_max: 100_000, shards, ..Config::default() })
}

#[test]
fn what_is_stored_stays_within_the_limit() {
    let store = limited(200_000, 16);
    for index in 0..20_000 {
        set(&store, &format!("key-{index:05}"), &"v".repeat(index % 300));
        assert!(store.used_bytes() <= 200_000, "{} bytes", store.used_bytes());
    }
    let stats = store.stats();
    assert!(stats.items > 500 && stats.of("evictions") == 20_000 - stats.items, "{stats:?}");
    // One large value takes the place of many small ones, of all shards.
    set(&store, "large", &"v".repeat(99_000));
    assert!(store.used_bytes() <= 200_000);
    assert!(value(&store, "large").is_some());
}

#[test]
fn what_is_asked_for_stays_and_scans_ask_for_nothing() {
    let store = limited(100 * cost(5, 10), 1);
    for index in 0..100 {
        set(&store, &format!("k-{index:03}"), "0123456789");
    }
    let wanted = |index: usize| index.is_multiple_of(10);
    for index in (0..100).filter(|&index| wanted(index)) {
        value(&store, &format!("k-{index:03}"));
    }
    let all =
        store.scan(caudal_kv::store::Cursor::START, 1_000, NOW, |_| std::ops::ControlFlow::Continue(()));
    assert_eq!(all.items, 100);
    for index in 100..190 {
        set(&store, &format!("k-{index:03}"), "0123456789");
    }
    for index in 0..100 {
        assert_eq!(value(&store, &format!("k-{index:03}")).is_some(), wanted(index), "{index}");
    }
}

#[test]
fn dead_items_give_way_before_live_ones_that_were_not_asked_for() {
    let store = limited(10 * cost(3, 1), 1);
    for index in 0..10 {
        let exptime = if index % 2 == 0 { 0 } else { -1 };
        store.store(StoreMode::Set, format!("k-{index}").as_bytes(), 0, exptime, b"v", NOW).unwrap();
        // They are asked for, so eviction spares the live ones.
        store.get(format!("k-{index}").as_bytes(), NOW);
    }
    assert_eq!(store.stats().items, 5, "a get clears a dead item away");
    store.flush_all(0, NOW);
    for index in 0..10 {
        set(&store, &format!("n-{index}"), "v");
    }
    assert_eq!((store.stats().items, store.stats().of("evictions")), (10, 0));
}

#[test]
fn a_sweep_clears_what_has_expired_and_nothing_else() {
    let store = small_store();
    for index in 0..1_000 {
        let exptime = if index % 4 == 0 { 0 } else { 5 };
        store.store(StoreMode::Set, format!("k-{index}").as_bytes(), 0, exptime, b"v", NOW).unwrap();
    }
    assert_eq!(store.sweep(10_000, NOW + 4), 0);
    let mut cleared = 0;
    // Each call is bounded; a round of the slots takes several.
    for _ in 0..100 {
        let now_cleared = store.sweep(64, NOW + 5);
        assert!(now_cleared <= 64);
        cleared += now_cleared;
    }
    assert_eq!((cleared, store.stats().items), (750, 250));
    assert_eq!(
        store.used_bytes(),
        (0..1_000).step_by(4).map(|index| cost(format!("k-{index}").len(), 1)).sum::<usize>()
    );
}

#[test]
fn values_that_have_no_room_are_refused_and_the_old_one_of_a_set_is_gone() {
    let store = limited(1_000, 4);
    set(&store, "k", "old");
    let large = "v".repeat(100_001);
    assert_eq!(stored(&store, StoreMode::Add, "k", &large), Err(NoRoom::TooLarge));
    assert_eq!(value(&store, "k").as_deref(), Some("old"));
    assert_eq!(stored(&store, StoreMode::Set, "k", &large), Err(NoRoom::TooLarge));
    assert_eq!(value(&store, "k"), None);
    // Allowed as a value, but there is no memory for it at all.
    assert_eq!(stored(&store, StoreMode::Set, "k", &"v".repeat(1_000)), Err(NoRoom::OutOfMemory));
    assert_eq!(store.used_bytes(), 0);
    let stats = store.stats();
    assert_eq!((stats.of("store_too_large"), stats.of("store_no_memory")), (2, 1));
}

#[test]
fn a_value_that_somebody_holds_outlives_its_item() {
    let store = limited(10 * cost(5, 100), 1);
    let text = |byte: char| byte.to_string().repeat(100);
    set(&store, "k-000", &text('a'));
    let replaced = store.get(b"k-000", NOW).unwrap();
    set(&store, "k-000", &text('b'));
    let evicted = store.get(b"k-000", NOW).unwrap();
    // It takes all memory: what was asked for is spared once, and then gives way.
    set(&store, "large", &"x".repeat(1_900));
    assert_eq!(value(&store, "k-000"), None);
    set(&store, "k-000", &text('c'));
    let flushed = store.get(b"k-000", NOW).unwrap();
    store.flush_all(0, NOW);
    assert_eq!(store.sweep(1_000, NOW), 1);
    for (item, byte) in [(replaced, b'a'), (evicted, b'b'), (flushed, b'c')] {
        assert_eq!((item.key(), item.data()), (&b"k-000"[..], &[byte; 100][..]));
    }
    assert_eq!(store.used_bytes(), 0, "what is held counts no more");
}

/// A number that somebody holds is not changed under its eyes.
#[test]
fn a_number_that_somebody_holds_stays_as_it_was_read() {
    let store = small_store();
    set(&store, "n", "100");
    let held = store.get(b"n", NOW).unwrap();
    store.arithmetic(b"n", caudal_proto::text::Direction::Up, 1, NOW).unwrap();
    assert_eq!((held.data(), value(&store, "n").as_deref()), (&b"100"[..], Some("101")));
    assert_eq!(store.used_bytes(), cost(1, 3));
}

#[test]
fn a_write_in_pieces_changes_nothing_until_it_is_whole() {
    let store = small_store();
    set(&store, "k", "old");
    let before = store.used_bytes();
    let mut draft = store.draft(b"k", 10_000, NOW).unwrap();
    assert_eq!((draft.fill(&[b'v'; 6_000]), draft.missing()), (6_000, 4_000));
    assert_eq!(value(&store, "k").as_deref(), Some("old"));
    assert_eq!(store.used_bytes(), before + cost(1, 10_000));
    drop(draft);
    assert_eq!((value(&store, "k").as_deref(), store.used_bytes()), (Some("old"), before));
    let mut draft = store.draft(b"k", 10_000, NOW).unwrap();
    draft.fill(&[b'v'; 6_000]);
    assert_eq!(draft.fill(&[b'w'; 6_000]), 4_000);
    assert_eq!(store.publish(StoreMode::Set, draft, 3, 0, NOW), Ok(Stored::Stored));
    let item = store.get(b"k", NOW).unwrap();
    assert_eq!((&item.data()[5_999..6_001], item.data().len(), item.flags), (&b"vw"[..], 10_000, 3));
    assert_eq!(store.used_bytes(), cost(1, 10_000));
    let mut draft = store.draft(b"k", 1, NOW).unwrap();
    draft.fill(b"x");
    assert_eq!(store.publish(StoreMode::Prepend, draft, 0, 0, NOW), Ok(Stored::Stored));
    assert_eq!(store.used_bytes(), cost(1, 10_001));
}

/// Memory for a changed value is taken from others: a key that is alone in its shard is not evicted for the value that it gets.
#[test]
fn a_change_does_not_evict_the_item_that_it_changes() {
    let store = limited(10_000, 64);
    for index in 0..100 {
        let key = format!("k-{index}");
        let put = |mode, bytes: usize| store.store(mode, key.as_bytes(), 0, 0, &vec![b'v'; bytes], NOW);
        assert_eq!(put(StoreMode::Set, 2_000), Ok(Stored::Stored));
        assert_eq!(put(StoreMode::Append, 1_000), Ok(Stored::Stored), "{key}");
        assert_eq!(put(StoreMode::Replace, 2_500), Ok(Stored::Stored), "{key}");
        let cas = store.get(key.as_bytes(), NOW).expect("it is stored").cas;
        assert_eq!(put(StoreMode::Cas(cas), 3_000), Ok(Stored::Stored), "{key}");
    }
}
