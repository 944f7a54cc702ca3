//! A directory with the settings of links, whose path stands in rustc's flags. Its name is a hash of everything that a link depends on, so that a
//! change makes cargo build anew. The program's `main` makes and fills it before it calls cargo; `link` reads the options there at each link.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use caudal_driver::toolchain::Tool;
use caudal_driver::{Own, Plugin, Report, cache_directory, digest};

use crate::error::Error;

/// The name by which rustc calls this program. It says that the program takes clang's arguments.
pub(crate) const LINKER: &str = "caudal-clang";
/// The file with the linker's options, as a response file.
pub(crate) const OPTIONS: &str = "link.rsp";
/// Name of the variable with the path of the report file, which `cargo caudal --probe-report` sets, and reads after the build.
pub(crate) const REPORT_VARIABLE: &str = "CAUDAL_LINK_REPORT";
/// The file with the list of exclusions as it was when the hash was made.
pub(crate) const LIST: &str = "list";

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
}

impl Directory {
    pub(crate) fn make(own: &Own, plugin: &Plugin, clang: &Tool, lld: &Tool) -> Result<Directory, Error> {
        let program = std::env::current_exe().map_err(at(Path::new("cargo-caudal")))?;
        let options = options(own, plugin, clang, lld);
        let list = own.probes.exclude.as_deref().map(read).transpose()?;
        let mut parts = vec![read(&plugin.path)?, program.as_os_str().as_encoded_bytes().to_vec()];
        parts.extend(options.iter().map(|word| word.as_encoded_bytes().to_vec()));
        parts.extend(list.clone());
        let hash = digest(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let path = cache_directory()?.join(format!("cargo-{hash}"));
        if !path.join(OPTIONS).exists() {
            fill(&path, &program, &options, list.as_deref())?;
        }
        Ok(Directory { path })
    }

    /// The flags for rustc.
    pub(crate) fn flags(&self) -> Vec<String> {
        let linker = self.path.join(LINKER);
        vec!["-Clinker-plugin-lto".to_owned(), format!("-Clinker={}", linker.display())]
    }
}

fn options(own: &Own, plugin: &Plugin, clang: &Tool, lld: &Tool) -> Vec<OsString> {
    let joined = |option: &str, path: &Path| {
        let mut word = OsString::from(option);
        word.push(path);
        word
    };
    let mut words = vec![
        joined("--plugin=", &plugin.path),
        joined("--clang=", &clang.path),
        joined("--ld-path=", &lld.path),
    ];
    if let Report::Lines(file) = &own.probes.report {
        words.push(joined("--probe-report=", file));
    }
    words.extend(own.probes.exclude.as_deref().map(|file| joined("--probe-exclude=", file)));
    words.extend(own.probes.words().into_iter().map(OsString::from));
    words
}

/// Fills the directory; the file that is written last shows that the directory is complete. Builds that run at the same time write the same files.
fn fill(path: &Path, program: &Path, options: &[OsString], list: Option<&[u8]>) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|source| Error::Cache { path: path.to_owned(), source })?;
    let linker = path.join(LINKER);
    match symlink(program, &linker) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(at(&linker)(error)),
        _ => {}
    }
    if let Some(list) = list {
        let copy = path.join(LIST);
        fs::write(&copy, list).map_err(at(&copy))?;
    }
    let file = caudal_driver::response_file(options)?;
    let to = path.join(OPTIONS);
    fs::copy(file.path(), &to).map(drop).map_err(at(&to))
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(at(path))
}

fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Error + '_ {
    move |source| Error::Io { path: path.to_owned(), source }
}
