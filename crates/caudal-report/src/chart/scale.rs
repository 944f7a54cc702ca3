//! The scale of an axis, from values to positions, and its ticks: 1-2-5 steps, or decades. `draw` makes one for each axis of a plot.
//! Pure.

use serde::{Deserialize, Serialize};

/// How values spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios; values at or below 0 cannot be drawn.
    Log,
}

/// A fitted axis: the ends of its domain and its labelled ticks.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    spread: Spread,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Where a line and a label go.
    pub(crate) ticks: Vec<f64>,
    /// Where only a short mark goes (log axes).
    pub(crate) minor: Vec<f64>,
}

/// Enough that a chart of a fast and a hopeless system is drawn; more is an error in the data.
const MAX_DECADES: f64 = 30.0;

/// Magnitudes that are drawn: what lies beyond is an error in the data, and would leave no room to calculate in.
const LARGEST: f64 = 1e100;
const SMALLEST: f64 = 1e-100;

impl Scale {
    /// Fits an axis around `values`; `low` and `high` fix an end. `wanted` is about how many ticks fit.
    pub(crate) fn fit(
        spread: Spread,
        values: impl Iterator<Item = f64>,
        (low, high): (Option<f64>, Option<f64>),
        wanted: usize,
    ) -> Self {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|v| spread.can_show(*v)) {
            least = least.min(value);
            most = most.max(value);
        }
        if least > most {
            (least, most) = (1.0, 10.0);
        }
        let least = low.filter(|v| spread.can_show(*v)).unwrap_or(least);
        let high = high.filter(|v| spread.can_show(*v));
        let most = high.unwrap_or(most).max(least);
        let mut fitted = match spread {
            Spread::Linear => Self::linear(least, most, wanted),
            Spread::Log => Self::log(least, most.min(least * 10f64.powf(MAX_DECADES)), wanted),
        };
        fitted.low = low.filter(|v| spread.can_show(*v)).unwrap_or(fitted.low);
        fitted.high = high.filter(|v| *v > fitted.low).unwrap_or(fitted.high);
        let inside = fitted.low * (1.0 - 1e-9)..=fitted.high * (1.0 + 1e-9);
        fitted.ticks.retain(|tick| inside.contains(tick));
        fitted.minor.retain(|tick| inside.contains(tick));
        fitted
    }

    fn linear(least: f64, most: f64, wanted: usize) -> Self {
        // Values that differ by less than a billionth are one: ticks between them could not be told apart.
        let differ = most - least > most.abs().max(least.abs()).max(SMALLEST) * 1e-9;
        let span = if differ { most - least } else { least.abs().max(1.0) };
        let step = nice_step(span / wanted as f64);
        let (first, last) = ((least / step).floor(), (most / step).ceil().max((least / step).floor() + 1.0));
        let ticks = (0..=(last - first) as usize).map(|i| (first + i as f64) * step).collect();
        Self { spread: Spread::Linear, low: first * step, high: last * step, ticks, minor: Vec::new() }
    }

    fn log(least: f64, most: f64, wanted: usize) -> Self {
        let low = nice_below(least);
        let high = nice_above(most.max(low * 1.5));
        let decades = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
        let span = (high / low).log10();
        let multiples: &[f64] = match span {
            span if span < 1.1 => &[1.0, 2.0, 3.0, 5.0, 7.0],
            span if span * 3.0 <= wanted as f64 + 1.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let every = (span / wanted as f64).ceil().max(1.0) as i32;
        let of = |multiples: &[f64], every: i32| -> Vec<f64> {
            let kept = decades.clone().filter(|decade| decade.rem_euclid(every) == 0);
            kept.flat_map(|decade| multiples.iter().map(move |m| m * 10f64.powi(decade)).collect::<Vec<_>>())
                .collect()
        };
        let minor = if span <= 6.0 { of(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 1) } else { Vec::new() };
        Self { spread: Spread::Log, low, high, ticks: of(multiples, every), minor }
    }

    /// Position of a value, 0 at the low end and 1 at the high end; outside of that when the value is.
    pub(crate) fn position(&self, value: f64) -> f64 {
        match self.spread {
            Spread::Linear => (value - self.low) / (self.high - self.low),
            Spread::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        }
    }

    pub(crate) fn can_show(&self, value: f64) -> bool {
        self.spread.can_show(value)
    }
}

