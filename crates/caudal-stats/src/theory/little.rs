//! Little's law: number in system = arrival rate × time in system.
//!
//! Source: Little, *A proof for the queuing formula L = λW* (Operations Research 9, 1961). On a finite run that
//! counts the unfinished requests it is an identity between integers: ∫ N dt = Σ time in system.

use super::{TheoryError, not_negative, positive};

/// Mean number in system, λ · W.
///
/// # Errors
/// A negative or infinite argument.
pub fn number_in_system(arrival_rate: f64, mean_time: f64) -> Result<f64, TheoryError> {
    Ok(not_negative("arrival rate", arrival_rate)? * not_negative("mean time in system", mean_time)?)
}

/// Mean time in system, L / λ.
///
/// # Errors
/// A negative or infinite number, an arrival rate that is not above 0.
pub fn time_in_system(arrival_rate: f64, mean_number: f64) -> Result<f64, TheoryError> {
    Ok(not_negative("mean number in system", mean_number)? / positive("arrival rate", arrival_rate)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{close, mmk::MMk};

    #[test]
    fn fits_m_m_1() {
        // L = ρ / (1 − ρ)
        let queue = MMk::new(1, 0.8, 1.0).unwrap();
        close(number_in_system(0.8, queue.mean_sojourn()).unwrap(), 4.0, 1e-12);
        close(time_in_system(0.8, 4.0).unwrap(), queue.mean_sojourn(), 1e-12);
        assert!(time_in_system(0.0, 1.0).is_err() && number_in_system(-1.0, 1.0).is_err());
    }
}
