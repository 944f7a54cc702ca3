//! Clang's command line: what it was given, and what puts probes in.
//!
//! ## The probe library
//!
//! Code with probes refers to the lines and cold entries of `libcaudal_probe.a`, of which a program has one copy. The executable
//! has it: whole, in front of everything else, its names visible to shared objects.
//!
//! * *In front and whole*, because a static libcaudal or a Rust library that brings the same objects along then finds all names
//!   defined and adds none of its own; and because a shared libcaudal, which shows the same names, must not be the one that
//!   defines them: code for executables reaches the lines by local-exec, and a line that another object defines can not be.
//!   Objects in that library find the executable's through their symbol tables.
//! * *First*, in a static program: it begins in the library (`csrc/entry.S`), so that code with probes may run before the C library has
//!   set up thread-local storage, as resolvers of ifuncs do. Another entry on the command line counts more.
//! * *Visible*, for shared objects that are loaded later and have probes.
//! * A *shared object* leaves the names to the executable. Where the linker was told that all names have to be defined, that
//!   is taken back.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::beside::Beside;
use crate::call::{Call, Output};
use crate::error::DriverError;

/// How the probe library gets into an executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Archive {
    /// Whole, in front.
    Whole,
    /// What is asked for, at the end: in a link without C's library, which some of it needs.
    Wanted,
}

/// What the command line is made from beside the call itself.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Clang is to be `clang++`.
    pub cxx: bool,
    /// The plugin for compilations; `None`: one that has nothing to do here.
    pub compile: Option<Beside>,
    /// The plugin for links with link-time optimisation.
    pub link: Beside,
    /// `libcaudal_probe.a`.
    pub library: PathBuf,
    /// How it is linked.
    pub archive: Archive,
}

/// Clang's arguments for a call, whose words are `words`.
pub fn compose(call: &Call, setting: &Setting, words: Vec<OsString>) -> Vec<OsString> {
    let mut before = Vec::new();
    let mut after = Vec::new();
    if let Some(compile) = &setting.compile
        && call.compiles()
    {
        before.push(joined("-fpass-plugin=", &compile.plugin));
    }
    if call.links() {
        add_library(call, setting, &mut before, &mut after);
    }
    if call.links_with_lto() {
        add_link_time_pass(call, &setting.link, &mut before, &mut after);
    }
    if call.links() && call.output == Output::Shared && call.all_defined {
        after.push("-Wl,-z,undefs".into());
    }
    let mut args = Vec::new();
    if setting.cxx {
        args.push("--driver-mode=g++".into());
    }
    // Of a call that only assembles, say, not all of it is used.
    if !before.is_empty() {
        args.push("--start-no-unused-arguments".into());
        args.append(&mut before);
        args.push("--end-no-unused-arguments".into());
    }
    // What follows a `--` is files.
    let files = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let mut words = words.into_iter();
    args.extend(words.by_ref().take(files));
    args.append(&mut after);
    args.extend(words);
    args
}

fn add_library(call: &Call, setting: &Setting, before: &mut Vec<OsString>, after: &mut Vec<OsString>) {
    if call.output != Output::Executable {
        return;
    }
    match setting.archive {
        Archive::Whole => {
            before.push("-Wl,--push-state,--whole-archive".into());
            to_linker(setting.library.as_os_str(), before);
            before.push("-Wl,--pop-state".into());
            if call.is_static {
                before.push("-Wl,-e,caudal_start_v1".into());
            }
        }
        Archive::Wanted => to_linker(setting.library.as_os_str(), after),
    }
    // In a static position-independent program, C's start-up code has no means to relocate thread-locals that are exported.
    let is_gold = call.linker.as_deref().is_some_and(|linker| linker.to_string_lossy().contains("gold"));
    if !is_gold && !call.is_static {
        before.push("-Wl,--export-dynamic-symbol=caudal_*".into());
    }
}

fn add_link_time_pass(call: &Call, link: &Beside, before: &mut Vec<OsString>, after: &mut Vec<OsString>) {
    if call.linker.is_none() {
        before.push("-fuse-ld=lld".into());
    }
    to_linker(&joined("--load-pass-plugin=", &link.plugin), before);
    if call.unoptimised_link {
        // lld runs no plugin in thin mode at level 0. Functions from compilations at that level stay as they are.
        after.push("-Wl,--lto-O1".into());
    }
    if let Some(cache) = &call.thin_cache {
        // lld's key for what it keeps does not have the plugin in it.
        let mine = cache.join(format!("caudal-{}", link.hash));
        to_linker(&joined("--thinlto-cache-dir=", &mine), after);
    }
}

