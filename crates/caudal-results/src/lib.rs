//! What becomes of simulated points: sweeps over the points of a file, results directories that a broken-off run goes on from, timelines of
//! a window, and the tables and reports of plans, lanes and rows. The command `caudal` prints it; other programs call it here.
//!
//! * [`sweep()`] simulates points and hands over typed rows in their order; where they are kept is a [`RowStore`].
//! * [`ResultsDirectory`] is one in files, [`DirectoryJournal`] keeps the parts of a search (feature `host`).
//! * [`answers`] are the reports and tables of plans and lanes; [`sweep_report()`] is that of rows.
//! * [`timeline`] draws what cores do in a window of a run, [`bounds`] checks what lanes promise after every event.
//! * [`table`], [`columns`] and [`describe`] put numbers, tables and systems into words.
//!
//! Nothing here prints, and nothing asks for a terminal: progress is told to a [`Progress`], and a flag in [`Control`] stops what runs.

pub mod answers;
pub mod bounds;
pub mod columns;
mod control;
mod csv;
pub mod describe;
#[cfg(feature = "host")]
mod directory;
mod error;
#[cfg(feature = "host")]
pub mod files;
#[cfg(feature = "host")]
mod journal;
#[cfg(feature = "host")]
mod meta;
mod sweep;
mod sweep_report;
pub mod table;
pub mod timeline;

pub use control::{Control, NoProgress, Progress};
pub use csv::table as csv;
#[cfg(feature = "host")]
pub use directory::{HDR, ResultsDirectory};
pub use error::ResultsError;
#[cfg(feature = "host")]
pub use journal::DirectoryJournal;
#[cfg(feature = "host")]
pub use meta::{Meta, Owner, digest, digests};
pub use sweep::{RowStore, Swept, sweep};
pub use sweep_report::sweep_report;
