//! The output of Caudal: a one-file HTML report, its charts as SVG, timelines for Perfetto, and files that
//! HdrHistogram's tools read.
//!
//! - [`Report`] is made from [`Row`]s (one simulated point each, as `caudal sim` writes them) and becomes a
//!   page that needs no network and reads the same without its script, in the dark and on paper.
//! - [`chart`] draws; [`chart::Chart::to_svg`] gives a file for a README.
//! - [`timeline`] writes a window of a run as a Perfetto trace.
//! - [`hdr`] writes `.hlog`.

pub mod chart;
mod counted;
mod error;
pub mod hdr;
mod report;
mod table;
mod target;
pub mod timeline;
mod views;
mod waits;

pub use caudal_row::{Row, RowMetric, Stat, miss_name};
pub use counted::Counted;
pub use error::{ExportError, TimelineError};
pub use report::{Answer, Outcome, PlainTable, Report, Verdict};
pub use table::{Reach, SystemLine};
pub use target::TargetLine;
