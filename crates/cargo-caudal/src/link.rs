//! As rustc's linker: clang and lld with the pass, and then the question whether it got everywhere.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use caudal_driver::call::Call;
use caudal_driver::{Archive, Beside, Expanded, Own, Place, Plugin, Report, Setting};
use caudal_driver::{cc, compose, exit_code, expand, probe_library, run_clang};

use crate::archive;
use crate::directory::OPTIONS;
use crate::error::{Error, complain};

/// The file that a `cargo caudal --probe-report` above us reads afterwards.
pub(crate) const REPORT_VARIABLE: &str = "CAUDAL_LINK_REPORT";

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
    let setting = setting(&own, &call, &place, &report)?;
    let run = |more: Vec<OsString>| {
        let words = [words.clone(), more].concat();
        let status = run_clang(&clang, compose(&call, &setting, words))?;
        Ok(Run { status, report: fs::read(&report).unwrap_or_default() })
    };
    let (done, is_kept) = match Cache::of(directory, &own) {
        Some(cache) => cache.run(run)?,
        None => (run(Vec::new())?, false),
    };
    if done.status.success() {
        check(&words, is_kept || !done.report.is_empty())?;
        hand_on(&own, &done.report)?;
    }
    Ok(done.status)
}

/// How the linker ended, and what the pass says that it saw.
struct Run {
    status: ExitStatus,
    report: Vec<u8>,
}

/// What the linker keeps of modules that it has compiled with the pass, for the next link that has the same: an edit compiles
/// what it changes. The directory's name is a hash of the plugin and its options, so all in it is of these.
struct Cache(PathBuf);

impl Cache {
    /// None where a report is wanted, which is of all modules.
    fn of(directory: &Path, own: &Own) -> Option<Cache> {
        let is_reported = own.probes.report != Report::None || std::env::var_os(REPORT_VARIABLE).is_some();
        (!is_reported).then(|| Cache(directory.join("modules")))
    }

    /// Links with it; also whether all of the program was kept, of which there is no report.
    fn run(&self, link: impl Fn(Vec<OsString>) -> Result<Run, Error>) -> Result<(Run, bool), Error> {
        let kept = self.names();
        let run = link(self.words())?;
        if !run.status.success() || !run.report.is_empty() {
            return Ok((run, false));
        }
        if !kept.is_empty() && self.names().is_subset(&kept) {
            return Ok((run, true));
        }
        // Another link has added to it meanwhile, or the pass did not run on what was compiled: then that is not kept.
        let run = link(Vec::new())?;
        if run.report.is_empty() {
            self.forget();
        }
        Ok((run, false))
    }

    fn words(&self) -> Vec<OsString> {
        let mut directory = OsString::from("-Wl,--thinlto-cache-dir=");
        directory.push(&self.0);
        vec![directory, "-Wl,--thinlto-cache-policy=prune_after=168h:cache_size_bytes=2g".into()]
    }

    fn names(&self) -> BTreeSet<OsString> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name());
        names.filter(|name| name.as_encoded_bytes().starts_with(b"llvmcache-")).collect()
    }

    fn forget(&self) {
        // What is left of it is found out in the same way next time.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn setting(own: &Own, call: &Call, place: &Place, report: &Path) -> Result<Setting, Error> {
    let path = own.plugin.clone().unwrap_or_default();
    let plugin = Plugin::named(&path)?;
    let link = Beside::make(place.path(), &plugin, &cc::for_link(own.probes.clone(), call), Some(report))?;
    // C's library stands in rustc's own arguments, behind everything, so the probe library's needs are met.
    Ok(Setting {
        cxx: false,
        compile: link.clone(),
        link,
        library: probe_library()?,
        archive: Archive::Whole,
    })
}

/// Whether all that went into the link can have had the pass, and whether it ran (`has_pass`).
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

/// The standard library comes as machine code; `--fat` takes its bitcode instead.
fn is_of_toolchain(file: &Path) -> bool {
    file.components().any(|part| part.as_os_str() == "rustlib")
}

fn output(words: &[OsString]) -> PathBuf {
    let name = words.iter().position(|word| word == OsStr::new("-o")).and_then(|at| words.get(at + 1));
    name.map(PathBuf::from).unwrap_or_default()
}

/// The whole report in one write: links run side by side.
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

    /// What a link says, by whether it compiled something anew, with the cache and without.
    #[test]
    fn only_what_has_the_pass_is_kept() {
        use std::cell::Cell;
        use std::os::unix::process::ExitStatusExt;

        let place = tempfile::tempdir().unwrap();
        let cache = Cache(place.path().join("modules"));
        let links = Cell::new(0);
        // `anew`: the name of a module that is not there yet; `has_pass`: the pass runs.
        let link = |anew: Option<&str>, has_pass: bool| {
            links.set(0);
            let (run, is_kept) = cache
                .run(|words| {
                    links.set(links.get() + 1);
                    let caches = !words.is_empty();
                    if let Some(name) = anew.filter(|_| caches) {
                        fs::create_dir_all(&cache.0).unwrap();
                        fs::write(cache.0.join(format!("llvmcache-{name}")), "").unwrap();
                    }
                    let compiles = anew.is_some() || !caches;
                    let report = if compiles && has_pass { b"{}".to_vec() } else { Vec::new() };
                    Ok(Run { status: ExitStatus::from_raw(0), report })
                })
                .unwrap();
            (is_kept || !run.report.is_empty(), links.get(), cache.names().len())
        };
        assert_eq!(link(None, true), (true, 2, 0), "nothing was kept yet, so nothing came from there");
        assert_eq!(link(Some("a"), true), (true, 1, 1));
        assert_eq!(link(None, true), (true, 1, 1), "all was kept");
        assert_eq!(link(Some("b"), false), (false, 2, 0), "the pass did not run");
    }
}
