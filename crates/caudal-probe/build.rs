//! Builds the library without Rust:
//!
//! * `libcaudal_probe.a`, of which a program has one copy,
//! * `caudal_probe.o` and `caudal_wrap.o`, all of it in two objects, as the drivers link it into executables: `--exclude-libs` hides what
//!   comes out of archives, and CMake takes an archive in a compiler's link for a library that the links of other compilers need as well.
//!   Two, for `--wrap=syscall` leaves references alone that are in the object that defines the name,
//! * `libcaudal_module.a`, what each module may have of its own: the wrappers by which it calls the C library (`csrc/wrapper.h`).
//!
//! Dependents' build scripts find them by `DEP_CAUDAL_PROBE_LIB` (their directory) and the header by
//! `DEP_CAUDAL_PROBE_INCLUDE`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: [&str; 26] = [
    "bind.c",
    "bound.S",
    "budget.S",
    "conditions.c",
    "critical.c",
    "decide.c",
    "entry.S",
    "fork.c",
    "handlers.S",
    "jumps.c",
    "locale.c",
    "locks.c",
    "once.c",
    "others.c",
    "probe.S",
    "record.c",
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
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the output directory"));
    let sources = compiler().files(SOURCES.map(|name| format!("csrc/{name}"))).compile_intermediates();
    let wrappers = compiler().file("csrc/wrappers.S").compile_intermediates();
    let mut library = compiler();
    library.objects(&sources).objects(&wrappers).compile("caudal_probe");
    link(&library, &sources, &out.join("caudal_probe.o"));
    link(&library, &wrappers, &out.join("caudal_wrap.o"));
    compiler().files(wrappers_of_modules(&out)).cargo_metadata(false).compile("caudal_module");
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo names the crate's directory");
    println!("cargo::metadata=include={root}/include");
    println!("cargo::metadata=lib={}", out.display());
}

fn compiler() -> cc::Build {
    let mut library = cc::Build::new();
    library
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
        .flag("-fexceptions");
    library
}

/// Several objects in one.
fn link(library: &cc::Build, objects: &[PathBuf], object: &Path) {
    let mut link = library.get_compiler().to_command();
    link.args(["-r", "-nostdlib", "-o"]).arg(object).args(objects);
    succeed(&mut link);
}

fn succeed(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}

/// Sources of `libcaudal_module.a`, one for each wrapper, so that a module has only those that it calls.
fn wrappers_of_modules(out: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string("csrc/names.h").expect("it is a source of this crate");
    let mut sources = Vec::new();
    let mut write = |name: &str, line: &str| {
        let file = out.join(format!("{name}.S"));
        fs::write(&file, format!("#include \"wrapper.h\"\n{line}\n"))
            .expect("the output directory can be written to");
        sources.push(file);
    };
    for line in text.lines() {
        let words = line.strip_prefix("CAUDAL_NAME(").map(|line| line.split(", ").collect::<Vec<_>>());
        let Some([name, others, _]) = words.as_deref() else { continue };
        if *others != "NONE" {
            write(&format!("wrap_{name}"), &format!("wrapper_of caudal_wrap_, {name}, {name}, {others}, 1"));
            // What a mock calls: the linker's name for the function that it stands for.
            write(
                &format!("real_{name}"),
                &format!("wrapper_of caudal_real_, {name}, __real_{name}, {others}, 1"),
            );
        }
    }
    let name = "std_condition_wait";
    write(name, &format!("wrapper_of caudal_wrap_, {name}, CAUDAL_STD_CONDITION_WAIT, CALL, 1"));
    sources
}
