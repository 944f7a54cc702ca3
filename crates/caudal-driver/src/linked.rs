//! The checks of a linked file: does it have what was asked for? `cc` calls them after each link, and `cargo caudal` too. They read the
//! file and change nothing.
//!
//! The pass leaves a note in each module that it sees (`.note.caudal`). A program without one has no probes, whatever the cause:
//! options that came from somewhere else, a compiler that is none of ours. Names say the rest: a probe library that cannot be seen by shared
//! objects, a second one, a stack that belongs to the thread.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, ObjectSymbol};

use crate::call::{Call, Output};
use crate::error::DriverError;
use crate::jobs::LinkJob;
use crate::library::probe_library;

type Elf<'data> = object::read::elf::ElfFile64<'data>;

const NOTE: &str = ".note.caudal";
const BLOCK: &[u8] = b"caudal_probe_v1";
/// Name of the runtime: a shared object that has it inside has a probe library of its own for a reason.
const RUNTIME: &[u8] = b"caudal_runtime_create";
const DT_SYMBOLIC: u64 = 16;
const DT_FLAGS: u64 = 30;
const DF_SYMBOLIC: u64 = 2;
const SAFE_STACK: &[u8] = b"__safestack_unsafe_stack_ptr";
/// Name of ThreadSanitizer.
const THREAD_SANITIZER: &[u8] = b"__tsan_init";
/// Name of a C++ runtime's function that says where a thread has the exceptions that it handles.
const CXX_EXCEPTIONS: &[u8] = b"__cxa_get_globals";

/// A file as it was before the link, to know whether the link wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(Option<(u64, i64, i64)>);

impl Stamp {
    /// The stamp of `file` now.
    pub(crate) fn of(file: &Path) -> Stamp {
        let identity = |file: fs::Metadata| (file.ino(), file.mtime(), file.mtime_nsec());
        Stamp(fs::symlink_metadata(file).ok().map(identity))
    }
}

/// Checks the file that the link wrote, and removes it if it is not what was asked for. Returns warnings.
///
/// # Errors
/// [`DriverError`], if the file is not what was asked for.
pub(crate) fn check(call: &Call, job: &LinkJob, before: Stamp) -> Result<Vec<String>, DriverError> {
    let output = job.output();
    // Some calls of a linker write nothing, and /dev/null is none of ours.
    let is_file = fs::symlink_metadata(&output).is_ok_and(|file| file.is_file());
    if !is_file || Stamp::of(&output) == before {
        return Ok(Vec::new());
    }
    let checked = match File::read(&output) {
        Some(linked) => judge(call, job, &output, &linked).map(|word| {
            let words =
                [word, linked.mixes_exceptions(call, &output), linked.mistakes_switches(call, &output)];
            words.into_iter().flatten().collect()
        }),
        None => Ok(Vec::new()),
    };
    if checked.is_err() {
        let _ = fs::remove_file(&output);
    }
    checked
}

fn judge(call: &Call, job: &LinkJob, output: &Path, linked: &File) -> Result<Option<String>, DriverError> {
    let (inputs, output) = (|| job.inputs(), output.to_owned());
    if let Some(input) = safe_stack(linked, inputs) {
        return Err(DriverError::SafeStackInput { output, input });
    }
    match call.output {
        Output::Relocatable => Ok(None),
        Output::Shared if linked.defines_block && !linked.has_runtime => {
            Err(DriverError::OwnLibrary { output })
        }
        Output::Shared if !linked.has_note && linked.has_code => {
            let output = output.display();
            Ok(Some(format!(
                "no part of `{output}` was compiled with probes, so it has none; --probe-off says that this is meant"
            )))
        }
        Output::Shared => Ok(None),
        Output::Executable => {
            let shared: Vec<_> =
                inputs().into_iter().filter_map(|input| Some((File::shared(&input)?, input))).collect();
            if !linked.has_note && !shared.iter().any(|(library, _)| library.has_note || library.wants_block)
            {
                return Err(DriverError::NoProbes { output });
            }
            if let Some((_, library)) =
                shared.into_iter().find(|(library, _)| library.defines_block && library.is_symbolic)
            {
                return Err(DriverError::SymbolicLibrary { output, library });
            }
            let hidden = linked.is_dynamic && !call.is_static && !linked.defines_block;
            Ok(hidden.then(|| {
                format!(
                    "`{}` does not show the names of its probe library, so no shared object with probes can be loaded into it; something \
                     other than --version-script hides them (a linker script?)",
                    output.display()
                )
            }))
        }
    }
}

