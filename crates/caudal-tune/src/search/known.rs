//! The knowledge of a search: which hardness its system certainly passes, which it certainly does not, and which to simulate next. The steps of
//! a plan and its explanations ask it between and after simulations; it reads the probes of [`super::Search`] and may forget some. Pure.

use crate::bisect::{Bracket, Span};
use crate::candidate::Spot;
use crate::judge::{LoadVerdict, Probe};

use super::scale::{PER_UNIT, Scale};
use super::{Level, Search};

/// `places` in an order in which each place is as far as possible from the places before it and from the `known` ones.
fn spread(mut known: Vec<u32>, mut places: Vec<u32>) -> Vec<u32> {
    let mut order = Vec::new();
    loop {
        let gap = |at: u32| known.iter().map(|other| other.abs_diff(at)).min().unwrap_or(u32::MAX);
        // If several places are equally far, the easiest comes first.
        let Some(&next) = places.iter().rev().max_by_key(|&&at| gap(at)) else { return order };
        places.retain(|&at| at != next);
        known.push(next);
        order.push(next);
    }
}

impl Search {
    /// The next hardness above the one that passed that was simulated and did not pass.
    pub(crate) fn failed(&self) -> Option<u32> {
        let above = self.bracket.pass.map_or(0, |pass| pass + 1);
        let failed = |(_, probe): &(&u32, &Probe)| probe.verdict != LoadVerdict::Pass;
        self.probes.range(above..).find(failed).map(|(&hardness, _)| hardness)
    }

    /// The nearest hardness above the one that passed at which a target is certainly missed.
    pub(crate) fn missed(&self) -> Option<u32> {
        let above = self.bracket.pass.map_or(0, |pass| pass + 1);
        let missed = |(_, probe): &(&u32, &Probe)| probe.verdict == LoadVerdict::Fail;
        self.probes.range(above..).find(missed).map(|(&hardness, _)| hardness)
    }

    /// The hardest hardness, up to the one that passed (or below the one that failed, if none passed), at which a run that was long
    /// enough met all targets with its whole intervals.
    pub(crate) fn certain(&self) -> Option<u32> {
        let sure = |(_, probe): &(&u32, &Probe)| probe.verdict == LoadVerdict::Pass;
        let end = match self.bracket {
            Bracket { pass: Some(pass), .. } => pass + 1,
            Bracket { fail, .. } => fail.unwrap_or(u32::MAX),
        };
        self.probes.range(..end).rev().find(sure).map(|(&hardness, _)| hardness)
    }

    /// Did a run that was long enough confirm the hardness that passed?
    pub(crate) fn confirmed(&self) -> bool {
        self.bracket.pass.is_some() && self.certain() == self.bracket.pass
    }

    /// Is the next hardness that did not pass near the one that passed?
    pub(crate) fn is_closed(&self) -> bool {
        let Some(pass) = self.bracket.pass else { return false };
        let fail = self.failed().unwrap_or_else(|| self.scale.span(None, Level::Full).hardest + 1);
        match self.scale {
            Scale::Load { .. } => fail - pass <= pass / 10,
            Scale::Workers { .. } => fail - pass <= 1,
        }
    }

    /// Is it still unknown which hardness it passes?
    pub(crate) fn is_open(&self) -> bool {
        self.bracket.pass.is_none() && self.missed().is_none() && self.failed.is_none()
    }

    /// Is it certain that `other` does not reach the merit that is confirmed for this system?
    pub(crate) fn is_told_apart_from(&self, other: &Search) -> bool {
        other.missed_merit() <= self.sure_merit()
    }

    /// The hardness at which longer runs begin: somewhat easier than the one that passed in short runs, because these are too optimistic.
    pub(crate) fn cautious(&self) -> Option<u32> {
        let pass = self.bracket.pass?;
        Some(match self.scale {
            Scale::Load { .. } => (pass - pass / 10).max(1),
            Scale::Workers { .. } => pass,
        })
    }

    /// Forgets probes that were not precise enough to be decided, so that they are asked again.
    pub(crate) fn forget_undecided(&mut self) {
        self.bracket.fail = self.missed();
    }

    /// Lowers the hardness that passed to the confirmed one, if there is one.
    pub(crate) fn settle(&mut self) {
        if let Some(certain) = self.certain() {
            if !self.confirmed() {
                self.bracket.pass = Some(certain);
                self.bracket.fail = self.failed();
            }
        } else {
            self.revise();
        }
    }

    /// Takes back that a hardness passed, if the estimate of a longer run has missed a target there since.
    pub(crate) fn revise(&mut self) {
        let Some(pass) = self.bracket.pass else { return };
        let met = |(_, probe): &(&u32, &Probe)| match probe.verdict {
            LoadVerdict::Pass => true,
            LoadVerdict::Fail => false,
            LoadVerdict::Undecided => probe.score < 1.0,
        };
        let known = self.probes.range(..=pass).rev().find(met).map(|(&hardness, _)| hardness);
        if known != Some(pass) {
            self.bracket = Bracket { pass: known, fail: Some(pass) };
        }
    }

