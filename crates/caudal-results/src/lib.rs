//! What becomes of simulated points: sweeps over the points of a file, results directories that a broken-off run goes on from, timelines of
//! a window, and the tables and reports of plans, lanes and rows. The command `caudal` prints it; other programs call it here.
//!
//! * [`sweep()`] simulates points and hands over typed rows in their order; where they are kept is a [`RowStore`].
//! * [`ResultsDirectory`] is one in files, [`DirectoryJournal`] keeps the parts of a search (feature `host`).
//! * [`answers`] are the reports and tables of plans and lanes; [`sweep_report()`] is that of rows.
//! * [`timeline`] draws what cores do in a window of a run, [`bounds`] checks what lanes promise after every event.
//! * [`table`], [`columns`] and [`describe`] put numbers, tables and systems into words.
//!
//! Nothing here prints, and nothing asks for a terminal: a [`Control`] has the number of threads, the flag that stops what runs, and the listener that is told its
//! [`Progress`].

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
