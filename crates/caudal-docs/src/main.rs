//! Writes the pages of `docs/reference` from the code: from the policies' documentation, the table of
//! refused combinations, the presets, the named workloads, the schema of the file and the fields of rows.
//!
//! ```text
//! cargo run -p caudal-docs              writes them
//! cargo run -p caudal-docs -- --check   says which are stale, and exits with 1 if any is
//! ```

mod markdown;
mod pages;
mod source;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The command that mends stale pages.
const MEND: &str = "cargo run -p caudal-docs";

/// Why a page could not be made or written.
#[derive(Debug, thiserror::Error)]
enum DocsError {
    /// A file that could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A source file that is not documented as the pages need it.
    #[error("{path}: {problem}")]
    Source {
        /// The file.
        path: PathBuf,
        /// The part that is missing, and the form that is expected.
        problem: String,
    },
    /// A named workload that does not compile.
    #[error("workload {name}: {source}")]
    Workload {
        /// Its name.
        name: String,
        /// The fault of the workload.
        source: caudal_workload::WorkloadError,
    },
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => write(&root()),
        ["--check"] => check(&root()),
        _ => {
            eprintln!("usage: caudal-docs [--check]");
            return ExitCode::from(2);
        }
    };
    done.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::from(3)
    })
}

/// The project's directory.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn write(root: &Path) -> Result<ExitCode, DocsError> {
    for page in pages::PAGES {
        let path = root.join(page.path);
        let text = page.text(root)?;
        if std::fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            std::fs::write(&path, text).map_err(|source| DocsError::Io { path: path.clone(), source })?;
            println!("wrote {}", page.path);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn check(root: &Path) -> Result<ExitCode, DocsError> {
    let stale = stale(root)?;
    for path in &stale {
        eprintln!("{path} is stale; mend it by: {MEND}");
    }
    Ok(if stale.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The pages that do not say what the code says.
fn stale(root: &Path) -> Result<Vec<&'static str>, DocsError> {
    let mut stale = Vec::new();
    for page in pages::PAGES {
        let text = page.text(root)?;
        if std::fs::read_to_string(root.join(page.path)).ok() != Some(text) {
            stale.push(page.path);
        }
    }
    Ok(stale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_page_is_stale() {
        let stale = stale(&root()).unwrap();
        assert!(stale.is_empty(), "{stale:?} do not say what the code says; mend them by: {MEND}");
    }

    #[test]
    fn no_page_speaks_of_paths_in_the_code() {
        for page in pages::PAGES {
            let text = page.text(&root()).unwrap();
            let path = text.lines().find(|line| line.contains("::"));
            assert!(path.is_none(), "{}: {path:?}", page.path);
        }
    }
}
