//! Datagrams: each is answered, several ways.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use caudal_net::Limits;

use crate::common::Server;

#[test]
fn every_datagram_is_answered_to_its_sender() {
    for workers in [1, 2] {
        let server = Server::start(workers, Limits::default());
        let peers: Vec<_> = (0..8).map(|_| server.peer()).collect();
        let mut buffer = [0; 64];
        for round in 0..200 {
            for (number, peer) in peers.iter().enumerate() {
                peer.send(format!("{round} {number}").as_bytes()).unwrap();
            }
            for (number, peer) in peers.iter().enumerate() {
                let len = peer.recv(&mut buffer).unwrap();
                assert_eq!(&buffer[..len], format!("{round} {number}").as_bytes());
            }
        }
        server.until("all are counted", |counts| counts.datagrams_out == 1_600);
        assert_eq!(server.net.counts().datagrams_in, 1_600);
        server.end();
    }
}

#[test]
fn an_answer_of_many_datagrams_leaves_in_order() {
    let server = Server::start(1, Limits::default());
    let peer = server.peer();
    peer.send(b"many 100").unwrap();
    for number in 0_u32..100 {
        let mut buffer = [0; 8];
        assert_eq!(peer.recv(&mut buffer).unwrap(), 4);
        assert_eq!(buffer[..4], number.to_be_bytes());
    }
    server.end();
}

#[test]
fn a_datagram_that_is_too_long_or_whose_request_fails_harms_no_other() {
    let server = Server::start(1, Limits { datagram_bytes_max: 100, ..Limits::default() });
    let peer = server.peer();
    peer.send(&[b'x'; 101]).unwrap();
    peer.send(b"panic").unwrap();
    peer.send(&[b'y'; 100]).unwrap();
    let mut buffer = [0; 200];
    assert_eq!(peer.recv(&mut buffer).unwrap(), 100);
    assert_eq!(server.net.counts().datagrams_too_long, 1);
    server.end();
}

/// No free buffer, no read: what is not read waits in the kernel, and is served later.
#[test]
fn datagrams_beyond_the_limit_wait_and_are_served() {
    let server = Server::start(1, Limits { datagrams_max: 4, ..Limits::default() });
    let peer = server.peer();
    (0..50).for_each(|_| _ = peer.send(b"wait").unwrap());
    while server.waiting.load(Relaxed) < 4 {
        std::thread::yield_now();
    }
    // Time in which a fifth would be read, if any could.
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!((server.net.counts().datagrams_in, server.waiting.load(Relaxed)), (4, 4));
    server.may.store(true, Relaxed);
    let mut buffer = [0; 8];
    (0..50).for_each(|_| assert_eq!(peer.recv(&mut buffer).unwrap(), 4));
    server.end();
}

/// A queue of the kernel's that is full drops datagrams, and the service says how many.
#[test]
fn datagrams_that_the_kernel_drops_are_counted() {
    let server = Server::start(1, Limits { datagrams_max: 1, ..Limits::default() });
    let peer = server.peer();
    peer.send(b"wait").unwrap();
    while server.waiting.load(Relaxed) < 1 {
        std::thread::yield_now();
    }
    // Far more than the queue of a socket holds.
    (0..20_000).for_each(|_| _ = peer.send(&[b'x'; 1_000]));
    server.may.store(true, Relaxed);
    server.until("some are dropped, and none is lost silently", |counts| {
        counts.datagrams_dropped > 0 && counts.datagrams_dropped + counts.datagrams_in == 20_001
    });
    server.end();
}
