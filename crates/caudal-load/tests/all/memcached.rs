//! Runs against the real memcached, where it is installed (`make deps-of-tests` installs it).

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use caudal_load::clock::TscClock;
use caudal_load::generator::{Live, generate};
use caudal_load::protocol::Protocol;
use caudal_load::tcp::Tcp;
use caudal_load::traffic::Keys;
use caudal_load::transport::Transport;
use caudal_load::udp::Udp;

use crate::sockets::{all_are_right, fill, setup};

struct Memcached {
    child: Child,
    port: u16,
}

impl Drop for Memcached {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Memcached {
    /// One on a port that is free for both, or none where it is not installed.
    fn start() -> Option<Memcached> {
        let port = (0..100).find_map(|_| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            UdpSocket::bind(address).is_ok().then_some(address.port())
        });
        let port = port.unwrap();
        let mut command = Command::new("memcached");
        command.args(["-l", "127.0.0.1", "-t", "1", "-m", "64", "-u", "nobody"]);
        command.args(["-p", &port.to_string(), "-U", &port.to_string()]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = match child {
            Ok(child) => child,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                eprintln!("skipped: memcached is not installed; `make deps-of-tests` installs it");
                return None;
            }
            Err(error) => panic!("memcached: {error}"),
        };
        let memcached = Memcached { child, port };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(memcached)
    }
}

fn run<T: Transport>(transport: &mut T) {
    fill(transport);
    let clock = TscClock::calibrate().unwrap();
    all_are_right(&generate(setup(), &clock, transport, &Live::default(), &AtomicBool::new(false)));
}

#[test]
fn the_real_memcached_is_loaded_by_udp_and_tcp() {
    let Some(memcached) = Memcached::start() else { return };
    let address = ([127, 0, 0, 1], memcached.port).into();
    let keys = Protocol::Memcached(Keys { count: 200, key_bytes: 21, value_bytes: 32 });
    run(&mut Tcp::connect(address, keys, 4, 8_192).unwrap());
    run(&mut Udp::connect(address, keys, 2, 8_192).unwrap());
}
