//! The answers to `stats`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use caudal_kv::service::{Config, Host};
use caudal_kv::store;

use crate::connection::{Connection, service, small_service};

/// The statistics of an answer by their names; no name comes twice.
fn statistics(connection: &mut Connection<'_>, command: &str) -> BTreeMap<String, String> {
    let answer = connection.ask(&format!("{command}\r\n"));
    let lines = answer.strip_suffix("END\r\n").expect("it ends");
    let mut found = BTreeMap::new();
    for line in lines.lines() {
        let mut words = line.splitn(3, ' ');
        assert_eq!(words.next(), Some("STAT"), "{line}");
        let (name, value) = (words.next().expect("a name"), words.next().expect("a value"));
        assert_eq!(found.insert(name.to_owned(), value.to_owned()), None, "{name} comes twice");
    }
    found
}

#[test]
fn commands_are_counted_by_the_names_of_memcached_and_reset() {
    let service = small_service();
    let mut connection = Connection::new(&service);
    let large = "x".repeat((1 << 20) + 1);
    connection.ask(&format!(
        "set a 0 0 1\r\n1\r\nget a b\r\nincr a 1\r\ndecr b 1\r\ntouch a 0\r\ndelete b\r\nscan 5\r\nflush_all 100\r\n\
         cas a 0 0 1 9\r\nx\r\nset a 0 0 {}\r\n{large}\r\n",
        large.len()
    ));
    connection.now += 7;
    let general = statistics(&mut connection, "stats");
    let expected = [
        ("cmd_get", "2"),
        ("get_hits", "1"),
        ("get_misses", "1"),
        ("cmd_set", "2"),
        ("incr_hits", "1"),
        ("decr_misses", "1"),
        ("touch_hits", "1"),
        ("delete_misses", "1"),
        ("delete_hits", "0"),
        ("cas_badval", "1"),
        ("cmd_scan", "1"),
        ("cmd_flush", "1"),
        ("store_too_large", "1"),
        ("curr_items", "0"),
        ("uptime", "7"),
        ("pointer_size", "64"),
    ];
    for (name, value) in expected {
        assert_eq!(general.get(name).map(String::as_str), Some(value), "{name}");
    }
    assert_eq!(general["pid"], std::process::id().to_string());
    connection.ask("set a 0 0 1\r\nx\r\n");
    assert_eq!(connection.ask("stats reset\r\n"), "RESET\r\n");
    let general = statistics(&mut connection, "stats");
    for name in ["cmd_get", "cmd_set", "total_items", "cmd_scan", "cmd_flush", "store_too_large"] {
        assert_eq!(general[name], "0", "{name}");
    }
    assert_eq!(general["curr_items"], "1", "what is there is no event");
}

#[test]
fn settings_items_and_slabs_are_told_and_others_are_errors() {
    let store = store::Config { memory_bytes: 1 << 20, value_bytes_max: 1_000, ..store::Config::default() };
    let service = service(Config { store, ..Config::default() });
    let mut connection = Connection::new(&service);
    let settings = statistics(&mut connection, "stats settings");
    assert_eq!((&*settings["maxbytes"], &*settings["item_size_max"]), ("1048576", "1000"));
    assert_eq!(connection.ask("stats items\r\n"), "END\r\n");
    connection.ask("set a 0 0 1\r\nx\r\n");
    assert_eq!(statistics(&mut connection, "stats items")["items:1:number"], "1");
    assert_eq!(statistics(&mut connection, "stats slabs")["total_malloced"], "98");
    assert_eq!(connection.ask("stats nonsense\r\nstats sizes\r\n"), "ERROR\r\nERROR\r\n");
}

#[test]
fn a_host_tells_what_a_session_cannot_know() {
    struct Sockets(Arc<AtomicU64>);
    impl Host for Sockets {
        fn statistics(&self, see: &mut dyn FnMut(&str, u64)) {
            see("total_connections", self.0.load(Ordering::Relaxed));
        }

        fn settings(&self, see: &mut dyn FnMut(&str, &str)) {
            see("tcpport", "11211");
        }

        fn reset(&self) {
            self.0.store(0, Ordering::Relaxed);
        }
    }
    let connections = Arc::new(AtomicU64::new(5));
    let service = small_service().with_host(Sockets(connections));
    let mut connection = Connection::new(&service);
    assert_eq!(statistics(&mut connection, "stats")["total_connections"], "5");
    assert_eq!(statistics(&mut connection, "stats settings")["tcpport"], "11211");
    connection.ask("stats reset\r\n");
    assert_eq!(statistics(&mut connection, "stats")["total_connections"], "0");
}
