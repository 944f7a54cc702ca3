//! The atomics, locks and threads of this crate. Every concurrent module takes them from here and not from `std`, so that models can run
//! with those of loom instead.

#[cfg(loom)]
#[allow(unused_imports)]
pub(crate) use loom::{
    cell::UnsafeCell,
    hint::spin_loop,
    sync::Mutex,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    thread,
};
#[cfg(not(loom))]
#[allow(unused_imports)]
pub(crate) use std::{
    cell::UnsafeCell,
    hint::spin_loop,
    sync::Mutex,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    thread,
};

/// A static; under loom one that each run of a model has anew.
macro_rules! shared_static {
    ($(#[$meta:meta])* static $name:ident: $type:ty = $value:expr;) => {
        #[cfg(not(loom))]
        $(#[$meta])*
        static $name: $type = $value;
        #[cfg(loom)]
        loom::lazy_static! {
            $(#[$meta])*
            static ref $name: $type = $value;
        }
    };
}
pub(crate) use shared_static;
