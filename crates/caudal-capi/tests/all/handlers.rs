//! Signals, call by call, flag by flag: `tests/handlers/table.c` says what each call answers and what its handler sees, and says the same
//! compiled with probes and without.
//!
//! clang and LLVM of a major that the pass is made for are needed, and missed with a word where they are not installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::installed::{ROOT, installed, succeed};
use crate::preemption::{Toolchain, toolchain};

/// The table, built in `directory` with what nobody instruments.
struct Tables<'a> {
    toolchain: &'a Toolchain,
    directory: &'a Path,
}

impl Tables<'_> {
    fn clang(&self) -> Command {
        let mut command = Command::new(format!("clang-{}", self.toolchain.major));
        // Both programs have the same frames.
        command.args(["-O2", "-fno-optimize-sibling-calls", "-pthread"]);
        command
    }

    fn source(name: &str) -> PathBuf {
        Path::new(ROOT).join("tests/handlers").join(name)
    }

    /// Compiles `name` by `flags`.
    fn compile(&self, name: &str, flags: &[&str], output: &str) -> PathBuf {
        let output = self.directory.join(output);
        succeed(self.clang().args(flags).arg(Self::source(name)).arg("-o").arg(&output));
        output
    }

    /// The program's lines; `library` is loaded by it.
    fn run(&self, object: &Path, link: &[String], library: Option<&Path>) -> Vec<String> {
        let (plain, program) = (self.compile("plain.c", &["-c"], "plain.o"), self.directory.join("table"));
        succeed(self.clang().arg(object).arg(plain).args(link).arg("-o").arg(&program));
        succeed(Command::new(&program).args(library)).lines().map(str::to_owned).collect()
    }
}

#[test]
fn signals_are_as_without_probes() {
    let Some(toolchain) = toolchain() else { return };
    let directory = TempDir::new().expect("a temporary directory");
    let tables = Tables { toolchain, directory: directory.path() };
    let library = tables.compile("plain.c", &["-shared", "-fPIC"], "libplain.so");
    let plugin = format!("-fpass-plugin={}", toolchain.plugin.display());
    let plain = tables.compile("table.c", &["-c"], "table-plain.o");
    let probed = tables.compile("table.c", &["-c", &plugin], "table-probed.o");
    let mock = tables.compile("mock.c", &["-c"], "mock.o").display().to_string();
    let probes = installed().path("lib/libcaudal_probe.a").display().to_string();
    let ways: [(&[&str], _); 3] = [
        (&["-ldl"], Some(library.as_path())),
        (&["-static"], None),
        // A test's own function in the place of the C library's.
        (&["-Wl,--wrap=sigaction", &mock, "-ldl"], None),
    ];
    for (link, library) in ways {
        let link: Vec<String> = link.iter().map(|&argument| argument.to_owned()).collect();
        let without = tables.run(&plain, &link, library);
        let with = tables.run(&probed, &[vec![probes.clone()], link.clone()].concat(), library);
        assert!(without.len() > 100, "{without:?}");
        assert_eq!(with.len(), without.len());
        for (with, without) in with.iter().zip(&without) {
            assert_eq!(with, without, "with probes, and without {link:?}");
        }
    }
}
