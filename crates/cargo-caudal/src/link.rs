//! The program as rustc's linker: it calls clang and lld with the pass, and then checks that the pass reached every module. rustc starts
//! it once for each link, by the name `caudal-clang`, and `main` recognises that name. It runs clang and writes the linked file.

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use caudal_driver::call::{Call, Output};
use caudal_driver::{Archive, Beside, Expanded, Own, Place, Plugin, Report, Setting};
use caudal_driver::{cc, compose, exit_code, expand, probe_library, run_clang, show_probes};

use crate::archive;
use crate::cache::{Cache, Run};
use crate::directory::{OPTIONS, REPORT_VARIABLE};
use crate::error::{Error, complain};

const NAME: &str = "cargo caudal, at the link";

/// Runs the linker; `program` is the path that rustc called us by.
pub(crate) fn main(program: &Path, args: Vec<OsString>) -> ExitCode {
    match link(program.parent().unwrap_or(Path::new(".")), args) {
        Ok(status) => exit_code(status),
        Err(error) => complain(NAME, &error),
    }
}

fn link(directory: &Path, args: Vec<OsString>) -> Result<ExitStatus, Error> {
    let mut file = OsString::from("@");
    file.push(directory.join(OPTIONS));
    let (own, ours) = Own::take(expand(vec![file]).words)?;
    let Expanded { mut words, .. } = expand(args);
    words.extend(ours);
    let clang = own.clang.clone().unwrap_or_else(|| "clang".into());
    if own.probes.off {
        return Ok(run_clang(&clang, words)?);
    }
    let call = Call::read(&words);
    let place = Place::of_this_call()?;
    let report = place.path().join("report.jsonl");
    if call.output == Output::Executable {
        show_probes(&mut words, place.path())?;
    }
    let setting = setting(&own, &call, &place, &report)?;
    let run = |more: Vec<OsString>| {
        let words = [words.clone(), more].concat();
        let status = run_clang(&clang, compose(&call, &setting, words))?;
        Ok(Run { status, report: fs::read(&report).unwrap_or_default() })
    };
    let (done, is_kept) = match Cache::of(directory, &own, call.output) {
        Some(cache) => cache.run(run)?,
        None => (run(Vec::new())?, false),
    };
    if done.status.success() {
        check(&words, is_kept || !done.report.is_empty())?;
        hand_on(&own, &done.report)?;
    }
    Ok(done.status)
}

fn setting(own: &Own, call: &Call, place: &Place, report: &Path) -> Result<Setting, Error> {
    let path = own.plugin.clone().unwrap_or_default();
    let plugin = Plugin::named(&path)?;
    let link = Beside::make(place.path(), &plugin, &cc::for_link(own.probes.clone(), call), Some(report))?;
    // C's library stands in rustc's own arguments, behind everything, so the probe library's needs are met.
    let library = probe_library()?;
    Ok(Setting { cxx: false, compile: None, link, library, archive: Archive::Whole, shown: None })
}

/// Checks that the pass ran (`has_pass`), and that it has seen all that went into the link.
fn check(words: &[OsString], has_pass: bool) -> Result<(), Error> {
    let files = words.iter().map(Path::new).filter(|file| !is_of_toolchain(file));
    let modules: Vec<_> = files.flat_map(archive::modules).collect();
    if modules.is_empty() {
        return Ok(());
    }
    let without: Vec<String> =
        modules.iter().filter(|module| !module.is_bitcode).map(|module| module.name.clone()).collect();
    if !without.is_empty() {
        return Err(Error::ModulesWithoutPass { modules: without });
    }
    if !has_pass {
        return Err(Error::NoPass(output(words)));
    }
    Ok(())
}

/// Whether the file belongs to the toolchain: its standard library is machine code. `--fat` takes its bitcode instead.
fn is_of_toolchain(file: &Path) -> bool {
    file.components().any(|part| part.as_os_str() == "rustlib")
}

fn output(words: &[OsString]) -> PathBuf {
    let name = words.iter().position(|word| word == OsStr::new("-o")).and_then(|at| words.get(at + 1));
    name.map(PathBuf::from).unwrap_or_default()
}

/// Appends the whole report to the file of the build in one write, because links run at the same time.
fn hand_on(own: &Own, report: &[u8]) -> Result<(), Error> {
    let file = match &own.probes.report {
        Report::Lines(file) => Some(file.clone()),
        _ => None,
    };
    let above = std::env::var_os(REPORT_VARIABLE).map(PathBuf::from);
    for path in file.into_iter().chain(above) {
        let io = |source| Error::Io { path: path.clone(), source };
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(io)?;
        file.write_all(report).map_err(io)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(content: &[u8], directory: &str, has_pass: bool) -> Result<(), String> {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join(directory).join("app.1.rcgu.o");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, content).unwrap();
        let words = [file.into_os_string(), "-o".into(), "app".into()];
        check(&words, has_pass).map_err(|error| error.to_string())
    }

    #[test]
    fn modules_without_the_pass_are_found() {
        let (bitcode, machine_code) = (b"BC\xc0\xde", b"\x7fELF");
        assert_eq!(checked(bitcode, "deps", true), Ok(()));
        assert_eq!(checked(bitcode, "deps", false), Err("no module of `app` got the pass".to_owned()));
        assert_eq!(checked(machine_code, "deps", true), Err("a module got no pass: app.1.rcgu.o".to_owned()));
        assert_eq!(checked(machine_code, "lib/rustlib/x/lib", false), Ok(()));
    }
}
