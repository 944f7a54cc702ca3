//! Closed forms of queueing theory, which a simulation must agree with. The tests of the simulator compare its results with them. Pure.
//!
//! Times may be in any unit, rates are per that unit, percentiles are 0 ..= 100 as everywhere in this crate. All
//! forms are for the steady state: a load of 1 or more is [`TheoryError::Unstable`]. Each form names its source.
//!
//! | module | systems |
//! | --- | --- |
//! | [`erlang`] | probability of loss and of waiting with k servers |
//! | [`mmk`] | M/M/k, M/M/1: distribution of waiting and sojourn time, FCFS |
//! | [`mg1`] | M/G/1: mean wait under FCFS, sojourn under processor sharing |
//! | [`gim1`] | GI/M/1: distribution of the waiting time, FCFS, for any independent gaps |
//! | [`md1`] | M/D/1: distribution of the waiting time, FCFS |
//! | [`size_based`] | M/G/1: mean sojourn under LAS (FB) and SRPT, by size and over all |
//! | [`supermarket`] | power of d choices, many queues |
//! | [`little`] | number in system against time in system |

pub mod erlang;
pub mod gim1;
pub mod little;
pub mod md1;
pub mod mg1;
pub mod mmk;
pub mod size_based;
pub mod supermarket;

/// Why a closed form has no value.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TheoryError {
    /// No steady state.
    #[error("the load is {load}, it must be below 1: the queue grows without limit")]
    Unstable {
        /// Offered load per server.
        load: f64,
    },
    /// An argument has no meaning.
    #[error("{name} is {value}, it must be {expected}")]
    OutOfRange {
        /// Name of the argument.
        name: &'static str,
        /// The value that was given.
        value: f64,
        /// A description of what would be right.
        expected: &'static str,
    },
    /// The numerical integration found no end of the distribution.
    #[error("the service-time tail falls too slowly: its second moment is infinite or out of reach")]
    TailTooHeavy,
}

/// Accepts finite numbers above 0.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, TheoryError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(TheoryError::OutOfRange { name, value, expected: "finite and above 0" })
    }
}

/// Accepts finite numbers from 0 on.
pub(crate) fn not_negative(name: &'static str, value: f64) -> Result<f64, TheoryError> {
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err(TheoryError::OutOfRange { name, value, expected: "finite and at least 0" })
    }
}

/// Accepts loads with a steady state.
pub(crate) fn stable(load: f64) -> Result<f64, TheoryError> {
    if load < 1.0 { Ok(load) } else { Err(TheoryError::Unstable { load }) }
}

/// Share of values above the percentile `p`.
///
/// # Panics
/// If `p` is outside 0 ..= 100: a mistake of the caller, as in `Histogram::percentile`.
pub(crate) fn share_above(p: f64) -> f64 {
    assert!((0.0..=100.0).contains(&p), "percentile {p} is outside 0 ..= 100");
    (100.0 - p) / 100.0
}

/// Smallest `t ≥ 0` with `tail(t) ≤ share`, to full precision; `tail` falls from at most 1 to 0. `guess` is the
/// scale of the answer.
pub(crate) fn invert_tail(tail: impl Fn(f64) -> f64, share: f64, guess: f64) -> f64 {
    if share <= 0.0 {
        return f64::INFINITY;
    }
    if tail(0.0) <= share {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, guess);
    while tail(high) > share {
        (low, high) = (high, high * 2.0);
    }
    while high - low > high * 2.0 * f64::EPSILON {
        let middle = f64::midpoint(low, high);
        if tail(middle) > share {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
pub(crate) fn close(got: f64, expected: f64, relative: f64) {
    assert!((got - expected).abs() <= relative * expected.abs(), "got {got}, expected {expected}");
}
