//! Projects of several crates, built with probes. Nothing comes from a network.

#[path = "../../caudal-driver/tests/all/common/mod.rs"]
mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{Project, WORK, build_plugin, succeed};

const DRIVER: &str = env!("CARGO_BIN_EXE_cargo-caudal");
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A program, a library that it depends on, a procedural macro and a build script.
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", "[workspace]\nmembers = [\"app\", \"dep\", \"mac\"]\nresolver = \"2\"\n"),
    (
        "app/Cargo.toml",
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\ndep = { path = \"../dep\" }\nmac = { path = \"../mac\" }\n[lints.rust]\nunexpected_cfgs = \"allow\"\n",
    ),
    ("app/build.rs", "fn main() {\n    println!(\"cargo::rustc-env=BUILT=by a script\");\n}\n"),
    (
        "app/src/main.rs",
        "fn main() {\n    let rounds = std::env::args().count() as u64 * mac::thousand!();\n    println!(\"{} {}\", dep::sum(rounds), env!(\"BUILT\"));\n    if cfg!(user) {\n        println!(\"the user's flag\");\n    }\n}\n\n#[test]\nfn sums() {\n    assert_eq!(dep::sum(3), 3);\n}\n",
    ),
    ("dep/Cargo.toml", "[package]\nname = \"dep\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    (
        "dep/src/lib.rs",
        "//! ```\n//! assert_eq!(dep::sum(4), 6);\n//! ```\n#[inline(never)]\npub fn sum(rounds: u64) -> u64 {\n    (0..rounds).fold(0, |sum, round| std::hint::black_box(sum + round))\n}\n",
    ),
    (
        "mac/Cargo.toml",
        "[package]\nname = \"mac\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\nproc-macro = true\n",
    ),
    (
        "mac/src/lib.rs",
        "#[proc_macro]\npub fn thousand(_: proc_macro::TokenStream) -> proc_macro::TokenStream {\n    \"1000u64\".parse().unwrap()\n}\n",
    ),
];
const PRINTED: &str = "499500 by a script\n";

struct Cargo {
    project: Project,
    plugin: PathBuf,
}

impl Cargo {
    fn new(files: &[(&str, &str)]) -> Cargo {
        Cargo { project: Project::new(Path::new(DRIVER), files), plugin: build_plugin(DRIVER) }
    }

    /// `cargo caudal <line>`, as cargo calls it, without the flags of whoever runs the tests.
    fn command(&self, line: &str) -> Command {
        let mut command = self.project.command(DRIVER);
        for variable in [
            "CARGO_TARGET_DIR",
            "CARGO_BUILD_TARGET",
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "RUSTC_WRAPPER",
        ] {
            command.env_remove(variable);
        }
        command.env("CARGO_NET_OFFLINE", "true").arg("caudal").args(line.split_whitespace());
        command
    }

    fn call(&self, line: &str) -> Output {
        self.command(line).output().expect("cargo-caudal can be run")
    }

    /// Runs it; it has to succeed.
    fn run(&self, line: &str) -> String {
        succeed(&mut self.command(line))
    }

