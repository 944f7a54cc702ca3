//! Where a service can listen, and what it says where it can not.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

use caudal_net::{Answers, BindError, Limits, Listen, Net, Origin, Served, Service, Then};
use caudal_rt::ClassId;

use crate::common::Server;

struct Never;

impl Service for Never {
    type Session = ();

    fn class(&self, _: Origin<'_, ()>, _: &[u8]) -> ClassId {
        unreachable!("nothing is served")
    }

    fn datagram(&self, _: &[u8], _: &mut Answers) {}

    fn stream(&self, (): &mut (), _: &[u8], _: &mut Vec<u8>) -> Served {
        Served { consumed: 0, then: Then::Close }
    }
}

fn refusal(listen: &Listen, limits: Limits) -> String {
    match Net::bind(listen, limits, 2, Never) {
        Ok(_) => panic!("it is not refused"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_unix_socket_is_served_replaced_when_it_was_left_behind_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines.sock");
    // A listener that has gone leaves its file behind.
    drop(UnixListener::bind(&path).unwrap());
    let listen = Listen { unix: Some(path.clone()), ..Listen::default() };
    let server = Server::at(&listen, 2, Limits::default());
    for _ in 0..10 {
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(b"a line\n").unwrap();
        let mut answer = [0; 7];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"a line\n");
    }
    let refused = refusal(&listen, Limits::default());
    assert!(
        refused.contains("lines.sock (Unix)") && refused.contains("Another program listens there"),
        "{refused}"
    );
    server.end();
    assert!(!path.exists());
}

#[test]
fn what_can_not_be_listened_at_is_refused_with_the_reason() {
    let server = Server::start(2, Limits::default());
    let (udp, tcp) = (server.net.udp(), server.net.tcp());
    for taken in [Listen { udp, ..Listen::default() }, Listen { tcp, ..Listen::default() }] {
        let refused = refusal(&taken, Limits::default());
        assert!(refused.contains("Another program listens there"), "{refused}");
    }
    server.end();
    let everywhere = Some("0.0.0.0:0".parse().unwrap());
    let refused = refusal(&Listen { udp: everywhere, ..Listen::default() }, Limits::default());
    assert!(refused.contains("udp_beyond_loopback"), "{refused}");
    let allowed = Listen { udp: everywhere, udp_beyond_loopback: true, ..Listen::default() };
    assert!(Net::bind(&allowed, Limits::default(), 2, Never).is_ok());
    let elsewhere = Some("203.0.113.1:0".parse().unwrap());
    let refused = refusal(&Listen { tcp: elsewhere, ..Listen::default() }, Limits::default());
    assert!(refused.contains("No interface of this machine"), "{refused}");
}

#[test]
fn an_impossible_limit_is_refused_by_its_name() {
    let usual = Limits::default();
    let refused = [
        ("connections_max", Limits { connections_max: 1, ..usual }),
        ("datagrams_max", Limits { datagrams_max: 0, ..usual }),
        ("datagram_bytes_max", Limits { datagram_bytes_max: 65_536, ..usual }),
        ("input_bytes_max", Limits { input_bytes_max: 0, ..usual }),
    ];
    for (limit, limits) in refused {
        match Net::bind(&Listen::default(), limits, 2, Never) {
            Err(BindError::Limit { name, .. }) => assert_eq!(name, limit),
            _ => panic!("{limit} is not refused"),
        }
    }
}
