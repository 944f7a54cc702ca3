//! `caudal cc` and `caudal c++`: clang with probes. The command and the program `caudal-cc` call [`main`] with their arguments; it runs clang and
//! returns its exit code.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::beside::{Beside, Place};
use crate::call::{Call, Lto, Output, Refused, is_lld};
use crate::compose::{Archive, Setting, compose, joined, names_to_show};
use crate::error::DriverError;
use crate::help::OPTIONS_HELP;
use crate::jobs::link_job;
use crate::library::{Library, probe_library};
use crate::linked::{self, Stamp};
use crate::plugin::Plugin;
use crate::probes::{Own, Probes, Report, Tls};
use crate::report::Summary;
use crate::run::{complain, exit_code, replace_process, run_clang, say};
use crate::toolchain::{self, Tool};
use crate::version_script::show_probes;
use crate::words::{Expanded, expand};

/// The name by which clang is called: for C or for C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `clang`
    C,
    /// `clang++`
    Cxx,
}

impl Language {
    /// By the name that a driver was called by.
    pub fn of_command(name: &OsStr) -> Language {
        if name.as_encoded_bytes().ends_with(b"++") { Language::Cxx } else { Language::C }
    }
}

/// Runs the driver; `name` is its own in messages, `args` are those after it.
pub fn main(name: &str, language: Language, args: Vec<OsString>) -> ExitCode {
    match run(name, language, args) {
        Ok(code) => code,
        Err(error) => complain(name, &error),
    }
}

fn run(name: &str, language: Language, args: Vec<OsString>) -> Result<ExitCode, DriverError> {
    // Clang calls its inner program with a command line of its own, which is passed on as it is.
    if args.first().is_some_and(|first| first.as_encoded_bytes().starts_with(b"-cc1")) {
        let clang = toolchain::clang(None, None)?;
        return Err(replace_process(&clang.path, &args));
    }
    let Expanded { words, had_files } = expand(args);
    let (own, words) = Own::take(words)?;
    if words.iter().any(|word| word == "--help") {
        println!(
            "{name} is clang and puts probes in. Its own options, beside clang's, which follow:\n\n{OPTIONS_HELP}\n"
        );
    }
    let clang = toolchain::clang(own.clang.as_deref(), own.plugin.as_deref())?;
    let mut call = Call::read(&words);
    let is_cxx = language == Language::Cxx;
    // A call that only shows its commands makes nothing.
    let is_shown_only = words.iter().any(|word| word == "-###");
    let mut job = None;
    if call.links() && !own.probes.off && !is_shown_only {
        job = link_job(&clang.path, is_cxx, &words)?;
    }
    if let Some(job) = &job {
        call.hear(job);
    }
    if own.probes.off {
        let (words, place) = without_probes(&own, &clang, &call, language, words)?;
        let stay = had_files || place.as_ref().is_some_and(Place::is_of_this_call);
        return finish(name, &clang.path, words, stay, None);
    }
    if own.probes.report == Report::Words && call.compiles() && !call.links() && call.lto == Lto::AtLink {
        say(&format!("{name}: probes come in at the link: --probe-report there says where\n"));
    }
    refuse(&call)?;
    let others = match &job {
        Some(job) if call.is_static && call.output == Output::Executable => linked::others_names(job)?,
        _ => Vec::new(),
    };
    let prepared = Prepared::new(own, &clang, &call)?;
    let words = prepared.compose(language, [words, others].concat())?;
    let stay = had_files || prepared.place.is_of_this_call();
    let Some(job) = job else { return finish(name, &clang.path, words, stay, prepared.report.as_deref()) };
    let before = Stamp::of(&job.output());
    let code = finish(name, &clang.path, words, true, prepared.report.as_deref())?;
    if code != ExitCode::SUCCESS {
        return linked::why_failed(&job).map_or(Ok(code), Err);
    }
    for word in linked::check(&call, &job, before)? {
        say(&format!("{name}: {word}\n"));
    }
    Ok(code)
}

/// Refuses calls that are known not to go with probes.
fn refuse(call: &Call) -> Result<(), DriverError> {
    if !call.compiles() && !call.links() {
        return Ok(());
    }
    let (option, why) = match call.refused {
        None => return Ok(()),
        Some(Refused::SafeStack) => (
            "-fsanitize=safe-stack",
            "its second stack belongs to the thread, and the requests of a worker would share it",
        ),
        Some(Refused::EmulatedTls) => {
            ("-femulated-tls", "probes reach their thread's lines by thread-local storage of the linker's")
        }
        Some(Refused::SplitStack) => (
            "-fsplit-stack",
            "what the stack grows by belongs to the thread, and a request has a stack of its own",
        ),
    };
    Err(DriverError::Refused { option, why })
}

