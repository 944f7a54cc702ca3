//! Builds `libcaudal_probe.a`, the library without Rust.
//!
//! Dependents' build scripts find it by `DEP_CAUDAL_PROBE_LIB` (the archive's directory) and the header by
//! `DEP_CAUDAL_PROBE_INCLUDE`.

use std::env;

const SOURCES: [&str; 23] = [
    "budget.S",
    "conditions.c",
    "critical.c",
    "decide.c",
    "entry.S",
    "interpose.c",
    "jumps.c",
    "jumps_checked.c",
    "locks.c",
    "once.c",
    "probe.S",
    "record.c",
    "signals.S",
    "signals.c",
    "start.c",
    "stdio.c",
    "syscall.c",
    "threads.c",
    "variadic.S",
    "vector.c",
    "vfork.S",
    "wait.c",
    "yield.c",
];

fn main() {
    println!("cargo::rerun-if-changed=csrc");
    println!("cargo::rerun-if-changed=include");
    let os = env::var("CARGO_CFG_TARGET_OS").expect("cargo names the target's system");
    let arch = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo names the target's processor");
    if os != "linux" || arch != "x86_64" {
        // The crate's own `compile_error!` says what is missing.
        return;
    }
    let mut library = cc::Build::new();
    library
        .files(SOURCES.map(|name| format!("csrc/{name}")))
        .include("include")
        .include("csrc")
        // Fast whatever the profile: every yield goes through here.
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .flag("-std=gnu99")
        .flag("-fvisibility=default")
        // The library runs before vector registers are saved.
        .flag("-mgeneral-regs-only")
        .flag("-fno-sanitize=all")
        // The library has no probes: a compiler that puts them in knows the option, and a linker that does gets machine code.
        .flag_if_supported("--probe-off")
        .flag("-fno-lto")
        // A lazy binder would run on a coroutine's stack.
        .flag("-fno-plt")
        // Backtraces from the hook go through, and exceptions through what runs once.
        .flag("-fasynchronous-unwind-tables")
        .flag("-fexceptions")
        .compile("caudal_probe");
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo names the crate's directory");
    let out = env::var("OUT_DIR").expect("cargo names the output directory");
    println!("cargo::metadata=include={root}/include");
    println!("cargo::metadata=lib={out}");
}