/// The input with a stack that belongs to the thread, if what was linked has one.
fn safe_stack(linked: &File, inputs: impl Fn() -> Vec<PathBuf>) -> Option<PathBuf> {
    let brings = |input: &PathBuf| {
        File::read(input).is_some_and(|file| file.has_safe_stack)
            || any_member(input, |file| file.has_safe_stack)
    };
    if linked.has_safe_stack {
        return Some(inputs().into_iter().find(brings).unwrap_or_default());
    }
    // If the output has no symbols left, the inputs still have them.
    let is_candidate = |input: &PathBuf| !linked.has_symbols || is_shared(input);
    inputs().into_iter().filter(is_candidate).find(brings)
}

fn is_shared(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().contains(".so"))
}

/// A linked file, with the properties that are checked.
#[derive(Debug, Default)]
struct File {
    has_note: bool,
    has_code: bool,
    has_symbols: bool,
    is_dynamic: bool,
    is_symbolic: bool,
    /// For other modules to see.
    defines_block: bool,
    wants_block: bool,
    has_runtime: bool,
    has_safe_stack: bool,
    has_thread_sanitizer: bool,
    /// A C++ runtime is inside of it, and it shows others where that has its exceptions.
    has_cxx: bool,
    shows_cxx: bool,
}

impl File {
    /// The runtime takes the exceptions in flight from the thread where a request is set aside, and has to find them.
    fn mixes_exceptions(&self, call: &Call, output: &Path) -> Option<String> {
        let is_hidden = call.output == Output::Shared && self.has_cxx && !self.shows_cxx;
        is_hidden.then(|| {
            format!(
                "`{}` has a C++ runtime of its own and shows no names of it, so requests that are set aside while they handle its \
                 exceptions get one another's: link without -static-libstdc++, or show `__cxa_get_globals` (no --exclude-libs for it)",
                output.display()
            )
        })
    }

    fn mistakes_switches(&self, call: &Call, output: &Path) -> Option<String> {
        let is_in_it = call.output == Output::Executable && self.has_thread_sanitizer && self.has_runtime;
        is_in_it.then(|| {
            format!(
                "`{}` has ThreadSanitizer in it, which knows nothing of requests: it reports races between the runtime's own threads that are \
                 none, and ends the program at a siglongjmp. Use it on the code without the runtime; -fsanitize=address and undefined work with it",
                output.display()
            )
        })
    }

    /// `None`: it is no ELF file.
    fn read(path: &Path) -> Option<File> {
        File::of(&fs::read(path).ok()?)
    }

    /// The same of a shared object; `None`: it is none.
    fn shared(path: &Path) -> Option<File> {
        is_shared(path).then(|| File::read(path))?
    }

    fn of(bytes: &[u8]) -> Option<File> {
        let elf = Elf::parse(bytes).ok()?;
        let mut file = File::default();
        for section in elf.sections() {
            match section.name_bytes().unwrap_or_default() {
                name if name == NOTE.as_bytes() => file.has_note = true,
                b".text" => file.has_code = section.size() > 0,
                b".dynamic" => file.is_dynamic = true,
                _ => {}
            }
        }
        file.is_symbolic = is_symbolic(&elf);
        for symbol in elf.dynamic_symbols() {
            match symbol.name_bytes().unwrap_or_default() {
                BLOCK if symbol.is_undefined() => file.wants_block = true,
                BLOCK => file.defines_block = true,
                RUNTIME => file.has_runtime = true,
                SAFE_STACK => file.has_safe_stack = true,
                THREAD_SANITIZER => file.has_thread_sanitizer |= !is_asked_for(&symbol),
                CXX_EXCEPTIONS if !symbol.is_undefined() => file.shows_cxx = true,
                name if symbol.is_undefined() && name.starts_with(b"caudal_") => file.wants_block = true,
                _ => {}
            }
        }
        for symbol in elf.symbols() {
            file.has_symbols = true;
            match symbol.name_bytes().unwrap_or_default() {
                RUNTIME => file.has_runtime = true,
                SAFE_STACK => file.has_safe_stack = true,
                THREAD_SANITIZER => file.has_thread_sanitizer |= !is_asked_for(&symbol),
                CXX_EXCEPTIONS if !symbol.is_undefined() => file.has_cxx = true,
                _ => {}
            }
        }
        Some(file)
    }
}

/// Does a file only ask whether there is a function of this name, as the probe library does of the sanitizers'?
fn is_asked_for<'data>(symbol: &impl ObjectSymbol<'data>) -> bool {
    symbol.is_undefined() && symbol.is_weak()
}

