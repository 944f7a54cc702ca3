#![no_std]
extern crate alloc;
pub mod time;
