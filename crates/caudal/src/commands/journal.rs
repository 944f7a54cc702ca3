//! The journal of a search, opened in its results directory: the user is told if a part of the search is there already. `plan`, `lanes`
//! and `break_even` call it before they simulate. It creates the directory if there is none.

use std::path::PathBuf;

use caudal_results::{DirectoryJournal, Meta, ResultsError};

/// The directory for `meta`, with its journal: `out`, or the first of `default`, `default-2`, ... that holds nothing else.
///
/// # Errors
/// If `out` is another question's, or can not be read or written.
pub(super) fn open_journal(
    out: Option<&PathBuf>,
    default: &str,
    meta: &Meta,
) -> Result<(PathBuf, DirectoryJournal), ResultsError> {
    let (dir, journal) = DirectoryJournal::of(out, default, meta)?;
    if journal.parts() > 0 {
        errln!("going on in {}: {} parts of the search are done", dir.display(), journal.parts());
    }
    Ok((dir, journal))
}
