//! The dispersion of the work of many rows in a row, which their order decides. Services that replay rows ask for it when they are made,
//! and so do the findings about rows. Pure.

use super::Sequence;

/// Sums of fewer parts say little of how sums spread.
const PARTS_MIN: usize = 16;

impl Sequence {
    /// Variance over mean² of the sum of many rows that follow one another, a row, in the limit of many: where neighbours
    /// are alike, it is greater than that of one row. The greatest of sums of 1, 2, 4, ... rows; of sums so long that there
    /// are fewer than [`PARTS_MIN`] of them nobody knows how they spread.
    pub(crate) fn dispersion(&self) -> f64 {
        dispersion(self.0.iter().map(|demand| demand.service_ps), PARTS_MIN)
    }
}

/// See [`Sequence::dispersion`]; of times in the order of their rows, by sums of which there are so many at least.
pub(super) fn dispersion(rows: impl ExactSizeIterator<Item = u64> + Clone, parts_min: usize) -> f64 {
    let count = rows.len() as f64;
    let mean_ps = rows.clone().map(|ps| ps as f64).sum::<f64>() / count;
    // Of each length, a power of two: squares of deviations, how many, and a sum that waits for its neighbour.
    let mut lengths: Vec<(f64, usize, Option<f64>)> = Vec::new();
    for ps in rows {
        let mut sum_ps = ps as f64;
        for level in 0.. {
            if level == lengths.len() {
                lengths.push((0.0, 0, None));
            }
            let (squares, count, waiting) = &mut lengths[level];
            *squares += (sum_ps - mean_ps * length(level)).powi(2);
            *count += 1;
            let Some(before_ps) = waiting.take() else {
                *waiting = Some(sum_ps);
                break;
            };
            sum_ps += before_ps;
        }
    }
    let known =
        lengths.iter().enumerate().filter(|(level, (_, count, _))| *level == 0 || *count >= parts_min);
    let of_one = |(level, (squares, count, _)): (usize, &(f64, usize, Option<f64>))| {
        squares / *count as f64 / (length(level) * mean_ps * mean_ps)
    };
    known.map(of_one).fold(0.0, f64::max)
}

/// The number of rows in a sum of `level`.
fn length(level: usize) -> f64 {
    (1_u64 << level) as f64
}

#[cfg(test)]
mod tests {
    use crate::Demand;

    use super::*;

    fn rows(times: impl Iterator<Item = u64>) -> Sequence {
        Sequence(times.map(|service_ps| Demand { service_ps, class: 0 }).collect())
    }

    #[test]
    fn bursts_make_sums_spread() {
        // One half of 1, one of 101: variance 2500, mean 51.
        let of_one = 2500.0 / (51.0 * 51.0);
        let alternating = rows((0..4096).map(|row| 1 + 100 * (row % 2)));
        assert!((alternating.dispersion() - of_one).abs() < 1e-9, "{}", alternating.dispersion());
        let bursts = rows((0..4096).map(|row| 1 + 100 * (row / 64 % 2)));
        assert!((bursts.dispersion() - 64.0 * of_one).abs() < 1e-9, "{}", bursts.dispersion());
        assert_eq!(rows([7].into_iter()).dispersion(), 0.0);
        let chance = rows((0..4096_u64).map(|row| 1 + (row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60)));
        assert!(chance.dispersion() < 1.0);
    }
}
