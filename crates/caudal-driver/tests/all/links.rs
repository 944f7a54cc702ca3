//! Links: with link-time optimisation, of shared objects, and where the probe library comes from.

use std::fs;
use std::path::Path;

use crate::common::{MAIN, PRINTED, Project, WORK, build_plugin, succeed};

const DRIVER: &str = env!("CARGO_BIN_EXE_caudal-cc");

fn project() -> Project {
    build_plugin(DRIVER);
    Project::new(Path::new(DRIVER), &[("main.c", MAIN), ("work.c", WORK)])
}

#[test]
fn link_time_optimisation_puts_probes_in_once() {
    for mode in ["-flto", "-flto=thin"] {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let project = project();
            project.quietly(&format!("{level} {mode} --probe-report=report.jsonl -c main.c"));
            project.quietly(&format!("{level} {mode} --probe-report=report.jsonl -c work.c"));
            assert_eq!(project.report().probed, [], "{mode} {level}: compilations are not the end");
            project.quietly(&format!("{level} {mode} --probe-report=report.jsonl main.o work.o -o program"));
            assert_eq!(project.run("program"), PRINTED);
            let report = project.report();
            assert!(report.probes() >= 2, "{mode} {level}");
            assert_eq!(project.probes_in("program") as u64, report.probes(), "{mode} {level}");
        }
    }
}

/// What chooses an ifunc's implementation runs before the C library has set up thread-local storage, where probes keep what they count;
/// and it calls functions of other files, which have probes.
#[test]
fn resolvers_may_call_code_with_probes() {
    const CHOOSES: &str = "#include <stdio.h>\nlong work(long rounds);\nstatic long helper(long rounds) {\n  volatile long sum = 0;\n  for (long i = 0; i < rounds; i++) sum += work(i);\n  return sum;\n}\nstatic int one(void) { return 1; }\nstatic int two(void) { return 2; }\ntypedef int chosen(void);\nstatic chosen *choose(void) { return helper(100) + work(1000) > 0 ? two : one; }\nint pick(void) __attribute__((ifunc(\"choose\")));\nint main(void) { printf(\"%d %ld\\n\", pick(), work(10)); return 0; }\n";
    for link in ["", "-static", "-static-pie -fPIE"] {
        for mode in ["budget", "clock", "flag"] {
            let project = project();
            project.write("chooses.c", CHOOSES);
            project.quietly(&format!("-O2 {link} --probe-mode={mode} chooses.c work.c -o program"));
            assert!(project.probes_in("program") > 0, "{link} {mode}");
            assert_eq!(project.run("program"), "2 45\n", "{link} {mode}");
        }
    }
}

/// clang runs no plugin there, at any level: no probes would be a silence.
#[test]
fn the_back_end_of_a_distributed_thin_link_is_refused() {
    let project = project();
    project.quietly("-O2 -flto=thin -c main.c work.c");
    project.quietly("--probe-off -flto=thin -fuse-ld=lld -Wl,--thinlto-index-only main.o work.o -o program");
    let back_end = "-O2 -x ir work.o -fthinlto-index=work.o.thinlto.bc -c -o native.o";
    let said = project.refused(back_end);
    assert!(said.contains("runs no plugin in the back end of a distributed thin link"), "{said}");
    assert!(said.contains("-flto=thin; or say --probe-off"), "{said}");
    project.quietly(&format!("--probe-off {back_end}"));
    project.quietly("-O2 -x ir work.o -fthinlto-index=/dev/null -c -o native.o");
    assert!(project.probes_in("native.o") > 0);
}

/// The link is told nothing of what one of its files was compiled with.
#[test]
fn functions_that_a_compilation_left_alone_stay_so_at_the_link() {
    for mode in ["-flto", "-flto=thin"] {
        for (given, why) in [("--probe-off", "compiled with --probe-off"), ("--probe-exclude=list", "list:1")]
        {
            let project = project();
            project.write("list", "work\n");
            project.quietly(&format!("-O2 {mode} -c main.c"));
            project.quietly(&format!("-O2 {mode} -c work.c {given}"));
            project.quietly(&format!("-O2 {mode} --probe-report=report.jsonl main.o work.o -o program"));
            assert_eq!(project.run("program"), PRINTED);
            let report = project.report();
            let left = report.left_alone.iter().find(|function| function.name == "work");
            assert!(left.is_some_and(|work| work.why.ends_with(why)), "{mode} {given}: {report:?}");
            assert!(report.probed.iter().any(|function| function.name == "main"), "{mode} {given}");
        }
    }
}

