//! The meaning of a call of clang as far as probes depend on it: does it compile, what does it link, by which linker? `cc` asks first;
//! `compose` and `linked` decide by the answer. It only reads the arguments, which go to clang as they are.
//!
//! Only that is read out of the arguments; they go to clang as they are.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::jobs::LinkJob;

/// Clang's options whose value is the next word. If one is missing here, its value is taken for a source.
const WITH_VALUE: &[&str] = &[
    "-o",
    "--output",
    "-x",
    "--language",
    "-I",
    "--include-directory",
    "-D",
    "--define-macro",
    "-U",
    "--undefine-macro",
    "-L",
    "--library-directory",
    "-l",
    "-F",
    "-B",
    "--prefix",
    "-T",
    "-Ttext",
    "-Tdata",
    "-Tbss",
    "-u",
    "--force-link",
    "-e",
    "--entry",
    "-z",
    "-A",
    "--assert",
    "-G",
    "-b",
    "-V",
    "-s-",
    "--param",
    "--sysroot",
    "-isysroot",
    "-include",
    "--include",
    "-include-pch",
    "-imacros",
    "--imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isystem-after",
    "-cxx-isystem",
    "-iframework",
    "-ivfsoverlay",
    "-imultilib",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-dependency-file",
    "-serialize-diagnostics",
    "--serialize-diagnostics",
    "-aux-info",
    "-target",
    "-arch",
    "-working-directory",
    "-rpath",
    "--rpath",
    "--system-header-prefix",
    "--no-system-header-prefix",
    "-Xclang",
    "-Xclangas",
    "-Xlinker",
    "--for-linker",
    "-Xassembler",
    "--for-assembler",
    "-Xpreprocessor",
    "--for-preprocessor",
    "-Xanalyzer",
    "-Xarch_host",
    "-Xarch_device",
    "-Xopenmp-target",
    "-Xoffload-linker",
    "-mllvm",
    "-mmlir",
    "-install_name",
];

/// Is the word after `word` its value?
pub(crate) fn takes_value(word: &OsStr) -> bool {
    WITH_VALUE.iter().any(|known| word == *known)
}

/// How far a call goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// `-E`, `-M`, `-MM`.
    Preprocess,
    /// `-fsyntax-only` and others that write no code.
    Check,
    /// `-S`, `-c`.
    Compile,
    /// To the end.
    #[default]
    Link,
}

/// The kind of file that a link makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// A program; by the probe ABI it has the library in it.
    #[default]
    Executable,
    /// Leaves the library's symbols to the program.
    Shared,
    /// `-r`: an object of objects.
    Relocatable,
}

/// Time of link-time optimisation, and with it of the pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lto {
    /// Never: the pass runs in the compilation.
    #[default]
    None,
    /// At the link, `-flto`, `-flto=thin`.
    AtLink,
    /// `-ffat-lto-objects`: at the link, and in the object's other half in the compilation.
    Both,
}

/// A call of clang, as far as the driver has to know it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// How far it goes.
    pub stage: Stage,
    /// Inputs that are compiled or assembled; without any input clang says something of itself.
    pub sources: usize,
    /// Inputs that are not headers, which are compiled on their own.
    pub linkable: usize,
    /// The kind of file that it makes if it links.
    pub output: Output,
    /// No shared objects can be loaded into what it makes.
    pub is_static: bool,
    /// When the pass runs.
    pub lto: Lto,
    /// A back end of a distributed thin link, which is a compilation that ends it, and in which clang runs no plugin.
    pub thin_back_end: bool,
    /// The linker that was asked for.
    pub linker: Option<PathBuf>,
    /// `-nostdlib` and the like: the probe library's needs are not met by themselves.
    pub no_libc: bool,
    /// A link-time optimisation that would optimise nothing, and run no plugin in thin mode.
    pub unoptimised_link: bool,
    /// The linker refuses symbols that nobody defines.
    pub all_defined: bool,
    /// Where a thin link keeps what it compiled.
    pub thin_cache: Option<PathBuf>,
    /// A feature that does not go with probes, by the option that asks for it.
    pub refused: Option<Refused>,
}

/// Options under which probes would do harm or be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// `-fsanitize=safe-stack`
    SafeStack,
    /// `-femulated-tls`
    EmulatedTls,
    /// `-fsplit-stack`
    SplitStack,
}

