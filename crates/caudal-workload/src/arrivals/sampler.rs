//! The stream of arrival times of one seed. The simulator and the schedules of measured runs draw from it, a batch at a time. It owns its
//! random stream and touches nothing else.
//!
//! Gaps are real numbers and are summed as such; only the sums are rounded to whole picoseconds. So no
//! rounding accumulates, whatever the gap, and the mean rate is exact.

use std::sync::Arc;

use caudal_stats::whole;
use rand_core::Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};

use super::Kind;
use super::profile::{Place, Profile};
use crate::Demand;
use crate::rng::{Purpose, Stream, stream, unit};

/// Gaps after which the sum moves into the integer part, before it grows so large that an `f64` loses
/// parts of a picosecond. The number is fixed, so that the sizes of batches do not change the times.
const REBASE: u32 = 256;

/// A stream of arrival times, ascending (equal ones are possible).
#[derive(Clone, Debug)]
pub struct ArrivalSampler {
    rng: Stream,
    clock: Clock,
    process: Process,
}

/// Time as an integer plus what the last gaps have added.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    base_ps: u64,
    since_ps: f64,
    gaps: u32,
}

#[derive(Clone, Debug)]
enum Process {
    Poisson {
        mean_gap_ps: f64,
    },
    Constant {
        gap_ps: f64,
    },
    LogNormal {
        mu: f64,
        sigma: f64,
    },
    Gamma(rand_distr::Gamma<f64>),
    /// Probabilities summed up, and mean gaps.
    HyperExponential(Arc<[(f64, f64)]>),
    OnOff(OnOff),
    Profile(Cycles),
    Times {
        times_ps: Arc<[u64]>,
        next: usize,
        stretch: Option<f64>,
    },
}

/// The position of a stream in a rate that follows a cycle.
#[derive(Clone, Debug)]
struct Cycles {
    profile: Arc<Profile>,
    mean_gap_ps: f64,
    place: Place,
    /// When the present cycle began, since the first one did.
    start_ps: u64,
    /// Time 0 is so far into the first cycle.
    since_ps: u64,
}

/// A two-state MMPP between two arrivals.
#[derive(Clone, Copy, Debug)]
struct OnOff {
    on: bool,
    /// Mean gap and mean duration of the busy and of the quiet state.
    busy: (f64, f64),
    quiet: (f64, f64),
    /// The time until the current state ends.
    left_ps: f64,
}

impl ArrivalSampler {
    pub(super) fn new(kind: &Kind, seed: u64, mean_gap_ps: f64) -> ArrivalSampler {
        let mut rng = stream(seed, Purpose::Arrivals);
        let process = match kind {
            Kind::Poisson => Process::Poisson { mean_gap_ps },
            Kind::Constant => Process::Constant { gap_ps: mean_gap_ps },
            Kind::LogNormal { sigma } => {
                Process::LogNormal { mu: mean_gap_ps.ln() - sigma * sigma / 2.0, sigma: *sigma }
            }
            Kind::Gamma { scv } => {
                let gaps = rand_distr::Gamma::new(1.0 / scv, mean_gap_ps * scv);
                Process::Gamma(gaps.expect("both are above 0 and finite"))
            }
            Kind::HyperExponential { phases } => {
                let mut below = 0.0;
                let sum_up = |&(p, mean): &(f64, f64)| {
                    below += p;
                    (below, mean * mean_gap_ps)
                };
                Process::HyperExponential(phases.iter().map(sum_up).collect())
            }
            Kind::OnOff { on_ps, off_ps, off_rate } => {
                Process::OnOff(OnOff::stationary(mean_gap_ps, *on_ps, *off_ps, *off_rate, &mut rng))
            }
            Kind::Profile(profile, since_ps) => {
                let (profile, since_ps) = (Arc::clone(profile), *since_ps);
                let place = profile.place_at(since_ps);
                Process::Profile(Cycles { profile, mean_gap_ps, place, start_ps: 0, since_ps })
            }
            Kind::Times { times_ps, scale } => {
                let stretch = scale.then(|| mean_gap_ps / super::mean_gap_ps(times_ps));
                Process::Times { times_ps: Arc::clone(times_ps), next: 0, stretch }
            }
        };
        ArrivalSampler { rng, clock: Clock::default(), process }
    }

    /// Multiplies service times by the factors at these arrivals, if the factor changes over time ([`super::Step::work`]).
    #[inline]
    pub fn stretch(&self, arrivals_ps: &[u64], demands: &mut [Demand]) {
        let Process::Profile(Cycles { profile, since_ps, .. }) = &self.process else { return };
        if !profile.stretches() {
            return;
        }
        for (&at_ps, demand) in arrivals_ps.iter().zip(demands) {
            let service_ps = demand.service_ps as f64 * profile.at(at_ps.wrapping_add(*since_ps)).work;
            demand.service_ps = (service_ps.round() as u64).clamp(1, crate::LONGEST_DRAW_PS);
        }
    }

