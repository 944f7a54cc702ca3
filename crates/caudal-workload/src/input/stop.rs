//! The request to stop. The command registers its flag at its start, and sets it on Ctrl-C; every reader asks here now and then while it
//! reads. One function pointer for the whole process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::error::WorkloadError;

static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on, reading of inputs ends with [`WorkloadError::Interrupted`] soon after `flag` was set. The first caller's
/// flag holds.
pub fn stop_reading_when(flag: Arc<AtomicBool>) {
    let _ = STOP.set(flag);
}

/// Was it asked to stop?
///
/// # Errors
/// If so.
pub(crate) fn check_stop() -> Result<(), WorkloadError> {
    if is_stopping() { Err(WorkloadError::Interrupted) } else { Ok(()) }
}

pub(super) fn is_stopping() -> bool {
    STOP.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}