impl Call {
    /// Reads clang's part of a command line, response files expanded.
    pub fn read(words: &[OsString]) -> Call {
        let mut reader = Reader::default();
        let mut words = words.iter().map(OsString::as_os_str);
        while let Some(word) = words.next() {
            let value = if takes_value(word) { words.next() } else { None };
            reader.word(&word.to_string_lossy(), value);
        }
        reader.finish()
    }

    /// Adds what clang says of the link: options that reach it otherwise than by its command line are in there, too.
    pub fn hear(&mut self, job: &LinkJob) {
        let name = job.linker.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if self.linker.is_none() && name != "ld" {
            self.linker = Some(job.linker.clone());
        }
        let words: Vec<String> = job.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        // clang says what level and processor such a link is for, and which plugin does it where the linker can not.
        let optimises = words.iter().any(|word| word == "-plugin" || word.starts_with("-plugin-opt="));
        if self.lto == Lto::None && (optimises || has_bitcode(&words)) {
            self.lto = Lto::AtLink;
        }
        self.read_linker_words(&words);
        let is_there = |word: &str| words.iter().any(|known| known == word);
        self.is_static |= self.output == Output::Executable
            && (is_there("-static") || is_there("--no-dynamic-linker"))
            && !is_there("-dynamic-linker");
        self.no_libc |= !words
            .iter()
            .any(|word| word == "-lc" || word.ends_with("/libc.a") || word.ends_with("/libc.so"));
        if words.iter().any(|word| word.contains("libclang_rt.safestack")) {
            self.refused = Some(Refused::SafeStack);
        } else if is_there("-plugin-opt=-emulated-tls") {
            self.refused = Some(Refused::EmulatedTls);
        }
    }

    /// Is code made out of sources?
    pub fn compiles(&self) -> bool {
        self.sources > 0 && self.stage >= Stage::Compile
    }

    /// Is the linker called?
    pub fn links(&self) -> bool {
        self.linkable > 0 && self.stage == Stage::Link
    }

    /// Is the linker gold, which has fewer options than the others?
    pub fn is_gold(&self) -> bool {
        self.linker.as_deref().is_some_and(|linker| linker.to_string_lossy().contains("gold"))
    }

    /// May the linker optimise?
    pub fn links_with_lto(&self) -> bool {
        self.links() && (self.lto != Lto::None || self.linker.as_deref().is_some_and(is_lld))
    }
}

/// Does a linker's name say that it is lld?
pub(crate) fn is_lld(linker: &Path) -> bool {
    linker.file_name().is_some_and(|name| name.as_bytes().windows(3).any(|part| part == b"lld"))
}

#[derive(Default)]
struct Reader {
    call: Call,
    lto: bool,
    fat_objects: bool,
    emulated_tls: bool,
    split_stack: bool,
    safe_stack: bool,
    headers: bool,
    /// `-x`: what inputs are, whatever their names say.
    language: bool,
    level: Option<String>,
    linker_words: Vec<String>,
}

impl Reader {
    fn word(&mut self, word: &str, value: Option<&OsStr>) {
        let value = value.map(OsStr::to_string_lossy);
        match (word, value) {
            ("-x" | "--language", Some(language)) => self.language(&language),
            ("-l", Some(_)) => self.for_linker(),
            ("-Xlinker" | "--for-linker", Some(value)) => {
                self.linker_words.push(value.into_owned());
                self.for_linker();
            }
            ("-z", Some(value)) => self.linker_words.extend(["-z".to_owned(), value.into_owned()]),
            (_, Some(_)) => {}
            ("-", None) => self.source(self.headers),
            (option, None) if option.starts_with('-') => self.option(option),
            (file, None) if is_object(file) && !self.language => self.for_linker(),
            (file, None) => self.source(self.headers || is_header(file)),
        }
    }

    fn language(&mut self, language: &str) {
        self.headers = language.ends_with("-header");
        self.language = language != "none";
    }

    fn source(&mut self, header: bool) {
        self.call.sources += 1;
        self.call.linkable += usize::from(!header);
    }

    fn for_linker(&mut self) {
        self.call.linkable += 1;
    }

