//! `caudal cc` and `caudal c++`: clang with probes. The program's `main` asks here first, because clang's options must not reach the
//! parser of arguments; after that this process is replaced by clang, or runs it.

use std::ffi::OsString;
use std::process::ExitCode;

use caudal_driver::cc::{self, Language};
use clap::Args;

/// The arguments as `caudal --help` knows them; [`as_compiler`] reads them before.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct CcArgs {
    /// Clang's arguments, and --probe-... (see --help)
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

/// The compiler's exit code where the command line calls one. All that follows is its own: `-q` or `--json` are not ours there,
/// and a compiler has no handler for Ctrl-C.
pub(crate) fn as_compiler(mut args: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let (name, language) = match args.nth(1)?.to_str()? {
        "cc" => ("caudal cc", Language::C),
        "c++" => ("caudal c++", Language::Cxx),
        _ => return None,
    };
    Some(cc::main(name, language, args.collect()))
}

/// Where options of every command come first: `caudal --quiet cc ...`.
pub(crate) fn run(name: &str, language: Language, args: &CcArgs) -> ExitCode {
    cc::main(name, language, args.args.clone())
}
