//! The cache of modules that the linker has compiled with the pass, kept for the next link that has the same modules, so that an edit
//! compiles only what it changed. `link` opens it before each link and updates it afterwards. It creates, links and removes files in the
//! cache directory.
//!
//! ```text
//!  <cache>/cargo-<hash>/modules-program    modules that earlier links have compiled with the pass
//!                       link-XXXXXX        for this link: the same files; the linker adds modules that are missing
//!                                          if the report says that the pass ran, the added ones move to modules-program
//! ```
//!
//! The hash is of the plugin, its options and its list of exclusions, so all modules of a directory were compiled by the same pass. Shared objects
//! have a directory of their own, because their code reaches the thread's lines in another way. A link whose list has changed meanwhile keeps
//! nothing. A link that fails, is killed, or whose modules the pass did not see, leaves nothing that another link would take. Links that run at the
//! same time do not see each other's files.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, SystemTime};

use caudal_driver::call::Output;
use caudal_driver::{Own, Report};
use tempfile::TempDir;

use crate::directory::{LIST, REPORT_VARIABLE};
use crate::error::Error;

/// How long something is kept that no link has asked for.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long the directory of a link that was killed stays.
const LEFT: Duration = Duration::from_secs(24 * 3600);

/// How the linker ended, and what the pass says that it saw.
pub(crate) struct Run {
    pub(crate) status: ExitStatus,
    pub(crate) report: Vec<u8>,
}

/// See the [module](self).
pub(crate) struct Cache {
    kept: PathBuf,
    /// This link's.
    own: TempDir,
    /// The list of exclusions, which may be written to while cargo builds.
    list: Option<PathBuf>,
}

impl Cache {
    /// None where a report is wanted, which is of all modules; nor where nothing can be written, or the list is another by now.
    pub(crate) fn of(directory: &Path, own: &Own, output: Output) -> Option<Cache> {
        if own.probes.report != Report::None || std::env::var_os(REPORT_VARIABLE).is_some() {
            return None;
        }
        let kept = directory.join(match output {
            Output::Executable => "modules-program",
            Output::Shared => "modules-shared",
            Output::Relocatable => "modules-relocatable",
        });
        Cache::at(kept, own.probes.exclude.clone()).filter(Cache::has_its_list)
    }

    fn at(kept: PathBuf, list: Option<PathBuf>) -> Option<Cache> {
        fs::create_dir_all(&kept).ok()?;
        let place = kept.parent()?;
        remove_left(place);
        let own = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place).ok()?;
        Some(Cache { kept, own, list })
    }

    /// Whether the list is the one that the directory's hash is of.
    fn has_its_list(&self) -> bool {
        let known = self.kept.with_file_name(LIST);
        self.list.as_ref().is_none_or(|list| {
            fs::read(list).ok().is_some_and(|now| fs::read(known).is_ok_and(|was| was == now))
        })
    }

    /// Links with it; also whether all of the program was kept, of which there is no report.
    pub(crate) fn run(
        &self,
        link: impl Fn(Vec<OsString>) -> Result<Run, Error>,
    ) -> Result<(Run, bool), Error> {
        let given = self.give();
        let mut run = link(self.words())?;
        if !run.status.success() {
            return Ok((run, false));
        }
        let added: Vec<OsString> = names(self.own.path()).difference(&given).cloned().collect();
        if run.report.is_empty() {
            if added.is_empty() && !given.is_empty() {
                return Ok((run, true));
            }
            // What was compiled has no function, or the pass did not run: that shows when all is compiled.
            run = link(Vec::new())?;
        }
        if run.status.success() && !run.report.is_empty() && self.has_its_list() {
            for name in added {
                // One that another link has put there is the same.
                let _ = fs::rename(self.own.path().join(&name), self.kept.join(&name));
            }
        }
        Ok((run, false))
    }

    /// Puts what is kept into this link's directory, but what is too old, which goes.
    fn give(&self) -> BTreeSet<OsString> {
        let mut given = names(&self.kept);
        given.retain(|name| {
            let kept = self.kept.join(name);
            if is_older(&kept, KEPT) {
                let _ = fs::remove_file(&kept);
                return false;
            }
            fs::hard_link(&kept, self.own.path().join(name)).is_ok()
        });
        given
    }

    /// For clang; a word of its own may have commas in it.
    fn words(&self) -> Vec<OsString> {
        let mut directory = OsString::from("--thinlto-cache-dir=");
        directory.push(self.own.path());
        let policy =
            "--thinlto-cache-policy=prune_after=0h:cache_size=0%:cache_size_bytes=0:cache_size_files=0";
        vec!["-Xlinker".into(), directory, "-Xlinker".into(), policy.into()]
    }
}

