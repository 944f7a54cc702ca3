//! A request that has a lock is pre-empted, and a second request of the same worker wants the lock: programs that the probe pass has instrumented, each
//! with what the pass does about locks and without it.
//!
//! The programs are in `tests/preemption`; what they do is in `turns.h` there. Nothing is judged by time: there is one worker, and a
//! second request that puts it to sleep puts it to sleep for ever. That is seen by the watchdog's line.
//!
//! clang and LLVM of a major that the pass is made for are needed, and missed with a word where they are not installed.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::installed::{ROOT, has, installed, once_written, succeed, succeed_with_errors};

/// What the lists of `tests/preemption/list.txt` name is in `cxx.cc` and `uninstrumented.c`.
const LIST: &str = "tests/preemption/list.txt";

/// A compiler and the plugin for it.
pub(crate) struct Toolchain {
    pub(crate) major: &'static str,
    pub(crate) plugin: PathBuf,
}

/// None: what is needed is not there.
pub(crate) fn toolchain() -> Option<&'static Toolchain> {
    static ONCE: OnceLock<Option<Toolchain>> = OnceLock::new();
    ONCE.get_or_init(|| {
        let major = ["22", "19"].into_iter().find(|major| {
            has(&format!("clang-{major}"))
                && has(&format!("clang++-{major}"))
                && has(&format!("llvm-config-{major}"))
        })?;
        if !has("cmake") || !has("ninja") || !has(&format!("ld.lld-{major}")) {
            return None;
        }
        // The one that all tests have: it is built once, beside what cargo builds.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the target directory");
        let script = Path::new(ROOT).join("../../scripts/pass");
        let plugin = succeed(Command::new(script).arg(major).env("CARGO_TARGET_DIR", target));
        Some(Toolchain { major, plugin: PathBuf::from(plugin.trim()) })
    })
    .as_ref()
}

/// Does the pass look after locks?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sections {
    On,
    Off,
    /// And it reads [`LIST`].
    Listed,
}

#[derive(Clone, Copy)]
enum Source {
    C,
    Cxx,
}

/// A program and its report.
struct Built {
    program: PathBuf,
    report: PathBuf,
}

fn build(source: Source, sections: Sections) -> Option<Built> {
    let toolchain = toolchain()?;
    let name = match (source, sections) {
        (Source::C, Sections::On) => "c",
        (Source::C, Sections::Off) => "c-without",
        (Source::C, Sections::Listed) => "c-listed",
        (Source::Cxx, Sections::On) => "cxx",
        (Source::Cxx, Sections::Off) => "cxx-without",
        (Source::Cxx, Sections::Listed) => "cxx-listed",
    };
    let directory = installed().path(name);
    let (program, report) = (directory.join("program"), directory.join("report.jsonl"));
    std::fs::create_dir_all(&directory).expect("a directory");
    let tests = Path::new(ROOT).join("tests");
    let plugin = toolchain.plugin.display().to_string();
    let mut options = format!("-caudal-probes=report={}", report.display());
    match sections {
        Sections::On => {}
        // The thread's lines are in the shared library.
        Sections::Off => options += ";sections=off;tls=initial-exec",
        Sections::Listed => options += &format!(";exclude={}", Path::new(ROOT).join(LIST).display()),
    }
    let (compiler, standard, file) = match source {
        Source::C => (format!("clang-{}", toolchain.major), "-std=gnu99", "preemption/locks.c"),
        Source::Cxx => (format!("clang++-{}", toolchain.major), "-std=c++17", "preemption/cxx.cc"),
    };
    let (object, library) = (directory.join("object.o"), directory.join("library.o"));
    succeed(
        Command::new(&compiler)
            .args([standard, "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-c"])
            .arg(format!("-fpass-plugin={plugin}"))
            .args(["-Xclang", "-load", "-Xclang", &plugin, "-mllvm", &options])
            .arg("-I")
            .arg(installed().path("include"))
            .arg("-I")
            .arg(tests.join("preemption"))
            .arg("-I")
            .arg(tests.join("c"))
            .arg(tests.join(file))
            .arg("-o")
            .arg(&object),
    );
    succeed(
        Command::new(format!("clang-{}", toolchain.major))
            .args(["-O2", "-D_GNU_SOURCE", "-c"])
            .arg(tests.join("preemption/uninstrumented.c"))
            .arg("-o")
            .arg(&library),
    );
    // The shared library leaves the program's `syscall` to the C library: there is nothing but the pass then.
    let link = if sections == Sections::Off { installed().shared() } else { installed().statically() };
    succeed(Command::new(&compiler).arg(&object).arg(&library).args(link).arg("-o").arg(&program));
    Some(Built { program, report })
}

