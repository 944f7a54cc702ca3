//! The facts about the compiler that rustc itself prints: its version of LLVM, its host. The program's `main` asks before it chooses a
//! plugin and a clang; `cargo_config` needs the host for the kind of flags. It runs `rustc -vV`.

use std::path::PathBuf;
use std::process::Command;

use crate::error::Error;

/// A compiler.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rustc {
    /// The triple of the machine.
    pub(crate) host: String,
    /// The major version of its LLVM, whose bitcode lld has to read.
    pub(crate) llvm_major: u32,
}

/// The one that cargo takes too.
pub(crate) fn program() -> PathBuf {
    std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()).into()
}

impl Rustc {
    pub(crate) fn ask() -> Result<Rustc, Error> {
        let program = program();
        let not_run = |source| Error::Cargo { program: program.clone(), source };
        let output = Command::new(&program).arg("-vV").output().map_err(not_run)?;
        let said = String::from_utf8_lossy(&output.stdout);
        Rustc::parse(&said).map_err(|what| Error::Rustc { program: program.clone(), what })
    }

    fn parse(said: &str) -> Result<Rustc, &'static str> {
        let value = |key: &str| said.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let host = value("host:").ok_or("its host")?.to_owned();
        let version = value("LLVM version:").ok_or("the version of its LLVM")?;
        let major = version.split('.').next().and_then(|major| major.parse().ok());
        Ok(Rustc { host, llvm_major: major.ok_or("the version of its LLVM")? })
    }
}

/// Probes are for one system and processor.
pub(crate) fn check_target(target: &str) -> Result<(), Error> {
    if target.starts_with("x86_64-") && target.contains("-linux-") {
        return Ok(());
    }
    Err(Error::Target(target.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read() {
        let said = "rustc 1.95.0 (59807616e 2026-04-14)\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n\
                    LLVM version: 22.1.2\n";
        let rustc = Rustc { host: "x86_64-unknown-linux-gnu".to_owned(), llvm_major: 22 };
        assert_eq!(Rustc::parse(said), Ok(rustc));
        assert_eq!(Rustc::parse("host: a\n"), Err("the version of its LLVM"));
    }

    #[test]
    fn other_targets_are_refused() {
        assert!(check_target("x86_64-unknown-linux-musl").is_ok());
        let error = check_target("aarch64-unknown-linux-gnu").unwrap_err();
        assert_eq!(error.to_string(), "there are no probes for `aarch64-unknown-linux-gnu`");
    }
}