/// Clang's command line for `--probe-off`, and what has to be there while it runs. A later link, which may
/// put probes into other objects, has to know of it.
fn without_probes(
    own: &Own,
    clang: &Tool,
    call: &Call,
    language: Language,
    mut words: Vec<OsString>,
) -> Result<(Vec<OsString>, Option<Place>), DriverError> {
    let mut place = None;
    // Without a plugin, it is clang as it is.
    if call.compiles()
        && !call.links()
        && call.lto != Lto::None
        && let Ok(plugin) = Plugin::find(own.plugin.as_deref(), &clang.path, clang.major)
    {
        let off = Probes { off: true, ..Probes::default() };
        let beside = Beside::make(place.insert(Place::for_calls()?).path(), &plugin, &off, None)?;
        words.insert(0, joined("-fpass-plugin=", &beside.plugin));
    }
    if language == Language::Cxx {
        words.insert(0, "--driver-mode=g++".into());
    }
    Ok((words, place))
}

/// Calls clang: in place of this process, unless there is something to be done or removed afterwards.
fn finish(
    name: &str,
    clang: &Path,
    words: Vec<OsString>,
    stay: bool,
    report: Option<&Path>,
) -> Result<ExitCode, DriverError> {
    if !stay && report.is_none() {
        return Err(replace_process(clang, &words));
    }
    let status = run_clang(clang, words)?;
    if let Some(report) = report
        && let Some(summary) = Summary::read(report)?
    {
        say(&summary.in_words(name));
    }
    Ok(exit_code(status))
}

/// A call with all that it needs.
struct Prepared {
    call: Call,
    place: Place,
    compile: Option<Beside>,
    link: Beside,
    library: Library,
    /// A file of this call, for a report in words.
    report: Option<PathBuf>,
}

impl Prepared {
    fn new(own: Own, clang: &Tool, call: &Call) -> Result<Prepared, DriverError> {
        let plugin = Plugin::find(own.plugin.as_deref(), &clang.path, clang.major)?;
        if call.compiles() && call.thin_back_end {
            return Err(DriverError::ThinBackEnd);
        }
        if call.links_with_lto() {
            check_linker(clang, call)?;
        }
        let in_words = own.probes.report == Report::Words;
        let place = if in_words { Place::of_this_call()? } else { Place::for_calls()? };
        let report = match &own.probes.report {
            Report::None => None,
            Report::Words => Some(place.path().join("report.jsonl")),
            Report::Lines(file) => Some(file.clone()),
        };
        let told = for_compilation(&own.probes, call);
        let compile = Some(Beside::make(place.path(), &plugin, &told, report.as_deref())?);
        let link = Beside::make(place.path(), &plugin, &for_link(own.probes, call), report.as_deref())?;
        let report = report.filter(|_| in_words);
        Ok(Prepared { call: call.clone(), place, compile, link, library: probe_library()?, report })
    }

    fn compose(&self, language: Language, mut words: Vec<OsString>) -> Result<Vec<OsString>, DriverError> {
        let shows = self.call.links() && self.call.output == Output::Executable;
        if shows {
            show_probes(&mut words, self.place.path())?;
        }
        let names = (shows && self.call.is_gold())
            .then(|| names_to_show(&self.library, self.place.path()))
            .transpose()?;
        let setting = Setting {
            cxx: language == Language::Cxx,
            compile: self.compile.clone(),
            link: self.link.clone(),
            library: self.library.clone(),
            archive: if self.call.no_libc { Archive::Wanted } else { Archive::Whole },
            shown: names,
        };
        Ok(compose(&self.call, &setting, words))
    }
}

/// Options of the pass for a compilation. It gets them also in front of a link that optimises: only there is some of the
/// code that the pass searches for as the compiler has written it.
fn for_compilation(probes: &Probes, call: &Call) -> Probes {
    Probes { at_link: call.lto == Lto::AtLink, ..probes.clone() }
}

/// At the link it is known what the code becomes part of.
pub fn for_link(mut probes: Probes, call: &Call) -> Probes {
    if probes.tls == Tls::Auto && call.links_with_lto() {
        probes.tls = match call.output {
            Output::Executable => Tls::LocalExec,
            Output::Shared => Tls::InitialExec,
            Output::Relocatable => Tls::Auto,
        };
    }
    probes
}

/// The linker loads the same plugin, so it has to be an lld of the same version.
fn check_linker(clang: &Tool, call: &Call) -> Result<(), DriverError> {
    match &call.linker {
        Some(linker) if !is_lld(linker) => Err(DriverError::Linker(linker.display().to_string())),
        linker => toolchain::lld(clang, linker.as_deref()).map(drop),
    }
}
