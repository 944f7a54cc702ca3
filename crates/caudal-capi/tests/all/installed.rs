//! An installed library, and programs over it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tempfile::TempDir;

pub(crate) const ROOT: &str = env!("CARGO_MANIFEST_DIR");
pub(crate) const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// One worker without a dispatcher: it needs one core.
const POLICY: &str = "[system]\ncores = 1\npools = \"per-core\"\ndispatch = { policy = \"random\" }\n\
                      discipline = { policy = \"processor-sharing\", quantum = \"2us\" }\n";
/// The same with a dispatcher.
const TWO_LEVEL: &str = "[system]\ncores = 1\npools = \"per-core\"\ndispatch = { policy = \"jsq\", ties = \"msq\" }\n\
                         discipline = { policy = \"processor-sharing\", quantum = \"2us\" }\n";
/// One with a key that there is not.
const BAD: &str = "[system]\ncores = 1\nquantity = 3\n";

/// An installed library, with policies.
pub(crate) struct Installed {
    pub(crate) prefix: PathBuf,
}

/// The one of all tests.
pub(crate) fn installed() -> &'static Installed {
    static ONCE: OnceLock<Installed> = OnceLock::new();
    ONCE.get_or_init(|| {
        let prefix = Path::new(env!("CARGO_TARGET_TMPDIR")).join("prefix");
        let _ = std::fs::remove_dir_all(&prefix);
        succeed(Command::new(env!("CARGO_BIN_EXE_caudal-capi-install")).arg(&prefix));
        for (name, text) in [("direct.toml", POLICY), ("two-level.toml", TWO_LEVEL), ("bad.toml", BAD)] {
            std::fs::write(prefix.join(name), text).expect("the policy can be written");
        }
        Installed { prefix }
    })
}

impl Installed {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.prefix.join(name)
    }

    /// Arguments that link the static library.
    pub(crate) fn statically(&self) -> Vec<String> {
        let archive = self.path("lib/libcaudal.a").display().to_string();
        [&archive, "-lpthread", "-lm", "-ldl"].map(str::to_owned).to_vec()
    }

    /// Arguments that link the shared one, and find it when the program runs.
    pub(crate) fn shared(&self) -> Vec<String> {
        let lib = self.path("lib").display().to_string();
        vec![format!("-L{lib}"), "-lcaudal".to_owned(), format!("-Wl,-rpath,{lib}")]
    }
}

pub(crate) fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("{program} is not installed: what needs it is not tested here");
    }
    found
}

/// The one that has to be there, and the first of the others that is.
pub(crate) fn compilers(required: &'static str, others: &[&'static str]) -> Vec<&'static str> {
    std::iter::once(required).chain(others.iter().copied().find(|name| has(name))).collect()
}

pub(crate) fn c_compilers() -> Vec<&'static str> {
    compilers("gcc", &["clang-22", "clang", "clang-21", "clang-20", "clang-19"])
}

pub(crate) fn cxx_compilers() -> Vec<&'static str> {
    compilers("g++", &["clang++-22", "clang++", "clang++-21", "clang++-20", "clang++-19"])
}

pub(crate) fn run(command: &mut Command) -> Output {
    once_written(command, Command::output)
}

/// Starts a program that was linked a moment ago. Another thread of the tests may have forked while the file was still open for writing; until that
/// child has its own program, the system calls the file busy.
pub(crate) fn once_written<T>(command: &mut Command, start: fn(&mut Command) -> std::io::Result<T>) -> T {
    for _ in 0..500 {
        match start(command) {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            started => return started.unwrap_or_else(|error| panic!("{command:?}: {error}")),
        }
    }
    panic!("{command:?}: the file of the program stays busy")
}

/// Runs `command`, which has to succeed; its stdout.
pub(crate) fn succeed(command: &mut Command) -> String {
    let output = run(command);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{command:?}: {}\n{stdout}\n{stderr}", output.status);
    stdout.into_owned()
}

/// Runs `command`, which has to succeed; its stderr.
pub(crate) fn succeed_with_errors(command: &mut Command) -> String {
    let output = run(command);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{stderr}", output.status);
    stderr.into_owned()
}

/// A program in a directory that goes with it.
pub(crate) struct Program {
    pub(crate) _directory: TempDir,
    pub(crate) path: PathBuf,
}

pub(crate) fn compile(compiler: &str, source: &str, arguments: &[&str], link: &[String]) -> Program {
    let directory = TempDir::new().expect("a temporary directory");
    let path = directory.path().join("program");
    succeed(
        Command::new(compiler)
            .args(WARNINGS)
            .args(arguments)
            .arg("-I")
            .arg(installed().path("include"))
            .arg("-I")
            .arg(Path::new(ROOT).join("tests/c"))
            .arg("-o")
            .arg(&path)
            .arg(Path::new(ROOT).join(source))
            .args(link),
    );
    Program { _directory: directory, path }
}

impl Program {
    pub(crate) fn command(&self, policy: &str) -> Command {
        let mut command = Command::new(&self.path);
        command.env("SERVICE_UNPINNED", "1").arg(installed().path(policy));
        command
    }
}
