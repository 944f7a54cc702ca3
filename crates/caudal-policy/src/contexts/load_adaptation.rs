//! CoreZilla's automatic load adaptation: arrivals are counted over windows, and a table says how many contexts are best
//! at that rate. A host makes one for each core, tells it of each arrival, and asks it for the number of contexts at the end of each window.
//!
//! The table is made beforehand, from the tail latency of each number of contexts at each load: it holds the *break-even*
//! rates, at which one more step is better than the one before.
//!
//! Source: Mirhosseini et al., HPCA 2020, section 4.2.

use crate::{List, Picos};

/// The parameters in a policy file.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct LoadAdaptationConfig {
    /// The time over which arrivals are counted before the table is applied (5 ms).
    #[cfg_attr(feature = "serde", serde(default = "five_ms"))]
    pub window: Picos,
    /// Numbers of contexts, increasing: `[1, 2, 4]`.
    pub contexts: List<u32>,
    /// Break-even rates of one core, in requests per second, increasing; one less than numbers of contexts. From the first
    /// on, the second number is active.
    pub break_even_per_s: List<u32>,
}

/// The paper's window.
#[cfg(feature = "serde")]
fn five_ms() -> Picos {
    Picos::from_micros(5_000)
}

/// A fault of a [`LoadAdaptationConfig`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdaptationFault {
    /// No number of contexts, a 0, or numbers that do not increase.
    Contexts,
    /// Not one rate less than numbers of contexts, or rates that do not increase.
    Rates,
    /// A window of length 0.
    Window,
}

impl core::fmt::Display for AdaptationFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            AdaptationFault::Contexts => "numbers of contexts are above 0, and each is above the one before",
            AdaptationFault::Rates => {
                "between two numbers of contexts there is one break-even rate, above the one before"
            }
            AdaptationFault::Window => "a window is longer than 0",
        })
    }
}

impl LoadAdaptationConfig {
    /// The first fault of the configuration; none if it is right.
    pub fn fault(&self) -> Option<AdaptationFault> {
        let rising = |values: &[u32]| values.windows(2).all(|pair| pair[0] < pair[1]);
        if self.contexts.first().is_none_or(|&first| first == 0) || !rising(&self.contexts) {
            return Some(AdaptationFault::Contexts);
        }
        if self.break_even_per_s.len() + 1 != self.contexts.len() || !rising(&self.break_even_per_s) {
            return Some(AdaptationFault::Rates);
        }
        (self.window == Picos::ZERO).then_some(AdaptationFault::Window)
    }

    /// The most contexts that it ever asks for.
    pub fn most(&self) -> u32 {
        self.contexts.last().copied().unwrap_or(0)
    }
}

/// The state machine of one core. See the [module](self).
#[derive(Clone, Debug)]
pub struct LoadAdaptation {
    config: LoadAdaptationConfig,
    arrived: u64,
}

impl LoadAdaptation {
    /// A core that begins with the most contexts: nothing is known of its load yet.
    ///
    /// # Panics
    /// If `config` is at fault.
    pub fn new(config: LoadAdaptationConfig) -> LoadAdaptation {
        if let Some(fault) = config.fault() {
            panic!("{fault}");
        }
        LoadAdaptation { config, arrived: 0 }
    }

    /// How long a window is.
    pub fn window(&self) -> Picos {
        self.config.window
    }

    /// A request has arrived at the core.
    #[inline]
    pub fn on_arrival(&mut self) {
        self.arrived += 1;
    }

    /// A window is over: how many contexts are to be active from now on?
    pub fn on_window(&mut self) -> u32 {
        let arrived = core::mem::take(&mut self.arrived);
        // In whole numbers: arrivals in a second over those in the window.
        let per_s = u128::from(arrived) * 1_000_000_000_000 / u128::from(self.config.window.0);
        let step = self.config.break_even_per_s.iter().filter(|&&rate| u128::from(rate) <= per_s).count();
        self.config.contexts[step]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(contexts: &[u32], rates: &[u32]) -> LoadAdaptationConfig {
        let list = |values: &[u32]| List::new(values).expect("a few");
        LoadAdaptationConfig {
            window: Picos::from_micros(5_000),
            contexts: list(contexts),
            break_even_per_s: list(rates),
        }
    }

    #[test]
    fn the_table_says_how_many_are_active() {
        let mut core = LoadAdaptation::new(config(&[1, 2, 4], &[100_000, 300_000]));
        let mut after = |arrivals: u32| {
            (0..arrivals).for_each(|_| core.on_arrival());
            core.on_window()
        };
        // 5 ms at 100,000 a second are 500 arrivals.
        assert_eq!(
            [after(0), after(499), after(500), after(1499), after(1500), after(9999)],
            [1, 1, 2, 2, 4, 4]
        );
        assert_eq!(after(499), 1, "a window forgets the one before");
    }

    #[test]
    fn faults_are_found() {
        assert_eq!(config(&[], &[]).fault(), Some(AdaptationFault::Contexts));
        assert_eq!(config(&[0, 1], &[5]).fault(), Some(AdaptationFault::Contexts));
        assert_eq!(config(&[2, 1], &[5]).fault(), Some(AdaptationFault::Contexts));
        assert_eq!(config(&[1, 2], &[]).fault(), Some(AdaptationFault::Rates));
        assert_eq!(config(&[1, 2, 4], &[5, 5]).fault(), Some(AdaptationFault::Rates));
        let endless = LoadAdaptationConfig { window: Picos::ZERO, ..config(&[1], &[]) };
        assert_eq!(endless.fault(), Some(AdaptationFault::Window));
        assert_eq!(config(&[1, 8], &[7]).fault(), None);
    }
}
