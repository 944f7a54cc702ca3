//! Finds clang and lld, and their version of LLVM. The drivers and `cargo caudal` ask for them once in each call, before
//! anything is compiled or linked. It runs clang and lld to ask for their versions.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::beside::{cache_directory, digest};
use crate::error::DriverError;
use crate::plugin::Plugin;

const NAMES: [&str; 3] = ["clang-22", "clang-19", "clang"];

/// A program of LLVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The file.
    pub path: PathBuf,
    /// The major version of LLVM that it is of.
    pub major: u32,
}

/// The clang to use: the given one, else the first on PATH that there is a plugin for; where there is none, the first.
///
/// # Errors
/// There is no clang, or what was given is none.
pub fn clang(given: Option<&Path>, plugin: Option<&Path>) -> Result<Tool, DriverError> {
    if let Some(given) = given {
        return version(&on_path(given).unwrap_or_else(|| given.to_owned()), "clang");
    }
    let mut first = None;
    for path in NAMES.iter().filter_map(|name| on_path(Path::new(name))) {
        let clang = version(&path, "clang")?;
        if Plugin::exists(plugin, clang.major) {
            return Ok(clang);
        }
        first.get_or_insert(clang);
    }
    first.ok_or_else(|| DriverError::NoClang(NAMES.join(", ")))
}

/// The lld that `clang` calls, or the one that was named by its path.
///
/// # Errors
/// There is none, or it is of another version than the plugin.
pub fn lld(clang: &Tool, named: Option<&Path>) -> Result<Tool, DriverError> {
    let path = match named {
        Some(path) if path.components().count() > 1 => path.to_owned(),
        _ => beside_clang(clang)?,
    };
    let lld = version(&path, "lld")?;
    if lld.major != clang.major {
        return Err(DriverError::LldMajor { lld: path, has: lld.major, major: clang.major });
    }
    Ok(lld)
}

fn beside_clang(clang: &Tool) -> Result<PathBuf, DriverError> {
    let missing = || DriverError::NoLld { clang: clang.path.clone(), major: clang.major };
    let said = said(&clang.path, "-print-prog-name=ld.lld")?;
    on_path(Path::new(said.trim())).ok_or_else(missing)
}

/// A program by its path, or by its name on PATH.
fn on_path(name: &Path) -> Option<PathBuf> {
    let is_program =
        |path: &PathBuf| path.metadata().is_ok_and(|file| file.is_file() && file.mode() & 0o111 != 0);
    if name.components().count() > 1 {
        return Some(name.to_owned()).filter(is_program);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(is_program)
}

/// Asks a program for its version, or remembers what the same file said before: build systems call compilers thousands of
/// times, and starting a clang to ask it takes as long as compiling a small file.
fn version(path: &Path, what: &'static str) -> Result<Tool, DriverError> {
    let known = memory(path, what);
    if let Some(major) =
        known.as_ref().and_then(|file| fs::read_to_string(file).ok()).and_then(|text| text.parse().ok())
    {
        return Ok(Tool { path: path.to_owned(), major });
    }
    let said = said(path, "--version")?;
    let Some(major) = major_in(&said, what) else {
        let said = said.lines().next().unwrap_or_default().to_owned();
        return Err(DriverError::NotClang { program: path.to_owned(), what, said });
    };
    if let Some(file) = known {
        remember(&file, major);
    }
    Ok(Tool { path: path.to_owned(), major })
}

fn said(program: &Path, argument: &str) -> Result<String, DriverError> {
    let not_run = |source| DriverError::NotRun { program: program.to_owned(), source };
    let output = Command::new(program).arg(argument).env("LC_ALL", "C").output().map_err(not_run)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// `Debian clang version 22.1.8 (...)`, `Debian LLD 22.1.8 (...)`.
fn major_in(said: &str, what: &str) -> Option<u32> {
    let words: Vec<&str> = said.lines().next()?.split_whitespace().collect();
    let at = words.iter().position(|word| word.eq_ignore_ascii_case(what))?;
    let number = words[at + 1..].iter().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    number.split('.').next()?.parse().ok()
}

/// Where the version of a file is kept: by its path, and by all that changes when another takes its place.
fn memory(path: &Path, what: &str) -> Option<PathBuf> {
    let file = path.metadata().ok()?;
    let identity = format!("{what} {} {} {} {}", file.ino(), file.size(), file.mtime(), file.mtime_nsec());
    let key = digest(&[path.as_os_str().as_encoded_bytes(), identity.as_bytes()]);
    Some(cache_directory().ok()?.join(format!("version-{key}")))
}

/// Keeps the answer for later calls. If that fails, they ask again. Calls side by side write the same, each in one piece.
fn remember(file: &Path, major: u32) {
    let Some(directory) = file.parent() else { return };
    let _ = fs::create_dir_all(directory);
    if let Ok(new) = tempfile::NamedTempFile::new_in(directory) {
        let _ = fs::write(new.path(), major.to_string());
        let _ = new.persist(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        for (said, what, major) in [
            ("Debian clang version 22.1.8 (1~deb12u1)\nTarget: x86_64-pc-linux-gnu", "clang", Some(22)),
            ("Ubuntu clang version 19.1.1 (1ubuntu1)", "clang", Some(19)),
            ("clang version 22.0.0git (https://example.org 1234)", "clang", Some(22)),
            ("Debian LLD 22.1.8 (compatible with GNU linkers)", "lld", Some(22)),
            ("LLD 19.1.7 (compatible with GNU linkers)", "lld", Some(19)),
            ("cc (Debian 12.2.0-14) 12.2.0", "clang", None),
            ("", "clang", None),
        ] {
            assert_eq!(major_in(said, what), major, "{said}");
        }
    }
}
