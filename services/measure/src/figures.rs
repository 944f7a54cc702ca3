//! Figures of a list of times: percentiles, mean and variation. The program computes them for each run that it prints, and for tables of
//! files. Pure.

/// Figures of a list of times in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figures {
    pub(crate) count: usize,
    pub(crate) median_ns: u64,
    pub(crate) p99_ns: u64,
    pub(crate) p999_ns: u64,
    pub(crate) max_ns: u64,
    pub(crate) mean_ns: f64,
    /// Squared coefficient of variation: variance over squared mean.
    pub(crate) scv: f64,
    /// The same without the longest thousandth, which may come from the machine rather than the service.
    pub(crate) scv_to_p999: f64,
}

impl Figures {
    /// # Panics
    /// If there are no times.
    pub(crate) fn of(times_ns: impl IntoIterator<Item = u64>) -> Figures {
        let mut sorted: Vec<u64> = times_ns.into_iter().collect();
        sorted.sort_unstable();
        let count = sorted.len();
        let p999_ns = percentile(&sorted, 99.9);
        let (mean_ns, scv) = mean_and_scv(&sorted);
        let (_, scv_to_p999) = mean_and_scv(&sorted[..sorted.partition_point(|&ns| ns <= p999_ns)]);
        Figures {
            count,
            median_ns: percentile(&sorted, 50.0),
            p99_ns: percentile(&sorted, 99.0),
            p999_ns,
            max_ns: sorted[count - 1],
            mean_ns,
            scv,
            scv_to_p999,
        }
    }
}

fn mean_and_scv(times_ns: &[u64]) -> (f64, f64) {
    let count = times_ns.len() as f64;
    let mean_ns = times_ns.iter().map(|&ns| ns as f64).sum::<f64>() / count;
    let variance = times_ns.iter().map(|&ns| (ns as f64 - mean_ns).powi(2)).sum::<f64>() / count;
    (mean_ns, variance / (mean_ns * mean_ns))
}

/// The smallest value that at least `percent` of `sorted` do not exceed.
pub(crate) fn percentile(sorted: &[u64], percent: f64) -> u64 {
    let rank = (sorted.len() as f64 * percent / 100.0).ceil() as usize;
    sorted[rank.max(1) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_thousand_numbers() {
        let figures = Figures::of((1..=1_000).rev());
        assert_eq!(
            (figures.median_ns, figures.p99_ns, figures.p999_ns, figures.max_ns),
            (500, 990, 999, 1_000)
        );
        assert_eq!(figures.mean_ns, 500.5);
        assert!((figures.scv - (1e6 - 1.0) / 12.0 / 500.5_f64.powi(2)).abs() < 1e-12);
        assert!((figures.scv_to_p999 - (999.0 * 999.0 - 1.0) / 12.0 / 500_f64.powi(2)).abs() < 1e-12);
    }

    #[test]
    fn one_outlier_moves_the_whole_scv_only() {
        let figures = Figures::of((0..2_000).map(|at| if at == 7 { 1_000_000 } else { 100 + at % 2 }));
        assert!(figures.scv > 500.0 && figures.scv_to_p999 < 0.001, "{figures:?}");
    }

    #[test]
    fn few_numbers_have_percentiles_too() {
        assert_eq!(percentile(&[1, 2, 3, 4, 5, 6, 7], 50.0), 4);
        let figures = Figures::of([7]);
        assert_eq!((figures.median_ns, figures.p999_ns, figures.scv), (7, 7, 0.0));
    }
}
