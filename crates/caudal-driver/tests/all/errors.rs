//! Messages where something is missing or wrong, before anything runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::{Project, WORK, build_plugin};

const DRIVER: &str = env!("CARGO_BIN_EXE_caudal-cc");

/// The driver alone in a directory: no plugin is beside it.
fn alone() -> Project {
    let place = Project::new(Path::new(DRIVER), &[]);
    fs::create_dir(place.path("bin")).expect("the directory can be made");
    let driver = place.path("bin/caudal-cc");
    fs::copy(DRIVER, &driver).expect("it can be copied");
    let project = Project::new(&driver, &[("work.c", WORK)]);
    std::mem::forget(place);
    project
}

fn script(project: &Project, name: &str, text: &str) {
    project.write(name, &format!("#!/bin/sh\n{text}\n"));
    fs::set_permissions(project.path(name), fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[test]
fn no_plugin() {
    let said = alone().refused("-c work.c");
    assert!(said.starts_with("caudal-cc: error: no plugin for LLVM 22, which `/"), "{said}");
    assert!(said.contains("apt-get install clang-22 lld-22 llvm-22-dev, then `make pass LLVM=22`"), "{said}");
    assert!(said.contains("lib/caudal/libcaudal-pass-22.so"), "{said}");
}

#[test]
fn a_clang_that_the_plugin_is_not_for() {
    let plugin = build_plugin(DRIVER);
    let project = alone();
    script(&project, "old-clang", "echo 'Debian clang version 14.0.6'");
    let said = project.refused("--clang=./old-clang -c work.c");
    assert!(said.contains("no plugin for LLVM 14, which `./old-clang` is of"), "{said}");
    let said = project.refused(&format!("--clang=./old-clang --plugin={} -c work.c", plugin.display()));
    assert!(said.contains("is for LLVM 22, but `./old-clang` is LLVM 14"), "{said}");
}

#[test]
fn a_plugin_that_is_none() {
    let project = alone();
    assert!(project.refused("--plugin=no.so -c work.c").contains("there is no plugin `no.so`"));
    project.write("pass.so", "");
    assert!(project.refused("--plugin=pass.so -c work.c").contains("its name is libcaudal-pass-N.so"));
    project.write("libcaudal-pass-19.so", "");
    let said = project.refused("--clang=clang-22 --plugin=libcaudal-pass-19.so -c work.c");
    assert!(said.contains("is for LLVM 19, but `/") && said.contains("clang-22` is LLVM 22"), "{said}");
}

#[test]
fn a_compiler_that_is_none() {
    let project = alone();
    assert!(project.refused("--clang=./nowhere -c work.c").contains("`./nowhere` can not be run"));
    script(&project, "gcc", "echo 'gcc (Debian 12.2.0-14) 12.2.0'");
    let said = project.refused("--clang=./gcc -c work.c");
    assert!(said.contains("`./gcc` is not clang: it says `gcc (Debian 12.2.0-14) 12.2.0`"), "{said}");
    let mut command = project.command(DRIVER);
    let output = command.env("PATH", project.path("")).args(["-c", "work.c"]).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no clang: none of clang-22, clang-19, clang is on PATH"), "{said}");
    assert!(said.contains("apt-get install clang-22 lld-22 llvm-22-dev"), "{said}");
}

#[test]
fn linkers_that_can_not_load_the_pass() {
    build_plugin(DRIVER);
    let project = Project::new(Path::new(DRIVER), &[("work.c", WORK)]);
    let said = project.refused("-flto -fuse-ld=bfd work.c");
    assert!(said.contains("the linker `bfd` can not load the pass"), "{said}");
    script(&project, "ld.lld", "echo 'LLD 14.0.6 (compatible with GNU linkers)'");
    let said = project.refused("-flto --ld-path=./ld.lld work.c");
    assert!(said.contains("`./ld.lld` is LLVM 14, but the plugin is for LLVM 22"), "{said}");
}

#[test]
fn options_that_there_are_not() {
    let project = alone();
    let said = project.refused("--probe-mod=flag -c work.c");
    assert!(said.contains("`--probe-mod=flag` is no option of the probes"), "{said}");
    assert!(said.contains("--probe-mode=MODE"), "{said}");
    assert!(project.refused("--probe-bound=1 -c work.c").contains("a number of cycles from 16 to 100000"));
    assert!(project.refused("--probe-exclude=no -c work.c").contains("no plugin"));
    let project = Project::new(Path::new(DRIVER), &[("work.c", WORK)]);
    build_plugin(DRIVER);
    assert!(project.refused("--probe-exclude=nowhere -c work.c").contains("nowhere: No such file"));
}
