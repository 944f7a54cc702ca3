//! Usual calls of compilers: all of them have to work as with clang, quietly.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::common::{MAIN, PRINTED, Project, WORK, build_plugin, cold_entry_of_work, succeed};

const DRIVER: &str = env!("CARGO_BIN_EXE_caudal-cc");

fn project() -> Project {
    build_plugin(DRIVER);
    Project::new(Path::new(DRIVER), &[("main.c", MAIN), ("work.c", WORK)])
}

#[test]
fn objects_then_a_link() {
    let project = project();
    project.quietly("-O2 -Wall -Wextra -Werror -c main.c");
    project.quietly("-O2 -Wall -Wextra -Werror -c work.c -o work.o");
    project.quietly("main.o work.o -o program");
    assert_eq!(project.run("program"), PRINTED);
    let [main, work] = ["main.o", "work.o"].map(|name| project.probes_in(name));
    assert!(main > 0 && work > 0);
    assert_eq!(project.probes_in("program"), main + work);
}

#[test]
fn several_sources_in_one_call() {
    let project = project();
    project.quietly("-O2 main.c work.c");
    assert_eq!(project.run("a.out"), PRINTED);
    project.quietly("-O2 -c main.c work.c");
    assert!(project.probes_in("main.o") > 0 && project.probes_in("work.o") > 0);
}

#[test]
fn assembly_and_back() {
    let project = project();
    project.quietly("-O2 -S work.c");
    assert!(project.read("work.s").contains(&cold_entry_of_work("budget")));
    project.quietly("-Wall -Werror -c work.s -o work.o");
    project.write("empty.S", "#define NOTHING\nNOTHING\n.section .note.GNU-stack,\"\",@progbits\n");
    project.quietly("-Wall -Werror -O2 main.c work.o empty.S -o program");
    assert_eq!(project.run("program"), PRINTED);
}

#[test]
fn bitcode_and_back() {
    let project = project();
    project.quietly("-O2 -c -emit-llvm work.c");
    project.quietly("-O2 -S -emit-llvm main.c");
    assert!(project.read("main.ll").contains("caudal-probed"));
    project.quietly("--probe-report=report.jsonl main.ll work.bc -o program");
    assert_eq!(project.run("program"), PRINTED);
    // They have their probes already.
    assert_eq!(project.report().left_alone.len(), 2);
}

#[test]
fn what_makes_no_code_is_clangs_alone() {
    let project = project();
    assert!(project.quietly("-Wall -Werror -E main.c").contains("int main"));
    assert!(project.quietly("-Wall -Werror -M main.c").starts_with("main.o: main.c /usr/include"));
    assert_eq!(project.quietly("-Wall -Werror -MM main.c").trim(), "main.o: main.c");
    project.quietly("-Wall -Werror -fsyntax-only main.c work.c");
    project.quietly("-Wall -Werror -O2 -MD -MF work.d -MT target -c work.c");
    assert_eq!(project.read("work.d").trim(), "target: work.c");
    project.write("work.h", "long work(long rounds);\n");
    project.quietly("-Wall -Werror work.h -o work.h.pch");
}

#[test]
fn clang_says_what_it_is() {
    let project = project();
    let clang = succeed(project.command("clang-22").arg("--version"));
    assert_eq!(project.quietly("--version"), clang);
    let output = project.call("-v");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("clang version 22"));
    assert_eq!(project.quietly("-print-prog-name=nowhere").trim(), "nowhere");
    assert!(!project.quietly("-dumpmachine").is_empty());
    // In front of a link that optimises, too: there some of what it looks for is no longer as the compiler wrote it.
    for options in ["", "-flto", "-flto=thin"] {
        let jobs = project.call(&format!("-### -O2 {options} -c work.c"));
        assert!(jobs.status.success());
        assert!(String::from_utf8_lossy(&jobs.stderr).contains("-fpass-plugin="), "{options}");
    }
    let nothing = project.call("");
    assert_eq!(nothing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("no input files"));
}

#[test]
fn help_has_both_kinds_of_options() {
    let help = project().quietly("--help");
    assert!(help.contains("--probe-unknown-call=CYCLES") && help.contains("-fsyntax-only"));
}

#[test]
fn the_exit_code_is_clangs() {
    let project = project();
    project.write("wrong.c", "int main( {\n");
    for line in ["-c wrong.c", "--probe-report -c wrong.c"] {
        assert_eq!(project.call(line).status.code(), Some(1), "{line}");
    }
}

#[test]
fn a_source_from_stdin() {
    let project = project();
    let mut command = project.command(DRIVER);
    command.args(["-O2", "-x", "c", "-", "-x", "none", "main.c", "-o", "program"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the driver can be run");
    child.stdin.take().expect("it is piped").write_all(WORK.as_bytes()).expect("it reads");
    assert!(child.wait().expect("it ends").success());
    assert_eq!(project.run("program"), PRINTED);
}

#[test]
fn response_files() {
    let project = project();
    project.write("inner", "-o 'a program' \"work.c\"");
    project.write("outer", "-O2 main.c\n@inner --probe-report=report.jsonl");
    project.quietly("@outer");
    assert_eq!(project.run("a program"), PRINTED);
    assert!(project.report().probes() > 0);
    // More than a command line holds.
    let many: String = (0..40_000).map(|n| format!("-DNAME_{n}\n")).collect();
    project.write("many", &format!("{many} main.c work.c -o many.out"));
    project.quietly("@many");
    assert_eq!(project.run("many.out"), PRINTED);
}

#[test]
fn without_optimisation() {
    let project = project();
    project.quietly("-O0 -g --probe-report=report.jsonl main.c work.c -o program");
    assert_eq!(project.run("program"), PRINTED);
    assert_eq!(project.probes_in("program") as u64, project.report().probes());
    assert!(project.probes_in("program") >= 2);
}

#[test]
fn cxx_by_its_name() {
    let project = project();
    let cxx = project.link("caudal-c++");
    project.write(
        "main.cc",
        "#include <iostream>\n#include <stdexcept>\nint main(int count, char **) {\n  try {\n    for (int i = 0;; i++)\n      if (i == count * 1000) throw std::runtime_error(\"far\");\n  } catch (std::exception &error) {\n    std::cout << error.what() << '\\n';\n  }\n}\n",
    );
    succeed(project.command(&cxx).args(["-O2", "-Wall", "-Werror", "main.cc", "-o", "program"]));
    assert_eq!(project.run("program"), "far\n");
}

#[test]
fn off_is_off() {
    let project = project();
    project.quietly("-O2 --probe-off main.c work.c -o program");
    assert_eq!(project.run("program"), PRINTED);
    assert_eq!(project.probes_in("program"), 0);
    assert!(!project.names_in("program").contains("caudal"));
}

#[test]
fn modes_and_verification() {
    let project = project();
    for mode in ["clock", "budget", "flag"] {
        project.quietly(&format!("-O2 --probe-mode={mode} --probe-verify -c work.c"));
        assert!(project.names_in("work.o").contains(&format!("U {}", cold_entry_of_work(mode))), "{mode}");
    }
}

#[test]
fn a_report_in_words() {
    let project = project();
    let output = project.call("-O2 --probe-report -c work.c");
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(
        said.starts_with("caudal-cc: ") && said.contains(" in 1 function; 0 need none, 0 left alone\n"),
        "{said}"
    );
}