/// Paths may have commas in them, at which `-Wl,` would cut.
fn to_linker(word: &OsStr, args: &mut Vec<OsString>) {
    args.push("-Xlinker".into());
    args.push(word.to_owned());
}

pub(crate) fn joined(option: &str, path: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(path);
    word
}

/// The probe library: installed, in the place that goes with this program's, else where it was built.
///
/// # Errors
/// It is in none of these places.
pub fn probe_library() -> Result<PathBuf, DriverError> {
    const NAME: &str = "libcaudal_probe.a";
    let program = std::env::current_exe().unwrap_or_default();
    let installed = program.parent().unwrap_or(Path::new(".")).join("../lib").join(NAME);
    let built = Path::new(env!("CAUDAL_PROBE_LIB")).join(NAME);
    let looked = vec![installed, built];
    let found = looked.iter().find_map(|path| path.canonicalize().ok());
    found.ok_or(DriverError::NoProbeLibrary(looked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Lto;

    fn composed(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let beside = |name: &str| Beside { plugin: name.into(), hash: "1234".to_owned() };
        let setting = Setting {
            cxx: false,
            compile: (Call::read(&words).lto != Lto::AtLink).then(|| beside("P")),
            link: beside("L"),
            library: "A".into(),
            archive: Archive::Whole,
        };
        let args = compose(&Call::read(&words), &setting, words);
        args.join(OsStr::new(" ")).into_string().unwrap()
    }

    const LIBRARY: &str =
        "-Wl,--push-state,--whole-archive -Xlinker A -Wl,--pop-state -Wl,--export-dynamic-symbol=caudal_*";

    fn quiet(words: &str) -> String {
        format!("--start-no-unused-arguments {words} --end-no-unused-arguments")
    }

    #[test]
    fn calls_that_make_no_code_are_clangs_own() {
        for line in ["--version", "-E a.c", "-M a.c", "-fsyntax-only a.c", "-v", "-flto -c a.c", "-r a.o"] {
            assert_eq!(composed(line), line);
        }
    }

    #[test]
    fn compilations_load_the_pass() {
        assert_eq!(composed("-c a.c"), format!("{} -c a.c", quiet("-fpass-plugin=P")));
        assert_eq!(
            composed("a.c -o a"),
            format!("{} a.c -o a", quiet(&format!("-fpass-plugin=P {LIBRARY}")))
        );
    }

    #[test]
    fn static_programs_show_nothing_and_begin_in_the_library() {
        let library = "-Wl,--push-state,--whole-archive -Xlinker A -Wl,--pop-state -Wl,-e,caudal_start_v1";
        assert_eq!(composed("-static-pie a.o"), format!("{} -static-pie a.o", quiet(library)));
    }

    #[test]
    fn links_with_optimisation_load_it_in_the_linker() {
        let link = format!("{LIBRARY} -fuse-ld=lld -Xlinker --load-pass-plugin=L");
        assert_eq!(composed("-flto a.o"), format!("{} -flto a.o", quiet(&link)));
        assert_eq!(composed("-flto -O0 a.o"), format!("{} -flto -O0 a.o -Wl,--lto-O1", quiet(&link)));
        let cached = "-flto -Wl,--thinlto-cache-dir=C a.o";
        let own = "-Xlinker --thinlto-cache-dir=C/caudal-1234";
        assert_eq!(composed(cached), format!("{} {cached} {own}", quiet(&link)));
    }

    #[test]
    fn shared_objects_leave_the_library_to_the_executable() {
        assert_eq!(composed("-shared a.o -o a.so"), "-shared a.o -o a.so");
        let strict = "-shared -Wl,-z,defs";
        assert_eq!(composed(&format!("{strict} a.o")), format!("{strict} a.o -Wl,-z,undefs"));
        assert_eq!(composed(&format!("{strict} -- a.o")), format!("{strict} -Wl,-z,undefs -- a.o"));
    }
}
