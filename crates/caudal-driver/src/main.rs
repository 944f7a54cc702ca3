//! `caudal-cc` and, by that name, `caudal-c++`: paths without arguments for build systems that want one, such as CMake.

use std::process::ExitCode;

use caudal_driver::cc::{self, Language};

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let name = args.next().unwrap_or_default();
    let (language, name) = match Language::of_command(&name) {
        Language::C => (Language::C, "caudal-cc"),
        Language::Cxx => (Language::Cxx, "caudal-c++"),
    };
    cc::main(name, language, args.collect())
}