/// The program of `source`, built once.
fn built(source: Source, sections: Sections) -> Option<&'static Built> {
    static ALL: [OnceLock<Option<Built>>; 6] = [const { OnceLock::new() }; 6];
    ALL[source as usize * 3 + sections as usize].get_or_init(|| build(source, sections)).as_ref()
}

/// How a program went.
#[derive(Debug, PartialEq, Eq)]
enum Went {
    /// Both requests came to their end; so many have had it at once.
    Through(u32),
    /// The worker sleeps, or spins, in the second request.
    Stuck,
    /// A call answered what it does not answer a thread that has nothing to do with the first one's; the line that said so.
    Refused(String),
}

/// Runs `test` of the program. `may_stick`: the watchdog's line means that it never ends; else it only says that
/// the machine is slow.
fn run(program: &Path, test: &str, may_stick: bool) -> Went {
    went(&mut Command::new(program), test, may_stick)
}

fn went(program: &mut Command, test: &str, may_stick: bool) -> Went {
    program.arg(installed().path("direct.toml")).arg(test).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = once_written(program, Command::spawn);
    let lines = BufReader::new(child.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
    let mut said = Vec::new();
    for line in lines {
        if may_stick && line.contains("has been in one request of class") {
            child.kill().expect("it runs");
            child.wait().expect("it was killed");
            return Went::Stuck;
        }
        said.push(line);
    }
    let mut printed = String::new();
    child.stdout.take().expect("it is piped").read_to_string(&mut printed).expect("it prints text");
    let status = child.wait().expect("it ends");
    match printed.strip_suffix(" at once\n").and_then(|number| number.parse().ok()) {
        Some(number) if status.success() => Went::Through(number),
        _ => Went::Refused(said.join("\n")),
    }
}

/// What happens without the pass's care.
enum Without {
    /// The second request's thread waits for ever.
    Stuck,
    /// Both have it at once.
    BothIn,
    /// The C library says that the thread has it already.
    Refused,
}

fn check(source: Source, test: &str, without: &Without) {
    let (Some(with), Some(bare)) = (built(source, Sections::On), built(source, Sections::Off)) else {
        return;
    };
    assert_eq!(run(&with.program, test, false), Went::Through(1));
    match (run(&bare.program, test, true), without) {
        (Went::Stuck, Without::Stuck)
        | (Went::Through(2), Without::BothIn)
        | (Went::Refused(_), Without::Refused) => {}
        (other, _) => panic!("without sections it went otherwise: {other:?}"),
    }
}

/// A test for each kind of lock.
macro_rules! kinds {
    ($source:expr; $($name:ident: $test:literal, $without:expr;)*) => {
        $(
            #[test]
            fn $name() {
                check($source, $test, &$without);
            }
        )*
    };
}

mod c {
    use super::{Source::C, Without::*, check};

    kinds! { C;
        mutex: "mutex", Stuck;
        mutex_over_a_wait: "mutex_over_a_wait", Stuck;
        timed_mutex: "timed", Stuck;
        timed_mutex_over_a_wait: "timed_over_a_wait", Stuck;
        mutex_by_a_table: "table", Stuck;
        mutex_of_c11: "c11", Stuck;
        mutex_of_c11_over_a_wait: "c11_over_a_wait", Stuck;
        timed_mutex_of_c11: "c11_timed", Stuck;
        timed_mutex_of_c11_over_a_wait: "c11_timed_over_a_wait", Stuck;
        recursive_mutex_of_c11: "c11_recursive", BothIn;
        recursive_mutex_of_c11_over_a_wait: "c11_recursive_over_a_wait", BothIn;
        once_of_c11: "c11_once", Stuck;
        once_of_c11_over_a_wait: "c11_once_over_a_wait", Stuck;
        condition_of_c11: "c11_condition", Stuck;
        mutex_by_a_table_over_a_wait: "table_over_a_wait", Stuck;
        recursive_mutex: "recursive", BothIn;
        recursive_mutex_over_a_wait: "recursive_over_a_wait", BothIn;
        checking_mutex: "checking", Refused;
        checking_mutex_over_a_wait: "checking_over_a_wait", Refused;
        rwlock_writers: "writer", Refused;
        rwlock_writers_over_a_wait: "writer_over_a_wait", Refused;
        rwlock_writer_and_reader: "writer_reader", Refused;
        rwlock_writer_and_reader_over_a_wait: "writer_reader_over_a_wait", Refused;
        rwlock_reader_and_writer: "reader_writer", Stuck;
        rwlock_reader_and_writer_over_a_wait: "reader_writer_over_a_wait", Stuck;
        spin_lock: "spin", Stuck;
        spin_lock_over_a_wait: "spin_over_a_wait", Stuck;
        once: "once", Stuck;
        once_over_a_wait: "once_over_a_wait", Stuck;
        condition: "condition", Stuck;
        condition_times_out: "condition_times_out", Stuck;
        semaphore: "semaphore", Stuck;
        stream: "stream", BothIn;
        stream_refuses_waits: "stream_refuses_waits", Refused;
        own_stream_that_is_printed_to: "print", BothIn;
        function_that_is_a_section: "section", BothIn;
        signal_handler: "signal", BothIn;
        signal_handler_with_info: "signal_with_info", BothIn;
        lock_of_a_library: "library", Stuck;
        locks_in_locks: "nested", Stuck;
    }
}

mod cxx {
    use super::{Source::Cxx, Without::*, check};

    kinds! { Cxx;
        mutex: "mutex", Stuck;
        mutex_over_a_wait: "mutex_over_a_wait", Stuck;
        recursive_mutex: "recursive", BothIn;
        recursive_mutex_over_a_wait: "recursive_over_a_wait", BothIn;
        timed_mutex: "timed", Stuck;
        timed_mutex_over_a_wait: "timed_over_a_wait", Stuck;
        shared_mutex: "shared", Refused;
        shared_mutex_over_a_wait: "shared_over_a_wait", Refused;
        mutex_that_an_exception_leaves: "throws", Stuck;
        thread_local_variable: "thread_local", Refused;
        thread_local_variable_of_a_function: "thread_local_in_function", BothIn;
        static_variable: "static", Stuck;
        static_variable_over_a_wait: "static_over_a_wait", Stuck;
        static_variable_that_fails: "static_fails", Stuck;
        call_once: "once", Stuck;
        call_once_over_a_wait: "once_over_a_wait", Stuck;
        call_once_that_throws: "once_throws", Stuck;
        condition: "condition", Stuck;
        section_that_an_exception_leaves: "section", BothIn;
    }
}

/// Between `vfork` and the child's end no other request of the worker gets a turn: it would run in the child.
#[test]
fn children_that_share_the_thread_run_nobody_else() {
    let (Some(with), Some(bare)) = (built(Source::C, Sections::On), built(Source::C, Sections::Off)) else {
        return;
    };
    for test in ["vfork", "clone"] {
        assert_eq!(run(&with.program, test, false), Went::Through(1), "{test}");
        assert_ne!(run(&bare.program, test, false), Went::Through(1), "without the pass's care, {test}");
    }
}

/// Another's functions are called, and who has a lock through them, or runs a handler that came by them, is not pre-empted.
#[test]
fn locks_and_handlers_through_preloaded_functions_are_known() {
    let Some(with) = built(Source::C, Sections::On) else { return };
    let library = installed().path("preloaded.so");
    let mut compile = Command::new("gcc");
    compile.args(["-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-o"]).arg(&library);
    succeed(compile.arg(Path::new(ROOT).join("tests/preemption/preloaded.c")));
    for test in ["mutex", "mutex_over_a_wait", "table_over_a_wait", "signal", "signal_with_info"] {
        let mut program = Command::new(&with.program);
        assert_eq!(went(program.env("LD_PRELOAD", &library), test, true), Went::Through(1), "{test}");
    }
}

/// A timed wait lasts until somebody signals, or its time is over: programs take it for a sleep.
#[test]
fn a_wait_for_a_condition_does_not_end_for_no_reason() {
    let Some(with) = built(Source::C, Sections::On) else { return };
    for test in ["condition_sleeps", "condition_ends", "condition_ends_by_library"] {
        assert_eq!(run(&with.program, test, false), Went::Through(1), "{test}");
    }
}

/// A thread is the root of OpenMP's teams, so no other request of it runs between a region's begin and its end.
#[test]
fn openmp_is_right_in_requests() {
    let Some(toolchain) = toolchain() else { return };
    if !Path::new(&format!("/usr/lib/llvm-{}/lib/libomp.so", toolchain.major)).exists() {
        eprintln!("libomp is not installed: what needs it is not tested here");
        return;
    }
    let directory = installed().path("openmp");
    std::fs::create_dir_all(&directory).expect("a directory");
    let program = directory.join("program");
    let tests = Path::new(ROOT).join("tests");
    succeed(
        Command::new(format!("clang-{}", toolchain.major))
            .args(["-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", "-fopenmp"])
            .arg(format!("-fpass-plugin={}", toolchain.plugin.display()))
            .arg("-I")
            .arg(installed().path("include"))
            .arg("-I")
            .arg(tests.join("c"))
            .arg(tests.join("preemption/openmp.c"))
            .args(installed().statically())
            .arg("-o")
            .arg(&program),
    );
    let printed = succeed(Command::new(&program).arg(installed().path("direct.toml")));
    assert_eq!(printed, "0 wrong, critical 80, locked 80, in turns\n");
}

/// A child that has a copy of the memory runs its own request and nobody else's, whichever call made it; no handler of
/// `pthread_atfork` gives its worker away.
#[test]
fn children_run_nobody_else() {
    let Some(with) = built(Source::C, Sections::On) else { return };
    for test in ["fork", "bare_fork", "kernels_fork", "programs"] {
        assert_eq!(run(&with.program, test, false), Went::Through(1), "{test}");
    }
}

/// A handler of signals that does not return is left: who comes out of it is pre-empted, and may wait.
#[test]
fn handlers_that_do_not_return_are_left() {
    let Some(with) = built(Source::C, Sections::On) else { return };
    for test in ["signal_jumps", "signal_jumps_by_library", "signal_jumps_and_waits"] {
        assert_eq!(run(&with.program, test, true), Went::Through(1), "{test}");
    }
}

/// A mutex that belongs to its thread (recursive, error-checking, robust, with priority inheritance) belongs to a request: another of the same
/// worker gets neither in nor may unlock it.
#[test]
fn mutexes_of_a_thread_are_a_requests() {
    let Some(with) = built(Source::C, Sections::On) else { return };
    assert_eq!(run(&with.program, "owned", false), Went::Through(1));
}

/// A request that ends with a lock is no thread that ends: but who locks its robust mutex next is told so, and standard error has a line.
#[test]
fn a_robust_mutex_of_a_request_that_has_ended_says_so() {
    let Some(with) = built(Source::C, Sections::On) else { return };
    assert_eq!(run(&with.program, "ends_with_owned", false), Went::Through(1));
    let output = succeed_with_errors(
        Command::new(&with.program).arg(installed().path("direct.toml")).arg("ends_with_owned"),
    );
    assert!(
        output.contains("a request of class `first` has ended with a lock that it had taken"),
        "{output}"
    );
}

/// What the page's table says of results that the C library keeps by thread, and of the thread's stack.
#[test]
fn results_that_libc_keeps_by_thread_are_the_workers() {
    let Some(with) = built(Source::C, Sections::On) else { return };
    assert_eq!(run(&with.program, "results", false), Went::Through(1), "the hazard is gone: change the page");
}

/// What the guide says of the mask.
#[test]
fn the_mask_of_signals_belongs_to_the_worker() {
    let Some(with) = built(Source::C, Sections::On) else { return };
    assert_eq!(
        run(&with.program, "mask", false),
        Went::Through(1),
        "a request has a mask of its own: change the guide"
    );
}

/// Whoever registers a handler, it is a section.
#[test]
fn handlers_that_others_register_are_sections() {
    let Some(with) = built(Source::C, Sections::On) else { return };
    assert_eq!(run(&with.program, "signal_registered_elsewhere", false), Went::Through(1));
}

#[test]
fn functions_of_a_list_are_sections() {
    let Some(listed) = built(Source::Cxx, Sections::Listed) else { return };
    let bare = built(Source::Cxx, Sections::On).expect("one compiler is as good as the other");
    assert_eq!(run(&listed.program, "listed", false), Went::Through(1));
    assert_eq!(run(&bare.program, "listed", false), Went::Through(2));
    let report = std::fs::read_to_string(&listed.report).expect("there is a report");
    assert!(report.contains("nopreempt in ") && report.contains("list.txt:2"), "{report}");
}

#[test]
fn a_listed_call_that_throws_is_a_section() {
    let Some(listed) = built(Source::Cxx, Sections::Listed) else { return };
    let bare = built(Source::Cxx, Sections::On).expect("one compiler is as good as the other");
    assert_eq!(run(&listed.program, "listed_call", false), Went::Through(1));
    assert_eq!(run(&bare.program, "listed_call", false), Went::Through(2));
}

/// What the pass cannot mend by itself: a library that nobody instruments has a lock while it calls back.
#[test]
fn a_library_that_calls_back_under_its_own_lock_has_to_be_listed() {
    let (Some(with), Some(listed)) = (built(Source::C, Sections::On), built(Source::C, Sections::Listed))
    else {
        return;
    };
    assert_eq!(
        run(&with.program, "through_library", true),
        Went::Stuck,
        "the hazard is gone: change the page"
    );
    assert_eq!(
        run(&with.program, "own_library", false),
        Went::Through(2),
        "the hazard is gone: change the page"
    );
    assert_eq!(run(&listed.program, "through_library", false), Went::Through(1));
    assert_eq!(run(&listed.program, "own_library", false), Went::Through(1));
}

/// Rust's `print!` has stdout's lock while it formats: a value whose formatting has probes does not yield there, and a panic leaves the
/// section. The same holds for what a `thread_local!` begins with, which another request would make again. rustc calls the linker's plugin
/// as a user would have it, for thin LTO.
#[test]
fn printing_in_rust_and_making_thread_locals_are_sections() {
    let Some(toolchain) = toolchain() else { return };
    if !has(&format!("ld.lld-{}", toolchain.major)) {
        return;
    }
    for (sections, inside) in [("on", false), ("off", true)] {
        let directory = tempfile::TempDir::new().expect("a temporary directory");
        // Linkers hand no options to a plugin: it reads them in a file beside itself.
        let plugin = directory.path().join("plugin.so");
        std::fs::copy(&toolchain.plugin, &plugin).expect("the plugin is there");
        std::fs::write(directory.path().join("plugin.so.options"), format!("sections={sections}"))
            .expect("a file");
        let program = directory.path().join("prints");
        succeed(
            Command::new("rustc")
                .args(["--edition", "2024", "-C", "opt-level=2", "-C", "linker-plugin-lto", "-C", "lto=thin"])
                .args(["-C", &format!("linker=clang-{}", toolchain.major)])
                .args(["-C", &format!("link-arg=-fuse-ld=lld-{}", toolchain.major)])
                .args(["-C", &format!("link-arg=-Wl,--load-pass-plugin={}", plugin.display())])
                .args(["-L", &installed().path("lib").display().to_string(), "-l", "static=caudal_probe"])
                .arg(Path::new(ROOT).join("tests/preemption/prints.rs"))
                .arg("-o")
                .arg(&program),
        );
        for case in ["print", "eprint", "write", "panic", "thread_local", "thread_local_panic"] {
            let printed = succeed(Command::new(&program).arg(case));
            assert!(
                printed.ends_with(&format!("inside: {inside}, elsewhere: true\n")),
                "{case}, sections={sections}: {printed}"
            );
        }
    }
}

/// A yield in an allocator would let the next request into it: it, and what it calls, has neither probes nor wrappers.
#[test]
fn allocators_stay_as_they_are() {
    let Some(toolchain) = toolchain() else { return };
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let (object, report) = (directory.path().join("object.o"), directory.path().join("report.jsonl"));
    let plugin = toolchain.plugin.display().to_string();
    succeed(
        Command::new(format!("clang-{}", toolchain.major))
            .args(["-O2", "-c", &format!("-fpass-plugin={plugin}"), "-Xclang", "-load", "-Xclang", &plugin])
            .args(["-mllvm", &format!("-caudal-probes=report={}", report.display())])
            .arg(Path::new(ROOT).join("tests/preemption/allocator.c"))
            .arg("-o")
            .arg(&object),
    );
    let report = std::fs::read_to_string(&report).expect("there is a report");
    let about = |name: &str| {
        let named = format!("\"function\":\"{name}\"");
        let lines: Vec<&str> = report.lines().filter(|line| line.contains(&named)).collect();
        lines.join("\n")
    };
    for name in ["malloc", "refill"] {
        assert!(about(name).contains("an allocator, or called by one"), "{name}: {report}");
    }
    for name in ["fail", "user"] {
        assert!(about(name).contains("\"event\":\"probed\""), "{name}: {report}");
    }
    let calls = succeed(Command::new("objdump").args(["-dr", "--no-show-raw-insn"]).arg(&object));
    let of = |name: &str| calls.split(&format!("<{name}>:")).nth(1).expect("a function").split("\n\n").next();
    assert!(
        of("refill").is_some_and(|body| body.contains("pthread_mutex_lock") && !body.contains("caudal_"))
    );
    assert!(of("user").is_some_and(|body| body.contains("caudal_wrap_pthread_mutex_lock_v1")));
}

/// A reader of the report finds what became a section, and what is left to him.
#[test]
fn the_report_names_what_was_done() {
    let Some(with) = built(Source::C, Sections::On) else { return };
    let report = std::fs::read_to_string(&with.report).expect("there is a report");
    let sections =
        report.lines().find(|line| line.contains("\"event\":\"sections\"")).expect("a line of calls");
    for name in ["pthread_mutex_lock", "flockfile", "fprintf", "sigaction"] {
        assert!(sections.contains(name), "{name} is missing in {sections}");
    }
    let section =
        report.lines().find(|line| line.contains("\"why\":\"caudal_nopreempt\"")).expect("a section");
    assert!(section.contains("\"function\":\"section\""), "{section}");
}