/// Linked with `-Bsymbolic`: it calls its own functions, whatever the program has.
fn is_symbolic(elf: &Elf<'_>) -> bool {
    let Some(section) = elf.section_by_name(".dynamic") else { return false };
    let entries = section.data().unwrap_or_default().chunks_exact(16);
    let mut entries = entries.map(|entry| {
        let word = |at: usize| u64::from_le_bytes(entry[at..at + 8].try_into().unwrap_or_default());
        (word(0), word(8))
    });
    entries.any(|(tag, value)| tag == DT_SYMBOLIC || (tag == DT_FLAGS && value & DF_SYMBOLIC != 0))
}

fn any_member(archive: &Path, has: impl Fn(&File) -> bool) -> bool {
    if archive.extension().is_none_or(|extension| extension != "a") {
        return false;
    }
    let Ok(bytes) = fs::read(archive) else { return false };
    objects(&bytes).into_iter().any(|member| File::of(member).is_some_and(|file| has(&file)))
}

/// Names that an object defines for all modules of a program.
pub(crate) fn shown_names(bytes: &[u8]) -> Vec<String> {
    let Ok(elf) = Elf::parse(bytes) else { return Vec::new() };
    let is_shown = |symbol: &object::read::elf::ElfSymbol64<'_, '_>| {
        symbol.is_global()
            && !symbol.is_undefined()
            && symbol.elf_symbol().st_visibility() == object::elf::STV_DEFAULT
    };
    elf.symbols()
        .filter(is_shown)
        .filter_map(|symbol| Some(symbol.name().ok()?.to_owned()))
        .filter(|name| name.starts_with("caudal_"))
        .collect()
}

/// Options that tell the probe library in a static program which names of the C library are another's (`csrc/bind.c`).
///
/// # Errors
/// There is no probe library.
pub(crate) fn others_names(job: &LinkJob) -> Result<Vec<OsString>, DriverError> {
    let [_, wrappers] = probe_library()?.objects;
    let wrappers = fs::read(&wrappers).map_err(DriverError::at(&wrappers))?;
    let names = defined_otherwise(job, &wrappers);
    Ok(names.iter().map(|name| format!("-Wl,--defsym=caudal_defines_{name}={name}").into()).collect())
}

/// Names of the C library, of those that `wrappers` has wrappers for, which an input of a static link defines otherwise: nothing else tells
/// the probe library that they are another's. Objects of the pass say so themselves.
fn defined_otherwise(job: &LinkJob, wrappers: &[u8]) -> Vec<String> {
    let name_of =
        |wrapper: &String| Some(wrapper.strip_prefix("caudal_wrap_")?.strip_suffix("_v1")?.to_owned());
    let names: Vec<String> = shown_names(wrappers).iter().filter_map(name_of).collect();
    let mut found = Vec::new();
    for input in job.inputs() {
        let is_librarys = input
            .file_name()
            .is_some_and(|name| ["libc.a", "libpthread.a", "librt.a"].iter().any(|known| name == *known));
        if is_librarys {
            continue;
        }
        let Ok(bytes) = fs::read(&input) else { continue };
        for object in objects(&bytes) {
            let Ok(elf) = Elf::parse(object) else { continue };
            let defined: Vec<&str> = elf
                .symbols()
                .filter(|symbol| (symbol.is_global() || symbol.is_weak()) && !symbol.is_undefined())
                .filter_map(|symbol| symbol.name().ok())
                .collect();
            let is_marked = |name: &str| defined.contains(&format!("caudal_defines_{name}").as_str());
            found.extend(
                names.iter().filter(|name| defined.contains(&name.as_str()) && !is_marked(name)).cloned(),
            );
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// An object, or those of an archive.
fn objects(bytes: &[u8]) -> Vec<&[u8]> {
    let Ok(archive) = ArchiveFile::parse(bytes) else { return vec![bytes] };
    archive.members().filter_map(Result::ok).filter_map(|member| member.data(bytes).ok()).collect()
}

/// A possible reason of a failed link whose message is hard to understand: an input whose thread-locals use a model that the output does not
/// have.
pub(crate) fn why_failed(job: &LinkJob) -> Option<DriverError> {
    let wants = |bytes: &[u8]| bytes.windows(EMULATED.len()).any(|window| window == EMULATED);
    let is_object =
        |input: &PathBuf| input.extension().is_some_and(|extension| extension == "o" || extension == "a");
    let input = job
        .inputs()
        .into_iter()
        .filter(is_object)
        .find(|input| fs::read(input).is_ok_and(|bytes| wants(&bytes)))?;
    Some(DriverError::EmulatedInput { input })
}

const EMULATED: &[u8] = b"__emutls_v.caudal_";
