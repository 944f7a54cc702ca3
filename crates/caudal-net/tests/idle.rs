//! A server without clients sleeps, and wakes for each kind of request. In a process of its own, whose threads no other test uses.

#[path = "all/common.rs"]
#[allow(dead_code)]
mod common;

use std::collections::HashMap;
use std::time::Duration;

use caudal_net::Limits;

/// Waits until the workers sleep: their time on a core does not grow any more. A minute of looks is never.
fn fall_asleep() {
    let ran = || {
        let mut ran = HashMap::new();
        for task in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
            let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
            if ["caudal-0", "caudal-1"].contains(&name.trim()) {
                let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
                ran.insert(task.file_name(), text.split(' ').next().unwrap_or_default().to_owned());
            }
        }
        ran
    };
    for _ in 0..1_200 {
        let before = ran();
        std::thread::sleep(Duration::from_millis(50));
        if before.len() == 2 && before == ran() {
            return;
        }
    }
    panic!("the threads stay up");
}

#[test]
fn an_idle_server_sleeps_and_every_kind_of_request_wakes_it() {
    let server = common::Server::start(2, Limits::default());
    let (stream, peer) = (server.connect(), server.peer());
    for _ in 0..3 {
        fall_asleep();
        assert_eq!(common::ask(&stream, "a line"), "a line");
        fall_asleep();
        peer.send(b"a datagram").unwrap();
        assert_eq!(peer.recv(&mut [0; 64]).unwrap(), 10);
        fall_asleep();
        assert_eq!(common::ask(&server.connect(), "a line"), "a line");
    }
    fall_asleep();
    server.end();
}
