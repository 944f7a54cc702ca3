//! The ABI is frozen: C and assembly that use the header alone are compiled with every C compiler that is installed,
//! linked with the library without Rust, and run. What they check is in `tests/c`.

use std::{
    collections::BTreeMap,
    mem::{align_of, offset_of, size_of},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use caudal_probe::Block;
use tempfile::TempDir;

const ARCHIVE: &str = concat!(env!("OUT_DIR"), "/libcaudal_probe.a");
const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-pedantic", "-Werror"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn source(name: &str) -> PathBuf {
    root().join("tests/c").join(name)
}

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// gcc, which the tests need, and clang where it is installed.
fn compilers(required: &'static str, others: &[&'static str]) -> Vec<&'static str> {
    let mut found = vec![required];
    found.extend(others.iter().find(|name| runs(name)));
    found
}

fn c_compilers() -> Vec<&'static str> {
    compilers("gcc", &["clang", "clang-22", "clang-21", "clang-20", "clang-19"])
}

fn cpp_compilers() -> Vec<&'static str> {
    compilers("g++", &["clang++", "clang++-22", "clang++-21", "clang++-20", "clang++-19"])
}

fn command(compiler: &str) -> Command {
    let mut command = Command::new(compiler);
    command.current_dir(root()).arg("-Iinclude").arg("-Itests/c");
    command
}

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Runs `command`, which has to succeed without a word on stderr; its stdout.
fn succeed(command: &mut Command) -> String {
    let output = run(command);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{command:?}: {}\n{stderr}", output.status);
    String::from_utf8(output.stdout).expect("stdout is text")
}

