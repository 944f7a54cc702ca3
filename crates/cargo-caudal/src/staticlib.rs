//! Static libraries: rustc makes them without a linker, so no pass has seen what is in them. That is said.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::archive;
use crate::arguments::Arguments;

/// The static libraries of a build that succeeded which hold bitcode without probes. What can not be found out is not said.
pub(crate) fn without_probes(arguments: &Arguments, target: &str) -> Vec<PathBuf> {
    let Some(metadata) = metadata(arguments) else { return Vec::new() };
    let Some(directory) = arguments.value("--target-dir").or(metadata["target_directory"].as_str()) else {
        return Vec::new();
    };
    let directory = Path::new(directory).join(target).join(profile_directory(&arguments.profile));
    let files = libraries(&metadata).map(|name| directory.join(format!("lib{name}.a")));
    files.filter(|file| archive::has_bitcode(file)).collect()
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

/// Names of what is built as a static library.
fn libraries(metadata: &Value) -> impl Iterator<Item = String> + '_ {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    let is_static = |target: &&Value| {
        target["crate_types"].as_array().is_some_and(|types| types.iter().any(|kind| kind == "staticlib"))
    };
    targets.filter(is_static).filter_map(|target| Some(target["name"].as_str()?.replace('-', "_")))
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
    fn static_libraries_are_named_as_rustc_names_them() {
        let said = r#"{"packages": [{"targets": [
            {"name": "my-lib", "crate_types": ["rlib", "staticlib"]}, {"name": "app", "crate_types": ["bin"]}]}]}"#;
        let metadata: Value = serde_json::from_str(said).unwrap();
        assert_eq!(libraries(&metadata).collect::<Vec<_>>(), ["my_lib"]);
    }
}