    fn option(&mut self, option: &str) {
        let call = &mut self.call;
        match option {
            "-E" | "-M" | "-MM" | "--preprocess" | "--dependencies" | "--user-dependencies" => {
                call.stage = Stage::Preprocess;
            }
            "-fsyntax-only" | "--analyze" | "-emit-ast" | "--precompile" | "-verify-pch"
            | "-module-file-info" | "-extract-api" => call.stage = call.stage.min(Stage::Check),
            "-S" | "-c" | "--assemble" | "--compile" => call.stage = call.stage.min(Stage::Compile),
            "-shared" | "--shared" => call.output = Output::Shared,
            "-r" => call.output = Output::Relocatable,
            "-static" | "--static" | "-static-pie" => call.is_static = true,
            "-nostdlib" | "-nodefaultlibs" | "-nolibc" | "--no-standard-libraries" => call.no_libc = true,
            "-flto" => self.lto = true,
            "-fno-lto" => self.lto = false,
            "-ffat-lto-objects" => self.fat_objects = true,
            "-fno-fat-lto-objects" => self.fat_objects = false,
            "-femulated-tls" => self.emulated_tls = true,
            "-fno-emulated-tls" => self.emulated_tls = false,
            "-fsplit-stack" => self.split_stack = true,
            "-fno-split-stack" => self.split_stack = false,
            _ => self.joined(option),
        }
    }

    fn joined(&mut self, option: &str) {
        let after = |prefix: &str| option.strip_prefix(prefix).map(str::to_owned);
        if after("-flto=").is_some() {
            self.lto = true;
        } else if let Some(index) = after("-fthinlto-index=") {
            // Build systems give this option to what is in no thin link: it is an ordinary compilation.
            self.call.thin_back_end = index != "/dev/null";
        } else if let Some(linker) = after("-fuse-ld=").or_else(|| after("--ld-path=")) {
            self.call.linker = Some(linker.into());
        } else if let Some(language) = after("-x").or_else(|| after("--language=")) {
            self.language(&language);
        } else if let Some(words) = after("-Wl,") {
            self.linker_words.extend(words.split(',').map(str::to_owned));
            self.for_linker();
        } else if after("-l").is_some() {
            self.for_linker();
        } else if let Some(sanitizers) = after("-fsanitize=") {
            self.safe_stack |= sanitizers.split(',').any(|sanitizer| sanitizer == "safe-stack");
        } else if let Some(sanitizers) = after("-fno-sanitize=") {
            self.safe_stack &=
                !sanitizers.split(',').any(|sanitizer| matches!(sanitizer, "safe-stack" | "all"));
        } else if let Some(level) = after("-O") {
            self.level = Some(level);
        }
    }

    fn finish(mut self) -> Call {
        self.call.lto = match (self.lto, self.fat_objects) {
            (false, _) => Lto::None,
            (true, false) => Lto::AtLink,
            (true, true) => Lto::Both,
        };
        self.call.refused = if self.safe_stack {
            Some(Refused::SafeStack)
        } else if self.emulated_tls {
            Some(Refused::EmulatedTls)
        } else {
            self.split_stack.then_some(Refused::SplitStack)
        };
        self.call.unoptimised_link = self.lto && self.level.as_deref() == Some("0");
        self.call.read_linker_words(&self.linker_words);
        self.call
    }
}

impl Call {
    fn read_linker_words(&mut self, words: &[String]) {
        let mut last = "";
        for word in words {
            let call = &mut *self;
            let word = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or(word);
            match word {
                "shared" | "Bshareable" => call.output = Output::Shared,
                "r" | "relocatable" => call.output = Output::Relocatable,
                "no-undefined" | "zdefs" => call.all_defined = true,
                "defs" if last == "z" => call.all_defined = true,
                "undefs" if last == "z" => call.all_defined = false,
                "lto-O0" | "plugin-opt=O0" => call.unoptimised_link = true,
                _ => {}
            }
            let level = word.strip_prefix("lto-O").or_else(|| word.strip_prefix("plugin-opt=O"));
            if level.is_some_and(|level| level != "0") {
                call.unoptimised_link = false;
            }
            let cache =
                ["thinlto-cache-dir=", "plugin-opt=cache-dir="].iter().find_map(|key| word.strip_prefix(key));
            if let Some(directory) = cache {
                call.thin_cache = Some(directory.into());
            }
            last = word;
        }
    }
}

/// Is an object among the inputs bitcode? Some linkers compile it by a plugin that they find by themselves.
fn has_bitcode(words: &[String]) -> bool {
    words.iter().filter(|word| is_object(word) && !word.starts_with('-')).any(|file| {
        let mut magic = [0; 4];
        let read = File::open(file).and_then(|mut file| file.read_exact(&mut magic));
        read.is_ok() && (magic == *b"BC\xc0\xde" || magic == *b"\xde\xc0\x17\x0b")
    })
}