    /// Writes the next arrival times, in ps since the start, and returns how many: all of `out`, or fewer
    /// when recorded timestamps end (or time itself does, after 213 days).
    pub fn fill(&mut self, out: &mut [u64]) -> usize {
        let rng = &mut self.rng;
        match &mut self.process {
            Process::Poisson { mean_gap_ps } => {
                let mean = *mean_gap_ps;
                self.clock.fill(rng, out, |rng| mean * exp1(rng))
            }
            Process::Constant { gap_ps } => {
                let gap = *gap_ps;
                self.clock.fill(rng, out, |_| gap)
            }
            Process::LogNormal { mu, sigma } => {
                let (mu, sigma) = (*mu, *sigma);
                self.clock.fill(rng, out, |rng| {
                    let normal: f64 = StandardNormal.sample(rng);
                    (mu + sigma * normal).exp()
                })
            }
            Process::Gamma(gaps) => self.clock.fill(rng, out, |rng| gaps.sample(rng)),
            Process::HyperExponential(phases) => self.clock.fill(rng, out, |rng| {
                let place = unit(rng.next_u64());
                // Rounding may leave the last one a little below 1.
                let phase = phases.iter().find(|phase| place < phase.0).or(phases.last());
                phase.map_or(0.0, |phase| phase.1 * exp1(rng))
            }),
            Process::OnOff(state) => self.clock.fill(rng, out, |rng| state.gap(rng)),
            Process::Profile(cycles) => cycles.fill(rng, out),
            Process::Times { times_ps, next, stretch } => {
                let count = out.len().min(times_ps.len() - *next);
                let source = &times_ps[*next..*next + count];
                match stretch {
                    None => out[..count].copy_from_slice(source),
                    Some(stretch) => {
                        out.iter_mut()
                            .zip(source)
                            .for_each(|(o, &t)| *o = (t as f64 * *stretch).round() as u64);
                    }
                }
                *next += count;
                count
            }
        }
    }
}

#[inline]
fn exp1(rng: &mut Stream) -> f64 {
    Exp1.sample(rng)
}

impl Clock {
    /// Adds up gaps. The integer part is constant within a block, so only one addition of floats lies
    /// between one time and the next.
    #[inline]
    fn fill(
        &mut self,
        rng: &mut Stream,
        out: &mut [u64],
        mut gap_ps: impl FnMut(&mut Stream) -> f64,
    ) -> usize {
        // Local copies live in registers; through the references every draw would go to memory.
        let mut local = rng.clone();
        let mut written = 0;
        while written < out.len() {
            let block = (out.len() - written).min((REBASE - self.gaps) as usize);
            let times = &mut out[written..written + block];
            // First the gaps, by their bits, in a loop of its own: what it calls now and then would keep the sum
            // in memory, and each sum waits for the one before.
            times.iter_mut().for_each(|time| *time = gap_ps(&mut local).to_bits());
            let mut since_ps = self.since_ps;
            for time in &mut *times {
                since_ps += f64::from_bits(*time);
                *time = since_ps.to_bits();
            }
            self.round(times, since_ps);
            written += block;
            self.since_ps = since_ps;
            self.gaps += block as u32;
            if self.gaps == REBASE && !self.rebase() {
                break;
            }
        }
        *rng = local;
        written
    }

    /// Makes times of the bits of floats since the base, of which the last is `last_ps`.
    #[inline]
    fn round(&self, times: &mut [u64], last_ps: f64) {
        let base_ps = self.base_ps;
        if last_ps < whole::LIMIT as f64 - 1.0 && base_ps < u64::MAX / 2 {
            times.iter_mut().for_each(|time| *time = base_ps + whole::floor(f64::from_bits(*time) + 0.5));
        } else {
            let rounded = |time: u64| base_ps.saturating_add((f64::from_bits(time) + 0.5) as u64);
            times.iter_mut().for_each(|time| *time = rounded(*time));
        }
    }

    /// Moves whole picoseconds into the integer part; false when time has come to its end.
    fn rebase(&mut self) -> bool {
        let whole = self.since_ps.floor();
        self.since_ps -= whole;
        self.gaps = 0;
        let sum = self.base_ps.checked_add(whole as u64);
        self.base_ps = sum.unwrap_or(u64::MAX);
        sum.is_some()
    }
}

impl Cycles {
    fn fill(&mut self, rng: &mut Stream, out: &mut [u64]) -> usize {
        for (written, time) in out.iter_mut().enumerate() {
            let cycles = self.profile.walk(&mut self.place, self.mean_gap_ps * exp1(rng));
            let passed = cycles.checked_mul(self.profile.cycle_ps);
            let Some(start_ps) = passed.and_then(|passed| self.start_ps.checked_add(passed)) else {
                return written;
            };
            self.start_ps = start_ps;
            let at_ps = start_ps.saturating_add(self.profile.time_ps(&self.place).round() as u64);
            *time = at_ps.saturating_sub(self.since_ps);
        }
        out.len()
    }
}

impl OnOff {
    /// Starts in the state that a random moment would find.
    fn stationary(mean_gap_ps: f64, on_ps: f64, off_ps: f64, off_rate: f64, rng: &mut Stream) -> OnOff {
        let busy_gap = mean_gap_ps * (on_ps + off_ps * off_rate) / (on_ps + off_ps);
        let on = unit(rng.next_u64()) * (on_ps + off_ps) < on_ps;
        let left_ps = exp1(rng) * if on { on_ps } else { off_ps };
        OnOff { on, busy: (busy_gap, on_ps), quiet: (busy_gap / off_rate, off_ps), left_ps }
    }

    /// The time to the next arrival. An exponential gap that outlasts the state is cut at its end and drawn
    /// anew in the next one, which memorylessness allows.
    fn gap(&mut self, rng: &mut Stream) -> f64 {
        let mut passed = 0.0;
        loop {
            let (mean_gap, _) = if self.on { self.busy } else { self.quiet };
            // Infinite where the quiet state is silent.
            let gap = mean_gap * exp1(rng);
            if gap < self.left_ps {
                self.left_ps -= gap;
                return passed + gap;
            }
            passed += self.left_ps;
            self.on = !self.on;
            let (_, duration) = if self.on { self.busy } else { self.quiet };
            self.left_ps = duration * exp1(rng);
        }
    }
}
