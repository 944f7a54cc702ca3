//! Choice of the function that is called, and names that modules show to one another: mocks by `--wrap`, a program's own functions, preloaded ones, names
//! that are hidden, projects of several compilers. Most come from `tests/cases`, each once reported as broken.

use std::path::Path;

use crate::common::{Project, bin, build_plugin, root, succeed};

const DRIVER: &str = env!("CARGO_BIN_EXE_caudal-cc");

fn project(files: &[(&str, &str)]) -> Project {
    build_plugin(DRIVER);
    Project::new(Path::new(DRIVER), files)
}

/// Ways to link; all that is said of names holds for all of them, and for shared objects for those that have no `-static`.
const LINKS: &[&str] =
    &["", "-fuse-ld=lld", "-fuse-ld=gold", "-no-pie", "-static", "-static-pie", "-flto", "-flto=thin"];
/// Of these for `make test`.
const FEW: &[&str] = &["", "-static", "-flto"];

fn dynamic(links: &[&'static str]) -> Vec<&'static str> {
    links.iter().copied().filter(|link| !link.contains("-static")).collect()
}

#[test]
#[ignore = "long: make test-long"]
fn names_by_all_linkers() {
    mocks(LINKS);
    handing_on(LINKS);
    mocks_of_modules(LINKS);
    own_functions(LINKS);
    preloaded(LINKS);
    locks_of_others(LINKS);
    plug_ins(LINKS);
    hidden_with_a_library(LINKS);
}

#[test]
fn mocks_are_called() {
    mocks(FEW);
}

fn mocks(links: &[&'static str]) {
    let project = project(&[
        ("code.c", include_str!("../cases/wrap/code2.c")),
        ("test.c", include_str!("../cases/wrap/test2.c")),
        // As build systems of embedded projects have it.
        ("wraps", "--wrap=printf --wrap=fprintf --wrap=signal --wrap=syscall\n"),
    ]);
    let right = "answer 1101 (1101), printf 1 fprintf 1 signal 1 syscall 1 (1 each)\n";
    for link in links {
        project.quietly(&format!(
            "-O2 {link} code.c test.c -Wl,--wrap=printf,--wrap=fprintf,--wrap=signal,--wrap=syscall -o program"
        ));
        assert_eq!(project.run("program"), right, "{link}");
    }
    project.quietly("-O2 code.c test.c -Wl,@wraps -o program");
    assert_eq!(project.run("program"), right);
}

/// A mock passes on to the C library's function, which has all that belongs to it.
const HANDS_ON: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include "caudal/probe.h"
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int locks, unlocks, actions;
static unsigned in_handler;
int __real_pthread_mutex_lock(pthread_mutex_t *);
int __real_pthread_mutex_unlock(pthread_mutex_t *);
int __real_sigaction(int, const struct sigaction *, struct sigaction *);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock) { locks++; return __real_pthread_mutex_lock(lock); }
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock) { unlocks++; return __real_pthread_mutex_unlock(lock); }
int __wrap_sigaction(int number, const struct sigaction *new, struct sigaction *old) { actions++; return __real_sigaction(number, new, old); }
static void handle(int number) { (void)number; in_handler = caudal_critical_depth(); }
int main(void) {
  unsigned inside, after;
  struct sigaction action = {.sa_handler = handle}, before;
  pthread_mutex_lock(&mutex);
  inside = caudal_critical_depth();
  pthread_mutex_unlock(&mutex);
  after = caudal_critical_depth();
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  sigaction(SIGUSR1, NULL, &before);
  printf("%d %d %d, depth %x %x, handler %x, %s\n", locks, unlocks, actions, inside, after, in_handler, before.sa_handler == handle ? "the same" : "another");
}
"#;

#[test]
fn what_mocks_hand_on_to_is_the_librarys_with_its_sections() {
    handing_on(FEW);
}

fn handing_on(links: &[&'static str]) {
    let project = project(&[("program.c", HANDS_ON)]);
    let include = include();
    for link in links {
        let wraps = "-Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_unlock,--wrap=sigaction";
        project.quietly(&format!("-O2 {include} {link} program.c {wraps} -o program"));
        assert_eq!(project.run("program"), "1 1 2, depth 10000 0, handler 1, the same\n", "{link}");
    }
}

/// A shared object's own link decides for the shared object, and another's for the other.
#[test]
fn each_module_has_its_own_mocks() {
    mocks_of_modules(FEW);
}

fn mocks_of_modules(links: &[&'static str]) {
    let project = project(&[
        (
            "lib.c",
            "#include <stdio.h>\nint from_library(void) { return printf(\"library %d\\n\", 1) + puts(\"x\"); }\n",
        ),
        (
            "mocks.c",
            "int __real_puts(const char *);\nint __wrap_printf(const char *f, ...) { (void)f; return 1000; }\nint __wrap_puts(const char *t) { (void)t; return 100000 + (__real_puts(\"real\") > 0); }\n",
        ),
        (
            "main.c",
            "#include <stdio.h>\nint from_library(void);\nint main(void) { int n = from_library(); return printf(\"main %d\\n\", n) < 0; }\n",
        ),
    ]);
    for link in dynamic(links).into_iter().filter(|link| !link.contains("pie")) {
        project.quietly(&format!(
            "-O2 -fPIC {link} -shared lib.c mocks.c -Wl,--wrap=printf,--wrap=puts -o libmocked.so"
        ));
        project.quietly("-O2 main.c -L. -lmocked -Wl,-rpath,. -o program");
        assert_eq!(project.run("program"), "real\nmain 101001\n", "{link}");
    }
}

const OWN: &str = "int printf(const char *format, ...) { (void)format; return 7777; }\n";
const CALLS: &str = "#include <stdio.h>\nint main(int count, char **words) { (void)words; return printf(\"libc %d\\n\", count) == 7777 ? 0 : 1; }\n";

#[test]
fn a_programs_own_function_is_called() {
    own_functions(FEW);
}

fn own_functions(links: &[&'static str]) {
    let project = project(&[("own.c", OWN), ("calls.c", CALLS)]);
    // As it comes from elsewhere, in an archive.
    succeed(project.command("clang-22").args(["-O2", "-c", "own.c", "-o", "elsewhere.o"]));
    succeed(project.command("ar").args(["rcs", "libown.a", "elsewhere.o"]));
    for link in links {
        for from in ["own.c", "elsewhere.o", "-L. -lown"] {
            project.quietly(&format!("-O2 -fno-builtin-printf {link} calls.c {from} -o program"));
            assert_eq!(project.run("program"), "", "{link} {from}");
        }
    }
}

#[test]
fn preloaded_functions_are_called() {
    preloaded(FEW);
}

fn preloaded(links: &[&'static str]) {
    let project = project(&[("own.c", OWN), ("calls.c", CALLS)]);
    succeed(project.command("clang-22").args(["-O2", "-fPIC", "-shared", "own.c", "-o", "own.so"]));
    // The probe library defines `syscall` in front of what is preloaded.
    project.write("calls.syscall.c", "#define _GNU_SOURCE\n#include <stdio.h>\n#include <sys/syscall.h>\n#include <unistd.h>\nint main(void) { return printf(\"%d\\n\", syscall(SYS_getpid) == 4242) < 0; }\n");
    project.write("syscall.c", "long syscall(long number, ...) { return number == 39 ? 4242 : -1; }\n");
    succeed(project.command("clang-22").args(["-O2", "-fPIC", "-shared", "syscall.c", "-o", "syscall.so"]));
    for link in dynamic(links) {
        project.quietly(&format!("-O2 {link} calls.syscall.c -o program"));
        let mut command = project.command(project.path("program"));
        assert_eq!(succeed(command.env("LD_PRELOAD", project.path("syscall.so"))), "1\n", "{link}");
        project.quietly(&format!("-O2 {link} calls.syscall.c syscall.c -o program"));
        assert_eq!(project.run("program"), "1\n", "{link}");
    }
    for link in dynamic(links) {
        project.quietly(&format!("-O2 -fno-builtin-printf {link} calls.c -o program"));
        let mut command = project.command(project.path("program"));
        assert_eq!(succeed(command.env("LD_PRELOAD", project.path("own.so"))), "", "{link}");
        let plain = project.command(project.path("program")).output().expect("it runs");
        assert_eq!((plain.status.code(), plain.stdout.as_slice()), (Some(1), &b"libc 1\n"[..]), "{link}");
    }
}

/// The owner of a lock is known, also where the program calls a lock function of another library, which calls the C library's by itself.
#[test]
fn locks_through_others_functions_are_known() {
    locks_of_others(FEW);
}

fn locks_of_others(links: &[&'static str]) {
    let own = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <pthread.h>\nint locks;\nint pthread_mutex_lock(pthread_mutex_t *lock) {\n  int (*next)(pthread_mutex_t *) = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, \"pthread_mutex_lock\");\n  locks++;\n  return next(lock);\n}\n";
    let main = "#include <pthread.h>\n#include <stdio.h>\n#include \"caudal/probe.h\"\nextern int locks;\nstatic pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;\nint main(void) {\n  unsigned inside;\n  pthread_mutex_lock(&mutex);\n  inside = caudal_critical_depth();\n  pthread_mutex_unlock(&mutex);\n  printf(\"%d %x %x\\n\", locks > 0, inside, caudal_critical_depth());\n}\n";
    let project = project(&[("own.c", own), ("main.c", main)]);
    for link in dynamic(links) {
        project.quietly(&format!("-O2 {} {link} main.c own.c -o program", include()));
        assert_eq!(project.run("program"), "1 10000 0\n", "{link}");
    }
}

#[test]
fn a_program_that_shows_nothing_loads_a_plug_in() {
    plug_ins(FEW);
}

fn plug_ins(links: &[&'static str]) {
    let project = project(&[
        ("main.c", include_str!("../cases/hidden/main.c")),
        ("main.map", include_str!("../cases/hidden/main.map")),
        (
            "named.map",
            "/* A comment: { */\nBASE { global: main; /* local: */ local: *; };\nNEXT { oth*; } BASE;\n",
        ),
        ("script", "--version-script=main.map"),
        ("plug.c", include_str!("../cases/hidden/plug.c")),
    ]);
    project.quietly("-O2 -fPIC -shared plug.c -o plug.so");
    assert!(project.probes_in("plug.so") > 0);
    for hides in [
        "-Wl,--version-script=main.map",
        "-Wl,--version-script,main.map",
        "-Xlinker --version-script -Xlinker main.map",
        "-Wl,--version-script=named.map",
        "-Wl,--exclude-libs,ALL",
        "-Wl,--exclude-libs,ALL,--version-script=main.map",
        "-fvisibility=hidden -Wl,-Bsymbolic",
    ] {
        for link in dynamic(links) {
            project.quietly(&format!("-O2 {link} {hides} main.c -o program"));
            assert_eq!(project.run("program"), "499500\n", "{link} {hides}");
        }
    }
    // Nobody can give the linker another script then: it is said.
    let output = project.call("-O2 main.c -Wl,@script -o program");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("`program` does not show the names of its probe library"),
        "{said}"
    );
}

/// The same with a library that it is linked with.
#[test]
fn a_program_that_shows_nothing_is_linked_with_a_library_that_has_probes() {
    hidden_with_a_library(FEW);
}

fn hidden_with_a_library(links: &[&'static str]) {
    let project = project(&[
        (
            "main.c",
            "#include <stdio.h>\nlong work(long);\nint main(void) { printf(\"%ld\\n\", work(1000)); }\n",
        ),
        ("main.map", include_str!("../cases/hidden/main.map")),
        ("work.c", include_str!("../cases/hidden/plug.c")),
    ]);
    project.quietly("-O2 -fPIC -shared work.c -o libwork.so");
    for hides in ["-Wl,--version-script=main.map", "-Wl,--exclude-libs,ALL"] {
        for link in dynamic(links) {
            project.quietly(&format!("-O2 {link} {hides} main.c -L. -lwork -Wl,-rpath,. -o program"));
            assert_eq!(project.run("program"), "499500\n", "{link} {hides}");
        }
    }
}

/// CMake takes what the C compiler links for what all links need: the library that C++'s compiler links must not get a copy.
#[test]
fn a_project_of_two_compilers_has_one_probe_library() {
    let project = project(&[
        ("CMakeLists.txt", include_str!("../cases/mixed/CMakeLists.txt")),
        ("f.c", include_str!("../cases/mixed/f.c")),
        ("g.cpp", include_str!("../cases/mixed/g.cpp")),
        ("m.c", include_str!("../cases/mixed/m.c")),
        ("m.cpp", include_str!("../cases/mixed/m.cpp")),
    ]);
    for (build, flags) in [("plain", ""), ("symbolic", "-Wl,-Bsymbolic")] {
        let mut cmake = project.command("cmake");
        cmake.args(["-S", ".", "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]);
        cmake.args([&format!("-DCMAKE_C_COMPILER={DRIVER}"), "-DCMAKE_CXX_COMPILER=clang++-22"]);
        succeed(cmake.arg(format!("-DCMAKE_SHARED_LINKER_FLAGS={flags}")));
        succeed(project.command("cmake").args(["--build", build, "--target", "x"]));
        assert_eq!(project.run(&format!("{build}/x")), "562641397\n");
        let names = project.names_in(&format!("{build}/libboth.so"));
        assert!(names.contains("U caudal_probe_v1") && names.contains("U caudal_probe_cold"), "{names}");
        if build == "plain" {
            continue;
        }
        // C++'s program has no probe library, and is not linked.
        let other =
            project.command("cmake").args(["--build", build, "--target", "y"]).output().expect("it runs");
        let said = String::from_utf8_lossy(&other.stdout);
        assert!(
            !other.status.success() && said.contains("undefined reference to `caudal_probe_v1'"),
            "{said}"
        );
    }
    assert!(bin(DRIVER).is_dir());
}

#[test]
fn a_shared_object_with_a_library_of_its_own_is_refused() {
    let project = project(&[
        ("work.c", include_str!("../cases/hidden/plug.c")),
        ("main.c", "long work(long);\nint main(void) { return work(10) != 45; }\n"),
    ]);
    let library = library();
    let archive = library.join("libcaudal_probe.a").display().to_string();
    project.quietly("-O2 -fPIC -c work.c");
    let said = project.refused(&format!(
        "-shared work.o -Wl,--whole-archive {archive} -Wl,--no-whole-archive -o libwork.so"
    ));
    assert!(said.contains("`libwork.so` has a probe library of its own"), "{said}");
    assert!(!project.path("libwork.so").exists());
    // Another compiler's link made it.
    let mut clang = project.command("clang-22");
    succeed(clang.args(["-shared", "-Wl,-Bsymbolic", "work.o", &archive, "-o", "libwork.so"]));
    let said = project.refused("-O2 main.c -L. -lwork -Wl,-rpath,. -o program");
    assert!(said.contains("uses a probe library of its own (it was linked with -Bsymbolic)"), "{said}");
}

/// The directory of the probe library that the driver links.
fn library() -> std::path::PathBuf {
    let project = project(&[("main.c", "int main(void) { return 0; }\n")]);
    let jobs = project.call("-### main.c");
    let said = String::from_utf8(jobs.stderr).expect("text");
    let object = said.split('"').find(|word| word.ends_with("/caudal_probe.o")).expect("it is linked");
    Path::new(object).parent().expect("it is in a directory").to_owned()
}

/// The library has a wrapper for each function for which the pass calls one.
#[test]
fn pass_and_library_know_the_same_names() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect(path);
    let (pass, library) =
        (read("pass/src/sections/Redirection.cpp"), read("crates/caudal-probe/csrc/names.h"));
    let of = |table: &str| {
        let begin = pass.find(table).unwrap_or_else(|| panic!("{table} in Redirection.cpp"));
        let text = &pass[begin..];
        text[..text.find("};").expect("it ends")].to_owned()
    };
    let plain = of("wrapped[] = {");
    let streams = of("wrappedStreams[] = {");
    let mut names: Vec<&str> = plain.split('"').skip(1).step_by(2).collect();
    // Names and parameters take turns.
    names.extend(streams.split('"').skip(1).step_by(4));
    assert!(names.len() > 50 && names.contains(&"vfork") && names.contains(&"fgets"), "{names:?}");
    let missing: Vec<_> =
        names.iter().filter(|name| !library.contains(&format!("\nCAUDAL_NAME({name}, "))).collect();
    assert!(missing.is_empty(), "csrc/names.h has no line of {missing:?}");
}

/// Where the header is.
fn include() -> String {
    format!("-I{}", concat!(env!("CARGO_MANIFEST_DIR"), "/../caudal-probe/include"))
}
