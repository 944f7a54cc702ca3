//! The speed of a worker: that of a whole core, or of one of several hardware contexts that share a core. The loop asks whenever a worker
//! begins or ends to work. Pure arithmetic.

/// The speeds of the workers of a machine; `SHARED` tells at compile time whether they change at all.
pub(super) trait Speeds {
    /// Do workers share cores?
    const SHARED: bool;

    /// A worker of `core` goes from idle to busy or back; `true` if the other workers of the core change their speed.
    fn set_busy(&mut self, core: u32, busy: bool) -> bool;
    /// Work that a context of `core` does in a unit of time.
    fn rate(&self, core: u32) -> f64;
    /// Contexts of a core.
    fn contexts(&self) -> u32;
    /// Work that all cores together can do in a unit of time.
    fn capacity(&self) -> f64;
}

/// Every worker is a core.
pub(super) struct WholeCores {
    pub(super) cores: u32,
}

impl Speeds for WholeCores {
    const SHARED: bool = false;

    #[inline(always)]
    fn set_busy(&mut self, _core: u32, _busy: bool) -> bool {
        false
    }

    #[inline(always)]
    fn rate(&self, _core: u32) -> f64 {
        1.0
    }

    fn contexts(&self) -> u32 {
        1
    }

    fn capacity(&self) -> f64 {
        f64::from(self.cores)
    }
}

/// Contexts that share cores.
pub(super) struct SharedSpeeds {
    /// By the number of active contexts, from 0: the work of the core, as a multiple of its work with one context.
    throughput: Box<[f64]>,
    /// By the number of active contexts, from 0: the work of each context, in the same unit.
    rates: Box<[f64]>,
    /// By core: the number of active contexts.
    active: Box<[u32]>,
}

impl SharedSpeeds {
    /// The contexts of `cores`; `throughput` has the work of a core by its number of active contexts, from 1.
    pub(super) fn new(cores: u32, throughput: &[f64]) -> SharedSpeeds {
        let rate = |(at, total): (usize, &f64)| total / (at + 1) as f64;
        let rates = std::iter::once(0.0).chain(throughput.iter().enumerate().map(rate)).collect();
        let throughput = std::iter::once(0.0).chain(throughput.iter().copied()).collect();
        SharedSpeeds { throughput, rates, active: vec![0; cores as usize].into() }
    }
}

impl Speeds for SharedSpeeds {
    const SHARED: bool = true;

    #[inline]
    fn set_busy(&mut self, core: u32, busy: bool) -> bool {
        let active = &mut self.active[core as usize];
        let before = self.rates[*active as usize];
        *active = if busy { *active + 1 } else { *active - 1 };
        self.rates[*active as usize] != before
    }

    #[inline]
    fn rate(&self, core: u32) -> f64 {
        self.rates[self.active[core as usize] as usize]
    }

    fn contexts(&self) -> u32 {
        self.rates.len() as u32 - 1
    }

    fn capacity(&self) -> f64 {
        let most = self.throughput.last().copied().unwrap_or(0.0);
        most * self.active.len() as f64
    }
}
