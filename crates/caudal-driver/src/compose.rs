//! Clang's command line: the words of the call, and the options that put probes in. `cc.rs` calls [`compose`] once in each call, and `cargo caudal`
//! once for each link.
//!
//! ## Stacks
//!
//! A request's stack is smaller than a thread's, and its end is a guard that a large array could step over. Functions that are compiled
//! here touch each page of what they take (`-fstack-clash-protection`), unless the command line says otherwise.
//!
//! ## The probe library
//!
//! Code with probes refers to the lines and cold entries of the probe library, of which a program has one copy. The executable
//! has it: whole, in front of everything else, its names visible to shared objects.
//!
//! * *In front and whole*, because a static libcaudal or a Rust library that brings the same objects along then finds all names
//!   defined and adds none of its own; and because a shared libcaudal, which shows the same names, must not be the one that
//!   defines them: code for executables reaches the lines by local-exec, and a line that another object defines can not be.
//!   Objects in that library find the executable's through their symbol tables.
//! * *First*, in a static program: it begins in the library (`csrc/entry.S`), so that code with probes may run before the C library has
//!   set up thread-local storage, as resolvers of ifuncs do. Another entry on the command line counts more.
//! * *Visible*, for shared objects that are loaded later and have probes, also where a version script shows next to nothing
//!   (`version_script`). As objects and not as an archive: `--exclude-libs` hides what comes out of archives, and CMake takes an archive in the
//!   C compiler's link for a library that C++'s links need as well, also where another compiler does them; then a shared object has a second copy.
//! * A *shared object* leaves the names to the executable. Where the linker was told that all names have to be defined, that
//!   is taken back.
//! * Every module has *wrappers* of its own, from an archive: by them its calls of the C library find what the module means by the name
//!   (`csrc/wrapper.h`). They are hidden; the executable shows some for modules that were linked without.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::beside::{Beside, digest};
use crate::call::{Call, Output};
use crate::error::DriverError;
use crate::library::Library;
use crate::linked;

/// How the probe library gets into an executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Archive {
    /// Whole, in front.
    Whole,
    /// The members of the library that are asked for, at the end: in a link without C's library, which some of them need.
    Wanted,
}

/// Everything that the command line is made from, besides the call itself.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Clang is to be `clang++`.
    pub cxx: bool,
    /// The plugin for compilations; `None`: it has nothing to do in this call.
    pub compile: Option<Beside>,
    /// The plugin for links with link-time optimisation.
    pub link: Beside,
    /// The probe library.
    pub library: Library,
    /// How the probe library is linked.
    pub archive: Archive,
    /// For gold, which takes names and no patterns: a file with the names to show.
    pub shown: Option<PathBuf>,
}

/// Clang's arguments for a call, whose words are `words`.
pub fn compose(call: &Call, setting: &Setting, words: Vec<OsString>) -> Vec<OsString> {
    let mut before = Vec::new();
    let mut after = Vec::new();
    if call.compiles() {
        before.push("-fstack-clash-protection".into());
    }
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
        // gold has no option that takes the other one back.
        let undefs = if call.is_gold() { "-Wl,--unresolved-symbols=ignore-all" } else { "-Wl,-z,undefs" };
        after.push(undefs.into());
    }
    // Behind everything that may call by one of them.
    let module = (call.links() && call.output != Output::Relocatable).then_some(&setting.library.module);
    let mut args = Vec::new();
    if setting.cxx {
        args.push("--driver-mode=g++".into());
    }
    // A call that only assembles, for example, does not use all of it.
    if !before.is_empty() {
        args.push("--start-no-unused-arguments".into());
        args.append(&mut before);
        args.push("--end-no-unused-arguments".into());
    }
    // All words after a `--` are files.
    let files = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let has_files = files < words.len();
    let mut words = words.into_iter();
    args.extend(words.by_ref().take(files));
    if let Some(module) = module.filter(|_| !has_files) {
        to_linker(module.as_os_str(), &mut args);
    }
    args.append(&mut after);
    args.extend(words);
    if let Some(module) = module.filter(|_| has_files) {
        args.push(module.clone().into_os_string());
    }
    args
}

