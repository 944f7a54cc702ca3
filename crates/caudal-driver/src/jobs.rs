//! Clang's own plan for a call, as `-###` prints it: options come to clang also from places that its command line does not show
//! (configuration files, `--config`, `CCC_OVERRIDE_OPTIONS`). `cc` runs clang with `-###` for each call that links, and `call` and
//! `linked` look up the linker's options in what came out.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::DriverError;
use crate::words::{expand, response_file, split};

/// The call of the linker at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkJob {
    /// The program.
    pub linker: PathBuf,
    /// Its arguments, response files expanded.
    pub words: Vec<OsString>,
}

/// The link that clang would call for `words`; `None` if the call does not link, or if clang refuses it, which it will say again when it
/// is called.
///
/// # Errors
/// If clang can not be run.
pub fn link_job(clang: &Path, is_cxx: bool, words: &[OsString]) -> Result<Option<LinkJob>, DriverError> {
    let mut all = vec![OsString::from("-###")];
    if is_cxx {
        all.insert(0, "--driver-mode=g++".into());
    }
    all.extend_from_slice(words);
    let file = response_file(&all)?;
    let mut at = OsString::from("@");
    at.push(file.path());
    let not_run = |source| DriverError::NotRun { program: clang.to_owned(), source };
    let output = Command::new(clang).arg(at).env("LC_ALL", "C").output().map_err(not_run)?;
    Ok(if output.status.success() { last_job(&output.stderr) } else { None })
}

/// The last job in clang's output: each job is a line of quoted words that begins with a blank.
fn last_job(said: &[u8]) -> Option<LinkJob> {
    let mut jobs = said.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b" \""));
    let mut words = split(jobs.next_back()?).into_iter();
    let linker = PathBuf::from(words.next()?);
    let words: Vec<OsString> = words.collect();
    let is_compilers = words.first().is_some_and(|first| first.as_bytes().starts_with(b"-cc1"));
    (!is_compilers).then(|| LinkJob { linker, words: expand(words).words })
}

/// An input, as the linker would find it.
impl LinkJob {
    /// The file that it writes.
    pub fn output(&self) -> PathBuf {
        let at = self.words.iter().position(|word| word == "-o");
        at.and_then(|at| self.words.get(at + 1)).map_or_else(|| PathBuf::from("a.out"), PathBuf::from)
    }

    /// Whether one of its words is `word`.
    pub fn has(&self, word: &str) -> bool {
        self.words.iter().any(|known| known == word)
    }

    /// The files that go in, as far as they are found: named ones, and libraries in the directories that the linker is given.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let directories: Vec<&OsStr> = self.words.iter().filter_map(|word| after(word, "-L")).collect();
        let mut inputs = Vec::new();
        let mut prefers_static = false;
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            match word.to_str() {
                Some(
                    "-o" | "-m" | "-z" | "-dynamic-linker" | "-plugin" | "-e" | "-u" | "-soname" | "-rpath"
                    | "-T",
                ) => {
                    words.next();
                }
                Some("-static" | "-Bstatic" | "-dn" | "-non_shared") => prefers_static = true,
                Some("-Bdynamic" | "-dy" | "-call_shared") => prefers_static = false,
                _ => match after(word, "-l") {
                    Some(name) => inputs.extend(library(&directories, name, prefers_static)),
                    None if !word.as_bytes().starts_with(b"-") => inputs.push(PathBuf::from(word)),
                    None => {}
                },
            }
        }
        inputs.retain(|input| input.is_file());
        inputs
    }
}

fn after<'a>(word: &'a OsStr, option: &str) -> Option<&'a OsStr> {
    let rest = word.as_bytes().strip_prefix(option.as_bytes())?;
    (!rest.is_empty()).then(|| OsStr::from_bytes(rest))
}

/// Where `-lNAME` or `-l:FILE` is.
fn library(directories: &[&OsStr], name: &OsStr, prefers_static: bool) -> Option<PathBuf> {
    let named = |ending: &[u8]| OsString::from_vec([b"lib", name.as_bytes(), ending].concat());
    let names = match after(name, ":") {
        Some(file) => vec![file.to_owned()],
        None if prefers_static => vec![named(b".a")],
        None => vec![named(b".so"), named(b".a")],
    };
    let mut places = directories
        .iter()
        .flat_map(|directory| names.iter().map(move |name| Path::new(directory).join(name)));
    places.find(|place| place.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_job_is_the_linkers() {
        let said = b"clang version 22\nTarget: x\n \"/usr/bin/clang\" \"-cc1\" \"a.c\"\n \"/usr/bin/ld\" \"-o\" \"a b\" \"x\\\"y.o\"\n";
        let job = last_job(said).unwrap();
        assert_eq!(job.linker, Path::new("/usr/bin/ld"));
        assert_eq!(job.words, ["-o", "a b", "x\"y.o"]);
        assert_eq!(job.output(), Path::new("a b"));
        assert_eq!(last_job(b" \"/usr/bin/clang\" \"-cc1\" \"a.c\"\n"), None);
        assert_eq!(last_job(b"clang: error: no input files\n"), None);
    }

    #[test]
    fn inputs_are_files_and_libraries() {
        let place = tempfile::tempdir().unwrap();
        for name in ["a.o", "libx.a", "libx.so", "odd"] {
            std::fs::write(place.path().join(name), "").unwrap();
        }
        let directory = place.path().display();
        let line = format!(
            "-o out -L{directory} {directory}/a.o -lx -Bstatic -lx -l:odd -lnowhere {directory}/none.o"
        );
        let job = LinkJob { linker: "ld".into(), words: line.split(' ').map(OsString::from).collect() };
        let names: Vec<_> = job.inputs().iter().map(|file| file.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["a.o", "libx.so", "libx.a", "odd"]);
    }
}
