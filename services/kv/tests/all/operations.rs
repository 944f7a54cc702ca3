//! What each command does to one item, as memcached's protocol describes it.

use caudal_kv::store::{NotCounted, Stored};
use caudal_proto::text::{Direction, StoreMode};

use crate::{NOW, set, small_store, stored, value, value_at};

#[test]
fn storage_commands_store_under_their_conditions() {
    let store = small_store();
    assert_eq!(stored(&store, StoreMode::Replace, "k", "a"), Ok(Stored::NotStored));
    assert_eq!(stored(&store, StoreMode::Append, "k", "a"), Ok(Stored::NotStored));
    assert_eq!(stored(&store, StoreMode::Cas(1), "k", "a"), Ok(Stored::NotFound));
    assert_eq!(stored(&store, StoreMode::Add, "k", "b"), Ok(Stored::Stored));
    assert_eq!(stored(&store, StoreMode::Add, "k", "c"), Ok(Stored::NotStored));
    assert_eq!(stored(&store, StoreMode::Replace, "k", "d"), Ok(Stored::Stored));
    assert_eq!(stored(&store, StoreMode::Append, "k", "e"), Ok(Stored::Stored));
    assert_eq!(stored(&store, StoreMode::Prepend, "k", "c"), Ok(Stored::Stored));
    assert_eq!(value(&store, "k").as_deref(), Some("cde"));
    assert_eq!(value(&store, "other"), None);
    assert!(store.delete(b"k", NOW) && !store.delete(b"k", NOW));
    assert_eq!(value(&store, "k"), None);
}

#[test]
fn cas_stores_while_the_item_is_the_one_that_was_read() {
    let store = small_store();
    set(&store, "k", "a");
    let read = store.get(b"k", NOW).unwrap().cas;
    assert_eq!(stored(&store, StoreMode::Cas(read), "k", "b"), Ok(Stored::Stored));
    assert_eq!(stored(&store, StoreMode::Cas(read), "k", "c"), Ok(Stored::Exists));
    let read = store.get(b"k", NOW).unwrap().cas;
    assert!(store.touch(b"k", 100, NOW), "a touch is no new value");
    assert_eq!(stored(&store, StoreMode::Cas(read), "k", "1"), Ok(Stored::Stored));
    let read = store.get(b"k", NOW).unwrap().cas;
    assert_eq!(store.arithmetic(b"k", Direction::Up, 1, NOW), Ok(2));
    assert_eq!(stored(&store, StoreMode::Cas(read), "k", "d"), Ok(Stored::Exists));
    // Stored anew, it is another item.
    let read = store.get(b"k", NOW).unwrap().cas;
    store.delete(b"k", NOW);
    assert_eq!(stored(&store, StoreMode::Cas(read), "k", "e"), Ok(Stored::NotFound));
    set(&store, "k", "2");
    assert_eq!(stored(&store, StoreMode::Cas(read), "k", "f"), Ok(Stored::Exists));
}

#[test]
fn no_two_values_of_a_store_share_a_cas_number() {
    let store = small_store();
    let mut seen = std::collections::HashSet::new();
    for round in 0..20 {
        for index in 0..50 {
            let key = format!("k-{index}");
            set(&store, &key, "1");
            if round % 2 == 0 {
                store.arithmetic(key.as_bytes(), Direction::Up, 1, NOW).unwrap();
            }
            assert!(seen.insert(store.get(key.as_bytes(), NOW).unwrap().cas), "{key}");
        }
    }
}

#[test]
fn numbers_wrap_upwards_stop_at_zero_and_keep_their_length() {
    let store = small_store();
    let (up, down) = (Direction::Up, Direction::Down);
    assert_eq!(store.arithmetic(b"n", up, 1, NOW), Err(NotCounted::NotFound));
    set(&store, "n", "18446744073709551615");
    assert_eq!(store.arithmetic(b"n", up, 2, NOW), Ok(1));
    assert_eq!(value(&store, "n").as_deref(), Some("1                   "));
    assert_eq!(store.arithmetic(b"n", down, 5, NOW), Ok(0));
    set(&store, "n", "10");
    assert_eq!(store.arithmetic(b"n", down, 1, NOW), Ok(9));
    assert_eq!(value(&store, "n").as_deref(), Some("9 "));
    assert_eq!(store.arithmetic(b"n", up, 100, NOW), Ok(109));
    assert_eq!(value(&store, "n").as_deref(), Some("109"));
    for bad in ["", "x", "-1", "1x", "18446744073709551616", " ", "1 1"] {
        set(&store, "n", bad);
        assert_eq!(store.arithmetic(b"n", up, 1, NOW), Err(NotCounted::NonNumeric), "{bad:?}");
        assert_eq!(value(&store, "n").as_deref(), Some(bad));
    }
    set(&store, "n", &format!("{:65}", 1));
    assert_eq!(store.arithmetic(b"n", up, 1, NOW), Err(NotCounted::NonNumeric));
}

