//! Build systems: CMake, configure scripts, make, ccache.

use std::fs;
use std::path::Path;

use crate::common::{MAIN, PRINTED, Project, WORK, bin, build_plugin, succeed};

const DRIVER: &str = env!("CARGO_BIN_EXE_caudal-cc");

fn project(files: &[(&str, &str)]) -> Project {
    build_plugin(DRIVER);
    let project = Project::new(Path::new(DRIVER), files);
    project.write("main.c", MAIN);
    project.write("work.c", WORK);
    project
}

const CMAKE: &str = "cmake_minimum_required(VERSION 3.20)\nproject(program C CXX)\nadd_library(work work.c)\n\
                     add_executable(program main.c)\ntarget_link_libraries(program work)\n";

#[test]
fn cmake_by_the_toolchain_file() {
    let project = project(&[("CMakeLists.txt", CMAKE)]);
    // As installed.
    for directory in ["prefix/bin", "prefix/lib/cmake/Caudal", "prefix/lib/caudal"] {
        fs::create_dir_all(project.path(directory)).expect("the directory can be made");
    }
    for name in ["prefix/bin/caudal-cc", "prefix/bin/caudal-c++"] {
        fs::copy(DRIVER, project.path(name)).expect("it can be copied");
    }
    let plugin = build_plugin(DRIVER);
    fs::copy(plugin, project.path("prefix/lib/caudal/libcaudal-pass-22.so")).expect("it can be copied");
    let toolchain = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/toolchain.cmake");
    fs::copy(toolchain, project.path("prefix/lib/cmake/Caudal/toolchain.cmake")).expect("it can be copied");
    for (build, shared, whole) in [("plain", "ON", "OFF"), ("whole", "ON", "ON"), ("static", "OFF", "ON")] {
        let mut cmake = project.command("cmake");
        cmake.args(["-S", ".", "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]);
        cmake.arg("-DCMAKE_TOOLCHAIN_FILE=prefix/lib/cmake/Caudal/toolchain.cmake");
        cmake.arg(format!("-DBUILD_SHARED_LIBS={shared}"));
        cmake.arg(format!("-DCMAKE_INTERPROCEDURAL_OPTIMIZATION={whole}"));
        succeed(&mut cmake);
        succeed(project.command("cmake").args(["--build", build]));
        assert_eq!(project.run(&format!("{build}/program")), PRINTED);
        assert!(project.probes_in(&format!("{build}/program")) > 0, "{build}");
        if shared == "ON" {
            assert!(
                project.names_in(&format!("{build}/libwork.so")).contains("U caudal_probe_v1"),
                "{build}"
            );
        }
    }
}

#[test]
fn cmake_by_compiler_paths() {
    let project = project(&[("CMakeLists.txt", CMAKE)]);
    let mut cmake = project.command("cmake");
    cmake.args(["-S", ".", "-B", "build", "-G", "Ninja"]);
    cmake.arg(format!("-DCMAKE_C_COMPILER={DRIVER}"));
    cmake.arg(format!("-DCMAKE_CXX_COMPILER={}", project.link("caudal-c++").display()));
    cmake.args(["-DCMAKE_C_FLAGS=--probe-mode=flag", "-DBUILD_SHARED_LIBS=ON"]);
    succeed(&mut cmake);
    succeed(project.command("cmake").args(["--build", "build"]));
    assert_eq!(project.run("build/program"), PRINTED);
    assert!(project.names_in("build/libwork.so").contains("U caudal_probe_cold_flag_v1"));
}

/// Steps of configure scripts: they probe for functions, headers and flags with small programs, then `make`.
const CONFIGURE: &str = r#"#!/bin/sh
set -eu
try() { printf '%s\n' "$1" >conftest.c; shift; "$CC" $CFLAGS "$@" >conftest.log 2>&1; }
try 'int main(void) { return 0; }' conftest.c -o conftest && ./conftest || { cat conftest.log; echo 'no compiler'; exit 1; }
try 'int main(void) { return 0; }' -Werror -Wunused -c conftest.c || { cat conftest.log; echo 'it warns'; exit 1; }
try '#include <stdlib.h>
char *secure_getenv(); int main(void) { return secure_getenv == 0; }' conftest.c -o conftest && echo '#define HAVE_GETENV 1' >config.h
! try 'char no_such_function_at_all(void); int main(void) { return no_such_function_at_all(); }' conftest.c -o conftest
! try '#include <no_such_header.h>' -E conftest.c
"$CC" --version | head -n 1
printf 'program: main.o work.o\n\t%s %s -o $@ $^\n' "$CC" "$CFLAGS" >Makefile
printf '%%.o: %%.c\n\t%s %s -MMD -c -o $@ $<\n' "$CC" "$CFLAGS" >>Makefile
"#;

#[test]
fn configure_and_make() {
    let project = project(&[("configure", CONFIGURE)]);
    let mut configure = project.command("sh");
    let said = succeed(configure.arg("configure").env("CC", DRIVER).env("CFLAGS", "-O2 --probe-bound=300"));
    assert!(said.contains("clang version 22"), "{said}");
    assert!(project.read("config.h").contains("HAVE_GETENV"));
    succeed(&mut project.command("make"));
    assert_eq!(project.run("program"), PRINTED);
    assert!(project.probes_in("program") >= 2);
}

#[test]
fn ccache() {
    let project = project(&[]);
    let compile = |flags: &str| {
        let mut ccache = project.command("ccache");
        // Whoever runs the tests may have switched it off.
        ccache.env_remove("CCACHE_DISABLE");
        ccache.env("CCACHE_DIR", project.path("ccache")).arg(DRIVER).args(["-O2", "-c", "work.c"]);
        succeed(ccache.args(flags.split_whitespace()));
    };
    let hits = || {
        let mut ccache = project.command("ccache");
        let said = succeed(ccache.env("CCACHE_DIR", project.path("ccache")).arg("--print-stats"));
        let count =
            |key: &str| said.lines().find_map(|line| line.strip_prefix(key)?.trim().parse::<u32>().ok());
        count("direct_cache_hit").unwrap_or(0) + count("preprocessed_cache_hit").unwrap_or(0)
    };
    compile("");
    assert_eq!(hits(), 0);
    fs::remove_file(project.path("work.o")).expect("it was made");
    compile("");
    assert_eq!(hits(), 1);
    assert!(project.probes_in("work.o") > 0);
    // Another mode is another object.
    compile("--probe-mode=flag");
    assert_eq!(hits(), 1);
    assert!(project.names_in("work.o").contains("caudal_flag_v1"));
}

#[test]
fn side_by_side() {
    let project = project(&[(
        "Makefile",
        ".PHONY: all\nall: $(addsuffix .o,1 2 3 4 5 6 7 8)\n%.o:\n\t$(CC) -O2 --probe-report=report.jsonl -c work.c -o $@\n",
    )]);
    succeed(project.command("make").args(["-j8", &format!("CC={DRIVER}")]));
    assert_eq!(project.report().probed.len(), 8);
    assert!(bin(DRIVER).is_dir());
}
