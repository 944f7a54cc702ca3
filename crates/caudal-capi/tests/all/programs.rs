//! C and C++ programs over an installed library: the examples, and what users run into.
//!
//! The library is installed into a directory of the tests', then everything is compiled against that as a user would. gcc and g++
//! are needed; clang, CMake and pkg-config are tried where they are installed, and missed with a word where not.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::installed::{Program, ROOT, c_compilers, compile, cxx_compilers, has, installed, run, succeed};

impl Program {
    /// Runs the service; its report has both classes.
    fn serves(&self, policy: &str) {
        let report = succeed(self.command(policy).arg("2000"));
        let counts: Vec<_> = report.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
        assert_eq!(counts, ["1995", "5"], "{report}");
    }

    /// Runs the hazards; all cases are there.
    fn survives(&self, policy: &str) {
        let cases = succeed(self.command(policy).arg(installed().path("bad.toml")));
        assert_eq!(cases.lines().count(), 25, "{cases}");
    }
}

#[test]
fn the_example_serves() {
    for compiler in c_compilers() {
        let program =
            compile(compiler, "examples/service.c", &["-std=c99", "-O2"], &installed().statically());
        program.serves("direct.toml");
        program.serves("two-level.toml");
        compile(compiler, "examples/service.c", &["-std=c99", "-O0"], &installed().shared())
            .serves("direct.toml");
    }
}

/// Also where the program's objects are a collector's: libgc's, which is told of threads and stacks.
#[test]
fn a_collector_finds_what_requests_refer_to() {
    if !Path::new("/usr/include/gc/gc.h").exists() {
        eprintln!("libgc is not installed: what needs it is not tested here");
        return;
    }
    for compiler in c_compilers() {
        let mut link = installed().shared();
        link.push("-lgc".to_owned());
        let flags = ["-std=gnu11", "-O2", "-isystem", "/usr/include/gc"];
        let program = compile(compiler, "examples/collector.c", &flags, &link);
        let lost = succeed(program.command("direct.toml").arg("1000"));
        assert_eq!(lost, "1000 requests, collected, 0 lists with lost objects\n");
    }
}

