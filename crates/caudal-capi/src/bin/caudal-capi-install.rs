//! Installs the library for C and C++: `caudal-capi-install PREFIX`, after `cargo build -p caudal-capi` with the same profile.
//!
//! ```text
//! PREFIX/include/caudal/   caudal.h caudal.hpp probe.h
//! PREFIX/lib/              libcaudal.a libcaudal.so.1 libcaudal.so libcaudal_probe.a
//! PREFIX/lib/caudal/       what the compilers link beside or instead of it
//! PREFIX/lib/pkgconfig/    caudal.pc caudal-static.pc caudal-probe.pc
//! PREFIX/lib/cmake/Caudal/ caudal-config.cmake caudal-config-version.cmake
//! ```
//!
//! All of it finds itself by its own place: PREFIX may be moved. The shared library is linked here, from the static one: it has to
//! show the probe's symbols, which `cargo` would hide.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use caudal_capi::CAUDAL_ABI_VERSION;

const SOURCE: &str = env!("CARGO_MANIFEST_DIR");
const HEADERS: [&str; 2] = ["caudal.h", "caudal.hpp"];
const DRIVERS_FILES: [&str; 3] = ["caudal_probe.o", "caudal_wrap.o", "libcaudal_module.a"];
const PC_FILES: [&str; 3] = ["caudal.pc", "caudal-static.pc", "caudal-probe.pc"];
const CMAKE_FILES: [&str; 2] = ["caudal-config.cmake", "caudal-config-version.cmake"];

fn main() -> ExitCode {
    let Some(prefix) = env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: caudal-capi-install PREFIX");
        return ExitCode::from(2);
    };
    match install(&prefix) {
        Ok(()) => {
            println!("installed libcaudal under {}", prefix.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("caudal-capi-install: {error}");
            ExitCode::FAILURE
        }
    }
}

fn install(prefix: &Path) -> io::Result<()> {
    let (include, lib) = (prefix.join("include/caudal"), prefix.join("lib"));
    let (pkgconfig, cmake, drivers) = (lib.join("pkgconfig"), lib.join("cmake/Caudal"), lib.join("caudal"));
    for directory in [&include, &pkgconfig, &cmake, &drivers] {
        fs::create_dir_all(directory).map_err(at(directory))?;
    }
    for name in HEADERS {
        copy(&Path::new(SOURCE).join("include/caudal").join(name), &include.join(name))?;
    }
    copy(&Path::new(env!("CAUDAL_PROBE_INCLUDE")).join("caudal/probe.h"), &include.join("probe.h"))?;
    copy(&archive()?, &lib.join("libcaudal.a"))?;
    strip(&lib.join("libcaudal.a"));
    let probe = Path::new(env!("CAUDAL_PROBE_LIB"));
    copy(&probe.join("libcaudal_probe.a"), &lib.join("libcaudal_probe.a"))?;
    for name in DRIVERS_FILES {
        copy(&probe.join(name), &drivers.join(name))?;
    }
    link_shared(&lib)?;
    for name in PC_FILES {
        fill_in(name, &pkgconfig)?;
    }
    for name in CMAKE_FILES {
        fill_in(name, &cmake)?;
    }
    Ok(())
}

/// An error that names the file.
fn at(path: &Path) -> impl FnOnce(io::Error) -> io::Error + '_ {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// A new file in place of an old one, which a running program may have mapped.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let _ = fs::remove_file(to);
    fs::copy(from, to).map(drop).map_err(at(from))
}

/// The static library: cargo puts it beside this program, and where it builds tests among the dependencies, with a hash in its
/// name. The newest is of these sources.
fn archive() -> io::Result<PathBuf> {
    let here = env::current_exe()?;
    let directory = here.parent().unwrap_or(Path::new("."));
    let mut found = Vec::new();
    for place in [directory.to_owned(), directory.join("deps")] {
        let Ok(entries) = fs::read_dir(&place) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("libcaudal_capi") && name.ends_with(".a") {
                found.push((entry.metadata()?.modified()?, entry.path()));
            }
        }
    }
    found.into_iter().max().map(|(_, path)| path).ok_or_else(|| {
        let what =
            format!("no libcaudal_capi.a in {}: `cargo build -p caudal-capi` first", directory.display());
        io::Error::new(io::ErrorKind::NotFound, what)
    })
}

/// Takes the debug information out, which is nine tenths of the archive; where there is no `strip`, it stays.
fn strip(archive: &Path) {
    let _ = Command::new("strip").arg("--strip-debug").arg(archive).status();
}

fn link_shared(lib: &Path) -> io::Result<()> {
    let soname = format!("libcaudal.so.{CAUDAL_ABI_VERSION}");
    let shared = lib.join(&soname);
    let _ = fs::remove_file(&shared);
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let status = Command::new(&compiler)
        .args(["-shared", "-fPIC", "-o"])
        .arg(&shared)
        .arg(format!("-Wl,-soname,{soname}"))
        .arg(format!("-Wl,--version-script={SOURCE}/caudal.map"))
        // No symbol is bound late: a lazy binder would run on a coroutine's stack, and in a probe's cold path.
        .args(["-Wl,-z,now", "-Wl,-z,defs", "-Wl,--gc-sections", "-Wl,--strip-debug", "-Wl,--whole-archive"])
        .arg(lib.join("libcaudal.a"))
        .args(["-Wl,--no-whole-archive", "-lgcc_s", "-lpthread", "-lm", "-ldl", "-lc"])
        .status()
        .map_err(at(Path::new(&compiler)))?;
    if !status.success() {
        return Err(io::Error::other(format!("linking {} failed: {status}", shared.display())));
    }
    let link = lib.join("libcaudal.so");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(&soname, &link).map_err(at(&link))
}

/// Copies a file of `packaging` with this version's numbers.
fn fill_in(name: &str, to: &Path) -> io::Result<()> {
    let template = Path::new(SOURCE).join("packaging").join(name);
    let text = fs::read_to_string(&template).map_err(at(&template))?;
    let text = text
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
        .replace("@ABI@", &CAUDAL_ABI_VERSION.to_string());
    let path = to.join(name);
    fs::write(&path, text).map_err(at(&path))
}
