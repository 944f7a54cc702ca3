//! Erlang's formulas for k servers. `mmk` builds its distributions on them, and tests compare the simulator with them. Pure.
//!
//! Source: Erlang 1917; Harchol-Balter, *Performance Modeling and Design of Computer Systems* (2013), ch. 14, 15;
//! recursion as in Kleinrock, *Queueing Systems* I (1975), sec. 3.5.

use super::{TheoryError, not_negative, stable};

/// Erlang B: probability that an arrival finds all `servers` busy in M/G/k/k (no queue), for an offered load of
/// `offered` = arrival rate × mean service time (any value from 0 on; loss systems have no instability).
///
/// # Errors
/// `offered` negative or not finite.
pub fn erlang_b(servers: u32, offered: f64) -> Result<f64, TheoryError> {
    let offered = not_negative("offered load", offered)?;
    // B(k) = a·B(k−1) / (k + a·B(k−1)): all terms positive, no factorials.
    Ok((1..=servers).fold(1.0, |blocked, k| offered * blocked / (f64::from(k) + offered * blocked)))
}

/// Erlang C: probability that an arrival waits in M/M/k, for `offered` = arrival rate × mean service time.
///
/// # Errors
/// `offered` negative or not finite; [`TheoryError::Unstable`] if `offered ≥ servers`.
pub fn erlang_c(servers: u32, offered: f64) -> Result<f64, TheoryError> {
    let blocked = erlang_b(servers, offered)?;
    let load = if servers == 0 { f64::INFINITY } else { offered / f64::from(servers) };
    let load = stable(load)?;
    Ok(blocked / (1.0 - load * (1.0 - blocked)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::close;

    #[test]
    fn small_cases_by_hand() {
        // k = 1: B = a/(1+a), C = a. k = 2: B = a²/(2+2a+a²), C = a²/(2+a).
        for a in [0.1, 0.5, 0.9] {
            close(erlang_b(1, a).unwrap(), a / (1.0 + a), 1e-15);
            close(erlang_c(1, a).unwrap(), a, 1e-14);
            close(erlang_b(2, 2.0 * a).unwrap(), 4.0 * a * a / (2.0 + 4.0 * a + 4.0 * a * a), 1e-14);
            close(erlang_c(2, 2.0 * a).unwrap(), 4.0 * a * a / (2.0 + 2.0 * a), 1e-14);
        }
        assert_eq!(erlang_b(0, 3.0).unwrap(), 1.0);
        assert_eq!(erlang_c(4, 0.0).unwrap(), 0.0);
    }

    /// The sums of the textbook definition, for k where factorials still fit.
    #[test]
    fn agrees_with_the_definition() {
        for k in [3u32, 8, 16] {
            for load in [0.2, 0.7, 0.95] {
                let a = load * f64::from(k);
                let term = |n: u32| (1..=n).fold(1.0, |t, i| t * a / f64::from(i));
                let below: f64 = (0..k).map(term).sum();
                close(erlang_b(k, a).unwrap(), term(k) / (below + term(k)), 1e-13);
                let waiting = term(k) / (1.0 - load);
                close(erlang_c(k, a).unwrap(), waiting / (below + waiting), 1e-13);
            }
        }
    }

    /// Erlang B tables: the offered load that 10 servers carry at 1 % blocking is 4.461, 100 servers 84.06.
    #[test]
    fn published_table() {
        close(erlang_b(10, 4.461).unwrap(), 0.01, 1e-3);
        close(erlang_b(100, 84.06).unwrap(), 0.01, 1e-3);
        close(erlang_b(5, 1.361).unwrap(), 0.01, 2e-3);
    }

    #[test]
    fn refuses_overload() {
        assert_eq!(erlang_c(4, 4.0), Err(TheoryError::Unstable { load: 1.0 }));
        assert!(erlang_c(0, 0.0).is_err() && erlang_b(3, -1.0).is_err() && erlang_b(3, f64::NAN).is_err());
        assert!(erlang_c(100_000, 99_000.0).unwrap().is_finite());
    }
}