#[test]
fn flags_and_expiry_go_with_the_value_and_stay_when_it_is_joined() {
    let store = small_store();
    store.store(StoreMode::Set, b"k", 7, 10, b"5", NOW).unwrap();
    stored(&store, StoreMode::Append, "k", "6").unwrap();
    store.arithmetic(b"k", Direction::Up, 1, NOW).unwrap();
    assert_eq!(store.get(b"k", NOW + 9).unwrap().flags, 7);
    assert_eq!(value_at(&store, "k", NOW + 9).as_deref(), Some("57"));
    assert_eq!(value_at(&store, "k", NOW + 10), None);
    // It is gone, and not only hidden from whoever has a later clock.
    assert_eq!(value_at(&store, "k", NOW), None);
}

#[test]
fn items_expire_and_touches_postpone_it() {
    let store = small_store();
    let store_with = |exptime| store.store(StoreMode::Set, b"k", 0, exptime, b"v", NOW).unwrap();
    store_with(-1);
    assert_eq!(value(&store, "k"), None);
    store_with(i64::from(NOW) + 5);
    assert!(value_at(&store, "k", NOW + 4).is_some());
    assert!(store.touch(b"k", 20, NOW + 4));
    assert!(store.get_and_touch(b"k", 40, NOW + 20).is_some());
    assert!(value_at(&store, "k", NOW + 59).is_some());
    assert!(store.touch(b"k", 0, NOW + 59));
    assert!(value_at(&store, "k", u32::MAX).is_some());
    assert!(store.touch(b"k", -5, NOW));
    assert!(!store.touch(b"k", 5, NOW) && store.get_and_touch(b"k", 5, NOW).is_none());
    // An expired item is not there for any command.
    store_with(-1);
    assert_eq!(stored(&store, StoreMode::Replace, "k", "x"), Ok(Stored::NotStored));
    store_with(-1);
    assert_eq!(stored(&store, StoreMode::Add, "k", "x"), Ok(Stored::Stored));
    store_with(-1);
    assert!(!store.delete(b"k", NOW));
}

#[test]
fn a_flush_takes_what_was_stored_before_its_moment() {
    let store = small_store();
    set(&store, "a", "1");
    store.flush_all(0, NOW);
    set(&store, "b", "1");
    assert_eq!((value(&store, "a"), value(&store, "b").as_deref()), (None, Some("1")));
    store.flush_all(10, NOW);
    set(&store, "c", "1");
    assert_eq!(value_at(&store, "c", NOW + 9).as_deref(), Some("1"));
    assert_eq!((value_at(&store, "b", NOW + 10), value_at(&store, "c", NOW + 10)), (None, None));
    assert_eq!(store.store(StoreMode::Add, b"b", 0, 0, b"2", NOW + 10), Ok(Stored::Stored));
    assert_eq!(value_at(&store, "b", NOW + 11).as_deref(), Some("2"));
}

#[test]
fn statistics_count_what_was_done() {
    let store = small_store();
    set(&store, "k", "1");
    value(&store, "k");
    value(&store, "other");
    stored(&store, StoreMode::Append, "k", "2").unwrap();
    stored(&store, StoreMode::Cas(0), "k", "2").unwrap();
    stored(&store, StoreMode::Cas(0), "other", "2").unwrap();
    store.arithmetic(b"k", Direction::Down, 1, NOW).unwrap();
    store.touch(b"other", 0, NOW);
    let stats = store.stats();
    for (name, expected) in [
        ("cmd_get", 2),
        ("get_hits", 1),
        ("get_misses", 1),
        ("cmd_set", 4),
        ("total_items", 2),
        ("cas_badval", 1),
        ("cas_misses", 1),
        ("decr_hits", 1),
        ("touch_misses", 1),
        ("curr_items", 1),
        ("limit_maxbytes", 64 << 20),
    ] {
        assert_eq!(stats.of(name), expected, "{name}");
    }
}