impl Spread {
    fn can_show(self, value: f64) -> bool {
        value.abs() <= LARGEST && (self == Self::Linear || value >= SMALLEST)
    }
}

fn nice_step(raw: f64) -> f64 {
    let decade = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().find(|m| m * decade >= raw * (1.0 - 1e-9));
    step.unwrap_or(10.0) * decade
}

const LOG_ENDS: [f64; 4] = [1.0, 2.0, 5.0, 10.0];

fn nice_below(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    let end = LOG_ENDS.into_iter().rev().find(|m| m * decade <= value * (1.0 + 1e-9));
    end.unwrap_or(1.0) * decade
}

fn nice_above(value: f64) -> f64 {
    let decade = 10f64.powf(value.log10().floor());
    let end = LOG_ENDS.into_iter().find(|m| m * decade >= value * (1.0 - 1e-9));
    end.unwrap_or(10.0) * decade
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fit(spread: Spread, values: &[f64]) -> Scale {
        Scale::fit(spread, values.iter().copied(), (None, None), 6)
    }

    #[test]
    fn loads_get_round_ticks() {
        let scale = fit(Spread::Linear, &[0.1, 0.95]);
        let shown: Vec<_> = scale.ticks.iter().map(|t| crate::chart::Unit::Plain.show(*t)).collect();
        assert_eq!(shown, ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
    }

    #[test]
    fn a_long_log_axis_has_a_tick_a_decade() {
        let scale = fit(Spread::Log, &[700.0, 3e6]);
        assert_eq!((scale.low, scale.high), (500.0, 5e6));
        assert_eq!(scale.ticks, [1e3, 1e4, 1e5, 1e6]);
        assert!((scale.position(500.0)).abs() < 1e-12 && (scale.position(5e6) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_draw_is_still_an_axis() {
        for spread in [Spread::Linear, Spread::Log] {
            let scale = fit(spread, &[f64::NAN, f64::INFINITY]);
            assert!(scale.low < scale.high && !scale.ticks.is_empty());
        }
        assert!(!fit(Spread::Log, &[1.0]).can_show(0.0));
    }

    #[test]
    fn values_at_the_ends_of_the_numbers_do_not_overflow_an_axis() {
        for spread in [Spread::Linear, Spread::Log] {
            let neighbours = [0.019, 0.019_000_000_000_000_003];
            for values in [
                &[f64::MAX, -f64::MAX][..],
                &[f64::MAX],
                &[5e-324],
                &[0.0, 1e-323],
                &[1e100, -1e100],
                &[1e100, 1e-100],
                &neighbours,
            ] {
                let scale = fit(spread, values);
                assert!(
                    scale.low < scale.high && (1..100).contains(&scale.ticks.len()),
                    "{spread:?} {values:?}"
                );
                for value in values.iter().filter(|value| scale.can_show(**value)) {
                    assert!(scale.position(*value).is_finite(), "{spread:?} {values:?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn values_lie_inside_and_ticks_are_few(
            values in prop::collection::vec(1e-3..1e12f64, 1..20), log in any::<bool>(),
        ) {
            let scale = fit(if log { Spread::Log } else { Spread::Linear }, &values);
            for value in values {
                prop_assert!((-1e-6..=1.0 + 1e-6).contains(&scale.position(value)));
            }
            prop_assert!((1..=14).contains(&scale.ticks.len()), "{:?}", scale.ticks);
            prop_assert!(scale.ticks.is_sorted());
        }
    }
}
