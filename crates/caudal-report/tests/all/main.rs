//! Reports, in a browser and as text.

mod browser;
mod common;
mod figures;
