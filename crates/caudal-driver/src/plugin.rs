//! Finds the plugin for the exact version of LLVM that will load it, because a plugin for another version crashes the compiler. The drivers
//! and `cargo caudal` call [`Plugin::find`] once for each call, when they know their compiler. It only looks at names of files.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::DriverError;
use crate::majors::MAJORS;

/// A plugin whose file exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    /// The file.
    pub path: PathBuf,
    /// The version of LLVM that it is for.
    pub major: u32,
}

impl Plugin {
    /// The plugin for LLVM `major`, the version of `compiler`: the given one, else one beside this program.
    ///
    /// # Errors
    /// If there is none, or the given one is for another version.
    pub fn find(given: Option<&Path>, compiler: &Path, major: u32) -> Result<Plugin, DriverError> {
        let plugin = match given {
            Some(path) => Plugin::given(path, compiler, major),
            None => Plugin::beside(&directories(), compiler, major),
        }?;
        if is_shared_object(&plugin.path) { Ok(plugin) } else { Err(DriverError::PluginDamaged(plugin.path)) }
    }

    /// The plugin at `path`, for the version of LLVM in its name.
    ///
    /// # Errors
    /// If the file does not exist, or there is no version in its name.
    pub fn named(path: &Path) -> Result<Plugin, DriverError> {
        let path = path.canonicalize().map_err(|_| DriverError::PluginMissing(path.to_owned()))?;
        let major = major_of(&path).ok_or_else(|| DriverError::PluginName(path.clone()))?;
        Ok(Plugin { path, major })
    }

    fn given(path: &Path, compiler: &Path, major: u32) -> Result<Plugin, DriverError> {
        let plugin = Plugin::named(path)?;
        if plugin.major != major {
            let Plugin { path, major: plugin } = plugin;
            return Err(DriverError::PluginMajor { path, plugin, compiler: compiler.to_owned(), major });
        }
        Ok(plugin)
    }

    fn beside(directories: &[PathBuf], compiler: &Path, major: u32) -> Result<Plugin, DriverError> {
        let tried: Vec<_> = directories.iter().map(|directory| directory.join(file_name(major))).collect();
        if let Some(path) = tried.iter().find_map(|path| path.canonicalize().ok()) {
            return Ok(Plugin { path, major });
        }
        let is_there =
            |other: &u32| directories.iter().any(|directory| directory.join(file_name(*other)).exists());
        let others = MAJORS.into_iter().filter(is_there).collect();
        Err(DriverError::NoPlugin { compiler: compiler.to_owned(), major, others, tried })
    }

    /// Whether there is a plugin for `major`, for the choice of a compiler.
    pub(crate) fn exists(given: Option<&Path>, major: u32) -> bool {
        match given {
            Some(path) => major_of(path) == Some(major),
            None => directories().iter().any(|directory| directory.join(file_name(major)).exists()),
        }
    }
}

/// Whether the file is a shared object. This is checked here because a compiler that fails to load the plugin names the link by which it was
/// given, and not this file.
fn is_shared_object(path: &Path) -> bool {
    let mut magic = [0; 4];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == *b"\x7fELF"
}

fn file_name(major: u32) -> String {
    format!("libcaudal-pass-{major}.so")
}

/// The version of LLVM in the name of the file; the file itself says it only when it is loaded.
fn major_of(path: &Path) -> Option<u32> {
    path.file_name()?.to_str()?.strip_prefix("libcaudal-pass-")?.strip_suffix(".so")?.parse().ok()
}

/// The directories that are searched: the one of this program, as after a build, and the ones of an installation.
fn directories() -> Vec<PathBuf> {
    let program = std::env::current_exe().unwrap_or_default();
    let beside = program.parent().unwrap_or(Path::new(".")).to_owned();
    let installed = beside.join("../lib/caudal");
    vec![beside, installed]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory_with(names: &[&str]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        directory
    }

    fn beside(names: &[&str], major: u32) -> Result<Plugin, DriverError> {
        let directory = directory_with(names);
        Plugin::beside(&[directory.path().to_owned()], Path::new("clang"), major)
    }

    #[test]
    fn the_one_of_the_compilers_version_is_taken() {
        assert_eq!(beside(&["libcaudal-pass-19.so", "libcaudal-pass-22.so"], 22).unwrap().major, 22);
        assert_eq!(beside(&["libcaudal-pass-19.so", "libcaudal-pass-22.so"], 19).unwrap().major, 19);
    }

    #[test]
    fn an_error_names_packages_and_the_make_target() {
        let error = beside(&[], 22).unwrap_err();
        assert_eq!(error.to_string(), "no plugin for LLVM 22, which `clang` is of");
        let help = "apt-get install clang-22 lld-22 llvm-22-dev, then `make pass LLVM=22` in a clone of Caudal; \
                    it was looked for as `";
        assert!(error.help().starts_with(help), "{}", error.help());
    }

    #[test]
    fn an_error_names_the_plugin_that_is_there() {
        let error = beside(&["libcaudal-pass-22.so"], 14).unwrap_err();
        let said = "no plugin for LLVM 14, which `clang` is of; there is one for LLVM 22";
        assert_eq!(error.to_string(), said);
        assert!(error.help().ends_with("--clang=clang-22 (apt-get install clang-22 lld-22 llvm-22-dev)"));
    }

    #[test]
    fn a_given_one_must_fit() {
        let directory = directory_with(&["libcaudal-pass-19.so", "pass.so"]);
        let given =
            |name: &str| Plugin::given(&directory.path().join(name), Path::new("clang-22"), 22).unwrap_err();
        assert!(matches!(
            given("libcaudal-pass-19.so"),
            DriverError::PluginMajor { plugin: 19, major: 22, .. }
        ));
        assert!(matches!(given("pass.so"), DriverError::PluginName(_)));
        assert!(matches!(given("libcaudal-pass-22.so"), DriverError::PluginMissing(_)));
    }

    #[test]
    fn a_damaged_one_is_named_as_it_was_given() {
        let directory = directory_with(&["libcaudal-pass-22.so"]);
        let path = directory.path().join("libcaudal-pass-22.so");
        let error = Plugin::find(Some(&path), Path::new("clang-22"), 22).unwrap_err();
        assert_eq!(error.to_string(), format!("`{}` is damaged: it is no shared object", path.display()));
    }
}
