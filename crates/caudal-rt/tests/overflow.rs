//! Requests that use up their stack.

use caudal_rt::{Failure, OnOverflow};

mod common;
use common::runtime;

#[inline(never)]
fn dig(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 64]);
    if depth == 0 { 0 } else { dig(depth - 1) + std::hint::black_box(&frame)[(depth % 64) as usize] }
}

#[test]
fn an_abandoned_request_leaves_the_worker_running() {
    let runtime = runtime(1, true, |b| b.on_overflow(OnOverflow::Abandon).stack_bytes(64 << 10));
    let class = runtime.class("deep").unwrap();
    for _ in 0..20 {
        let deep = runtime.submit(class, || dig(1 << 30)).unwrap();
        assert!(matches!(deep.wait(), Err(Failure::Abandoned)));
        assert!(runtime.submit(class, || dig(20)).unwrap().wait().is_ok(), "others go on");
    }
}

/// Run again as a child of the test below.
#[test]
fn child() {
    if std::env::var_os("CAUDAL_TEST_OVERFLOW").is_none() {
        return;
    }
    let runtime = runtime(1, true, |b| b.stack_bytes(64 << 10));
    let class = runtime.class("bottomless").unwrap();
    let _ = runtime.submit(class, || dig(1 << 30)).unwrap().wait();
    println!("came back");
}

#[test]
fn the_process_ends_with_class_size_and_place() {
    let itself = std::env::current_exe().unwrap();
    let child = std::process::Command::new(itself)
        .args(["child", "--exact", "--nocapture"])
        .env("CAUDAL_TEST_OVERFLOW", "1")
        .output()
        .unwrap();
    assert!(!child.status.success());
    let said = String::from_utf8_lossy(&child.stderr);
    assert!(said.contains("bottomless") && said.contains("64 KiB") && said.contains("dig"), "{said}");
    assert!(!String::from_utf8_lossy(&child.stdout).contains("came back"));
}
