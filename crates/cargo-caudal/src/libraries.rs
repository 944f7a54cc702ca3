//! Notes on built libraries that other programs link or load. rustc makes a static library without a linker, so the pass has not seen its code;
//! a shared library leaves the symbols of the probe library to the program that loads it. The program's `main` prints the notes when cargo
//! has succeeded. Calls `cargo metadata` and reads the libraries.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::archive;
use crate::arguments::Arguments;

/// Notes on the libraries of a build that succeeded, a line each. A library of which nothing can be found out gets none.
pub(crate) fn notes(arguments: &Arguments, target: &str) -> Vec<String> {
    let Some(metadata) = metadata(arguments) else { return Vec::new() };
    let Some(directory) = arguments.value("--target-dir").or(metadata["target_directory"].as_str()) else {
        return Vec::new();
    };
    let directory = Path::new(directory).join(target).join(profile_directory(&arguments.profile));
    let files = |kind, suffix| {
        libraries(&metadata, kind)
            .map(|name| directory.join(format!("lib{name}{suffix}")))
            .collect::<Vec<_>>()
    };
    let without = files("staticlib", ".a").into_iter().filter(|file| archive::has_bitcode(file));
    let needy = files("cdylib", ".so").into_iter().filter(|file| refers_to_probes(file));
    let without = without.map(|file| format!("`{}` {WITHOUT_PROBES}", file.display()));
    without.chain(needy.map(|file| format!("`{}` {NEEDS_PROGRAM}", file.display()))).collect()
}

const WITHOUT_PROBES: &str =
    "is bitcode and has no probes yet: they come in where it is linked, by `caudal-cc -flto`";
const NEEDS_PROGRAM: &str = "has probes, so only a program that `caudal-cc` or `cargo caudal` has linked can load it; for others \
                             build it with --probe-off";

fn refers_to_probes(library: &Path) -> bool {
    const NAME: &[u8] = b"caudal_probe_v1\0";
    fs::read(library).is_ok_and(|bytes| bytes.windows(NAME.len()).any(|part| part == NAME))
}

fn metadata(arguments: &Arguments) -> Option<Value> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["metadata", "--format-version=1", "--no-deps"]);
    for option in ["--manifest-path", "--config"] {
        if let Some(value) = arguments.value(option) {
            cargo.args([option, value]);
        }
    }
    let output = cargo.output().ok().filter(|output| output.status.success())?;
    serde_json::from_slice(&output.stdout).ok()
}

/// Names of the targets that are built as a library of this kind.
fn libraries<'a>(metadata: &'a Value, kind: &'a str) -> impl Iterator<Item = String> + 'a {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    let is_of_kind = move |target: &&Value| {
        target["crate_types"].as_array().is_some_and(|types| types.iter().any(|of| of == kind))
    };
    targets.filter(is_of_kind).filter_map(|target| Some(target["name"].as_str()?.replace('-', "_")))
}

fn profile_directory(profile: &str) -> &str {
    match profile {
        "dev" | "test" => "debug",
        "bench" => "release",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_named_as_rustc_names_them() {
        let said = r#"{"packages": [{"targets": [
            {"name": "my-lib", "crate_types": ["rlib", "staticlib"]}, {"name": "app", "crate_types": ["bin"]}]}]}"#;
        let metadata: Value = serde_json::from_str(said).unwrap();
        assert_eq!(libraries(&metadata, "staticlib").collect::<Vec<_>>(), ["my_lib"]);
        assert_eq!(libraries(&metadata, "cdylib").count(), 0);
    }
}