/// By its name; what is unknown to clang goes to the linker too, and is no harm as a source.
fn is_object(file: &str) -> bool {
    let name = Path::new(file).file_name().and_then(OsStr::to_str).unwrap_or_default();
    let extension = Path::new(name).extension().and_then(OsStr::to_str).unwrap_or_default();
    matches!(extension, "o" | "a" | "so" | "lo" | "obj" | "lib") || name.contains(".so.")
}

fn is_header(file: &str) -> bool {
    let extension = Path::new(file).extension().and_then(OsStr::to_str).unwrap_or_default();
    matches!(extension, "h" | "H" | "hh" | "hp" | "hpp" | "hxx" | "h++" | "tcc")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Call {
        Call::read(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn stages() {
        for (line, stage) in [
            ("a.c", Stage::Link),
            ("-c a.c", Stage::Compile),
            ("-S a.c -o -", Stage::Compile),
            ("-E a.c", Stage::Preprocess),
            ("-c -M a.c", Stage::Preprocess),
            ("-M -c a.c", Stage::Preprocess),
            ("-MD -MF a.d a.c -c", Stage::Compile),
            ("-fsyntax-only -c a.c", Stage::Check),
            ("-o -c a.c", Stage::Link),
            ("-Xclang -E a.c", Stage::Link),
        ] {
            assert_eq!(call(line).stage, stage, "{line}");
        }
    }

    #[test]
    fn links_what_can_be_linked() {
        for (line, links) in [
            ("a.c", true),
            ("a.o -lm -o a", true),
            ("-lfoo", true),
            ("-x c -", true),
            ("--version", false),
            ("-v -O2 -I include", false),
            ("-print-prog-name=ld", false),
            ("a.h", false),
            ("-x c++-header a", false),
            ("-c a.c -Wl,-z,now", false),
        ] {
            assert_eq!(call(line).links(), links, "{line}");
        }
    }

    #[test]
    fn link_time_optimisation() {
        for (line, lto, links_with_lto) in [
            ("-flto a.c", Lto::AtLink, true),
            ("-flto=thin a.o", Lto::AtLink, true),
            ("-flto -fno-lto a.o", Lto::None, false),
            ("-flto -ffat-lto-objects -c a.c", Lto::Both, false),
            ("-fuse-ld=lld a.o", Lto::None, true),
            ("--ld-path=/usr/bin/ld.lld-22 a.o", Lto::None, true),
            ("-fuse-ld=mold a.o", Lto::None, false),
        ] {
            let call = call(line);
            assert_eq!((call.lto, call.links_with_lto()), (lto, links_with_lto), "{line}");
        }
    }

    #[test]
    fn what_is_linked() {
        assert_eq!(call("-shared a.o").output, Output::Shared);
        assert_eq!(call("-Wl,-shared a.o").output, Output::Shared);
        assert_eq!(call("-r a.o").output, Output::Relocatable);
        assert_eq!(call("-o -shared a.o").output, Output::Executable);
        assert!(call("-shared -Wl,-z,defs a.o").all_defined);
        assert!(call("-shared -Wl,-z -Wl,defs a.o").all_defined);
        assert!(call("-shared -Xlinker --no-undefined a.o").all_defined);
        assert!(call("-shared -z defs a.o").all_defined);
        assert!(!call("-shared -Wl,-z,relro a.o").all_defined);
    }

    #[test]
    fn links_that_would_run_no_plugin() {
        assert!(call("-O0 -flto=thin a.o").unoptimised_link);
        assert!(call("-O2 -Wl,-plugin-opt=O0,-plugin-opt=mcpu=x86-64 a.o").unoptimised_link);
        assert!(!call("-O0 -O2 -flto a.o").unoptimised_link);
        assert!(!call("-O0 -flto -Wl,--lto-O1 a.o").unoptimised_link);
        assert!(!call("-O0 a.c").unoptimised_link);
        let back_end = call("-c -x ir a.o -fthinlto-index=a.thinlto.bc");
        assert!(back_end.compiles() && back_end.thin_back_end);
        assert!(!call("-c -x ir a.o -fthinlto-index=/dev/null").thin_back_end);
        assert!(!call("-x ir -x none a.o").compiles());
        assert_eq!(call("-flto=thin -Wl,--thinlto-cache-dir=tc a.o").thin_cache, Some("tc".into()));
    }
}
