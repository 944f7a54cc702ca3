//! `caudal serve` as users meet it: services in processes of their own, on real sockets.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

/// Longest wait for an answer: machines on which tests run may be busy.
const PATIENCE: Duration = Duration::from_secs(30);

fn caudal(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_caudal"));
    command.args(args);
    command
}

/// A service that listens, and what it says of itself.
struct Service {
    child: Child,
    said: Value,
}

impl Service {
    fn start(args: &[&str]) -> Service {
        let args = [&["serve"], args, &["--listen", "127.0.0.1:0", "--json"]].concat();
        let mut child = caudal(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let said = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut errors = String::new();
            child.stderr.as_mut().unwrap().read_to_string(&mut errors).unwrap();
            panic!("{line}{errors}")
        });
        Service { child, said }
    }

    fn tcp(&self) -> TcpStream {
        let stream = TcpStream::connect(self.said["tcp"].as_str().unwrap()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Asks it to stop, and waits for its end.
    fn stop(mut self) -> Output {
        // SAFETY: the process is this test's child, which has not been waited for.
        unsafe { libc::kill(self.child.id() as i32, libc::SIGTERM) };
        let mut stderr = Vec::new();
        self.child.stderr.take().unwrap().read_to_end(&mut stderr).unwrap();
        Output { status: self.child.wait().unwrap(), stdout: Vec::new(), stderr }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // A test that has failed must not leave it behind; one that was stopped has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends `request`, and reads until the answer has as many bytes as the expected one.
fn asks(stream: &mut TcpStream, request: &[u8], answer: &[u8]) {
    stream.write_all(request).unwrap();
    let mut read = vec![0; answer.len()];
    stream.read_exact(&mut read).unwrap();
    assert_eq!(String::from_utf8_lossy(&read), String::from_utf8_lossy(answer));
}

/// The lines of all items, by as many scans as it takes.
fn scanned(stream: &mut TcpStream) -> Vec<String> {
    let (mut lines, mut cursor) = (Vec::new(), "0".to_owned());
    let mut answers = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
    loop {
        stream.write_all(format!("scan 10 at {cursor}\r\n").as_bytes()).unwrap();
        let mut next = None;
        for line in answers.by_ref().take_while(|line| line != "END") {
            match line.strip_prefix("CURSOR ") {
                Some(cursor) => next = Some(cursor.to_owned()),
                None => lines.push(line),
            }
        }
        let Some(next) = next else { return lines };
        cursor = next;
    }
}

#[test]
fn a_cache_answers_by_tcp_and_udp_and_drains_when_it_is_told_to_stop() {
    let service = Service::start(&["kv"]);
    let mut stream = service.tcp();
    asks(&mut stream, b"set a 0 0 3\r\nabc\r\nget a\r\n", b"STORED\r\nVALUE a 0 3\r\nabc\r\nEND\r\n");
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_read_timeout(Some(PATIENCE)).unwrap();
    udp.connect(service.said["udp"].as_str().unwrap()).unwrap();
    udp.send(b"\x00\x07\x00\x00\x00\x01\x00\x00get a\r\n").unwrap();
    let mut datagram = [0; 2_048];
    let bytes = udp.recv(&mut datagram).unwrap();
    assert_eq!(datagram[..bytes], *b"\x00\x07\x00\x00\x00\x01\x00\x00VALUE a 0 3\r\nabc\r\nEND\r\n");
    assert_eq!(scanned(&mut stream), ["VALUE a 0 3", "abc"]);
    let output = service.stop();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("datagrams in 1, datagrams out 1") && said.contains("accepted 1"), "{said}");
}

#[test]
fn an_answer_of_many_datagrams_comes_whole() {
    let service = Service::start(&["kv"]);
    let value = "v".repeat(5_000);
    asks(&mut service.tcp(), format!("set long 0 0 5000\r\n{value}\r\n").as_bytes(), b"STORED\r\n");
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_read_timeout(Some(PATIENCE)).unwrap();
    udp.connect(service.said["udp"].as_str().unwrap()).unwrap();
    udp.send(b"\x00\x01\x00\x00\x00\x01\x00\x00get long\r\n").unwrap();
    let mut pieces: Vec<(u8, Vec<u8>)> = Vec::new();
    let mut datagram = [0; 2_048];
    loop {
        let bytes = udp.recv(&mut datagram).unwrap();
        pieces.push((datagram[3], datagram[8..bytes].to_vec()));
        if pieces.len() == usize::from(datagram[5]) {
            break;
        }
    }
    assert!(pieces.len() > 1, "{}", pieces.len());
    pieces.sort();
    let whole: Vec<u8> = pieces.into_iter().flat_map(|(_, piece)| piece).collect();
    assert_eq!(String::from_utf8(whole).unwrap(), format!("VALUE long 0 5000\r\n{value}\r\nEND\r\n"));
    assert!(service.stop().status.success());
}

#[test]
fn a_unix_socket_is_served_and_its_file_goes_with_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sock");
    let service = Service::start(&["kv", "--unix", path.to_str().unwrap()]);
    let mut stream = std::os::unix::net::UnixStream::connect(&path).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(b"get a\r\n").unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, *b"END\r\n");
    assert!(service.stop().status.success());
    assert!(!path.exists());
}