const PREFIX: &str = "link-";

/// Removes what links that were killed have left in `place`.
fn remove_left(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes())
            && is_older(&entry.path(), LEFT)
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Of the linker's files.
fn names(directory: &Path) -> BTreeSet<OsString> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    names.filter(|name| name.as_encoded_bytes().starts_with(b"llvmcache-")).collect()
}

/// The linker notes when it has taken a file, as the time of its last access.
fn is_older(file: &Path, than: Duration) -> bool {
    let Ok(about) = fs::metadata(file) else { return false };
    let latest = [about.accessed(), about.modified()].into_iter().flatten().max();
    latest.is_some_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > than))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    /// A link that compiles `anew`, if it is to; what it ends with, how often the linker ran, and what is kept then.
    fn link(kept: &Path, anew: &str, has_pass: bool, succeeds: bool) -> (bool, u32, Vec<String>) {
        let cache = Cache::at(kept.to_owned(), None).unwrap();
        let links = Cell::new(0);
        let (run, is_kept) = cache
            .run(|words| {
                links.set(links.get() + 1);
                let file = cache.own.path().join(format!("llvmcache-{anew}"));
                let compiles = words.is_empty() || !(anew.is_empty() || file.exists());
                if !words.is_empty() && compiles {
                    fs::write(file, "").unwrap();
                }
                let report = if compiles && has_pass { b"{}".to_vec() } else { Vec::new() };
                Ok(Run { status: ExitStatus::from_raw(if succeeds { 0 } else { 256 }), report })
            })
            .unwrap();
        let names = names(kept).into_iter().map(|name| name.into_string().unwrap()).collect();
        (run.status.success() && (is_kept || !run.report.is_empty()), links.get(), names)
    }

    #[test]
    fn only_what_has_the_pass_is_kept() {
        let place = tempfile::tempdir().unwrap();
        let kept = place.path().join("modules");
        let one = vec!["llvmcache-a".to_owned()];
        assert_eq!(link(&kept, "a", true, false), (false, 1, vec![]), "a link that fails");
        assert_eq!(link(&kept, "a", false, true), (false, 2, vec![]), "the pass did not run");
        assert_eq!(
            link(&kept, "", true, true),
            (true, 2, vec![]),
            "nothing was kept, so nothing came from there"
        );
        assert_eq!(link(&kept, "a", true, true), (true, 1, one.clone()));
        assert_eq!(link(&kept, "a", true, true), (true, 1, one.clone()), "all was kept");
        assert_eq!(link(&kept, "b", false, true), (false, 2, one.clone()));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "links leave no directories");
    }

    #[test]
    fn what_nobody_asks_for_goes() {
        let place = tempfile::tempdir().unwrap();
        let kept = place.path().join("modules");
        link(&kept, "a", true, true);
        let file = fs::File::options().write(true).open(kept.join("llvmcache-a")).unwrap();
        let old = SystemTime::now() - 2 * KEPT;
        file.set_times(fs::FileTimes::new().set_accessed(old).set_modified(old)).unwrap();
        assert_eq!(link(&kept, "b", true, true), (true, 1, vec!["llvmcache-b".to_owned()]));
    }

    #[test]
    fn nothing_is_kept_under_another_list() {
        let place = tempfile::tempdir().unwrap();
        let (kept, list) = (place.path().join("modules"), place.path().join("mine.txt"));
        fs::write(&list, "leave a").unwrap();
        fs::write(place.path().join(LIST), "leave a").unwrap();
        let cache = Cache::at(kept.clone(), Some(list.clone())).unwrap();
        assert!(cache.has_its_list());
        let run = cache.run(|_| {
            fs::write(cache.own.path().join("llvmcache-a"), "").unwrap();
            fs::write(&list, "leave b").unwrap();
            Ok(Run { status: ExitStatus::from_raw(0), report: b"{}".to_vec() })
        });
        assert!(run.is_ok() && !cache.has_its_list() && names(&kept).is_empty());
    }
}
