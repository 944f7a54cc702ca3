//! Answers as reports, tables and directories, a file a question.

mod lane_classes;
mod lane_table;
pub mod lanes;
pub mod plan;
mod plan_table;
