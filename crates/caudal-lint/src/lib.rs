//! Checks of the workspace's own code and pages that the compiler and clippy do not have: circles of modules, doc comments without a noun,
//! links that lead nowhere, and threads, files and clocks in crates that have to run in a browser as well. Called by `make lint`, through `main.rs`.
//!
//! What stands today is listed in `known.txt`, so that nothing is added and what has gone is taken out of the list.

pub mod circles;
pub mod docs;
mod error;
pub mod host;
mod known;
pub mod links;
pub mod modules;
pub mod users;

use std::path::{Path, PathBuf};

pub use error::LintError;

/// The faults of all crates and pages of the workspace in the folder `workspace`, each as text with its place.
///
/// # Errors
/// Source that cannot be read or parsed, and lines of the list that are none.
pub fn check(workspace: &Path) -> Result<Vec<String>, LintError> {
    let list = workspace.join("crates/caudal-lint/known.txt");
    let mut known = known::Known::read(&list)?;
    let mut faults = Vec::new();
    let mut folders = sorted(&workspace.join("crates"))?;
    let services = workspace.join("services");
    if services.is_dir() {
        folders.extend(sorted(&services)?);
    }
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for root in ["src/lib.rs", "src/main.rs"].map(|root| folder.join(root)) {
            if root.is_file() {
                let all = modules::Crate::read(&root)?;
                faults.extend(known.faults_of_floors(&name, &all));
                faults
                    .extend(circles::circles(&all).iter().filter_map(|circle| known.fault_of(&name, circle)));
                faults.extend(faults_of_users(&all)?);
            }
        }
        faults.extend(known.fault_of_docs(&name, &openings(&folder.join("src"), &["rs"])?));
        if host::PORTABLE.contains(&name.as_str()) {
            for file in sources(&folder.join("src"), &["rs"])? {
                faults.extend(faults_of_host(&file)?);
            }
        }
    }
    faults.extend(known.fault_of_docs("pass", &openings(&workspace.join("pass/src"), &["h", "cpp"])?));
    faults.extend(known.gone());
    faults.extend(links::broken(workspace)?);
    Ok(faults)
}

/// Headers that name users which their file has not.
fn faults_of_users(all: &modules::Crate) -> Result<Vec<String>, LintError> {
    let users = users::users(all);
    let mut faults = Vec::new();
    for file in &all.files {
        let nobody = std::collections::BTreeSet::new();
        let of_file = users.get(file).unwrap_or(&nobody);
        let text = read(file)?;
        if users::has_bare_list(&text) {
            faults.push(format!(
                "{}:1: the header lists its users; say in a sentence who calls the file, and when",
                file.display()
            ));
        }
        faults.extend(users::stale(&text, of_file).iter().map(|name| {
            format!(
                "{}:1: the header says that `{name}` uses this file, which it does not; its users are {}",
                file.display(),
                of_file.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
            )
        }));
    }
    Ok(faults)
}

/// Uses of threads, files, clocks and so on in a file of a crate that has to run anywhere.
fn faults_of_host(path: &Path) -> Result<Vec<String>, LintError> {
    let parsed = syn::parse_file(&read(path)?).map_err(|error| LintError::Parse {
        path: path.to_path_buf(),
        line: error.span().start().line,
        error,
    })?;
    let told = |(line, used): (usize, String)| {
        format!(
            "{}:{line}: `{used}` is not there in a browser; this crate may use it under the feature `host` alone",
            path.display()
        )
    };
    Ok(host::uses_of_host(&parsed).into_iter().map(told).collect())
}

fn read(path: &Path) -> Result<String, LintError> {
    std::fs::read_to_string(path).map_err(|source| LintError::Read { path: path.to_path_buf(), source })
}

/// Everything in a folder, by name.
fn sorted(folder: &Path) -> Result<Vec<PathBuf>, LintError> {
    let wrong = |source| LintError::Read { path: folder.to_path_buf(), source };
    let entries: Result<Vec<_>, _> = std::fs::read_dir(folder).map_err(wrong)?.collect();
    let mut paths: Vec<PathBuf> = entries.map_err(wrong)?.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// Places of the doc comments without a noun, in files with these endings below a folder.
fn openings(folder: &Path, endings: &[&str]) -> Result<Vec<String>, LintError> {
    let mut places = Vec::new();
    for file in sources(folder, endings)? {
        let lines = docs::openings_without_noun(&read(&file)?);
        places.extend(lines.iter().map(|line| format!("{}:{line}", file.display())));
    }
    Ok(places)
}

/// All files with these endings below a folder; none if there is no such folder.
fn sources(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, LintError> {
    let mut files = Vec::new();
    if folder.is_dir() {
        for path in sorted(folder)? {
            if path.is_dir() {
                files.extend(sources(&path, endings)?);
            } else if path.extension().is_some_and(|ending| endings.iter().any(|has| *has == ending)) {
                files.push(path);
            }
        }
    }
    Ok(files)
}