/// A list's `call` is said where the call is compiled; what it calls may be inlined only at the link.
#[test]
fn calls_that_a_compilation_made_sections_stay_so_at_the_link() {
    for mode in ["-flto", "-flto=thin"] {
        let project = project();
        project.write("list", "call work\n");
        project.quietly(&format!("-O2 {mode} -c main.c --probe-exclude=list"));
        project.quietly(&format!("-O2 {mode} -c work.c"));
        project.quietly(&format!("-O2 {mode} main.o work.o -o program"));
        assert_eq!(project.run("program"), PRINTED);
        let mut command = project.command("objdump");
        let listing = succeed(command.args(["-d", "--disassemble=main"]).arg(project.path("program")));
        assert!(listing.contains("<caudal_section_enter_v1>"), "{mode}: {listing}");
    }
}

/// Other options hold for all of a link.
#[test]
fn a_link_says_where_a_compilation_was_told_something_else() {
    for mode in ["-flto", "-flto=thin"] {
        let project = project();
        project.quietly(&format!("-O2 {mode} -c main.c"));
        project.quietly(&format!("-O2 {mode} --probe-mode=flag -c work.c"));
        let link = format!("-O2 {mode} main.o work.o -o program");
        let output = project.call(&link);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && said.contains("was compiled with mode=flag; under link-time"),
            "{said}"
        );
        project.quietly(&format!("{link} --probe-mode=flag"));
        project.quietly(&format!("{link} --probe-off"));
    }
}

#[test]
fn a_compilation_in_front_of_a_link_says_who_reports() {
    let project = project();
    let output = project.call("-O2 -flto --probe-report -c main.c");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("--probe-report there"), "{said}");
}

#[test]
fn link_time_optimisation_in_one_call() {
    let project = project();
    project.quietly("-O2 -Wall -Werror -flto main.c work.c -o program");
    assert_eq!(project.run("program"), PRINTED);
    assert!(project.probes_in("program") >= 2);
}

#[test]
fn objects_of_both_kinds_have_probes_in_both() {
    let project = project();
    project.quietly("-O2 -flto -ffat-lto-objects -c main.c");
    project.quietly("-O2 -flto -ffat-lto-objects -c work.c");
    project.quietly("main.o work.o -o plain");
    project.quietly("-flto -ffat-lto-objects main.o work.o -o whole");
    for name in ["plain", "whole"] {
        assert_eq!(project.run(name), PRINTED);
        assert!(project.probes_in(name) >= 2, "{name}");
    }
}

#[test]
fn other_options_are_not_served_from_a_thin_cache() {
    let project = project();
    let link = "-O2 -flto=thin -Wl,--thinlto-cache-dir=thin main.c work.c -o program";
    for mode in ["budget", "flag", "budget"] {
        project.quietly(&format!("{link} --probe-mode={mode}"));
        assert!(project.probes_in("program") >= 2);
        let listing = project.code_of("program");
        let calls = |entry: &str| {
            let entry = format!("<caudal_probe_cold_{entry}_v1>");
            listing.lines().any(|line| line.contains("call ") && line.contains(&entry))
        };
        let calls_budget = calls("budget") || calls("carried");
        assert_eq!((calls_budget, calls("flag")), (mode == "budget", mode == "flag"), "{mode}");
    }
}

#[test]
fn a_program_has_one_probe_library() {
    let project = project();
    project.quietly("-O2 -c main.c work.c");
    // As with a static library that brings the same objects along.
    let library = probe_library();
    project.quietly(&format!("main.o work.o {library} -o program"));
    assert_eq!(project.run("program"), PRINTED);
    let lines = project.names_in("program");
    assert_eq!(lines.matches(" caudal_probe_v1").count(), 1);
    assert!(!lines.contains("U caudal_"));
}

