//! The program of the guide, and the ways of starting it.

mod service;
mod ways;
