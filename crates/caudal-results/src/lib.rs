//! The results of simulated points: sweeps over the points of a file, results directories from which an interrupted run is continued, timelines
//! of a window, and the tables and reports of plans, lanes and rows. The command `caudal` calls it and prints what it returns; other programs,
//! such as the Python package, call it in the same way.
//!
//! * [`sweep()`] simulates points and hands over typed rows in their order; a [`RowStore`] keeps them.
//! * [`ResultsDirectory`] is a store in files, [`DirectoryJournal`] keeps the parts of a search (feature `host`).
//! * [`answers`] are the reports and tables of plans and lanes; [`sweep_report()`] is the report of rows.
//! * [`timeline`] draws the work of cores in a window of a run, [`bounds`] checks the promises of lanes after every event.
//! * [`table`], [`columns`] and [`describe`] put numbers, tables and systems into words.
//!
//! Nothing here prints, and nothing asks for a terminal: the caller gives a [`Control`] with the number of threads, a flag that stops the
//! run, and a listener that is told the [`Progress`].

pub mod answers;
pub mod bounds;
pub mod columns;
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
mod progress;
mod sweep;
mod sweep_report;
pub mod table;
pub mod timeline;

pub use caudal_sim::experiment::Control;
pub use csv::table as csv;
#[cfg(feature = "host")]
pub use directory::{HDR, ResultsDirectory};
pub use error::ResultsError;
#[cfg(feature = "host")]
pub use journal::DirectoryJournal;
#[cfg(feature = "host")]
pub use meta::{Meta, Owner, digest, digests};
pub use progress::Progress;
pub use sweep::{RowStore, Swept, sweep};
pub use sweep_report::sweep_report;
