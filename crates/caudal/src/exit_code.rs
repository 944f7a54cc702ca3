//! The exit codes of the command, and what each means. `exit` gives them to errors, `out` to a stdout that fails, `global` to a signal; a
//! command returns one itself when its answer is no.
//!
//! | code | meaning |
//! | --- | --- |
//! | 0 | done |
//! | 1 | the answer is no: no system meets the target, or could, or a statement does not hold under `--strict` |
//! | 2 | bad input: arguments, a file, a workload; nothing was simulated |
//! | 3 | something went wrong that is no fault of the input: a full disk, a closed pipe |
//! | 130 | interrupted; what was done is printed, and kept in the results directory if there is one: the same command goes on from there |

/// The answer is no.
pub(crate) const NO: u8 = 1;
/// Bad input.
pub(crate) const BAD_INPUT: u8 = 2;
/// Something else went wrong.
pub(crate) const FAILED: u8 = 3;
/// Interrupted.
pub(crate) const INTERRUPTED: u8 = 130;
