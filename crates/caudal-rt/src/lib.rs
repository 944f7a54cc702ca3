//! The runtime: handlers written as ordinary blocking code, pre-empted every microsecond or two, under the policies of
//! `caudal-policy`.
//!
//! See `docs/background/runtime.md` for what it is made of.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!(
    "caudal-rt runs on Linux on x86-64 only: other systems lack its futex parking, and other processors its probe \
     (`caudal-probe`) and its cycle counter"
);

pub mod histogram;
mod primitives;
pub mod ring;
pub mod stack;
