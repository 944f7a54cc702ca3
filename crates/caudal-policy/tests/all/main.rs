//! Policies and what has been published about them.

mod blocking;
mod q_zilla_figures;
mod thresholds;
