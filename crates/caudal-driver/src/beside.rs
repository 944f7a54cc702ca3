//! A directory with the plugin and its options, from which linkers load it. `cc` makes it before an optimising link, and `compose` names
//! it in clang's command line. It creates the directory below the user's cache; directories stay.
//!
//! ```text
//! <place>/pass-<hash>/libcaudal-pass-22.so          a link to the plugin
//!                     libcaudal-pass-22.so.options  what it reads there
//! ```
//!
//! The hash is of the plugin, the options, and the file of functions to leave alone: another of either is another path, so that
//! whatever depends on command lines is built anew. Directories stay, so that `-v` and `-###` print commands that can be repeated.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::error::DriverError;
use crate::plugin::Plugin;
use crate::probes::Probes;

/// Place of such directories.
#[derive(Debug)]
pub enum Place {
    /// A directory that stays, for all calls of this user.
    Kept(PathBuf),
    /// A directory that is removed with this value: for options that name a file of this call, and where nothing can be kept.
    OfThisCall(TempDir),
}

impl Place {
    /// The user's cache, or where there is none a place for this call.
    ///
    /// # Errors
    /// There is no place at all.
    pub fn for_calls() -> Result<Place, DriverError> {
        match cache_directory() {
            Ok(directory) if fs::create_dir_all(&directory).is_ok() && is_writable(&directory) => {
                Ok(Place::Kept(directory))
            }
            _ => Place::of_this_call(),
        }
    }

    /// # Errors
    /// There is no place.
    pub fn of_this_call() -> Result<Place, DriverError> {
        let temporary = std::env::temp_dir();
        let directory =
            tempfile::Builder::new().prefix("caudal-").tempdir().map_err(DriverError::at(&temporary))?;
        Ok(Place::OfThisCall(directory))
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        match self {
            Place::Kept(path) => path,
            Place::OfThisCall(directory) => directory.path(),
        }
    }

    /// Is it removed when the call is done?
    pub fn is_of_this_call(&self) -> bool {
        matches!(self, Place::OfThisCall(_))
    }
}

fn is_writable(directory: &Path) -> bool {
    tempfile::tempfile_in(directory).is_ok()
}

/// The user's cache, by the XDG base directories.
///
/// # Errors
/// Nothing says where that is.
pub fn cache_directory() -> Result<PathBuf, DriverError> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    Ok(cache.ok_or(DriverError::NoCache)?.join("caudal"))
}

/// Hash of `parts`, each with its length, in 16 hexadecimal digits.
pub fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The plugin, as it is to be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The link beside which the options are.
    pub plugin: PathBuf,
    /// The name of its directory.
    pub hash: String,
}

impl Beside {
    /// Makes the directory, if there is none yet.
    ///
    /// # Errors
    /// Files that can not be read or written.
    pub fn make(
        place: &Path,
        plugin: &Plugin,
        probes: &Probes,
        report: Option<&Path>,
    ) -> Result<Beside, DriverError> {
        let options = probes.text(report)?;
        let excluded = probes.exclude.as_deref().map(read).transpose()?.unwrap_or_default();
        let path = plugin.path.as_os_str().as_encoded_bytes();
        let hash = digest(&[path, &read(&plugin.path)?, options.as_bytes(), &excluded]);
        let directory = place.join(format!("pass-{hash}"));
        let name = plugin.path.file_name().unwrap_or_default();
        if !directory.is_dir() {
            fill(place, &directory, plugin, &options)?;
        }
        Ok(Beside { plugin: directory.join(name), hash })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, DriverError> {
    fs::read(path).map_err(DriverError::at(path))
}

/// Makes the directory at once by a rename: several calls may make the same one, and the first one stays.
fn fill(place: &Path, directory: &Path, plugin: &Plugin, options: &str) -> Result<(), DriverError> {
    let new = tempfile::Builder::new().prefix("new-").tempdir_in(place).map_err(DriverError::at(place))?;
    let link = new.path().join(plugin.path.file_name().unwrap_or_default());
    symlink(&plugin.path, &link).map_err(DriverError::at(&link))?;
    let mut file = link.into_os_string();
    file.push(".options");
    let file = PathBuf::from(file);
    fs::write(&file, options).map_err(DriverError::at(&file))?;
    match fs::rename(new.path(), directory) {
        Ok(()) => drop(new.keep()),
        Err(_) if directory.is_dir() => {}
        Err(error) => return Err(DriverError::Io { path: directory.to_owned(), source: error }),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probes::Mode;

    struct Setting {
        place: TempDir,
        plugin: Plugin,
    }

    fn setting() -> Setting {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("libcaudal-pass-22.so");
        fs::write(&path, "one").unwrap();
        Setting { place, plugin: Plugin { path, major: 22 } }
    }

    fn made(setting: &Setting, probes: &Probes) -> Beside {
        Beside::make(setting.place.path(), &setting.plugin, probes, None).unwrap()
    }

    #[test]
    fn the_plugin_finds_its_options_beside_it() {
        let setting = setting();
        let beside = made(&setting, &Probes { mode: Some(Mode::Flag), ..Probes::default() });
        assert_eq!(fs::read_to_string(&beside.plugin).unwrap(), "one");
        let options = beside.plugin.with_extension("so.options");
        assert_eq!(fs::read_to_string(options).unwrap(), "mode=flag");
    }

    #[test]
    fn what_changes_has_another_path_and_what_does_not_has_the_same() {
        let setting = setting();
        let plain = Probes::default();
        let first = made(&setting, &plain);
        assert_eq!(made(&setting, &plain), first);
        let bound = Probes { bound_cycles: Some(300), ..Probes::default() };
        assert_ne!(made(&setting, &bound), first);
        fs::write(&setting.plugin.path, "two").unwrap();
        assert_ne!(made(&setting, &plain), first);
    }

    #[test]
    fn names_to_leave_alone_are_read() {
        let setting = setting();
        let list = setting.place.path().join("list");
        fs::write(&list, "f\n").unwrap();
        let probes = Probes { exclude: Some(list.clone()), ..Probes::default() };
        let first = made(&setting, &probes);
        fs::write(&list, "g\n").unwrap();
        assert_ne!(made(&setting, &probes), first);
        fs::remove_file(&list).unwrap();
        let error = Beside::make(setting.place.path(), &setting.plugin, &probes, None).unwrap_err();
        assert!(error.to_string().starts_with(&list.display().to_string()));
    }
}
