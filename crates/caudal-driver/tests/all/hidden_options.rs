//! Options that come to a compiler beside its command line, and what does not go with probes, wherever it came from.

use std::path::Path;
use std::process::Output;

use crate::common::{MAIN, PRINTED, Project, WORK, build_plugin, succeed};

const DRIVER: &str = env!("CARGO_BIN_EXE_caudal-cc");

fn project() -> Project {
    build_plugin(DRIVER);
    Project::new(Path::new(DRIVER), &[("main.c", MAIN), ("work.c", WORK)])
}

fn checked(project: &Project, from: &str) {
    assert_eq!(project.run("program"), PRINTED, "{from}");
    assert!(project.probes_in("program") >= 2, "{from}");
}

#[test]
fn link_time_optimisation_by_a_configuration_file() {
    for text in ["-flto\n", "-flto=thin -fuse-ld=lld\n"] {
        let project = project();
        project.write("lto.cfg", text);
        project.quietly("--config=./lto.cfg -O2 main.c work.c -o program");
        checked(&project, text);
        project.quietly("--config ./lto.cfg -O2 -c main.c work.c");
        project.quietly("--config=./lto.cfg main.o work.o -o program");
        checked(&project, text);
        // It is found by itself.
        project.write("user/clang.cfg", text);
        project.quietly("--config-user-dir=user -O2 main.c work.c -o program");
        checked(&project, text);
    }
    let project = project();
    project.write("gold.cfg", "-flto -fuse-ld=gold\n");
    let said = project.refused("--config ./gold.cfg -O2 main.c work.c -o program");
    assert!(said.contains("gold` can not load the pass"), "{said}");
}

fn overridden(project: &Project, edits: &str, line: &str) -> Output {
    let mut command = project.command(DRIVER);
    command.env("CCC_OVERRIDE_OPTIONS", edits).args(line.split_whitespace()).output().expect("it runs")
}

#[test]
fn link_time_optimisation_by_the_environment() {
    for edits in ["# +-flto=thin", "# s/-O0/-flto/"] {
        let project = project();
        succeed_quietly(&overridden(&project, edits, "-O0 main.c work.c -o program"));
        checked(&project, edits);
        succeed_quietly(&overridden(&project, edits, "-O0 -c main.c work.c"));
        succeed_quietly(&overridden(&project, edits, "-O0 main.o work.o -o program"));
        checked(&project, edits);
    }
    let project = project();
    let output = overridden(&project, "# +-flto +-fuse-ld=bfd", "-O2 main.c work.c -o program");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("ld.bfd` can not load the pass"), "{said}");
}

fn succeed_quietly(output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{}: {said}", output.status);
}

#[test]
fn link_time_optimisation_by_response_files() {
    let project = project();
    project.write("lto", "-flto -O2");
    project.write("all", "@lto main.c work.c");
    project.quietly("@all -o program");
    checked(&project, "response files");
}

/// Linkers find a plugin for that by themselves, and it knows nothing of probes.
#[test]
fn bitcode_that_is_linked_without_a_word_of_it() {
    let project = project();
    succeed(project.command("clang-22").args(["-O2", "-flto", "-c", "main.c", "work.c"]));
    for link in ["", "-fuse-ld=lld"] {
        project.quietly(&format!("{link} main.o work.o -o program"));
        checked(&project, link);
    }
    let said = project.refused("-fuse-ld=bfd main.o work.o -o program");
    assert!(said.contains("can not load the pass"), "{said}");
}

#[test]
fn a_program_in_which_nothing_got_the_pass_is_refused() {
    let project = project();
    for compiler in ["clang-22", "gcc"] {
        succeed(project.command(compiler).args(["-O2", "-c", "main.c", "work.c"]));
        for link in ["", "-static -Wl,-s"] {
            let said = project.refused(&format!("{link} main.o work.o -o program"));
            assert!(said.contains("no part of `program` was compiled with probes"), "{said}");
            assert!(said.contains("linked with --probe-off"), "{said}");
            assert!(!project.path("program").exists(), "it is not left there");
        }
        project.quietly("--probe-off main.o work.o -o program");
        assert_eq!(project.run("program"), PRINTED);
        let output = project.call("-shared work.o -o libwork.so");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("no part of `libwork.so` was compiled with probes"), "{said}");
    }
    // One that needs no probe has seen the pass, as has a part of another module.
    project.write("nothing.c", "int main(void) { return 0; }\n");
    for link in ["-static", "-Wl,--gc-sections,-s", "-flto", "-fuse-ld=gold -Wl,--gc-sections"] {
        project.quietly(&format!("-O2 {link} nothing.c -o program"));
    }
    project.quietly("-O2 -fPIC -shared work.c -o libwork.so");
    succeed(project.command("gcc").args(["-O2", "-c", "main.c"]));
    project.quietly("main.o -L. -lwork -Wl,-rpath,. -o program");
    assert_eq!(project.run("program"), PRINTED);
}

#[test]
fn what_a_linker_does_not_write_is_not_judged() {
    let project = project();
    succeed(project.command("clang-22").args(["-O2", "main.c", "work.c", "-o", "program"]));
    let output = project.call("-O2 main.c -Wl,--version -o program");
    assert!(output.status.success());
    assert_eq!(project.run("program"), PRINTED);
    project.quietly("-O2 main.c work.c -o /dev/null");
}

