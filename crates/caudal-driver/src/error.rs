//! The errors of the drivers, each with the way to mend it. All steps of a call return them; `run.rs` prints them.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::help::OPTIONS_HELP;
use crate::majors::{MAJORS, majors_in_words};

/// See the [module](self).
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The texts say what each is.
pub enum DriverError {
    #[error("`{0}` is no option of the probes")]
    UnknownOption(String),
    #[error("`{option}{}`: {right}", shown(.value))]
    BadValue { option: &'static str, value: OsString, right: &'static str },
    #[error("`{option}` has no value: write `{option}=...`, {right}")]
    NoValue { option: &'static str, right: &'static str },
    #[error("the path `{}` has a `;` in it, which separates options of the pass", .0.display())]
    Semicolon(PathBuf),
    #[error("no clang: none of {0} is on PATH")]
    NoClang(String),
    #[error("`{}` can not be run: {source}", .program.display())]
    NotRun { program: PathBuf, source: io::Error },
    #[error("`{}` is not {what}: it says `{said}`", .program.display())]
    NotClang { program: PathBuf, what: &'static str, said: String },
    #[error("no plugin for LLVM {major}, which `{}` is of{}", .compiler.display(), other_majors(.others))]
    NoPlugin { compiler: PathBuf, major: u32, others: Vec<u32>, tried: Vec<PathBuf> },
    #[error("there is no plugin `{}`", .0.display())]
    PluginMissing(PathBuf),
    #[error("`{}` does not say in its name which LLVM it is for", .0.display())]
    PluginName(PathBuf),
    #[error("`{}` is damaged: it is no shared object", .0.display())]
    PluginDamaged(PathBuf),
    #[error("the plugin `{}` is for LLVM {plugin}, but `{}` is LLVM {major}", .path.display(), .compiler.display())]
    PluginMajor { path: PathBuf, plugin: u32, compiler: PathBuf, major: u32 },
    #[error("no lld beside `{}`: under link-time optimisation the probes come in at the link", .clang.display())]
    NoLld { clang: PathBuf, major: u32 },
    #[error("`{}` is LLVM {has}, but the plugin is for LLVM {major}", .lld.display())]
    LldMajor { lld: PathBuf, has: u32, major: u32 },
    #[error(
        "the linker `{0}` can not load the pass: under link-time optimisation the probes come in at the link"
    )]
    Linker(String),
    #[error(
        "clang runs no plugin in the back end of a distributed thin link: the module would get no probes"
    )]
    ThinBackEnd,
    #[error("`{option}` does not go with probes: {why}")]
    Refused { option: &'static str, why: &'static str },
    #[error("no part of `{}` was compiled with probes, so it would have none", .output.display())]
    NoProbes { output: PathBuf },
    #[error("`{}` has a stack that belongs to the thread (-fsanitize=safe-stack), which the requests of a worker would share{}", .output.display(), from_input(.input))]
    SafeStackInput { output: PathBuf, input: PathBuf },
    #[error("the shared object `{}` has a probe library of its own: what runs in it would not yield, for a runtime sets the program's", .output.display())]
    OwnLibrary { output: PathBuf },
    #[error("`{}` uses a probe library of its own (it was linked with -Bsymbolic), and would never yield in `{}`", .library.display(), .output.display())]
    SymbolicLibrary { output: PathBuf, library: PathBuf },
    #[error("`{}` was compiled with -femulated-tls: probes reach their thread's lines by thread-local storage of the linker's", .input.display())]
    EmulatedInput { input: PathBuf },
    #[error("libcaudal_probe.a is neither of {}", paths(.0))]
    NoProbeLibrary(Vec<PathBuf>),
    #[error("neither XDG_CACHE_HOME nor HOME says where to keep files")]
    NoCache,
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl DriverError {
    /// Advice on what would be right; empty if the error says it.
    pub fn help(&self) -> String {
        match self {
            DriverError::UnknownOption(_) => format!("the options are\n{}", OPTIONS_HELP),
            DriverError::Semicolon(_) => "name the file otherwise".to_owned(),
            DriverError::NoClang(_) => format!("{}; or name one: --clang=FILE", packages(MAJORS[0])),
            DriverError::NotRun { .. }
            | DriverError::Io { .. }
            | DriverError::BadValue { .. }
            | DriverError::NoValue { .. } => String::new(),
            DriverError::NotClang { .. } => "name another by --clang=FILE".to_owned(),
            DriverError::NoPlugin { major, others, tried, .. } => no_plugin(*major, others, tried),
            DriverError::PluginMissing(_) | DriverError::PluginDamaged(_) => {
                "`make pass` in a clone of Caudal builds one".to_owned()
            }
            DriverError::PluginName(_) => {
                "its name is libcaudal-pass-N.so, N the major version of LLVM".to_owned()
            }
            DriverError::PluginMajor { major, .. } => {
                format!("{}, then `make pass LLVM={major}` in a clone of Caudal", packages(*major))
            }
            DriverError::NoLld { major, .. } | DriverError::LldMajor { major, .. } => packages(*major),
            DriverError::Linker(_) => "leave out -fuse-ld, or say -fuse-ld=lld".to_owned(),
            DriverError::ThinBackEnd => {
                "link in one call, by -flto=thin; or say --probe-off, if it is to have none".to_owned()
            }
            DriverError::Refused { option, .. } => {
                format!("leave out {option}, or say --probe-off for what is to have it")
            }
            DriverError::NoProbes { .. } => {
                "compile by caudal-cc, caudal-c++ or cargo caudal; a program that is to have no probes is linked with --probe-off".to_owned()
            }
            DriverError::SafeStackInput { .. } => {
                "compile it without -fsanitize=safe-stack; or link the program with --probe-off".to_owned()
            }
            DriverError::OwnLibrary { .. } => {
                "leave the library out of its link (-lcaudal_probe): the program has it".to_owned()
            }
            DriverError::SymbolicLibrary { .. } => {
                "link that library by caudal-cc, or leave out its copy of libcaudal_probe.a; the program has one".to_owned()
            }
            DriverError::EmulatedInput { .. } => "compile it anew without -femulated-tls, or with --probe-off".to_owned(),
            DriverError::NoProbeLibrary(_) => {
                "`make install PREFIX=` ships it; or build the driver anew in its clone".to_owned()
            }
            DriverError::NoCache => "set XDG_CACHE_HOME to a directory that may be written to".to_owned(),
        }
    }

    /// For `map_err`: an error that names the file.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> DriverError + '_ {
        move |source| DriverError::Io { path: path.to_owned(), source }
    }
}