    /// Runs it; it has to fail. What it says.
    fn refused(&self, line: &str) -> String {
        let output = self.call(line);
        assert!(!output.status.success(), "{line}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

fn program(profile: &str) -> String {
    format!("target/{TARGET}/{profile}/app")
}

#[test]
fn thin() {
    let cargo = Cargo::new(FILES);
    assert_eq!(cargo.run("run --release --probe-report=report.jsonl"), PRINTED);
    let report = cargo.project.report();
    let probes_of = |name: &str| -> u64 {
        let of = report.probed.iter().filter(|function| function.name.contains(name));
        of.map(|function| function.probes).sum()
    };
    assert!(probes_of("dep::sum") > 0);
    assert_eq!(probes_of("proc_macro"), 0);
    assert_eq!(cargo.project.probes_in(&program("release")) as u64, report.probes());
    // What runs in the build has none.
    let built = cargo.project.path("target/release/build");
    let scripts: Vec<_> =
        fs::read_dir(built).unwrap().map(|entry| entry.unwrap().path().join("build-script-build")).collect();
    let script = scripts.iter().find(|path| path.exists()).expect("there is a build script");
    assert_eq!(cargo.project.probes_in(script.to_str().unwrap()), 0);
}

#[test]
fn fat_covers_the_standard_library() {
    let cargo = Cargo::new(FILES);
    assert_eq!(cargo.run("run --release --fat --probe-report=report.jsonl"), PRINTED);
    let report = cargo.project.report();
    let of_std = report.probed.iter().filter(|function| function.name.contains("std::io")).count();
    assert!(of_std > 10, "{of_std}");
    assert!(cargo.project.probes_in(&program("release")) as u64 >= report.probes() * 9 / 10);
}

#[test]
fn the_dev_profile_and_tests() {
    let cargo = Cargo::new(FILES);
    assert_eq!(cargo.run("run"), PRINTED);
    assert!(cargo.project.probes_in(&program("debug")) > 0);
    // Those in the documentation too.
    let said = cargo.run("test --workspace --exclude mac");
    assert!(said.contains("test sums ... ok") && said.contains("(line 1) ... ok"), "{said}");
    // Build and summary in one.
    let output = cargo.call("test --no-run --probe-report");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("cargo caudal: nothing was linked anew"), "{said}");
}

#[test]
fn an_archive_of_c_with_probes() {
    let cargo = Cargo::new(FILES);
    cargo.project.write("work.c", WORK);
    let mut clang = cargo.project.command("clang-22");
    clang.args(["-O2", "-c", "work.c"]).arg(format!("-fpass-plugin={}", cargo.plugin.display()));
    succeed(&mut clang);
    succeed(cargo.project.command("ar").args(["rcs", "libwork.a", "work.o"]));
    let here = cargo.project.path("");
    cargo.project.write(
        "app/build.rs",
        &format!("fn main() {{\n    println!(\"cargo::rustc-env=BUILT=by a script\");\n    println!(\"cargo::rustc-link-search=native={}\");\n    println!(\"cargo::rustc-link-lib=static=work\");\n}}\n", here.display()),
    );
    cargo.project.write("app/src/main.rs", "extern \"C\" {\n    fn work(rounds: std::ffi::c_long) -> std::ffi::c_long;\n}\nfn main() {\n    println!(\"{} {}\", unsafe { work(mac::thousand!() as _) }, env!(\"BUILT\"));\n    println!(\"{}\", dep::sum(4));\n}\n");
    let of_archive = cargo.project.probes_in("work.o") as u64;
    assert!(of_archive > 0);
    for fat in ["", "--fat"] {
        let printed = cargo.run(&format!("run --release {fat} --probe-report=report.jsonl"));
        assert_eq!(printed, format!("{PRINTED}6\n"));
        let in_program = cargo.project.probes_in(&program("release")) as u64;
        let expected = cargo.project.report().probes() + of_archive;
        // Of the standard library the linker leaves some functions out afterwards, and code generation copies the ends of
        // some ways, with their probes.
        let (left_out, copied) = if fat.is_empty() { (0, 0) } else { (expected / 10, expected / 20) };
        assert!(
            (expected - left_out..=expected + copied).contains(&in_program),
            "{fat}: {in_program}, not {expected}"
        );
    }
}

/// Arms a quantum of 5200 cycles, and counts the yields of a loop.
const YIELDS: &str = "use std::sync::atomic::{AtomicU64, Ordering};\nstatic YIELDS: AtomicU64 = AtomicU64::new(0);\nextern \"C\" fn hook(now: u64) {\n    YIELDS.fetch_add(1, Ordering::Relaxed);\n    caudal_probe::arm(now, 5200);\n}\nfn main() {\n    caudal_probe::set_hook(hook);\n    unsafe { (*caudal_probe::block()).stack_high = u64::MAX };\n    caudal_probe::arm(caudal_probe::rdtsc(), 5200);\n    let sum = dep::sum(3_000_000);\n    caudal_probe::disarm();\n    println!(\"{sum} {}\", YIELDS.load(Ordering::Relaxed) > 100);\n}\n";

#[test]
fn a_program_that_has_the_probe_library_by_a_crate_has_it_once() {
    let cargo = Cargo::new(FILES);
    let manifest = cargo.project.read("app/Cargo.toml");
    let probe = common::root().join("crates/caudal-probe").canonicalize().unwrap();
    let dependency = format!("[dependencies]\ncaudal-probe = {{ path = \"{}\" }}", probe.display());
    cargo.project.write("app/Cargo.toml", &manifest.replace("[dependencies]", &dependency));
    cargo.project.write("app/src/main.rs", YIELDS);
    for (options, printed) in [("", "4499998500000 true\n"), ("--probe-off", "4499998500000 false\n")] {
        assert_eq!(cargo.run(&format!("run --release {options}")), printed, "{options}");
        let names = cargo.project.names_in(&program("release"));
        assert_eq!(names.matches(" caudal_probe_v1").count(), 1, "{options}");
    }
}

/// Requests in turns on one worker, each of which must answer what it answers alone.
const REQUESTS: &str = r#"
use std::collections::BTreeMap;

const SYSTEM: &str = "[system]
cores = 1
pools = \"per-core\"
dispatch = { policy = \"random\" }
discipline = { policy = \"processor-sharing\", quantum = \"2us\" }
rebalance = \"none\"
";

fn answer(seed: u64) -> u64 {
    let mut counts = BTreeMap::new();
    for round in 0..500 * dep::sum(3) {
        *counts.entry(format!("{}", (seed ^ round).wrapping_mul(0x9e3779b97f4a7c15) >> 56)).or_insert(0) += round;
    }
    let mut all: Vec<_> = counts.into_iter().collect();
    all.sort_by(|a, b| b.cmp(a));
    all.iter().fold(seed, |sum, (name, count)| sum.rotate_left(7) ^ (name.len() as u64) ^ count)
}

fn main() {
    let alone: Vec<u64> = (0..4).map(answer).collect();
    let runtime = caudal_rt::Builder::parse(SYSTEM, "system.toml").unwrap().pinning(caudal_rt::Pinning::None).start().unwrap();
    let class = runtime.class("x").unwrap();
    caudal_probe::set_every(true);
    let requests: Vec<_> = (0..4).map(|seed| runtime.submit(class, move || answer(seed)).unwrap()).collect();
    for (request, alone) in requests.into_iter().zip(alone) {
        assert_eq!(request.wait().unwrap(), alone);
    }
    println!("as alone");
}
"#;

/// Under fat LTO the runtime and the standard library are part of what has probes; every one of them yields. Thin LTO covers less of it,
/// and would take another minute.
#[test]
#[ignore = "long: make test-long"]
fn the_runtime_may_have_probes_itself() {
    let cargo = Cargo::new(FILES);
    let manifest = cargo.project.read("app/Cargo.toml");
    let crates = common::root().join("crates").canonicalize().unwrap();
    let dependencies = ["caudal-probe", "caudal-rt"]
        .map(|name| format!("{name} = {{ path = \"{}/{name}\" }}\n", crates.display()))
        .concat();
    cargo.project.write(
        "app/Cargo.toml",
        &manifest.replace("[dependencies]", &format!("[dependencies]\n{dependencies}")),
    );
    cargo.project.write("app/src/main.rs", REQUESTS);
    // The runtime is large, and what matters here is no matter of its speed.
    cargo.project.write(
        "Cargo.toml",
        &format!("{}[profile.release]\nopt-level = 1\n", cargo.project.read("Cargo.toml")),
    );
    assert_eq!(cargo.run("run --release --fat"), "as alone\n");
}

#[test]
fn shared_libraries_leave_the_probes_to_the_program() {
    let cargo = Cargo::new(FILES);
    cargo.project.write("dep/Cargo.toml", "[package]\nname = \"dep\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n");
    cargo.project.write("dep/src/lib.rs", "#[no_mangle]\npub extern \"C\" fn sum(rounds: u64) -> u64 {\n    (0..rounds).fold(0, |sum, round| std::hint::black_box(sum + round))\n}\n");
    // What is kept of a program's link is none for a shared object's: it reaches the thread's lines by an offset.
    cargo.run("build --release -p app");
    cargo.run("build --release -p dep");
    let library = format!("target/{TARGET}/release/libdep.so");
    assert!(cargo.project.names_in(&library).contains("U caudal_probe_v1"));
    let said = |line: &str| String::from_utf8_lossy(&cargo.call(line).stderr).into_owned();
    assert!(said("build --release -p dep").contains("libdep.so` has probes, so only a program that"));
    assert!(!said("build --release -p dep -q").contains("has probes"));
}

/// rustc makes a static library without a linker: no pass has run, and that is said.
#[test]
fn a_static_library_has_no_probes_yet_and_that_is_said() {
    let cargo = Cargo::new(FILES);
    cargo.project.write("dep/Cargo.toml", "[package]\nname = \"dep\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\ncrate-type = [\"staticlib\", \"rlib\"]\n");
    let said = |line: &str| {
        let output = cargo.call(line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        said
    };
    // The second time there is nothing to be done, and still no probe.
    for _ in 0..2 {
        let said = said("build --release -p dep");
        assert!(
            said.contains("libdep.a` is bitcode and has no probes yet") && said.contains("caudal-cc -flto"),
            "{said}"
        );
    }
    assert!(!said("build --release -p dep --probe-off").contains("no probes yet"));
    assert!(!said("build --release -p app --target-dir elsewhere").contains("no probes yet"));
}

#[test]
fn other_options_and_another_plugin_link_anew() {
    let cargo = Cargo::new(FILES);
    let plugin = cargo.project.path("libcaudal-pass-22.so");
    fs::copy(&cargo.plugin, &plugin).unwrap();
    let build = |options: &str| {
        cargo.run(&format!("build --release --plugin={} {options}", plugin.display()));
        let program = cargo.project.path(&program("release"));
        (fs::metadata(&program).unwrap().modified().unwrap(), fs::read(&program).unwrap())
    };
    let calls = |program: &[u8], name: &str| program.windows(name.len()).any(|part| part == name.as_bytes());
    let (first, budget) = build("");
    assert!(calls(&budget, "caudal_probe_cold_budget_v1"));
    assert_eq!(build("").0, first);
    let (flagged, flag) = build("--probe-mode=flag");
    assert_ne!(flagged, first);
    assert_ne!(flag, budget);
    // The same code in another file: what is behind the end of a shared object is nobody's.
    let mut bytes = fs::read(&plugin).unwrap();
    bytes.push(0);
    fs::write(&plugin, bytes).unwrap();
    assert_ne!(build("--probe-mode=flag").0, flagged);
}

#[test]
fn flags_of_the_user_stay() {
    let key = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS";
    let build = "[build]\nrustflags = [\"--cfg\", \"user\"]\n";
    let of_target = "[target.x86_64-unknown-linux-gnu]\nrustflags = \"--cfg user\"\n";
    let of_cfg = "[target.'cfg(unix)']\nrustflags = \"--cfg user\"\n[build]\nrustflags = \"--cfg other\"\n";
    let of_others =
        "[target.'cfg(windows)']\nrustflags = \"--cfg other\"\n[build]\nrustflags = \"--cfg user\"\n";
    for (configuration, variable) in [
        ("", Some(("RUSTFLAGS", "--cfg user"))),
        ("", Some(("CARGO_ENCODED_RUSTFLAGS", "--cfg\x1fuser"))),
        ("", Some((key, "--cfg user"))),
        ("", Some(("CARGO_BUILD_RUSTFLAGS", "--cfg user"))),
        (build, None),
        (of_target, None),
        (of_cfg, None),
        (of_others, None),
    ] {
        let cargo = Cargo::new(FILES);
        cargo.project.write(".cargo/config.toml", configuration);
        let mut command = cargo.command("run --release");
        command.envs(variable);
        let printed = succeed(&mut command);
        assert_eq!(printed, format!("{PRINTED}the user's flag\n"), "{configuration} {variable:?}");
        assert!(cargo.project.probes_in(&program("release")) > 0, "{configuration} {variable:?}");
    }
}

/// Cargo looks at no configuration where there is such a variable, also an empty one.
#[test]
fn flags_that_are_empty_are_the_users_too() {
    let cargo = Cargo::new(FILES);
    let mut command = cargo.command("run --release");
    command.envs([("RUSTFLAGS", ""), ("RUSTDOCFLAGS", " ")]);
    assert_eq!(succeed(&mut command), PRINTED);
    assert!(cargo.project.probes_in(&program("release")) > 0);
}

/// What `caudal_driver` does for C's programs.
#[test]
fn a_program_that_shows_nothing_loads_a_plug_in() {
    const LOADS: &str = "use std::ffi::{c_char, c_int, c_long, c_void};\nunsafe extern \"C\" {\n    fn dlopen(name: *const c_char, how: c_int) -> *mut c_void;\n    fn dlsym(object: *mut c_void, name: *const c_char) -> *mut c_void;\n}\nfn main() {\n    let object = unsafe { dlopen(c\"./plug.so\".as_ptr(), 2) };\n    assert!(!object.is_null());\n    let work = unsafe { dlsym(object, c\"work\".as_ptr()) };\n    let work: extern \"C\" fn(c_long) -> c_long = unsafe { std::mem::transmute(work) };\n    println!(\"{}\", work(1000));\n}\n";
    const PLUG: &str =
        "long work(long n) { volatile long sum = 0; for (long i = 0; i < n; i++) sum += i; return sum; }\n";
    let cargo = Cargo::new(&[
        ("Cargo.toml", "[package]\nname = \"app\"\nversion = \"1.0.0\"\nedition = \"2024\"\n[workspace]\n"),
        ("src/main.rs", LOADS),
        ("main.map", "{ global: main; local: *; };\n"),
        ("plug.c", PLUG),
    ]);
    let mut clang = cargo.project.command("clang-22");
    clang.arg(format!("-fpass-plugin={}", cargo.plugin.display()));
    succeed(clang.args(["-O2", "-fPIC", "-shared", "plug.c", "-o", "plug.so"]));
    let map = cargo.project.path("main.map");
    for hides in ["-Wl,--exclude-libs,ALL".to_owned(), format!("-Wl,--version-script={}", map.display())] {
        let mut command = cargo.command("run --release");
        assert_eq!(succeed(command.env("RUSTFLAGS", format!("-Clink-arg={hides}"))), "499500\n");
    }
}

#[test]
fn the_same_build_without_probes() {
    let cargo = Cargo::new(FILES);
    assert_eq!(cargo.run("run --release --probe-off"), PRINTED);
    assert_eq!(cargo.project.probes_in(&program("release")), 0);
}

/// The linker keeps what it has made of modules; with what is kept a program has all of its probes, too.
#[test]
fn what_is_kept_of_a_link_has_probes() {
    let cargo = Cargo::new(FILES);
    let linked = || {
        assert_eq!(cargo.run("run --release"), PRINTED);
        cargo.project.probes_in(&program("release"))
    };
    let probes = linked();
    assert!(probes > 0);
    let kept = || {
        let directories = fs::read_dir(cargo.project.path("cache/caudal")).unwrap();
        let modules = directories.flat_map(|entry| {
            fs::read_dir(entry.unwrap().path().join("modules-program")).into_iter().flatten()
        });
        modules.count()
    };
    assert!(kept() > 0);
    let main = cargo.project.read("app/src/main.rs");
    // One module is another.
    let edited = main.replace("fn main() {", "fn main() {\n    std::hint::black_box(0);");
    cargo.project.write("app/src/main.rs", &edited);
    assert_eq!(linked(), probes);
    // All are as they were: a report that is empty for that reason is no error.
    cargo.project.write("app/src/main.rs", &main);
    assert_eq!(linked(), probes);
}

/// A wrapper of rustc that compiles one crate to machine code.
const WRAPPER: &str = "#!/bin/bash\nwords=()\nfor word in \"$@\"; do\n  [[ \"$*\" == *'--crate-name dep '* && $word == -Clinker-plugin-lto ]] || words+=(\"$word\")\ndone\nexec \"${words[@]}\"\n";

#[test]
fn a_module_that_got_no_pass_is_an_error() {
    let cargo = Cargo::new(FILES);
    cargo.project.write("wrapper", WRAPPER);
    let wrapper = cargo.project.path("wrapper");
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let output = cargo.command("build --release").env("RUSTC_WRAPPER", &wrapper).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("a module got no pass: libdep-") && said.contains(".rcgu.o)"), "{said}");
}

#[test]
fn a_link_at_level_0_has_the_pass_too() {
    let cargo = Cargo::new(FILES);
    let mut command = cargo.command("build --release");
    // Level 0 behind all others: the linker's thin mode runs no plugin there.
    let output =
        command.env("RUSTFLAGS", "-Clink-arg=-Wl,--lto-O2 -Clink-arg=-Wl,--lto-O0").output().unwrap();
    assert!(output.status.success(), "the driver puts it right: {}", String::from_utf8_lossy(&output.stderr));
    assert!(cargo.project.probes_in(&program("release")) > 0);
}

#[test]
fn errors() {
    let cargo = Cargo::new(FILES);
    let said = cargo.refused("clippy");
    assert!(
        said.contains("`clippy` is no command of cargo caudal")
            && said.contains("build, run, test and bench")
    );
    let said = cargo.refused("build --target aarch64-unknown-linux-gnu");
    assert!(said.contains("there are no probes for `aarch64-unknown-linux-gnu`"), "{said}");
    cargo.project.write(".cargo/config.toml", "[build]\ntarget = \"aarch64-unknown-linux-gnu\"\n");
    let said = cargo.refused("build");
    assert!(said.contains("there are no probes for `aarch64-unknown-linux-gnu`"), "{said}");
    cargo.run("build --target host-tuple");
    cargo.project.write(".cargo/config.toml", "");
    let said = cargo.refused("build --probe-mode=fast");
    assert!(said.contains("`--probe-mode=fast`: one of budget, clock, flag"), "{said}");
    cargo
        .project
        .write("rustc", "#!/bin/sh\nprintf 'host: x86_64-unknown-linux-gnu\\nLLVM version: 20.1.5\\n'\n");
    let rustc = cargo.project.path("rustc");
    fs::set_permissions(&rustc, fs::Permissions::from_mode(0o755)).unwrap();
    let output = cargo.command("build").env("RUSTC", &rustc).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no plugin for LLVM 20, which `rustc` is of; there is one for LLVM 22"), "{said}");
    assert!(cargo.run("--help").contains("--fat"));
}
