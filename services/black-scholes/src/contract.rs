//! The contracts that are priced: European options, with their payoff. Portfolios hold them, and the solver asks them for the values at the
//! ends of its grid. Plain data, and pure functions of it.

/// The right that an option gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// To buy at the strike.
    Call,
    /// To sell at the strike.
    Put,
}

/// A European option: its right is used when it ends, or not at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contract {
    /// Call or put.
    pub kind: Kind,
    /// Price of the underlying now; above 0.
    pub spot: f64,
    /// Price for which the underlying may be bought or sold at the end; above 0.
    pub strike: f64,
    /// Time until the end.
    pub years: f64,
    /// Interest without risk, continuously compounded.
    pub rate_per_year: f64,
    /// Dividend of the underlying, paid continuously.
    pub dividend_per_year: f64,
    /// Standard deviation of the underlying's logarithm after a year.
    pub volatility: f64,
}

impl Contract {
    /// The value of the option at the end, if the underlying costs `spot` then.
    pub fn payoff(&self, spot: f64) -> f64 {
        match self.kind {
            Kind::Call => (spot - self.strike).max(0.0),
            Kind::Put => (self.strike - spot).max(0.0),
        }
    }

    /// The value of the option `years` before the end, if the underlying costs `spot` and has no volatility. Far from the strike, on both
    /// sides, the true value tends to this one.
    pub fn certain(&self, spot: f64, years: f64) -> f64 {
        let spot = spot * (-self.dividend_per_year * years).exp();
        let strike = self.strike * (-self.rate_per_year * years).exp();
        match self.kind {
            Kind::Call => (spot - strike).max(0.0),
            Kind::Put => (strike - spot).max(0.0),
        }
    }

    /// The mean of the payoff over logarithms of the underlying's price from `from` to `to`.
    pub(crate) fn mean_payoff(&self, from: f64, to: f64) -> f64 {
        let kink = self.strike.ln().clamp(from, to);
        // Where there is something to gain: above the strike, or below it.
        let (low, high) = match self.kind {
            Kind::Call => (kink, to),
            Kind::Put => (from, kink),
        };
        let gain = high.exp() - low.exp() - self.strike * (high - low);
        gain.abs() / (to - from)
    }
}