/// How to get the tools of one version of LLVM on Debian and Ubuntu.
pub(crate) fn packages(major: u32) -> String {
    format!("apt-get install clang-{major} lld-{major} llvm-{major}-dev")
}

fn no_plugin(major: u32, others: &[u32], tried: &[PathBuf]) -> String {
    if let Some(other) = others.first() {
        return format!(
            "{}; or use the compiler that the plugin is for: --clang=clang-{other} ({})",
            build_plugin(major),
            packages(*other)
        );
    }
    format!("{}; it was looked for as {}; or name one: --plugin=FILE", build_plugin(major), paths(tried))
}

/// For a version with which the pass is not tested, the advice is another clang.
fn build_plugin(major: u32) -> String {
    if MAJORS.contains(&major) {
        return format!("{}, then `make pass LLVM={major}` in a clone of Caudal", packages(major));
    }
    let best = MAJORS[0];
    format!("the pass is for LLVM {}: {}, then `make pass`", majors_in_words(), packages(best))
}

fn other_majors(majors: &[u32]) -> String {
    match majors.first() {
        None => String::new(),
        Some(other) => format!("; there is one for LLVM {other}"),
    }
}

fn shown(value: &OsString) -> String {
    if value.is_empty() { String::new() } else { format!("={}", value.display()) }
}

fn from_input(input: &Path) -> String {
    if input.as_os_str().is_empty() {
        String::new()
    } else {
        format!(": it comes from `{}`", input.display())
    }
}

fn paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| format!("`{}`", path.display())).collect::<Vec<_>>().join(", ")
}