    /// The probe of the hardest hardness that passed.
    pub(crate) fn best(&self) -> Option<&Probe> {
        self.probes.get(&self.bracket.pass?)
    }

    /// The probe at `hardness`.
    pub(crate) fn at(&self, hardness: u32) -> Option<&Probe> {
        self.probes.get(&hardness)
    }

    /// The hardness of this system that corresponds to the load and cores of another one at `spot`.
    pub(crate) fn hardness_of(&self, spot: Spot, total_cores: f64) -> u32 {
        match self.scale {
            Scale::Load { .. } => (spot.load * PER_UNIT).round() as u32,
            Scale::Workers { most, dedicated, .. } => {
                let workers = (total_cores as u32).saturating_sub(dedicated).clamp(1, most);
                most + 1 - workers
            }
        }
    }

    /// The load, or the cores, that users see for an end of the bracket.
    pub(crate) fn value(&self, hardness: u32) -> f64 {
        self.scale.value(hardness)
    }

    /// Cores at a hardness, including dedicated cores that count.
    pub(crate) fn total_cores(&self, hardness: u32) -> f64 {
        match self.scale {
            Scale::Load { .. } => f64::from(self.candidate.capacity_cores),
            Scale::Workers { .. } => self.scale.value(hardness),
        }
    }

    /// The merit of the system: the load that passed, or the inverse of the cores; 0 if none passed. Larger is better.
    pub(crate) fn merit(&self) -> f64 {
        self.bracket.pass.map_or(0.0, |pass| self.merit_at(pass))
    }

    /// The merit that this hardness would have.
    pub(crate) fn merit_at(&self, hardness: u32) -> f64 {
        match self.scale {
            Scale::Load { .. } => self.scale.value(hardness),
            Scale::Workers { .. } => 1.0 / self.scale.value(hardness),
        }
    }

    /// The merit that was confirmed; 0 if none was.
    pub(crate) fn sure_merit(&self) -> f64 {
        self.certain().map_or(0.0, |certain| self.merit_at(certain))
    }

    /// The merit that this system certainly does not reach: a load or a number of cores at which a simulation failed, or
    /// at which its cores are too few for the work.
    pub(crate) fn missed_merit(&self) -> f64 {
        self.merit_at(self.missed().unwrap_or_else(|| self.scale.span(None, Level::Full).hardest + 1))
    }

    /// The order of systems, best first: by merit, then by the distance to the limit there.
    pub(crate) fn before(&self, other: &Search) -> std::cmp::Ordering {
        let failed =
            |search: &Search| search.failed().and_then(|fail| search.at(fail)).map(|probe| probe.score);
        let score = |search: &Search| {
            search.best().map(|probe| probe.score).or(failed(search)).unwrap_or(f64::INFINITY)
        };
        other.merit().total_cmp(&self.merit()).then(score(self).total_cmp(&score(other)))
    }

    /// Hardnesses for a curve: about ten, without those near known ones. Hardnesses at which the system may meet the targets come first, and the
    /// widest gaps among these, so that the curve is visible however many of them the budget allows.
    pub(crate) fn curve(&self) -> Vec<u32> {
        let Span { easiest, hardest, .. } = self.scale.span(None, Level::Full);
        let step = match self.scale {
            Scale::Load { .. } => 100,
            Scale::Workers { .. } => (hardest / 10).max(1),
        };
        let near = |at: u32| self.probes.keys().any(|known| known.abs_diff(at) * 5 < step * 2);
        let places = (1..).map(|n| n * step).take_while(|&at| at <= hardest);
        let places: Vec<u32> = places.filter(|&at| at >= easiest && !near(at)).collect();
        let end = self.bracket.pass.or(self.missed()).unwrap_or(u32::MAX);
        let (within, beyond): (Vec<u32>, Vec<u32>) = places.into_iter().partition(|&at| at < end);
        // At a load of 0 nobody waits, so that point is known.
        let known: Vec<u32> = std::iter::once(0).chain(self.probes.keys().copied()).collect();
        let within = spread(known.clone(), within);
        let beyond = spread([&known[..], &within].concat(), beyond);
        [within, beyond].concat()
    }

    /// The easiest hardness that is known to overload the system.
    pub(crate) fn overload(&self) -> Option<u32> {
        self.probes.iter().find(|(_, probe)| probe.row.overloaded).map(|(&hardness, _)| hardness)
    }
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn the_widest_gaps_of_a_curve_are_filled_first() {
        let places = vec![200, 300, 400, 500, 600, 700, 800];
        assert_eq!(spread(vec![100, 890], places)[..3], [500, 300, 700]);
        assert_eq!(spread(Vec::new(), vec![1, 2, 3]), [1, 3, 2]);
    }
}
