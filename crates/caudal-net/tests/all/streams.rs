//! Connections: pipelined requests, peers that do not read, peers that vanish, and limits.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use caudal_net::Limits;

use crate::common::{Server, ask};

#[test]
fn pipelined_requests_are_answered_in_order() {
    for workers in [1, 2] {
        let server = Server::start(workers, Limits::default());
        let streams: Vec<_> = (0..10).map(|_| server.connect()).collect();
        let lines: String = (0..1_000).map(|number| format!("line {number}\n")).collect();
        for mut stream in &streams {
            stream.write_all(lines.as_bytes()).unwrap();
        }
        for mut stream in &streams {
            let mut answers = vec![0; lines.len()];
            stream.read_exact(&mut answers).unwrap();
            assert_eq!(answers, lines.as_bytes());
        }
        let counts = server.net.counts();
        assert_eq!((counts.accepted, counts.open(), counts.refused), (10, 10, 0));
        drop(streams);
        server.until("all are closed", |counts| counts.open() == 0);
        server.end();
    }
}

/// Bytes come one by one, and the peer ends its half before it reads.
#[test]
fn what_came_before_the_end_is_answered() {
    let server = Server::start(1, Limits::default());
    let mut stream = server.connect();
    for byte in b"one\ntwo\nhalf a li" {
        stream.write_all(&[*byte]).unwrap();
    }
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert_eq!(answers, "one\ntwo\n");
    let stream = server.connect();
    assert_eq!((ask(&stream, "big 3"), ask(&stream, "quit")), ("xxx".to_owned(), String::new()));
    server.until("both are closed", |counts| counts.closed == 2 && counts.open() == 0);
    server.end();
}

/// Answers of 30 MB, which stay in the server until the peer reads.
#[test]
fn long_answers_arrive_whole() {
    let server = Server::start(1, Limits::default());
    let mut stream = server.connect();
    (0..30).for_each(|_| stream.write_all(b"big 1000000\n").unwrap());
    let mut answers = vec![0; 30 * 1_000_001];
    stream.read_exact(&mut answers).unwrap();
    assert_eq!(answers.iter().filter(|&&byte| byte == b'\n').count(), 30);
    server.end();
}

#[test]
fn a_slow_reader_is_disconnected_and_others_do_not_notice() {
    let server = Server::start(1, Limits { slow_after: Duration::from_millis(200), ..Limits::default() });
    let (mut slow, other) = (server.connect(), server.connect());
    slow.write_all(b"big 100000000\n").unwrap();
    let mut served = 0_u64;
    while server.net.counts().closed_slow == 0 {
        assert_eq!(ask(&other, "a line"), "a line");
        served += 1;
    }
    assert!(served > 0);
    assert_eq!(ask(&other, "the last"), "the last");
    let counts = server.net.counts();
    assert_eq!((counts.open(), counts.closed), (1, 1));
    // What the kernel had taken arrives, and then the end.
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest);
    assert!(rest.len() < 100_000_001);
    server.end();
}

#[test]
fn half_open_connections_are_forgotten_when_their_peers_are_gone() {
    let server = Server::start(2, Limits::default());
    let silent: Vec<_> = (0..300).map(|_| server.connect()).collect();
    let halves: Vec<_> = (0..300).map(|_| server.connect()).collect();
    for mut half in &halves {
        half.write_all(b"half a li").unwrap();
    }
    let whole = server.connect();
    assert_eq!(ask(&whole, "a line"), "a line");
    server.until("all are there", |counts| counts.open() == 601);
    drop((silent, halves));
    server.until("one is left", |counts| counts.open() == 1);
    assert_eq!(ask(&whole, "a line"), "a line");
    server.end();
}

#[test]
fn connections_beyond_the_limit_are_closed_at_once() {
    let server = Server::start(1, Limits { connections_max: 3, ..Limits::default() });
    let held: Vec<_> = (0..3).map(|_| server.connect()).collect();
    held.iter().for_each(|stream| assert_eq!(ask(stream, "in"), "in"));
    let mut more = server.connect();
    assert!(matches!(more.read(&mut [0]), Ok(0) | Err(_)), "it is closed");
    assert_eq!((server.net.counts().refused, server.net.counts().open()), (1, 3));
    drop(held);
    server.until("there is room again", |counts| counts.open() == 0);
    assert_eq!(ask(&server.connect(), "in"), "in");
    server.end();
}

#[test]
fn a_request_that_does_not_fit_or_fails_ends_its_connection_alone() {
    let server = Server::start(1, Limits { input_bytes_max: 1_000, ..Limits::default() });
    let (mut long, mut failing, other) = (server.connect(), server.connect(), server.connect());
    let _ = long.write_all(&[b'x'; 2_000]);
    assert!(matches!(long.read(&mut [0]), Ok(0) | Err(_)));
    failing.write_all(b"panic\n").unwrap();
    assert!(matches!(failing.read(&mut [0]), Ok(0) | Err(_)));
    assert_eq!(ask(&other, "a line"), "a line");
    let counts = server.net.counts();
    assert_eq!((counts.closed_too_long, counts.closed_failed, counts.open()), (1, 1, 1));
    server.end();
}

/// One request has the only worker, and goes on until another one is served: so what arrives is noticed while requests run.
#[test]
fn arrivals_are_served_beside_a_request_that_does_not_wait() {
    for by_datagram in [true, false] {
        let server = Server::start(1, Limits::default());
        let (mut busy, other, peer) = (server.connect(), server.connect(), server.peer());
        assert_eq!(ask(&other, "a line"), "a line");
        busy.write_all(b"busy\n").unwrap();
        while server.waiting.load(Relaxed) == 0 {
            std::thread::yield_now();
        }
        if by_datagram {
            peer.send(b"go").unwrap();
            assert_eq!(peer.recv(&mut [0; 8]).unwrap(), 2);
        } else {
            assert_eq!(ask(&other, "go"), "go");
        }
        let mut answer = [0; 5];
        busy.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"busy\n");
        server.end();
    }
}
