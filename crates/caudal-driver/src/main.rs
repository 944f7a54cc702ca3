//! The program `caudal-cc`, which is also installed as `caudal-c++`: compilers for build systems, such as CMake, that take the path of a
//! compiler without arguments. It calls the same code as `caudal cc` and `caudal c++`.

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
