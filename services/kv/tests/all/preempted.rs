//! Requests of a runtime that are set aside at every probe: nobody waits for ever, and what a request reads is whole.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use caudal_kv::store::{Config, Cursor, Item, NoRoom, Store};
use caudal_proto::text::StoreMode;
use caudal_rt::{Builder, Pinning, Runtime};

use crate::connection::{Connection, small_service};
use crate::history::{Recorder, is_linearizable};
use crate::linear::client;
use crate::{NOW, small_store};

/// A runtime whose requests yield at every probe.
fn runtime(workers: usize) -> Runtime {
    caudal_probe::set_every(true);
    let text = format!(
        "[system]\ncores = {workers}\npools = \"per-core\"\ndispatch = {{ policy = \"random\" }}\n\
         discipline = {{ policy = \"processor-sharing\", quantum = \"2us\" }}\n"
    );
    Builder::parse(&text, "test.toml").unwrap().pinning(Pinning::None).start().unwrap()
}

fn all<T>(handles: Vec<caudal_rt::Handle<T>>) -> Vec<T> {
    handles.into_iter().map(|handle| handle.wait().expect("it ends by returning")).collect()
}

/// Reads a value piece by piece, setting itself aside between the pieces: it is one letter, many times.
fn assert_whole(item: &Item) {
    let letter = item.data()[0];
    for piece in item.data().chunks(1_000) {
        assert!(piece.iter().all(|&byte| byte == letter), "a value of two writers");
        caudal_probe::probe();
    }
}

#[test]
fn requests_that_read_write_scan_and_evict_beside_each_other_end_and_see_whole_values() {
    const VALUE_BYTES: usize = 20_000;
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let class = runtime.class("x").unwrap();
        // Room for a third of the values: writers evict what readers hold.
        let store =
            Arc::new(Store::new(Config { memory_bytes: 8 * VALUE_BYTES, shards: 2, ..Config::default() }));
        let read = Arc::new(AtomicU64::new(0));
        let handles = (0..60_u8).map(|number| {
            let (store, read) = (store.clone(), read.clone());
            runtime
                .submit(class, move || {
                    for round in 0..20_u8 {
                        let key = [b'k', (number.wrapping_mul(7).wrapping_add(round)) % 24];
                        match number % 4 {
                            0 => {
                                let value = vec![b'a' + number % 26; VALUE_BYTES];
                                match store.store(StoreMode::Set, &key, 0, 0, &value, NOW) {
                                    // All memory can be that of values in flight, of sixty writers.
                                    Ok(_) | Err(NoRoom::OutOfMemory) => {}
                                    Err(NoRoom::TooLarge) => panic!("within the limit"),
                                }
                            }
                            1 => {
                                let see = |item: &Item| {
                                    assert_whole(item);
                                    read.fetch_add(1, Ordering::Relaxed);
                                    ControlFlow::Continue(())
                                };
                                store.scan(Cursor::START, 100, NOW, see);
                            }
                            2 if round == 10 => store.flush_all(0, NOW),
                            _ => {
                                if let Some(item) = store.get(&key, NOW) {
                                    assert_whole(&item);
                                    read.fetch_add(1, Ordering::Relaxed);
                                }
                            }
                        }
                    }
                })
                .unwrap()
        });
        all(handles.collect());
        assert!(read.load(Ordering::Relaxed) > 0, "{workers} workers: nobody has read anything");
        store.flush_all(0, NOW);
        store.sweep(100_000, NOW);
        assert_eq!((store.used_bytes(), store.stats().items), (0, 0));
    }
}

#[test]
fn histories_of_requests_that_are_set_aside_are_linearizable() {
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let class = runtime.class("x").unwrap();
        let service = Arc::new(small_service());
        for round in 0..50_u64 {
            let recorder = Arc::new(Recorder::new(format!("k-{round}")));
            let handles = (0..3).map(|number| {
                let (service, recorder) = (service.clone(), recorder.clone());
                let seed = round * 3 + number + 1;
                // Two clients are connections, and one calls the store directly.
                let job = move || match number {
                    0 => client(seed, service.store(), &recorder),
                    _ => client(seed, Connection::new(&service), &recorder),
                };
                runtime.submit(class, job).unwrap()
            });
            all(handles.collect());
            let events = Arc::into_inner(recorder).expect("all are done").events();
            assert!(is_linearizable(&events), "{workers} workers, round {round}: {events:#?}");
        }
    }
}