/// A program that links libgc and tells it nothing of stacks gets one warning, when its runtime starts.
#[test]
fn a_collector_that_hears_of_no_stacks_is_told_of() {
    if !Path::new("/usr/include/gc/gc.h").exists() {
        eprintln!("libgc is not installed: what needs it is not tested here");
        return;
    }
    let as_library = ["-Wl,--no-as-needed", "-lgc"];
    // What a program has of it that allocates; it is inside of the program, or all of the program is inside of one file.
    let inside = ["-Wl,-u,GC_malloc", "-Wl,-Bstatic", "-lgc", "-Wl,-Bdynamic"];
    let all_inside = ["-Wl,-u,GC_malloc", "-lgc", "-static"];
    let ways = [
        [installed().shared(), as_library.map(str::to_owned).to_vec()].concat(),
        [installed().statically(), inside.map(str::to_owned).to_vec()].concat(),
        [installed().statically(), all_inside.map(str::to_owned).to_vec()].concat(),
    ];
    for link in ways {
        let program = compile("gcc", "examples/service.c", &["-std=gnu11", "-O2"], &link);
        let output = program.command("direct.toml").arg("2000").output().expect("the program runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(stderr.matches("caudal_on_stack_enter").count(), 1, "{link:?}: {stderr}");
    }
}

#[test]
fn what_is_registered_goes_with_requests() {
    for compiler in c_compilers() {
        let program = compile(compiler, "tests/c/carry.c", &["-std=gnu99", "-O2"], &installed().statically());
        assert_eq!(succeed(&mut program.command("direct.toml")), "0 wrong, in turns, 16 places\n");
    }
}

#[test]
fn hazards_are_answers() {
    for compiler in c_compilers() {
        let program = compile(compiler, "tests/c/hazards.c", &["-std=c99", "-O2"], &installed().statically());
        program.survives("direct.toml");
        program.survives("two-level.toml");
    }
    compile("gcc", "tests/c/hazards.c", &["-std=c99"], &installed().shared()).survives("direct.toml");
}

#[test]
fn exceptions_stay_with_their_requests() {
    for compiler in cxx_compilers() {
        let program =
            compile(compiler, "tests/c/exceptions.cc", &["-std=c++11", "-O2"], &installed().statically());
        assert_eq!(succeed(&mut program.command("direct.toml")), "exceptions stay with their requests\n");
        let program = compile(compiler, "examples/service.cc", &["-std=c++17"], &installed().shared());
        assert_eq!(succeed(&mut program.command("direct.toml")), "1 2\nthree: out of range\n");
    }
}

/// The C++ runtime is found wherever it is: also inside of the program, where no name of it can be looked up.
#[test]
fn exceptions_stay_with_their_requests_where_the_cxx_runtime_is_inside_of_the_program() {
    for compiler in cxx_compilers() {
        for link in [installed().statically(), installed().shared()] {
            let flags = ["-std=c++11", "-O2", "-static-libstdc++"];
            let program = compile(compiler, "tests/c/exceptions.cc", &flags, &link);
            let needed = succeed(Command::new("readelf").arg("-d").arg(&program.path));
            assert!(!needed.contains("libstdc++"), "{needed}");
            assert_eq!(succeed(&mut program.command("direct.toml")), "exceptions stay with their requests\n");
        }
    }
}

/// And where a part of the program has loaded it for itself.
#[test]
fn exceptions_stay_with_their_requests_where_a_part_has_loaded_the_cxx_runtime() {
    let mut link = installed().shared();
    let flags = ["-std=c++11", "-O2", "-shared", "-fPIC", "-Dmain=run_part"];
    let part = compile("g++", "tests/c/exceptions.cc", &flags, &link);
    link.splice(0..0, ["-Wl,--no-as-needed".to_owned()]);
    link.push("-ldl".to_owned());
    let program = compile("gcc", "tests/c/loads.c", &["-std=c99"], &link);
    let mut command = Command::new(&program.path);
    command.arg(&part.path).arg(installed().path("direct.toml"));
    assert_eq!(succeed(&mut command), "exceptions stay with their requests\n");
}

/// And where a request loads it, long after the runtime has looked for it: with its library, or inside of the part that shows its names.
#[test]
fn exceptions_stay_with_their_requests_where_a_request_loads_the_cxx_runtime() {
    for compiler in cxx_compilers() {
        for cxx in ["-shared-libgcc", "-static-libstdc++"] {
            assert_eq!(
                late(compiler, &[cxx]),
                "400 of 400 came back to their requests\n",
                "{compiler} {cxx}"
            );
        }
    }
}

/// What the guide says of a C++ runtime that nobody can find.
#[test]
fn exceptions_of_a_hidden_cxx_runtime_are_mixed_up() {
    let hidden = ["-static-libstdc++", "-Wl,--exclude-libs,ALL"];
    assert_ne!(
        late("g++", &hidden),
        "400 of 400 came back to their requests\n",
        "the hazard is gone: change the guide"
    );
}

/// What a program in C prints whose requests load a part in C++ that was built with `flags`.
fn late(compiler: &str, flags: &[&str]) -> String {
    let flags = [&["-std=c++11", "-O2", "-shared", "-fPIC"], flags].concat();
    let part = compile(compiler, "tests/c/late_part.cc", &flags, &[]);
    let mut link = installed().shared();
    link.push("-ldl".to_owned());
    let program = compile("gcc", "tests/c/late.c", &["-std=gnu99"], &link);
    let output = run(program.command("direct.toml").arg(&part.path));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn an_abandoned_request_leaves_no_exception_behind() {
    for compiler in cxx_compilers() {
        let program =
            compile(compiler, "tests/c/exceptions.cc", &["-std=c++11", "-O1"], &installed().statically());
        let mut command = program.command("direct.toml");
        assert_eq!(succeed(command.arg("overflow")), "the next one finds nothing\n");
        let output = run(program.command("direct.toml").arg("unwind"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(6), "{stderr}");
        assert!(stderr.contains("not abandoned") && stderr.contains("an exception unwinds it"), "{stderr}");
    }
}

#[test]
fn an_exception_that_leaves_a_handler_ends_the_process_with_its_reason() {
    for compiler in cxx_compilers() {
        for link in [installed().statically(), installed().shared()] {
            let program = compile(compiler, "tests/c/exceptions.cc", &["-std=c++11"], &link);
            let output = run(program.command("direct.toml").arg("escape"));
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.signal(), Some(6), "{stderr}");
            assert!(stderr.contains("left a handler of class 'work'"), "{stderr}");
        }
    }
}

/// The compilers that put probes in have each page of an array touched (`-fstack-clash-protection`), so that it comes to the guard behind a
/// request's stack and not to what lies beyond.
#[test]
fn a_large_array_does_not_step_over_the_guard() {
    for compiler in c_compilers() {
        let ends = |flags: &[&str]| {
            let flags = [&["-std=c99", "-O2"], flags].concat();
            let program = compile(compiler, "tests/c/array.c", &flags, &installed().statically());
            let output = run(&mut program.command("direct.toml"));
            (output.status.signal(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let (signal, said) = ends(&["-fstack-clash-protection"]);
        assert_eq!(signal, Some(6), "{compiler}: {said}");
        assert!(said.contains("stack overflow in a request of class 'work'"), "{compiler}: {said}");
        // Whatever it hits there, nobody can say what happened.
        let (_, said) = ends(&["-fno-stack-clash-protection"]);
        assert!(!said.contains("stack overflow in a request"), "{compiler}: {said}");
    }
}

/// clang may come without its sanitizers.
fn has_address_sanitizer(compiler: &str) -> bool {
    let directory = TempDir::new().expect("a temporary directory");
    let (source, program) = (directory.path().join("empty.c"), directory.path().join("program"));
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("a file");
    let compiled = run(Command::new(compiler).arg("-fsanitize=address").arg("-o").arg(program).arg(source));
    if !compiled.status.success() {
        eprintln!("{compiler} has no AddressSanitizer here: nothing is tested with it");
    }
    compiled.status.success()
}

/// The C side is instrumented. Its frames of coroutines have to be on the real stack: the copies that the sanitizer would make
/// elsewhere belong to a thread.
#[test]
fn address_sanitizer_has_nothing_to_say() {
    const FLAGS: [&str; 5] = ["-std=c99", "-g", "-O1", "-fsanitize=address", "-fno-omit-frame-pointer"];
    for compiler in c_compilers().into_iter().filter(|compiler| has_address_sanitizer(compiler)) {
        for (source, hazards) in [("examples/service.c", false), ("tests/c/hazards.c", true)] {
            let program = compile(compiler, source, &FLAGS, &installed().statically());
            let mut command = program.command("direct.toml");
            command.env("ASAN_OPTIONS", "detect_stack_use_after_return=0:abort_on_error=0");
            command.arg(if hazards { installed().path("bad.toml") } else { "2000".into() });
            let output = run(&mut command);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !stderr.contains("ERROR: "), "{compiler} {source}: {stderr}");
        }
    }
}

/// The sanitizer would say something: it sees what a handler does on its coroutine's stack.
#[test]
fn address_sanitizer_sees_handlers() {
    let program = compile(
        "gcc",
        "tests/c/overrun.c",
        &["-std=c99", "-g", "-fsanitize=address"],
        &installed().statically(),
    );
    let mut command = program.command("direct.toml");
    let output = run(command.env("ASAN_OPTIONS", "detect_stack_use_after_return=0"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && stderr.contains("stack-buffer-overflow"), "{stderr}");
    assert!(stderr.contains("overruns"), "the report names the handler: {stderr}");
}

#[test]
fn pkg_config_knows_it() {
    if !has("pkg-config") {
        return;
    }
    for name in ["caudal", "caudal-static"] {
        let output = succeed(
            Command::new("pkg-config")
                .env("PKG_CONFIG_PATH", installed().path("lib/pkgconfig"))
                .args(["--cflags", "--libs", name]),
        );
        let mut link: Vec<String> = output.split_whitespace().map(str::to_owned).collect();
        link.push(format!("-Wl,-rpath,{}", installed().path("lib").display()));
        let program = compile("gcc", "examples/service.c", &["-std=c99", "-O2"], &link);
        program.serves("direct.toml");
        let needed = succeed(Command::new("readelf").arg("-d").arg(&program.path));
        assert_eq!(needed.contains("[libcaudal.so.1]"), name == "caudal", "{name}: {needed}");
    }
}

#[test]
fn cmake_finds_it() {
    if !has("cmake") {
        return;
    }
    let build = TempDir::new().expect("a temporary directory");
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", installed().prefix.display());
    succeed(
        Command::new("cmake")
            .arg("-S")
            .arg(Path::new(ROOT).join("tests/cmake"))
            .arg("-B")
            .arg(build.path())
            .arg(prefix),
    );
    succeed(Command::new("cmake").arg("--build").arg(build.path()));
    for name in ["service_shared", "service_static"] {
        let program =
            Program { _directory: TempDir::new().expect("a directory"), path: build.path().join(name) };
        program.serves("direct.toml");
    }
    let cxx =
        Program { _directory: TempDir::new().expect("a directory"), path: build.path().join("service_cxx") };
    assert_eq!(succeed(&mut cxx.command("direct.toml")), "1 2\nthree: out of range\n");
    succeed(&mut Command::new(build.path().join("probes")));
}

/// The first block of the guide in `language` that has `word` in it.
fn of_the_guide(language: &str, word: &str) -> String {
    let path = Path::new(ROOT).join("../../docs/guides/first-service-in-c.md");
    let guide = std::fs::read_to_string(path).expect("the guide is there");
    let fence = format!("```{language}\n");
    let blocks = guide.split(&fence).skip(1).filter_map(|rest| rest.split("```").next());
    blocks.into_iter().find(|block| block.contains(word)).expect("the guide has the block").to_owned()
}

/// What the guide says, with its own policy: the program looks for it where it runs.
#[test]
fn the_guides_program_runs() {
    let directory = TempDir::new().expect("a temporary directory");
    let source = directory.path().join("first.c");
    std::fs::write(&source, of_the_guide("c", "int main")).expect("a file");
    std::fs::write(directory.path().join("policy.toml"), of_the_guide("toml", "[system]")).expect("a file");
    let source = source.to_str().expect("a path in UTF-8");
    let program = compile("gcc", source, &["-std=c99", "-O2"], &installed().statically());
    let printed = succeed(Command::new(&program.path).current_dir(directory.path()));
    assert!(printed.starts_with("got 42, the sum ") && printed.ends_with("\nsummed 2688\n"), "{printed}");
}

/// Another guide takes the program from the clone.
#[test]
fn the_guides_program_is_an_example() {
    let example =
        std::fs::read_to_string(Path::new(ROOT).join("examples/first.c")).expect("the example is there");
    assert_eq!(of_the_guide("c", "int main"), example);
}

/// Rust's own symbols would clash with those of another library that is written in it.
#[test]
fn the_shared_library_shows_its_own_and_the_probes_names_only() {
    let shared = installed().path("lib/libcaudal.so.1");
    let names = succeed(Command::new("nm").args(["-D", "--defined-only", "--format=posix"]).arg(&shared));
    let names: Vec<_> = names.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let strange: Vec<_> = names.iter().filter(|name| !name.starts_with("caudal_")).collect();
    assert!(strange.is_empty(), "{strange:?}");
    for wanted in [
        "caudal_submit",
        "caudal_probe_v1",
        "caudal_flag_v1",
        "caudal_probe_cold_clock_v1",
        "caudal_probe_hook_v1",
    ] {
        assert!(names.contains(&wanted), "{wanted} is missing in {names:?}");
    }
    let about = succeed(Command::new("readelf").arg("-d").arg(&shared));
    assert!(about.contains("Library soname: [libcaudal.so.1]"), "{about}");
}
