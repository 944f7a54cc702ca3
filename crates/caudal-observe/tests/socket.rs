//! The socket: who may open it, what it answers, and that nobody is held up by who asks.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use caudal_observe::socket::{AskError, Client, SocketError, runtimes};
use caudal_observe::{Metric, Observe as _, Observed as _};
use caudal_report::timeline::decode;

use caudal_rt::{Runtime, Shutdown};
use serde_json::Value;

#[path = "../../caudal-rt/tests/common/mod.rs"]
mod common;
use common::runtime;

/// One test at a time: a name that one has left is the next one's.
static ALONE: Mutex<()> = Mutex::new(());

fn with_socket() -> (MutexGuard<'static, ()>, Runtime, PathBuf) {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = runtime(1, true, |b| b.observed_or_refused().name("under-test"));
    let class = runtime.class("get").unwrap();
    (0..50).for_each(|_| runtime.submit(class, caudal_rt::probe).unwrap().wait().unwrap());
    let path = runtime.socket_path().unwrap();
    (alone, runtime, path)
}

/// Sends `bytes` and reads one line.
fn raw(path: &Path, bytes: &[u8]) -> Value {
    let mut stream = UnixStream::connect(path).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(bytes).unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: `{line}`"))
}

#[test]
fn only_its_owner_can_open_it_and_it_goes_with_the_runtime() {
    let (_alone, runtime, path) = with_socket();
    let (socket, dir) =
        (std::fs::metadata(&path).unwrap(), std::fs::metadata(path.parent().unwrap()).unwrap());
    assert_eq!((socket.mode() & 0o777, dir.mode() & 0o777), (0o600, 0o700));
    assert!(runtimes().unwrap().iter().any(|entry| entry.path == path));
    runtime.shutdown(Shutdown::Drain);
    assert!(!path.exists());
    assert_eq!(runtime.socket_path(), Err(SocketError::Closed));
    assert!(matches!(Client::connect(&path), Err(AskError::Gone)));
}

#[test]
fn each_request_has_its_answer() {
    let (_alone, runtime, path) = with_socket();
    let mut client = Client::connect(&path).unwrap();
    let about = client.about().unwrap();
    assert_eq!((about.name.as_str(), about.pid), ("under-test", std::process::id()));
    let snapshot = client.snapshot().unwrap();
    assert_eq!(snapshot.class("get").unwrap().queueing.count(), 50);
    assert_eq!(snapshot.workers.len(), runtime.workers());
    assert!(client.prometheus().unwrap().contains("caudal_request_sojourn_seconds_count{class=\"get\"}"));
    for metric in [Metric::Service, Metric::Sojourn, Metric::Queueing] {
        assert!(client.hlog(metric).unwrap().contains("Tag=get,"));
    }
    let (trace, lost) = client.timeline(Duration::from_millis(20)).unwrap();
    assert!(!decode(&trace).unwrap().packet.is_empty());
    assert_eq!(lost, 0);
    assert!(
        matches!(client.timeline(Duration::from_secs(60)), Err(AskError::Refused(why)) if why.contains("60s"))
    );
}

#[test]
fn what_is_no_request_is_refused_and_the_next_one_answered() {
    let (_alone, _runtime, path) = with_socket();
    for bytes in [
        &b"\n"[..],
        b"hello\n",
        b"{\"get\":\"everything\"}\n",
        b"{\"get\":\"timeline\"}\n",
        b"{\"get\":\"timeline\",\"window_ms\":0}\n",
        b"{\"get\":\"timeline\",\"window_ms\":-1}\n",
        b"{\"get\":\"hlog\",\"of\":\"everything\"}\n",
        b"\xFF\xFE\x00\n",
        b"[[[[[[[[[[[[[[[[[[[[[[[[\n",
        &[b'x'; 5000],
    ] {
        let answer = raw(&path, bytes);
        assert!(answer["error"].is_string(), "{answer}");
    }
    let deep = [vec![b'['; 4000], vec![b'\n']].concat();
    assert!(raw(&path, &deep)["error"].is_string());
    // Two at once, in two pieces, and no more to come: both are answered.
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(b"{\"get\":\"ab").unwrap();
    std::thread::sleep(Duration::from_millis(20));
    stream.write_all(b"out\"}\n{\"get\":\"hlog\"}\n").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    let keys: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(keys.len() == 2 && keys[0]["about"].is_object() && keys[1]["hlog"].is_string(), "{all}");
}

#[test]
fn clients_that_do_not_read_hold_up_nobody() {
    let (_alone, runtime, path) = with_socket();
    let class = runtime.class("get").unwrap();
    let ask = b"{\"get\":\"prometheus\"}\n".repeat(2000);
    let deaf: Vec<UnixStream> = (0..15)
        .map(|_| {
            let mut stream = UnixStream::connect(&path).unwrap();
            stream.set_nonblocking(true).unwrap();
            // As much as is taken; the answers are not read.
            let _ = stream.write(&ask);
            stream
        })
        .collect();
    let mut client = Client::connect(&path).unwrap();
    (0..20).for_each(|i| assert_eq!(runtime.submit(class, move || i).unwrap().wait().unwrap(), i));
    assert_eq!(client.about().unwrap().name, "under-test");
    let refused = raw(&path, b"");
    assert!(refused["error"].as_str().unwrap().contains("16 clients"), "{refused}");
    drop(deaf);
    drop(client);
    drop(runtime);
    assert!(!path.exists());
}

#[test]
fn who_leaves_ends_its_recording() {
    let (_alone, _runtime, path) = with_socket();
    let mut leaves = UnixStream::connect(&path).unwrap();
    leaves.write_all(b"{\"get\":\"timeline\",\"window_ms\":1000}\n").unwrap();
    let mut stays = Client::connect(&path).unwrap();
    // The first one's request was there before this one, so it has been begun.
    stays.about().unwrap();
    drop(leaves);
    let begun = std::time::Instant::now();
    while stays.timeline(Duration::from_millis(1)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the recording of one who is gone goes on");
    }
}

#[test]
fn a_runtime_has_none_that_wants_none() {
    let runtime = runtime(1, true, |b| b);
    assert_eq!(runtime.socket_path(), Err(SocketError::Closed));
}
