//! What theory says of one worker without costs, beside which contestants stand.

use caudal_measure::schedule::Mix;

/// The quantum of the contestants that are given as commands.
pub(crate) const QUANTUM_NS: u64 = 1_000;

/// Sojourn times, in us.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theory {
    /// Mean of the first class under processor sharing: s/(1 − ρ) (Kleinrock, J. ACM 1967).
    pub(crate) sharing_us: f64,
    /// Mean of the first class, whose requests end in their first quantum and go before all that have had one:
    /// s + (Σ ρ_i·min(q, s_i)/2 + ρ_S·s/2)/(1 − ρ_S), where i are the other classes. It is the wait of the first of two priority
    /// classes (Cobham, Oper. Res. 1954) that quanta of the second one do not give way to.
    pub(crate) fresh_first_us: f64,
    /// What the last class takes under processor sharing, s/(1 − ρ): for one that is long beside all else, nearly each of it.
    pub(crate) long_us: f64,
}

impl Theory {
    /// Of `mix` at `load` with quanta of `quantum_ns`.
    pub(crate) fn of(mix: &Mix, load: f64, quantum_ns: u64) -> Theory {
        let classes = mix.classes();
        let mean_ns: f64 = classes.iter().map(|class| class.share * class.service_ns as f64).sum();
        let load_of = |share: f64, service_ns: u64| load * share * service_ns as f64 / mean_ns;
        let (short, long) = (&classes[0], &classes[classes.len() - 1]);
        let short_load = load_of(short.share, short.service_ns);
        let others = classes[1..].iter().map(|class| {
            load_of(class.share, class.service_ns) * class.service_ns.min(quantum_ns) as f64 / 2.0
        });
        let residual_ns = others.sum::<f64>() + short_load * short.service_ns as f64 / 2.0;
        let sharing = |service_ns: u64| service_ns as f64 / (1.0 - load) * 1e-3;
        Theory {
            sharing_us: sharing(short.service_ns),
            fresh_first_us: (short.service_ns as f64 + residual_ns / (1.0 - short_load)) * 1e-3,
            long_us: sharing(long.service_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extreme_bimodal_mix_by_hand() {
        // A mean of 2.9975 us: shares of the load 0.16597 and 0.83403.
        let theory = Theory::of(&Mix::extreme_bimodal(), 0.4, 1_000);
        let (rho_short, rho_long) = (0.4 * 0.4975 / 2.9975, 0.4 * 2.5 / 2.9975);
        let exact = 0.5 + (rho_long * 0.5 + rho_short * 0.25) / (1.0 - rho_short);
        assert!((theory.fresh_first_us - exact).abs() < 1e-9, "{theory:?}, by hand {exact}");
        assert!((theory.sharing_us - 0.5 / 0.6).abs() < 1e-9);
        assert!((theory.long_us - 500.0 / 0.6).abs() < 1e-6);
    }

    #[test]
    fn without_load_nobody_waits() {
        let theory = Theory::of(&Mix::extreme_bimodal(), 0.0, 1_000);
        assert_eq!((theory.sharing_us, theory.fresh_first_us, theory.long_us), (0.5, 0.5, 500.0));
    }
}
