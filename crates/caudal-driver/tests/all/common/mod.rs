//! Common part of the tests of drivers: a plugin, programs of a few lines, and calls of the driver in directories of their own.

#![allow(dead_code)] // Each test file takes a part.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use caudal_driver::report::Summary;
use tempfile::TempDir;

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Directory of the executables under test.
pub(crate) fn bin(executable: &str) -> PathBuf {
    Path::new(executable).parent().expect("executables are in a directory").to_owned()
}

/// Builds the plugin beside the executables under test. Without LLVM the tests fail, and the script says what to install.
pub(crate) fn build_plugin(executable: &str) -> PathBuf {
    static PLUGIN: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let target = bin(executable).parent().expect("profiles are in a directory").to_owned();
        let output = Command::new(root().join("scripts/pass")).env("CARGO_TARGET_DIR", target).output();
        let output = output.expect("scripts/pass can be run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        PathBuf::from(String::from_utf8(output.stdout).expect("a path of ours").trim())
    };
    PLUGIN.get_or_init(build).clone()
}

/// A loop that takes a probe, in a file of its own.
pub(crate) const WORK: &str = "long work(long rounds) {\n  volatile long sum = 0;\n  for (long i = 0; i < rounds; i++) sum += i;\n  return sum;\n}\n";
/// Another that calls it.
pub(crate) const MAIN: &str = "#include <stdio.h>\nlong work(long rounds);\nint main(int count, char **words) {\n  (void)words;\n  long sum = 0;\n  for (long i = 0; i < count * 10L; i++) sum += work(i * 100);\n  printf(\"%ld\\n\", sum);\n  return 0;\n}\n";
/// Text that they print.
pub(crate) const PRINTED: &str = "1422750\n";

/// Entry that `WORK`'s loop calls in a mode. In budget mode loops keep what is left in a register, for which there is an entry of its own.
pub(crate) fn cold_entry_of_work(mode: &str) -> String {
    let entry = match mode {
        "budget" => "carried",
        "clock" => "credit",
        mode => mode,
    };
    format!("caudal_probe_cold_{entry}_v1")
}

/// A directory with sources, in which compilers are called.
pub(crate) struct Project {
    directory: TempDir,
    driver: PathBuf,
}

impl Project {
    /// One with `files`; `driver` is the executable under test.
    pub(crate) fn new(driver: &Path, files: &[(&str, &str)]) -> Project {
        let project =
            Project { directory: tempfile::tempdir().expect("a directory"), driver: driver.to_owned() };
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is in a directory")).expect("the directory can be made");
        fs::write(path, text).expect("the file can be written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A command in this directory, which keeps nothing elsewhere.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.directory.path()).env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    /// Calls the driver with blank-separated arguments.
    pub(crate) fn call(&self, line: &str) -> Output {
        self.command(&self.driver).args(line.split_whitespace()).output().expect("the driver can be run")
    }

    /// Calls it; it has to succeed and be silent on stderr.
    pub(crate) fn quietly(&self, line: &str) -> String {
        let output = self.call(line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{line}: {}\n{said}", output.status);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Calls it; it has to fail. What it says.
    pub(crate) fn refused(&self, line: &str) -> String {
        let output = self.call(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        String::from_utf8(output.stderr).expect("messages are text")
    }

    /// Runs a program that was made here.
    pub(crate) fn run(&self, name: &str) -> String {
        let mut command = self.command(self.path(name));
        succeed(&mut command)
    }

    /// The report in `report.jsonl`, which it takes away.
    pub(crate) fn report(&self) -> Summary {
        let path = self.path("report.jsonl");
        let summary = Summary::read(&path).expect("the report can be read").unwrap_or_default();
        let _ = fs::remove_file(path);
        summary
    }

    /// Probes in a program or object. What is due calls a cold entry: in a gap of the function, or within a `nop` that has the
    /// call's first byte where others have none such. Those that are executed seldom are calls of whole ones.
    pub(crate) fn probes_in(&self, name: &str) -> usize {
        let listing = self.code_of(name);
        let names_one = |line: &str| {
            ["cold_budget", "cold_carried", "cold_credit", "cold_flag", "spend", "look"]
                .iter()
                .any(|entry| line.contains(&format!("caudal_probe_{entry}_")))
        };
        let mut count = 0;
        // Whether the instruction of which a relocation would be is such a `nop`.
        let mut within_nop = false;
        for line in listing.lines() {
            if line.contains("R_X86_64_") {
                count += usize::from(line.contains("R_X86_64_PLT32") && names_one(line) && !within_nop);
            } else {
                within_nop = line.contains("nop") && line.contains("(%rax,%rbp,8)");
                let is_called = line.contains("call ") && line.contains('<') && names_one(line);
                count += usize::from(within_nop || is_called);
            }
        }
        count
    }

    /// Instructions of a program or object, with relocations, but those of the probe library, whose own calls are no probes.
    pub(crate) fn code_of(&self, name: &str) -> String {
        let mut command = self.command("objdump");
        let listing = succeed(command.args(["-d", "-r", "--no-show-raw-insn"]).arg(self.path(name)));
        let functions = listing.split_inclusive("\n\n");
        functions
            .filter(|function| {
                !function.lines().any(|line| line.ends_with(">:") && line.contains("<caudal_probe_"))
            })
            .collect()
    }

    /// Names that a program or object defines, with what kind of.
    pub(crate) fn names_in(&self, name: &str) -> String {
        let mut command = self.command("nm");
        succeed(command.arg(self.path(name)))
    }

    /// A link to the driver under another name.
    pub(crate) fn link(&self, name: &str) -> PathBuf {
        let link = self.path(name);
        symlink(&self.driver, &link).expect("the link can be made");
        link
    }
}

/// Runs a command, which has to succeed; what it prints.
pub(crate) fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (said, printed) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{command:?}: {}\n{printed}{said}", output.status);
    printed.into_owned()
}
