//! The runtime as its users see it. One binary for all of it: each that is linked for itself takes seconds.
//!
//! Beside it are binaries of what has to have a process of its own: `every_probe`, `fork`, `panics`, `socket`, `stress`, `two_runtimes`.

#[path = "../common/mod.rs"]
mod common;

mod blocking;
mod cancel;
mod carry;
mod drive;
mod flags;
mod futex_locks;
mod hazards;
mod left_behind;
mod log_cost;
mod many_waiters;
mod migrate;
mod overflow;
mod overload;
mod panic_abort;
mod parity;
mod placing;
mod requests;
mod stacks;
mod stuck;
mod sync;
mod task;
mod unstarted;

use std::process::Command;

/// This binary again, which runs `test` of `module` (a `module_path!()`) and nothing else: for what ends a process, or stops it.
fn child(module: &str, test: &str) -> Command {
    let (_, module) = module.split_once("::").expect("modules are below the binary's name");
    let mut command = Command::new(std::env::current_exe().expect("a running program has a file"));
    command.args(["--exact", &format!("{module}::{test}"), "--nocapture", "--test-threads=1"]);
    command
}

/// Runs `child`, whose one test has to pass.
fn passes(child: &mut Command) {
    let output = child.output().expect("a child");
    let (printed, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && printed.contains("1 passed"), "{}\n{printed}{said}", output.status);
}