/// Joins copy without the lock and begin anew when they come too late: none is lost.
#[test]
fn appends_beside_each_other_all_get_in() {
    let runtime = runtime(2);
    let class = runtime.class("x").unwrap();
    let store = Arc::new(small_store());
    crate::set(&store, "k", "");
    let handles = (0..10_u8).map(|number| {
        let store = store.clone();
        let text = vec![b'a' + number; 900];
        runtime
            .submit(class, move || {
                for _ in 0..10 {
                    store.store(StoreMode::Append, b"k", 0, 0, &text, NOW).expect("there is room");
                }
            })
            .unwrap()
    });
    all(handles.collect());
    let item = store.get(b"k", NOW).unwrap();
    let mut times = [0; 26];
    for piece in item.data().chunks(900) {
        assert!(piece.iter().all(|&byte| byte == piece[0]), "two appends within each other");
        times[usize::from(piece[0] - b'a')] += 1;
    }
    assert_eq!(times[..10], [10; 10]);
}

/// A burst of a thousand requests is set aside after each of them and in each long value, while others change the same items: its answers
/// come in order, and each value is that of one writer.
#[test]
fn bursts_that_are_set_aside_everywhere_are_answered_in_order() {
    const VALUE_BYTES: usize = 10_000;
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let class = runtime.class("x").unwrap();
        let service = Arc::new(small_service());
        let handles = (0..8_u8).map(|number| {
            let service = service.clone();
            let letter = char::from(b'a' + number);
            let value = letter.to_string().repeat(VALUE_BYTES);
            runtime
                .submit(class, move || {
                    let mut connection = Connection::new(&service);
                    let (mut input, mut own) = (String::new(), 0);
                    for round in 0..100 {
                        input.push_str(&format!(
                            "set own-{number} 0 0 3\r\n{round:03}\r\nget own-{number}\r\n"
                        ));
                        if round % 10 == 0 {
                            input.push_str(&format!(
                                "set shared 0 0 {VALUE_BYTES}\r\n{value}\r\nget shared\r\n"
                            ));
                        }
                    }
                    // In two pieces, of which the first ends within a long value.
                    let (first, second) = input.split_at(input.len() / 2);
                    let answers = connection.ask(first) + &connection.ask(second);
                    let mut lines = answers.lines();
                    while let Some(line) = lines.next() {
                        match line {
                            "STORED" | "END" => {}
                            _ if line.starts_with("VALUE own-") => {
                                assert_eq!(lines.next(), Some(format!("{own:03}").as_str()));
                                own += 1;
                            }
                            _ => {
                                assert_eq!(line, format!("VALUE shared 0 {VALUE_BYTES}"));
                                let value = lines.next().expect("a value").as_bytes();
                                assert_eq!(value.len(), VALUE_BYTES);
                                assert!(value.iter().all(|&byte| byte == value[0]), "of two writers");
                            }
                        }
                    }
                    own
                })
                .unwrap()
        });
        assert_eq!(all(handles.collect()), [100; 8]);
    }
}

/// A get is set aside at its first probe within a long value; what happens to the item meanwhile does not show in its answer.
#[test]
fn a_get_that_is_set_aside_has_the_value_that_it_has_read() {
    let runtime = runtime(1);
    let class = runtime.class("x").unwrap();
    let service = Arc::new(small_service());
    let old = "o".repeat(500_000);
    Connection::new(&service).ask(&format!("set k 0 0 {}\r\n{old}\r\n", old.len()));
    // 1 when the reader begins, and one more for each change.
    let progress = Arc::new(AtomicU64::new(0));
    let writer = {
        let (service, progress) = (service.clone(), progress.clone());
        runtime
            .submit(class, move || {
                while progress.load(Ordering::Relaxed) == 0 {
                    caudal_probe::probe();
                }
                for change in ["set k 0 0 3\r\nnew\r\n", "delete k\r\n", "flush_all\r\n"] {
                    Connection::new(&service).ask(change);
                    progress.fetch_add(1, Ordering::Relaxed);
                }
            })
            .unwrap()
    };
    let reader = {
        let (service, progress) = (service.clone(), progress.clone());
        runtime
            .submit(class, move || {
                progress.store(1, Ordering::Relaxed);
                let answer = Connection::new(&service).ask("get k\r\n");
                (answer, progress.load(Ordering::Relaxed))
            })
            .unwrap()
    };
    let (answer, changed) = reader.wait().expect("it ends by returning");
    writer.wait().expect("it ends by returning");
    assert_eq!(changed, 4, "the reader was set aside until all changes were done");
    assert!(answer == format!("VALUE k 0 {}\r\n{old}\r\nEND\r\n", old.len()));
    assert_eq!(Connection::new(&service).ask("get k\r\n"), "END\r\n");
}