/// Runs `command`, which has to fail; its stderr.
fn fail(command: &mut Command) -> String {
    let output = run(command);
    assert!(!output.status.success(), "{command:?} succeeded");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Compiles `sources` without and with optimisation, links them with the library, runs them; what the last one printed.
/// `options`, the standard among them, have spaces between.
fn compile_and_run(compilers: &[&str], options: &str, sources: &[&str]) -> String {
    let directory = TempDir::new().expect("a temporary directory");
    let program = directory.path().join("program");
    let mut printed = String::new();
    for compiler in compilers {
        for optimisation in ["-O0", "-O2"] {
            succeed(
                command(compiler)
                    .args(WARNINGS)
                    .args(options.split(' '))
                    .args([optimisation, "-pthread", "-o"])
                    .arg(&program)
                    .args(sources.iter().map(|name| source(name)))
                    .arg(ARCHIVE),
            );
            printed = succeed(&mut Command::new(&program));
        }
    }
    printed
}

#[test]
fn code_instrumented_by_hand_yields() {
    compile_and_run(&c_compilers(), "-std=gnu99", &["abi.c", "instrumented.S"]);
}

#[test]
fn all_registers_survive_a_yield() {
    compile_and_run(&c_compilers(), "-std=gnu99", &["registers.c", "across.S"]);
}

#[test]
fn credit_follows_what_is_spent() {
    compile_and_run(&c_compilers(), "-std=gnu99", &["credit.c"]);
}

#[test]
fn both_versions_of_a_visit_do_the_same() {
    compile_and_run(&c_compilers(), "-std=gnu99 -Wl,--wrap=caudal_probe_decide_budget", &["visit.c"]);
}

#[test]
fn wrappers_of_locks_are_sections_and_ask_the_hook() {
    compile_and_run(&c_compilers(), "-std=gnu99", &["wrappers.c"]);
}

#[test]
fn the_depth_is_right_behind_handlers_that_do_not_return() {
    compile_and_run(&c_compilers(), "-std=gnu99", &["handlers.c"]);
}

/// Steps through the library one instruction after the other.
fn interrupt_handlers(arguments: &[&str]) {
    let directory = TempDir::new().expect("a temporary directory");
    let program = directory.path().join("program");
    succeed(
        command("gcc")
            .args(WARNINGS)
            .args(["-std=gnu99", "-O2", "-o"])
            .arg(&program)
            .arg(source("interrupted.c"))
            .arg(ARCHIVE),
    );
    succeed(Command::new(&program).args(arguments));
}

#[test]
fn handlers_are_interrupted_where_they_begin_and_end() {
    interrupt_handlers(&[]);
}

#[test]
#[ignore = "long: make test-long"]
fn handlers_are_interrupted_where_they_leave() {
    interrupt_handlers(&["leave"]);
}

#[test]
fn wrappers_are_bound_without_the_loaders_lock() {
    compile_and_run(&c_compilers(), "-std=gnu99", &["loader.c"]);
}

/// In a program that shares the C library, and in a static one, where no symbol can be looked up by its name.
#[test]
fn signals_of_conditions_are_heard() {
    compile_and_run(&c_compilers(), "-std=gnu99", &["conditions.c"]);
    compile_and_run(&c_compilers(), "-std=gnu99 -static", &["conditions.c"]);
}

#[test]
fn a_hook_may_return_on_another_thread() {
    compile_and_run(&c_compilers(), "-std=gnu99", &["migrate.c"]);
}

#[test]
fn exceptions_leave_critical_sections() {
    compile_and_run(&cpp_compilers(), "-std=c++11", &["sections.cc"]);
}

/// The program has the block and the library, the shared object finds them there.
#[test]
fn instrumented_shared_objects_use_the_programs_block() {
    let directory = TempDir::new().expect("a temporary directory");
    let (shared, program) = (directory.path().join("libinstrumented.so"), directory.path().join("program"));
    for compiler in c_compilers() {
        succeed(command(compiler).args(["-shared", "-o"]).arg(&shared).arg(source("instrumented.S")));
        succeed(
            command(compiler)
                .args(["-std=gnu99", "-O2", "-pthread", "-o"])
                .arg(&program)
                .arg(source("abi.c"))
                .arg(&shared)
                .arg(ARCHIVE),
        );
        succeed(Command::new(&program).env("LD_LIBRARY_PATH", directory.path()));
    }
}

#[test]
fn the_header_is_strict_c99_and_cpp() {
    let header = "include/caudal/probe.h";
    for compiler in c_compilers() {
        for standard in ["-std=c99", "-std=c11"] {
            succeed(command(compiler).args(WARNINGS).args([
                standard,
                "-fsyntax-only",
                "-xc",
                "-include",
                header,
                "/dev/null",
            ]));
        }
    }
    for compiler in cpp_compilers() {
        for standard in ["-std=c++11", "-std=c++17", "-std=c++20"] {
            succeed(command(compiler).args(WARNINGS).args([
                standard,
                "-fsyntax-only",
                "-xc++",
                "-include",
                header,
                "/dev/null",
            ]));
        }
    }
}

#[test]
fn other_systems_and_processors_are_refused_with_what_is_missing() {
    for (flag, message) in
        [("-U__linux__", "Linux only"), ("-U__x86_64__", "x86-64 with 64-bit pointers only")]
    {
        let stderr = fail(command("gcc").args(["-fsyntax-only", flag, "-xc", "include/caudal/probe.h"]));
        assert!(stderr.contains(message), "{stderr}");
    }
}

#[test]
fn another_version_does_not_link() {
    let directory = TempDir::new().expect("a temporary directory");
    let program = directory.path().join("program");
    for compiler in c_compilers() {
        let stderr =
            fail(command(compiler).arg("-o").arg(&program).arg(source("other_version.c")).arg(ARCHIVE));
        assert!(stderr.contains("caudal_probe_v2"), "{stderr}");
    }
}

/// The C compiler gives the header's structures the layout that Rust gives `Block`.
#[test]
fn rust_has_the_headers_layout() {
    let printed = compile_and_run(&c_compilers(), "-std=gnu99", &["offsets.c"]);
    let header: BTreeMap<&str, (usize, usize)> = printed
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            (words[0], (words[1].parse().expect("a number"), words[2].parse().expect("a number")))
        })
        .collect();
    let rust = BTreeMap::from([
        ("deadline", (offset_of!(Block, deadline), 8)),
        ("budget", (offset_of!(Block, budget), 8)),
        ("depth", (offset_of!(Block, depth), 4)),
        ("pending", (offset_of!(Block, pending), 4)),
        ("stack_low", (offset_of!(Block, stack_low), 8)),
        ("stack_high", (offset_of!(Block, stack_high), 8)),
        ("quantum", (offset_of!(Block, quantum), 8)),
        ("ratio", (offset_of!(Block, ratio), 4)),
        ("credit", (offset_of!(Block, credit), 4)),
        ("runtime", (offset_of!(Block, runtime), 8)),
        ("size", (size_of::<Block>(), align_of::<Block>())),
        ("flag", (64, 64)),
        ("abi", (caudal_probe::ABI as usize, caudal_probe::ABI as usize)),
    ]);
    assert_eq!(header, rust);
}

/// All that the library shows. A change of what is there is another version of the ABI; an addition belongs into
/// `tests/symbols.txt`.
#[test]
fn the_librarys_symbols_are_frozen() {
    let listed = succeed(Command::new("readelf").args(["--symbols", "--wide", ARCHIVE]));
    let mut symbols: Vec<String> = listed.lines().filter_map(shown_symbol).collect();
    symbols.sort();
    assert_eq!(symbols.join("\n"), include_str!("symbols.txt").trim_end());
}

/// `TYPE [SIZE] NAME` of a line of readelf's table, when others can link with it; the size of data only.
fn shown_symbol(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, _, size, kind, "GLOBAL", "DEFAULT", section, name] = words[..] else { return None };
    match kind {
        _ if section == "UND" => None,
        "FUNC" => Some(format!("{kind} {name}")),
        _ => Some(format!("{kind} {size} {name}")),
    }
}
