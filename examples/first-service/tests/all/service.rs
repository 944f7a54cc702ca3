//! The service as a program, and that the guide's text is the program's.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_first-service"))
}

/// The service, where it is, and what it prints from then on.
fn serving() -> (Child, String, impl BufRead) {
    let mut service = program()
        .args(["serve", &format!("{ROOT}/by-hand.toml"), "127.0.0.1:0"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut printed = BufReader::new(service.stdout.take().unwrap());
    let mut line = String::new();
    printed.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("serving at ").expect("it says where").to_owned();
    (service, address, printed)
}

#[test]
fn it_answers_and_ends() {
    let (mut service, address, mut printed) = serving();
    let mut stream = TcpStream::connect(&address).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap()).lines();
    for (question, answer) in [
        ("get 7", "14".to_owned()),
        ("get 262144", "none".to_owned()),
        ("scan 262143", "524286".to_owned()),
        ("scan 0", (262_143_u64 * 262_144).to_string()),
        ("put 7", "error: write `get KEY` or `scan KEY`".to_owned()),
    ] {
        stream.write_all(format!("{question}\n").as_bytes()).unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), answer, "{question}");
    }
    let load = program().args(["load", &address, "1000"]).output().unwrap();
    let said = String::from_utf8(load.stdout).unwrap();
    assert!(load.status.success() && said.starts_with("1000 gets beside "), "{said}");
    drop(service.stdin.take());
    let mut last = String::new();
    printed.read_line(&mut last).unwrap();
    assert_eq!(last, "0 requests given up, 0 threads left\n");
    assert!(service.wait().unwrap().success());
}

#[test]
fn a_signal_ends_it_as_the_end_of_its_input_does() {
    let (mut service, _, mut printed) = serving();
    assert!(Command::new("kill").args(["-TERM", &service.id().to_string()]).status().unwrap().success());
    let mut last = String::new();
    printed.read_line(&mut last).unwrap();
    assert_eq!(last, "0 requests given up, 0 threads left\n");
    assert!(service.wait().unwrap().success());
}

#[test]
fn it_measures_both_classes() {
    let output = program().arg("measure").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let of = |class: &str| text.lines().filter(|line| line.starts_with(class)).count();
    assert_eq!((text.lines().next(), of("get,"), of("scan,")), (Some("class,service_ns"), 20_000, 100));
}

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Without indentation, which differs inside of functions.
fn flat(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim())).collect()
}

fn blocks(guide: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let block = |rest: &str| rest.split("```").next().map(flat);
    guide.split(&fence).skip(1).filter_map(block).collect()
}

#[test]
fn the_guide_shows_this_program() {
    let guide = read("../../docs/guides/first-service-in-rust.md");
    let sources = [flat(&read("src/main.rs")), flat(&read("tests/all/ways.rs"))];
    let shown = blocks(&guide, "rust");
    assert!(shown.len() >= 8, "{} blocks", shown.len());
    for block in shown {
        assert!(
            sources.iter().any(|source| source.contains(&block)),
            "not in examples/first-service:\n{block}"
        );
    }
    let policy = flat(&read("by-hand.toml"));
    assert!(blocks(&guide, "toml").contains(&policy), "the guide shows by-hand.toml");
}
