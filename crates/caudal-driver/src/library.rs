//! The files of the probe library that belong to this driver. `cc` finds them once for each link; `compose` puts them into the link, and
//! `linked` reads their names. It looks for files beside the program.

use std::path::{Path, PathBuf};

use crate::error::DriverError;

/// The files of the probe library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// Whole, in objects.
    pub objects: [PathBuf; 2],
    /// The same as an archive.
    pub archive: PathBuf,
    /// The object that each module has for itself.
    pub module: PathBuf,
}

/// The probe library: installed, in the place that goes with this program's, else where it was built.
///
/// # Errors
/// It is in none of these places.
pub fn probe_library() -> Result<Library, DriverError> {
    const NAME: &str = "libcaudal_probe.a";
    let program = std::env::current_exe().unwrap_or_default();
    let installed = program.parent().unwrap_or(Path::new(".")).join("../lib");
    let built = PathBuf::from(env!("CAUDAL_PROBE_LIB"));
    // An installation has what only drivers use beside the plugin.
    let places = [(installed.clone(), installed.join("caudal")), (built.clone(), built)];
    let found = places.iter().find_map(|(archive, others)| {
        let file = |directory: &Path, name: &str| directory.join(name).canonicalize().ok();
        Some(Library {
            archive: file(archive, NAME)?,
            objects: [file(others, "caudal_probe.o")?, file(others, "caudal_wrap.o")?],
            module: file(others, "libcaudal_module.a")?,
        })
    });
    found.ok_or_else(|| DriverError::NoProbeLibrary(places.map(|(archive, _)| archive.join(NAME)).to_vec()))
}
