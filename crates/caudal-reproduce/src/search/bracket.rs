//! The two loads between which a limit lies. The search calls it first, with short runs, to find the neighbourhood of the crossing. It
//! simulates by the function that it is given.

/// No load is tried beyond these.
const LOADS: (f64, f64) = (0.01, 1.0);
/// Where slowdown jumps from below the limit into overload, the jump is found to this share of the load.
pub(super) const RESOLUTION: f64 = 0.004;

/// A simulation at a load.
pub(super) struct TriedLoad<T> {
    pub(super) load: f64,
    /// Logarithm of the share that breaks the limit over the one that may; infinite in overload.
    pub(super) log: f64,
    pub(super) what: T,
}

/// A load below the limit and one above it; where there is none, both are the last that was tried.
pub(super) struct Bracket<T> {
    pub(super) below: TriedLoad<T>,
    pub(super) above: TriedLoad<T>,
}

impl<T> Bracket<T> {
    /// Half as wide.
    pub(super) fn halved<E>(self, mut at: impl FnMut(f64) -> Result<TriedLoad<T>, E>) -> Result<Self, E> {
        let middle = at((self.below.load * self.above.load).sqrt())?;
        Ok(match middle.log <= 0.0 {
            true => Bracket { below: middle, ..self },
            false => Bracket { above: middle, ..self },
        })
    }

    /// Where a search in smaller steps starts.
    pub(super) fn start(&self) -> f64 {
        let width = (self.above.load / self.below.load).ln();
        match -self.below.log / (self.above.log - self.below.log) {
            share if share.is_finite() && self.above.log.is_finite() => {
                self.below.load * (share * width).exp()
            }
            _ => (self.below.load * self.above.load).sqrt(),
        }
    }
}

/// Steps up or down from `start` until the limit lies between two loads; where the upper one is overloaded, halves the
/// way until it is not, or is very near.
pub(super) fn bracket<T: Clone, E>(
    start: f64,
    step: f64,
    mut at: impl FnMut(f64) -> Result<TriedLoad<T>, E>,
) -> Result<Bracket<T>, E> {
    // Straddles the start, so that mostly two loads do.
    let mut here = at(start * (-step / 2.0).exp())?;
    let upwards = here.log <= 0.0;
    let mut bracket = loop {
        let next = here.load * if upwards { step.exp() } else { (-step).exp() };
        let next = if next < LOADS.1 { next } else { f64::midpoint(here.load, LOADS.1) };
        let there = at(next)?;
        match (upwards, there.log <= 0.0) {
            (true, false) => break Bracket { below: here, above: there },
            (false, true) => break Bracket { below: there, above: here },
            _ if next < LOADS.0 || LOADS.1 - next < RESOLUTION => {
                let last = TriedLoad { what: there.what.clone(), ..there };
                break Bracket { below: last, above: there };
            }
            _ => here = there,
        }
    };
    while bracket.above.log.is_infinite() && bracket.above.load / bracket.below.load > 1.0 + RESOLUTION {
        let middle = at(f64::midpoint(bracket.below.load, bracket.above.load))?;
        if middle.log <= 0.0 { bracket.below = middle } else { bracket.above = middle }
    }
    Ok(bracket)
}
