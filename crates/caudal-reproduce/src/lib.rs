//! Reproduction: the figures of the papers, simulated anew, and their statements judged one by one. `caudal reproduce` is made of it.
//!
//! * [`figure`]: what a figure is: a file of `experiments/`, charts, tables, and [`figure::Statement`]s.
//! * `policies_*`, `tiny_quanta`, `q_zilla`, `tail_control`: the figures themselves, a file each.
//! * [`run`] simulates a figure's points and keeps every replication as a [`cell`]; [`search`] looks for the
//!   highest load where a figure shows that, [`thresholds`] and [`trace`] are what others show; [`refine`] adds replications where statements are open.
//! * [`claim`] judges: claims about numbers with intervals, true, false or open; [`compare`] makes them of
//!   pairs of systems that saw the same requests, and of points and curves, of which [`ideal`] is one.
//! * [`record`] is what is kept of a figure; [`size`] holds its numbers against the paper's, [`claims`] takes together what is
//!   one claim of a paper.
//! * [`notes`] says why a statement did not come out, with numbers that are looked up in records.
//! * [`tables`], [`charts`], [`page`] and [`overview`] show what came out; [`reproduction`] runs it all and keeps it in files.
//!
//! A statement holds, does not hold, or is undecided; whichever it is, it is reported with its numbers. No
//! parameter of an experiment is chosen so that a statement comes out.

mod cell;
mod charts;
mod claim;
mod claims;
mod compare;
mod error;
mod figure;
mod figures;
mod ideal;
mod judged;
mod measured;
mod notes;
mod overview;
mod page;
mod parallel;
mod policies_dynamic;
mod policies_figure_10;
mod policies_figure_3;
mod policies_figure_4;
mod policies_figure_5;
mod policies_figure_7;
mod policies_figure_8;
mod policies_figures_6_9;
mod q_zilla;
mod readings;
mod record;
mod refine;
mod reproduction;
mod run;
mod search;
mod sheet;
mod size;
#[cfg(test)]
mod synthetic;
mod tables;
mod tail_control;
mod thresholds;
mod tiny_quanta;
mod trace;
mod words;

pub use error::ReproduceError;
pub use reproduction::{FigureResult, Reproduction, write_docs};