#[test]
fn prometheus_is_served_where_it_is_asked_for() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let service = Service::start(&["kv", "--prometheus", &port.to_string()]);
    asks(&mut service.tcp(), b"get a\r\n", b"END\r\n");
    let mut page = TcpStream::connect(port).unwrap();
    page.set_read_timeout(Some(PATIENCE)).unwrap();
    page.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    page.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200") && text.contains("caudal_net_accepted_total 1\n"), "{text}");
    assert!(service.stop().status.success());
}

#[test]
fn synthetic_work_is_done_and_its_times_are_told() {
    let service = Service::start(&["spin", "--workload", "rocksdb-0.5"]);
    let request = caudal_proto::spin::Request { number: 5, class: 1, work_ns: 50_000 };
    let mut stream = service.tcp();
    stream.write_all(&request.encode()).unwrap();
    let mut read = [0; caudal_proto::spin::REPLY_BYTES];
    stream.read_exact(&mut read).unwrap();
    let reply = caudal_proto::spin::only(caudal_proto::spin::Reply::parse(&read), &read).expect("a reply");
    assert_eq!((reply.number, reply.class, reply.status), (5, 1, caudal_proto::spin::Status::Done));
    let times = reply.times.expect("the service tells them");
    assert!(times.service_ns >= 25_000 && times.sojourn_ns >= times.service_ns, "{times:?}");
    assert!(service.stop().status.success());
}

#[test]
fn what_is_wrong_is_said_with_what_would_be_right() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("jsq.toml");
    std::fs::write(&policy, "[system]\npreset = \"caudal-ps\"\ncores = 1\n").unwrap();
    let policy = policy.to_str().unwrap();
    for (args, parts) in [
        (&["kv", "--listen", &taken][..], &["Another program listens there", "0 is a free one"][..]),
        (&["kv", "--listen", "127.0.0.1"], &["an address and a port"]),
        (&["kv", "--listen", "192.0.2.1:7"], &["No interface of this machine", "ip addr"]),
        (&["kv", "--policy", policy], &["has a dispatcher", "--no-dispatcher"]),
        (&["kv", "--policy", "none.toml"], &["none.toml"]),
        (&["kv", "--memory", "1KiB"], &["1MiB or more"]),
        (&["kv", "--memory", "2MiB", "--value-bytes-max", "3MiB"], &["has room for"]),
        (&["kv", "--cpus", "900"], &["may use the processors"]),
        (
            &["kv", "--listen", "127.0.0.1:0", "--unix", "/not/there/s"],
            &["The folder of the path is not there"],
        ),
        (&["kv", "--workers", "2", "--cpus", "0"], &["a processor for each worker"]),
        (&["spin", "--workload", "rocksdb-0.5", "--work-max", "3600s"], &["from 1ns to 600s"]),
    ] {
        let output = caudal(&[&["serve"], args].concat()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr)
            .split_whitespace()
            .filter(|word| *word != "│")
            .collect::<Vec<_>>()
            .join(" ");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        for part in parts {
            assert!(text.contains(part), "{args:?}: {part}: {text}");
        }
    }
}
