//! The runtime for C and C++, as its users have it: installed, with its header.

mod handlers;
mod header;
mod installed;
mod preemption;
mod programs;