fn add_library(call: &Call, setting: &Setting, before: &mut Vec<OsString>, after: &mut Vec<OsString>) {
    let library = &setting.library;
    if call.output == Output::Executable {
        match setting.archive {
            Archive::Whole => {
                for object in &library.objects {
                    to_linker(object.as_os_str(), before);
                }
                if call.is_static {
                    before.push("-Wl,-e,caudal_start_v1".into());
                }
            }
            Archive::Wanted => to_linker(library.archive.as_os_str(), after),
        }
        // In a static position-independent program, C's start-up code has no means to relocate thread-locals that are exported.
        if call.is_static {
        } else if let Some(names) = &setting.shown {
            to_linker(&joined("--dynamic-list=", names), before);
        } else {
            before.push("-Wl,--export-dynamic-symbol=caudal_*".into());
        }
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
        // lld's key of its cache does not have the plugin in it.
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

/// A file for gold with the names that a program shows, in `directory`.
///
/// # Errors
/// Files that can not be read or written.
pub(crate) fn names_to_show(library: &Library, directory: &Path) -> Result<PathBuf, DriverError> {
    let mut text = String::from("{\n");
    for path in &library.objects {
        let bytes = fs::read(path).map_err(DriverError::at(path))?;
        for name in linked::shown_names(&bytes) {
            text += &format!("{name};\n");
        }
    }
    text += "};\n";
    let file = directory.join(format!("names-{}.list", digest(&[text.as_bytes()])));
    fs::write(&file, text).map_err(DriverError::at(&file))?;
    Ok(file)
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
            library: Library { objects: ["O".into(), "W".into()], archive: "A".into(), module: "M".into() },
            archive: Archive::Whole,
            shown: None,
        };
        let args = compose(&Call::read(&words), &setting, words);
        args.join(OsStr::new(" ")).into_string().unwrap()
    }

    const LIBRARY: &str = "-Xlinker O -Xlinker W -Wl,--export-dynamic-symbol=caudal_*";
    const CLASH: &str = "-fstack-clash-protection";

    fn quiet(words: &str) -> String {
        format!("--start-no-unused-arguments {words} --end-no-unused-arguments")
    }

    #[test]
    fn calls_that_make_no_code_are_clangs_own() {
        for line in ["--version", "-E a.c", "-M a.c", "-fsyntax-only a.c", "-v", "-r a.o"] {
            assert_eq!(composed(line), line);
        }
    }

    #[test]
    fn compilations_load_the_pass() {
        assert_eq!(composed("-c a.c"), format!("{} -c a.c", quiet(&format!("{CLASH} -fpass-plugin=P"))));
        assert_eq!(
            composed("a.c -o a"),
            format!("{} a.c -o a -Xlinker M", quiet(&format!("{CLASH} -fpass-plugin=P {LIBRARY}")))
        );
        assert_eq!(composed("-flto -c a.c"), format!("{} -flto -c a.c", quiet(CLASH)));
    }

    #[test]
    fn static_programs_show_nothing_and_begin_in_the_library() {
        let library = "-Xlinker O -Xlinker W -Wl,-e,caudal_start_v1";
        assert_eq!(composed("-static-pie a.o"), format!("{} -static-pie a.o -Xlinker M", quiet(library)));
    }

    #[test]
    fn links_with_optimisation_load_it_in_the_linker() {
        let link = format!("{LIBRARY} -fuse-ld=lld -Xlinker --load-pass-plugin=L");
        assert_eq!(composed("-flto a.o"), format!("{} -flto a.o -Xlinker M", quiet(&link)));
        assert_eq!(
            composed("-flto -O0 a.o"),
            format!("{} -flto -O0 a.o -Xlinker M -Wl,--lto-O1", quiet(&link))
        );
        let cached = "-flto -Wl,--thinlto-cache-dir=C a.o";
        let own = "-Xlinker --thinlto-cache-dir=C/caudal-1234";
        assert_eq!(composed(cached), format!("{} {cached} -Xlinker M {own}", quiet(&link)));
    }

    #[test]
    fn shared_objects_leave_the_library_to_the_executable() {
        assert_eq!(composed("-shared a.o -o a.so"), "-shared a.o -o a.so -Xlinker M");
        let strict = "-shared -Wl,-z,defs";
        assert_eq!(composed(&format!("{strict} a.o")), format!("{strict} a.o -Xlinker M -Wl,-z,undefs"));
        assert_eq!(composed(&format!("{strict} -- a.o")), format!("{strict} -Wl,-z,undefs -- a.o M"));
    }
}
