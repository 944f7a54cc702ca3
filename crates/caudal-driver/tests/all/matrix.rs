//! Sets of options that people compile and link with: each makes a program that runs and yields, or is refused with the reason.

use std::path::Path;
use std::process::{Command, Output};

use crate::common::{Project, build_plugin};

const DRIVER: &str = env!("CARGO_BIN_EXE_caudal-cc");

/// Expected result of a set of options.
#[derive(Clone, Copy, Debug)]
enum Becomes {
    /// It runs and yields.
    Yields,
    /// So it does, where the compiler has its runtime library, or the linker is installed.
    YieldsWhereThereIs(&'static str),
    /// An error that says so.
    Refused(&'static str),
}
use Becomes::{Refused, Yields, YieldsWhereThereIs};

/// A part of what [`SETS`] has, for `make test`.
const SAMPLE: [&str; 10] = [
    "-O0 -g",
    "-O2 -no-pie",
    "-O2 -static-pie",
    "-O2 -flto=thin",
    "-O2 -fuse-ld=gold",
    "-O2 -mcmodel=large",
    "-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections",
    "-O2 -fno-integrated-as",
    "-O2 -fno-integrated-as --probe-mode=budget",
    "-O2 -m32 -ffreestanding",
];

const SETS: &[(&str, Becomes)] = &[
    // How much is optimised, and what for.
    ("-O0", Yields),
    ("-O0 -g", Yields),
    ("-O1", Yields),
    ("-O2", Yields),
    ("-O3", Yields),
    ("-Os", Yields),
    ("-Oz", Yields),
    ("-Og", Yields),
    ("-O2 -g", Yields),
    ("-O2 -g3 -gdwarf-4", Yields),
    ("-O2 -gsplit-dwarf", Yields),
    ("-O2 -gz", Yields),
    ("-O2 -march=native", Yields),
    ("-O2 -march=x86-64-v3 -mtune=generic", Yields),
    ("-O3 -ffast-math", Yields),
    ("-O2 -fno-inline", Yields),
    ("-O2 -fno-builtin", Yields),
    ("-O2 -fno-strict-aliasing -fwrapv", Yields),
    ("-O3 -funroll-loops", Yields),
    ("-O2 -fno-unroll-loops -fno-vectorize", Yields),
    ("-O2 -mllvm -enable-machine-outliner=always", Yields),
    ("-O2 -fbasic-block-sections=all", Yields),
    ("-O2 -falign-functions=64 -falign-loops=32", Yields),
    ("-O2 -std=c99 -pedantic", Yields),
    ("-O2 -x c", Yields),
    ("-O2 -pipe -save-temps", Yields),
    ("-O2 -fno-integrated-as", Yields),
    ("-O2 -fno-integrated-as --probe-mode=budget", Yields),
    ("-O2 -fno-integrated-as --probe-mode=budget -fPIC", Yields),
    // How code is called, protected and unwound.
    ("-O2 -fomit-frame-pointer", Yields),
    ("-O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer", Yields),
    ("-O2 -mno-red-zone", Yields),
    ("-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables", Yields),
    ("-O2 -fexceptions", Yields),
    ("-O2 -fstack-protector-all", Yields),
    ("-O2 -fstack-clash-protection", Yields),
    ("-O2 -fno-stack-clash-protection", Yields),
    ("-O2 -D_FORTIFY_SOURCE=2", Yields),
    ("-O2 -fcf-protection=full", Yields),
    ("-O2 -mretpoline", Yields),
    ("-O2 -mspeculative-load-hardening", Yields),
    ("-O2 -fzero-call-used-regs=used", Yields),
    ("-O2 -ftrivial-auto-var-init=pattern", Yields),
    ("-O2 -fpatchable-function-entry=2", Yields),
    ("-O2 -pg", Yields),
    // Positions and models.
    ("-O2 -fPIC", Yields),
    ("-O2 -fPIE -pie", Yields),
    ("-O2 -no-pie", Yields),
    ("-O2 -fno-pic -no-pie", Yields),
    ("-O2 -static", Yields),
    ("-O2 -static-pie", Yields),
    ("-O2 -fPIE -static-pie", Yields),
    ("-O2 -static -fuse-ld=lld", Yields),
    ("-O2 -static -fuse-ld=gold", Yields),
    ("-O2 -mcmodel=small", Yields),
    ("-O2 -mcmodel=medium", Yields),
    ("-O2 -mcmodel=large", Yields),
    ("-O2 -mcmodel=large -no-pie", Yields),
    ("-O2 -fno-plt", Yields),
    ("-O2 -fno-plt -fPIC", Yields),
    ("-O2 -ftls-model=initial-exec", Yields),
    ("-O2 -ftls-model=local-exec", Yields),
    ("-O2 -fPIC -mtls-dialect=gnu2", Yields),
    ("-O2 -fno-direct-access-external-data", Yields),
    // What is seen and what is kept.
    ("-O2 -fvisibility=hidden", Yields),
    ("-O2 -fvisibility=protected -fPIC", Yields),
    ("-O2 -fno-semantic-interposition -fPIC", Yields),
    ("-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections", Yields),
    ("-O2 -ffunction-sections -Wl,--gc-sections -fuse-ld=lld", Yields),
    ("-O2 -ffunction-sections -Wl,--gc-sections -fuse-ld=gold", Yields),
    ("-O2 -ffunction-sections -Wl,--gc-sections -static", Yields),
    ("-O2 -ffunction-sections -Wl,--icf=all -fuse-ld=lld", Yields),
    ("-O2 -ffunction-sections -Wl,--icf=all -fuse-ld=gold", Yields),
    ("-O2 -rdynamic", Yields),
    ("-O2 -s", Yields),
    ("-O2 -Wl,--strip-debug", Yields),
    ("-O2 -Wl,-Bsymbolic", Yields),
    ("-O2 -Wl,--exclude-libs,ALL", Yields),
    ("-O2 -Wl,--as-needed", Yields),
    ("-O2 -Wl,-z,now", Yields),
    ("-O2 -Wl,-z,lazy", Yields),
    ("-O2 -Wl,-z,noseparate-code", Yields),
    ("-O2 -Wl,-z,defs", Yields),
    ("-O2 -Wl,--emit-relocs", Yields),
    ("-O2 -Wl,--hash-style=sysv", Yields),
    ("-O2 -Wl,-O1,--sort-common", Yields),
    ("-O2 -Wl,--wrap=printf -DMOCKS", Yields),
    // Linkers.
    ("-O2 -fuse-ld=bfd", Yields),
    ("-O2 -fuse-ld=gold", Yields),
    ("-O2 -fuse-ld=lld", Yields),
    ("-O2 -fuse-ld=mold", YieldsWhereThereIs("mold")),
    ("-O2 -fuse-ld=lld -Wl,-z,keep-text-section-prefix", Yields),
    ("-O2 -fuse-ld=lld -Wl,-z,pack-relative-relocs", Yields),
    ("-O2 -r -nostdlib", Yields),
    // Optimisation at the link.
    ("-O2 -flto", Yields),
    ("-O2 -flto=full", Yields),
    ("-O2 -flto=thin", Yields),
    ("-O0 -flto", Yields),
    ("-O0 -flto=thin", Yields),
    ("-Os -flto", Yields),
    ("-O3 -flto=thin -g", Yields),
    ("-O2 -flto -static", Yields),
    ("-O2 -flto=thin -static-pie -fPIE", Yields),
    ("-O2 -flto -fPIC", Yields),
    ("-O2 -flto -no-pie", Yields),
    ("-O2 -flto -ffunction-sections -Wl,--gc-sections", Yields),
    ("-O2 -flto -fvisibility=hidden", Yields),
    ("-O2 -flto -fno-plt", Yields),
    ("-O2 -flto -mcmodel=large", Yields),
    ("-O2 -flto=thin -Wl,--thinlto-jobs=2", Yields),
    ("-O2 -flto -ffat-lto-objects", Yields),
    ("-O2 -flto -funified-lto", Yields),
    ("-O2 -flto -fuse-ld=bfd", Refused("can not load the pass")),
    ("-O2 -flto -fuse-ld=gold", Refused("can not load the pass")),
    ("-O2 -flto -s", Yields),
    ("-O2 -flto -fvisibility=hidden -fsanitize=cfi", YieldsWhereThereIs("cfi_ignorelist")),
    // Sanitizers and profiles.
    ("-O2 -fsanitize=undefined -fsanitize-trap=all", Yields),
    ("-O2 -fsanitize=undefined", YieldsWhereThereIs("libclang_rt")),
    ("-O1 -fsanitize=address", YieldsWhereThereIs("libclang_rt")),
    ("-O1 -fsanitize=thread", YieldsWhereThereIs("libclang_rt")),
    ("-O1 -fsanitize=memory", YieldsWhereThereIs("libclang_rt")),
    ("-O2 -fsanitize=kcfi", Yields),
    ("-O2 -fprofile-generate", YieldsWhereThereIs("libclang_rt")),
    ("-O2 -fprofile-instr-generate -fcoverage-mapping", YieldsWhereThereIs("libclang_rt")),
    ("-O2 -fxray-instrument", YieldsWhereThereIs("libclang_rt")),
    ("-O2 -fsanitize=safe-stack", Refused("its second stack belongs to the thread")),
    ("-O2 -fsplit-stack", Refused("what the stack grows by belongs to the thread")),
    ("-O2 -femulated-tls", Refused("thread-local storage of the linker's")),
    // Other machines.
    ("-O2 -m32 -ffreestanding", Refused("probes are for x86-64 Linux with 64-bit pointers")),
    ("-O2 -mx32 -ffreestanding", Refused("probes are for x86-64 Linux with 64-bit pointers")),
    (
        "-O2 --target=aarch64-linux-gnu -ffreestanding",
        Refused("probes are for x86-64 Linux with 64-bit pointers"),
    ),
    // Of the pass.
    ("-O2 --probe-mode=clock", Yields),
    ("-O2 --probe-mode=budget --probe-bound=64", Yields),
    ("-O2 --probe-mode=flag", Refused("never asked")),
    ("-O2 --probe-verify", Yields),
    ("-O2 --probe-tls=initial-exec", Yields),
];

/// Arms itself, as a runtime would, and says whether it yielded in a loop of another file.
const PROGRAM: &str = r#"
#if !__STDC_HOSTED__
long unused;
#else
#include <stdio.h>
#include "caudal/probe.h"
long work(long rounds);
static uint64_t times[64];
#if defined(MOCKS)
int __wrap_printf(const char *format, long sum, const char *what) { return fprintf(stdout, format, sum, what); }
#endif
int main(void) {
  caudal_probe_record_start(times, 64, 2000);
  long sum = work(200000);
  size_t yields = caudal_probe_record_stop();
  printf("%ld, %s\n", sum, yields > 0 ? "it yields" : "never asked");
  return 0;
}
#endif
"#;
/// A loop, and calls in a circle, over which what is left of a budget is kept in a register.
const WORK: &str = r"
static long tree(long levels) { return levels < 2 ? levels : tree(levels - 1) + tree(levels - 2); }
long work(long rounds) {
  volatile long sum = 0;
  for (long i = 0; i < rounds; i++) sum += i;
  return sum + tree(rounds / 20000);
}
";
const RIGHT: &str = "19999900055, it yields\n";

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

/// Compiles file by file, then links; what came of it, or what was said instead.
fn outcome(project: &Project, options: &str) -> Result<String, String> {
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../caudal-probe/include");
    // Compiled as C, whatever it links.
    let is_relocatable = options.contains(" -r ");
    let compiled = options.replace(" -r -nostdlib", "");
    for file in ["main", "work"] {
        let output = project.call(&format!("{include} {compiled} -c {file}.c -o {file}.o"));
        if !output.status.success() {
            return Err(text(&output));
        }
    }
    let linked = options.replace(" -x c", "");
    let mut lines = Vec::new();
    if is_relocatable {
        lines.push(format!("{linked} main.o work.o -o both.o"));
        lines.push("both.o -o program".to_owned());
    } else {
        lines.push(format!("{linked} main.o work.o -o program"));
    }
    for line in lines {
        let output = project.call(&line);
        if !output.status.success() {
            return Err(text(&output));
        }
    }
    let output = Command::new(project.path("program")).current_dir(project.path("")).output();
    let output = output.map_err(|error| error.to_string())?;
    match (output.status.success(), text(&output)) {
        (true, said) if said == RIGHT => Ok(said),
        (_, said) => Err(format!("{}: {said}", output.status)),
    }
}

fn check(options: &str, becomes: Becomes) -> Result<(), String> {
    let project = Project::new(Path::new(DRIVER), &[("main.c", PROGRAM), ("work.c", WORK)]);
    match (becomes, outcome(&project, options)) {
        (Yields | YieldsWhereThereIs(_), Ok(_)) => Ok(()),
        (YieldsWhereThereIs(what), Err(said)) if said.contains(what) => Ok(()),
        (Refused(why), Err(said)) if said.contains(why) => Ok(()),
        (_, outcome) => Err(format!("{options}: should be {becomes:?}, is {outcome:?}")),
    }
}

fn check_all(sets: impl Iterator<Item = (&'static str, Becomes)>) {
    build_plugin(DRIVER);
    let wrong: Vec<String> = sets.filter_map(|(options, becomes)| check(options, becomes).err()).collect();
    assert!(wrong.is_empty(), "{} sets are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_sample_of_option_sets_yields_or_is_refused() {
    let is_in_sample = |(options, _): &(&'static str, Becomes)| SAMPLE.contains(options);
    assert_eq!(SETS.iter().filter(|set| is_in_sample(set)).count(), SAMPLE.len());
    check_all(SETS.iter().copied().filter(is_in_sample));
}

#[test]
#[ignore = "long: make test-long"]
fn every_option_set_yields_or_is_refused() {
    check_all(SETS.iter().copied());
}

/// How shared objects are linked; each is linked with a program and loaded into another.
const OBJECTS: &[&str] = &[
    "",
    "-fuse-ld=lld",
    "-fuse-ld=gold",
    "-flto",
    "-flto=thin",
    "-Wl,-Bsymbolic",
    "-Wl,-Bsymbolic-functions -fuse-ld=lld",
    "-fvisibility=protected",
    "-fno-plt",
    "-Wl,-z,defs",
    "-Wl,--no-undefined -fuse-ld=gold",
    "-Wl,--exclude-libs,ALL",
    "-Wl,--version-script=work.map",
    "-flto -Wl,--version-script=work.map",
    "-ffunction-sections -Wl,--gc-sections",
    "-mcmodel=large",
    "-mtls-dialect=gnu2",
    "-nostdlib",
    "-s",
];

const LOADS: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include "caudal/probe.h"
static uint64_t times[64];
int main(void) {
  void *object = dlopen("./libwork.so", RTLD_NOW);
  if (!object) return puts(dlerror()), 1;
  long (*work)(long) = (long (*)(long))dlsym(object, "work");
  caudal_probe_record_start(times, 64, 2000);
  long sum = work(200000);
  size_t yields = caudal_probe_record_stop();
  printf("%ld, %s\n", sum, yields > 0 ? "it yields" : "never asked");
  return 0;
}
"#;

#[test]
#[ignore = "long: make test-long"]
fn shared_objects_of_every_kind_yield_in_every_program() {
    build_plugin(DRIVER);
    let files = [
        ("main.c", PROGRAM),
        ("loads.c", LOADS),
        ("work.c", WORK),
        ("work.map", "{ global: work; local: *; };\n"),
        ("main.map", "{ global: main; local: *; };\n"),
    ];
    let project = Project::new(Path::new(DRIVER), &files);
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../caudal-probe/include");
    for object in OBJECTS {
        project.quietly(&format!("-O2 -fPIC -shared {object} work.c -o libwork.so"));
        for link in ["", "-fuse-ld=lld", "-fuse-ld=gold", "-flto", "-no-pie", "-Wl,--version-script=main.map"]
        {
            project.quietly(&format!("-O2 {include} {link} main.c -L. -lwork -Wl,-rpath,. -o program"));
            assert_eq!(project.run("program"), RIGHT, "{object} in {link}");
            project.quietly(&format!("-O2 {include} {link} loads.c -o program"));
            assert_eq!(project.run("program"), RIGHT, "{object} loaded by {link}");
        }
    }
}