#[test]
fn a_shared_library_that_has_the_probes_finds_the_programs() {
    let project = project();
    // As libcaudal.so: it has the library's objects in it, and shows them.
    let library = probe_library();
    project.write("service.c", "#include <stdint.h>\nextern __thread char caudal_probe_v1[64] __attribute__((tls_model(\"initial-exec\")));\nchar *line_of_library(void) { return caudal_probe_v1; }\n");
    project.quietly(&format!(
        "--probe-off -O2 -fPIC -shared service.c -Wl,--whole-archive {library} -Wl,--no-whole-archive -o libservice.so"
    ));
    project.write("line.c", "#include <stdio.h>\nextern __thread char caudal_probe_v1[64];\nchar *line_of_library(void);\nlong work(long);\nint main(void) { work(1000); puts(line_of_library() == caudal_probe_v1 ? \"one\" : \"two\"); }\n");
    for flags in ["", "-fuse-ld=lld", "-flto"] {
        project.quietly(&format!("-O2 {flags} line.c work.c -L. -lservice -Wl,-rpath,. -o program"));
        assert_eq!(project.run("program"), "one\n", "{flags}");
    }
}

#[test]
fn shared_objects_leave_the_probes_to_the_program() {
    let project = project();
    for flags in ["", "-flto", "-flto=thin -fuse-ld=lld", "-Wl,-z,defs", "-Wl,--no-undefined -fuse-ld=lld"] {
        project.quietly(&format!("-O2 -fPIC -shared {flags} work.c -o libwork.so"));
        assert!(project.names_in("libwork.so").contains("U caudal_probe_v1"), "{flags}");
        project.quietly("-O2 main.c -L. -lwork -Wl,-rpath,. -o program");
        assert_eq!(project.run("program"), PRINTED, "{flags}");
    }
}

#[test]
fn shared_objects_may_be_loaded_later() {
    let project = project();
    project.write("load.c", "#include <dlfcn.h>\n#include <stdio.h>\nint main(void) {\n  void *object = dlopen(\"./libwork.so\", RTLD_NOW);\n  if (!object) return puts(dlerror()), 1;\n  long (*work)(long) = (long (*)(long))dlsym(object, \"work\");\n  printf(\"%ld\\n\", work(1000));\n}\n");
    project.quietly("-O2 -fPIC -shared work.c -o libwork.so");
    for flags in ["", "-fuse-ld=lld", "-flto"] {
        project.quietly(&format!("-O2 {flags} load.c -o program"));
        assert_eq!(project.run("program"), "499500\n", "{flags}");
    }
}

#[test]
fn static_programs() {
    let project = project();
    for flags in [
        "-static",
        "-static-pie",
        "-static-pie -fPIE -fuse-ld=lld",
        "-no-pie",
        "-static -flto",
        "-static-pie -flto",
    ] {
        project.quietly(&format!("-O2 {flags} main.c work.c -o program"));
        assert_eq!(project.run("program"), PRINTED, "{flags}");
    }
}

#[test]
fn objects_of_objects() {
    let project = project();
    project.quietly("-O2 -c main.c work.c");
    project.quietly("-r main.o work.o -o both.o");
    assert!(!project.names_in("both.o").contains("T caudal"));
    project.quietly("both.o -o program");
    assert_eq!(project.run("program"), PRINTED);
}

#[test]
fn archives() {
    let project = project();
    project.quietly("-O2 -c work.c");
    succeed(project.command("ar").args(["rcs", "libwork.a", "work.o"]));
    project.quietly("-O2 main.c -L. -lwork -o program");
    assert_eq!(project.run("program"), PRINTED);
}

#[test]
fn where_there_is_no_libc_only_what_is_wanted_is_linked() {
    let project = project();
    let start = "void _start(void) { __asm__ volatile(\"mov $60, %eax; xor %edi, %edi; syscall\"); }\n";
    project.write("start.c", start);
    project.quietly("-O2 -nostdlib -static -c start.c");
    project.quietly("-nostdlib -static start.o -o program");
    assert_eq!(project.run("program"), "");
}

/// The one that the driver links, as an archive of somebody else's.
fn probe_library() -> String {
    let project = project();
    let jobs = project.call("-### main.c");
    let said = String::from_utf8(jobs.stderr).expect("text");
    let mut words = said.split('"').filter(|word| word.ends_with("/caudal_probe.o"));
    let library = Path::new(words.next().expect("it is linked")).with_file_name("libcaudal_probe.a");
    let copy = std::env::temp_dir().join(format!("libcaudal_probe_copy_{}.a", std::process::id()));
    fs::copy(library, &copy).expect("it can be copied");
    copy.display().to_string()
}