#[test]
fn safe_stack_is_refused_however_it_comes() {
    let project = project();
    project.write("safe.cfg", "-fsanitize=safe-stack\n");
    for call in ["-O2 -c work.c", "-O2 main.c work.c -o program"] {
        let said = project.refused(&format!("-fsanitize=safe-stack {call}"));
        assert!(said.contains("`-fsanitize=safe-stack` does not go with probes: its second stack"), "{said}");
        assert!(said.contains("--probe-off"), "{said}");
        let output = project.call(&format!("--config ./safe.cfg {call}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && said.contains("its second stack belongs to the thread"),
            "{said}"
        );
    }
    project.quietly("-fsanitize=safe-stack -fno-sanitize=safe-stack -O2 -c work.c");
    project.quietly("--probe-off -fsanitize=safe-stack -O2 -c work.c");
}

/// An array that is handed on lies on the second stack.
const ARRAYS: &str = "void fill(char *bytes);\nint arrays(int count) { char bytes[100]; fill(bytes); return bytes[count]; }\nvoid fill(char *bytes) { for (int i = 0; i < 100; i++) bytes[i] = i; }\n";

#[test]
fn what_was_compiled_with_safe_stack_elsewhere_is_refused() {
    let project = project();
    project.write("arrays.c", ARRAYS);
    project.write("runtime.c", "__thread void *__safestack_unsafe_stack_ptr;\n");
    let clang = |line: &str| succeed(project.command("clang-22").args(line.split(' ')));
    clang("-O2 -fno-inline -fPIC -fsanitize=safe-stack -c arrays.c");
    clang("-O2 -fPIC -c runtime.c");
    clang("-shared -nostdlib runtime.o -o libruntime.so");
    succeed(project.command("ar").args(["rcs", "libarrays.a", "arrays.o", "runtime.o"]));
    project.quietly("-O2 -c main.c work.c");
    for brings in [
        "arrays.o runtime.o",
        "-Wl,-s arrays.o runtime.o",
        "-Wl,-u,arrays -L. -larrays",
        "-s -Wl,-u,arrays -L. -larrays",
        "-Wl,--no-as-needed -L. -lruntime",
        "-static arrays.o runtime.o",
    ] {
        let said = project.refused(&format!("main.o work.o {brings} -o program"));
        assert!(
            said.contains("`program` has a stack that belongs to the thread (-fsanitize=safe-stack)"),
            "{brings}: {said}"
        );
        assert!(!project.path("program").exists());
    }
    project.quietly("--probe-off -O2 main.c work.c arrays.o runtime.o -o program");
}

#[test]
fn emulated_thread_local_storage_is_refused() {
    let project = project();
    let said = project.refused("-femulated-tls -O2 -c work.c");
    assert!(said.contains("`-femulated-tls` does not go with probes"), "{said}");
    project.write("emulated.cfg", "-femulated-tls\n");
    project.quietly("--config ./emulated.cfg -O2 -c work.c");
    let output = project.call("-O2 main.c work.o -o program");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("`work.o` was compiled with -femulated-tls"), "{said}");
}

#[test]
fn stacks_that_grow_elsewhere_are_refused() {
    let project = project();
    let said = project.refused("-fsplit-stack -O2 -c work.c");
    assert!(said.contains("`-fsplit-stack` does not go with probes"), "{said}");
}

/// An array of any size touches each of its pages, and so the guard behind the stack.
#[test]
fn large_arrays_touch_each_page() {
    let project = project();
    project
        .write("array.c", "void fill(char *);\nvoid array(long size) { char bytes[size]; fill(bytes); }\n");
    let steps = |flags: &str| {
        project.quietly(&format!("-O2 {flags} -S array.c"));
        project.read("array.s").contains("$4096")
    };
    assert!(steps(""));
    assert!(!steps("-fno-stack-clash-protection"), "what is said on the command line counts more");
    project.quietly("-O2 -flto -c array.c");
    let bitcode = succeed(project.command("llvm-dis-22").args(["array.o", "-o", "-"]));
    assert!(bitcode.contains("\"probe-stack\"=\"inline-asm\""));
}

/// Features that go with probes and not with requests get a warning, and are linked.
#[test]
fn what_harms_requests_alone_is_told_of() {
    let project = project();
    // The names that tell: of ThreadSanitizer in a program that starts a runtime, and of a C++ runtime that a shared object hides.
    project.write(
        "main.c",
        "void __tsan_init(void) {}\nvoid caudal_runtime_create(void) {}\nint main(void) { caudal_runtime_create(); return 0; }\n",
    );
    let said = project.call("-O2 main.c -o program");
    let said = String::from_utf8_lossy(&said.stderr);
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("`program` has ThreadSanitizer in it"), "{said}");
    assert!(project.path("program").exists());
    // The probe library asks in every program whether a sanitizer is there.
    project.write(
        "asks.c",
        "extern void __tsan_init(void) __attribute__((weak));\nvoid caudal_runtime_create(void) {}\n\
         int main(void) { caudal_runtime_create(); return __tsan_init != 0; }\n",
    );
    project.quietly("-O2 asks.c -o asks");
    let part = "long part(long n) { long sum = 0; for (long i = 0; i < n; i++) sum += i * n; return sum; }\n";
    for (visibility, is_hidden) in [("hidden", true), ("default", false)] {
        let runtime = format!(
            "__attribute__((visibility(\"{visibility}\"))) void *__cxa_get_globals(void) {{ return 0; }}\n"
        );
        project.write("part.c", &format!("{runtime}{part}"));
        let said = project.call("-O2 -fPIC -shared part.c -o libpart.so");
        let said = String::from_utf8_lossy(&said.stderr);
        assert_eq!(said.contains("`libpart.so` has a C++ runtime of its own"), is_hidden, "{said}");
    }
}
