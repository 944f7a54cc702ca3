//! The median of some trials, with an interval that only assumes that the trials are independent. Benchmarks compute it
//! when their trials are done. Pure.

/// A median and its 95 % interval, from the order of the values alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Median {
    /// The median; of an even number the mean of the middle two.
    pub value: f64,
    /// The interval's lower end: one of the values; of five or fewer the smallest, although that is less than 95 %.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Median {
    /// Of some values; `None` without any, or if one is not a number.
    pub fn of(values: &[f64]) -> Option<Median> {
        if values.is_empty() || values.iter().any(|value| value.is_nan()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (middle, outside) = (sorted.len() / 2, beyond(sorted.len()));
        let value = match sorted.len() % 2 {
            1 => sorted[middle],
            _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
        };
        Some(Median { value, low: sorted[outside], high: sorted[sorted.len() - 1 - outside] })
    }
}

/// Of so many values, how many lie below a 95 % interval of the median, and as many above: each is on either side of
/// the true one like a fair coin.
fn beyond(count: usize) -> usize {
    let mut chance = 0.5_f64.powi(count.min(1000) as i32);
    let (mut below, mut outside) = (0.0, 0);
    loop {
        below += chance;
        if below > 0.025 || outside >= count / 2 {
            return outside.saturating_sub(1);
        }
        chance *= (count - outside) as f64 / (outside + 1) as f64;
        outside += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_tables() {
        // Of 20 fair coins, fewer than 6 are heads with a chance of 2.1 %; of 40, fewer than 14 with 1.9 %.
        let interval = |count: u32| {
            let values: Vec<f64> = (1..=count).map(f64::from).collect();
            let median = Median::of(&values).unwrap();
            (median.low, median.high)
        };
        assert_eq!(
            [5, 6, 8, 20, 40].map(interval),
            [(1.0, 5.0), (1.0, 6.0), (1.0, 8.0), (6.0, 15.0), (14.0, 27.0)]
        );
    }

    #[test]
    fn the_middle_and_the_ends_whatever_the_order() {
        assert_eq!(Median::of(&[3.0, 1.0, 2.0]), Some(Median { value: 2.0, low: 1.0, high: 3.0 }));
        assert_eq!(Median::of(&[4.0, 1.0, 2.0, 3.0]).unwrap().value, 2.5);
        assert_eq!(Median::of(&[]), None);
        assert_eq!(Median::of(&[1.0, f64::NAN]), None);
    }
}
