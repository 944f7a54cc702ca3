//! How long a queue remembers: what decides how much of a run to leave out, and how long it has to be.
//!
//! Under load, the work in a system of `c` servers is close to a Brownian motion that is reflected at 0 (Kingman; for
//! planning simulations: Whitt, *Planning queueing simulations*, Management Science 35, 1989). It drifts down by
//! θ = c (1 − ρ) and spreads by σ² = λ E\[S\]² (Cₐ² + Cₛ²) a unit of time, and forgets within a *relaxation time* of
//! 2 σ²/θ². Counted in requests that is
//!
//! > 2 ρ² (Cₐ² + Cₛ²) / (1 − ρ)²,
//!
//! whatever the number of servers and the mean service time: (1 − ρ)² makes it long near saturation, and Cₛ², which
//! the rarest and longest class rules, multiplies it. Nothing of that shows in the requests of a short class over a
//! short run, whose series looks steady while the work of the long class still piles up. Where servers idle, what
//! is remembered is the rest of the services that are running; its time constant is E\[S²\]/E\[S\], in which
//! ρ c (1 + Cₛ²) requests arrive.
//!
//! **Queues apart.** The work of all queues together is not all that there is to remember. It forgets as above whoever
//! serves it; but how it is spread over the queues, and so how long requests wait, may take far longer to settle. As the
//! number of queues n grows, each becomes a queue with its own arrivals, whose service is helped by what the others do for
//! it (the mean-field limit: Vvedenskaya, Dobrushin, Karpelevich 1996; Mitzenmacher, IEEE TPDS 12, 2001), and they fill up
//! all at the same time. What that takes is a number of *services*, whatever n is, in which n times as many requests
//! arrive:
//!
//! * *By chance* (random, one after the other): each queue is one of its own, with the relaxation time above.
//! * *The shortest of k.* While it fills, the system runs through the equilibria of lower loads: near saturation the mean
//!   queue is ln(1/(1 − ρ))/ln k, and rises by the difference of the loads, which makes
//!   1/((1 − ρ) ln k) services a time constant. The limit's equations, integrated from an empty start for k from 2 to 10 and
//!   ρ from 0.5 to 0.99, are within 0.5 % of their end after 3.7 to 4.1 such constants from ρ = 0.9 on (up to 5.3 for
//!   k = 10, where the running services take as long). So a relaxation time, of which [`WARM_UP`] are left out, is 1.6 of
//!   them. (Ca² + Cs²)/2 multiplies it as in any queue under load.
//! * *With thieves.* An idle core checks a queue every `check`; at each queue (1 − ρ)/check cores check in a unit of time,
//!   and whoever finds a request that waits takes it. To a queue that is longer than the others that is as good as so much
//!   more service.
//! * *With others that are asked for help* once a request has waited for longer than a threshold: up to there a queue fills
//!   by chance, as a Brownian motion that gets from 0 to L requests in L²/(Cₐ² + Cₛ²) services; beyond, requests go to cores
//!   found at random, as good as a choice of two.
//!
//! These are estimates of how long, not of what; the grid of `caudal-sim/tests/all/grid.rs` holds runs of the lengths that
//! they ask for against runs ten times as long, and [`crate::trend`] looks at every run for what they miss.
//!
//! **Warm-up.** From an empty start the chance that the work exceeds x after t is
//! Φ((−x − θt)/(σ√t)) + e^(−2θx/σ²) Φ((θt − x)/(σ√t)) (Harrison, *Brownian Motion and Stochastic Flow Systems*,
//! sec. 1.8). After 2.5 relaxation times the mean has 99 % of its final value, and the chance to be above the 99.9th
//! percentile has 83 %; over the 5 that follow that chance is 97 % on average, far nearer than any interval is
//! narrow.
//!
//! **Length.** Replications of five relaxation times each have means that are nearly independent of where they began,
//! and twelve of them nearly normal ones. Queues apart are as many samples as there are of them: what they fill up in has to
//! be measured [`FILLED`] times, so that a rest of the bias counts little. What is not known after that shows in the
//! interval: see [`Replicated`](crate::Replicated).

/// Relaxation times that are left out at the start of a replication.
pub const WARM_UP: f64 = 2.5;
/// Relaxation times that a replication measures, at least, where there are [`REPLICATIONS`] of them.
pub const MEASURED: f64 = 5.0;
/// The same of the time in which many queues fill up.
pub const FILLED: f64 = 2.0;
/// See [`MEASURED`].
pub const REPLICATIONS: u32 = 12;
/// Time constants of the choice of the shortest of k that make a relaxation time.
const CHOICE: f64 = 1.6;

/// The facts that decide how long a queue remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// Share of the servers' time that is taken, overheads included, from 0 on; there is no steady state from 1 on.
    pub busy: f64,
    /// How arrivals spread: variance over mean of their number in a long time; 1 for a Poisson process.
    pub arrivals: f64,
    /// Squared coefficient of variation of service times.
    pub services: f64,
    /// Servers that share the work.
    pub servers: f64,
}

impl Queue {
    /// Requests that arrive in a relaxation time; infinite where there is no steady state.
    ///
    /// ```
    /// let queue = |busy| caudal_stats::relaxation::Queue { busy, arrivals: 1.0, services: 1.0, servers: 1.0 };
    /// // M/M/1 has relaxation times of 1/(1 − √ρ)² services exactly: 379 requests arrive in one at load 0.9.
    /// assert!((queue(0.9).relaxation() / (0.9 / (1.0 - 0.9f64.sqrt()).powi(2)) - 1.0).abs() < 0.15);
    /// assert!(queue(1.0).relaxation().is_infinite());
    /// ```
    pub fn relaxation(&self) -> f64 {
        self.helped(0.0)
    }

    /// The same where others do `help` of what the servers can do, once there is more than they can.
    fn helped(&self, help: f64) -> f64 {
        let Queue { busy, arrivals, services, .. } = *self;
        if self.is_full() {
            return f64::INFINITY;
        }
        let varied = arrivals + services;
        let queueing = 2.0 * varied * (busy / (1.0 - busy + help)).powi(2);
        // Where nothing is by chance, nothing wanders, even with no time to spare.
        self.running() + if varied > 0.0 { queueing } else { 0.0 }
    }

    /// Is there no steady state? Where everything comes and goes at its time, there is one with no time to spare, too.
    pub fn is_full(&self) -> bool {
        if self.arrivals + self.services > 0.0 { self.busy >= 1.0 } else { self.busy > 1.0 + ROUNDING }
    }

    /// Requests that arrive while what runs is done.
    fn running(&self) -> f64 {
        self.busy.min(1.0) * self.servers * (1.0 + self.services)
    }
}

/// The relative error that quotients of times and rates leave behind.
pub const ROUNDING: f64 = 1e-9;

/// How requests come to one of many queues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// A request goes to any queue, whatever waits there.
    Chance,
    /// A request goes to the shortest of so many queues.
    ShortestOf(f64),
}

/// The help for a queue that is longer than others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Help {
    /// Nobody.
    None,
    /// Idle cores, each of which checks so many queues in the time of a mean service.
    Thieves(f64),
    /// Cores that are asked, once a request has waited for so many mean services.
    Asked(f64),
}

/// Queues that are alike, each with its own requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    /// One of them, with the arrivals that it gets.
    pub each: Queue,
    /// How many there are.
    pub queues: f64,
    /// How requests come to them.
    pub choice: Choice,
    /// The help for queues that are longer than others.
    pub help: Help,
}

impl Apart {
    /// Requests, of all queues, that arrive in the relaxation time of the time that requests wait in them.
    ///
    /// ```
    /// use caudal_stats::relaxation::{Apart, Choice, Help, Queue};
    /// let each = Queue { busy: 0.9, arrivals: 1.0, services: 1.0, servers: 1.0 };
    /// let apart = |choice| Apart { each, queues: 500.0, choice, help: Help::None }.filling();
    /// assert_eq!(apart(Choice::Chance), 500.0 * each.relaxation());
    /// // The shortest of two: 4 time constants of 14.4 services, in each of which 450 requests arrive, are to be left out.
    /// assert!(2.5 * apart(Choice::ShortestOf(2.0)) > 4.0 * 14.4 * 450.0);
    /// ```
    pub fn filling(&self) -> f64 {
        let Apart { each, queues, choice, help } = *self;
        let chosen = |choices: f64, checks: f64| {
            let slack = (1.0 - each.busy) * (1.0 + checks);
            let constant = each.busy * (each.arrivals + each.services) / 2.0 / (slack * choices.ln());
            each.running() + if each.is_full() { f64::INFINITY } else { CHOICE * constant }
        };
        let of_each = |checks: f64| match choice {
            Choice::Chance => each.helped((1.0 - each.busy) * checks / each.servers),
            Choice::ShortestOf(choices) if choices > 1.0 => chosen(choices, checks).min(each.relaxation()),
            Choice::ShortestOf(_) => each.relaxation(),
        };
        queues
            * match help {
                Help::None => of_each(0.0),
                Help::Thieves(checks) => of_each(checks),
                Help::Asked(after) => {
                    let until = each.busy * each.servers * after * after / (each.arrivals + each.services);
                    of_each(0.0).min(chosen(2.0, 0.0) + until)
                }
            }
    }
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Waiting time of request number `at` of M/M/1 from an empty start, in mean service times, averaged.
    fn waiting(load: f64, at: u64, replications: u32) -> f64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut exponential = |mean: f64| {
            let uniform = ((rng.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            -mean * uniform.ln()
        };
        let mut sum = 0.0;
        for _ in 0..replications {
            let mut wait = 0f64;
            for _ in 0..at {
                wait = (wait + exponential(1.0) - exponential(1.0 / load)).max(0.0);
            }
            sum += wait;
        }
        sum / f64::from(replications)
    }

    #[test]
    fn after_the_warm_up_a_queue_has_forgotten_that_it_began_empty() {
        let load = 0.9;
        let relaxation = Queue { busy: load, arrivals: 1.0, services: 1.0, servers: 1.0 }.relaxation();
        let settled = load / (1.0 - load);
        let after = |relaxations: f64| waiting(load, (relaxations * relaxation) as u64, 2000) / settled;
        // The Brownian motion has 54 % and 99 %. Averages of 2000 are known to 2.5 %.
        assert!(after(0.1) < 0.65, "it takes that long: {}", after(0.1));
        assert!((0.93..1.07).contains(&after(WARM_UP)), "and no longer: {}", after(WARM_UP));
    }

    #[test]
    fn queues_fill_up_each_on_its_own_unless_they_are_helped() {
        let each = Queue { busy: 0.9, arrivals: 1.0, services: 1.0, servers: 1.0 };
        let services = |choice, help| {
            let queues = 1024.0;
            Apart { each, queues, choice, help }.filling() / (queues * each.busy)
        };
        let (chance, two) = (Choice::Chance, Choice::ShortestOf(2.0));
        assert!((services(chance, Help::None) - 362.0).abs() < 1.0);
        assert!((services(two, Help::None) - (2.0 + 1.6 * 14.43)).abs() < 0.1);
        assert!(
            services(Choice::ShortestOf(1024.0), Help::None) < 5.0,
            "all of them: what runs, and little more"
        );
        // Thieves that check forty queues in the time of a service leave nothing to fill up.
        assert!(services(chance, Help::Thieves(40.0)) < 3.0);
        assert!(
            services(chance, Help::Thieves(0.1)) > 200.0,
            "walks that are longer than services help little"
        );
        assert!(services(chance, Help::Thieves(f64::INFINITY)) < 2.1);
        assert!(services(chance, Help::Asked(0.1)) < 26.0);
        assert_eq!(
            services(chance, Help::Asked(100.0)),
            services(chance, Help::None),
            "nobody waits so long"
        );
        // Many servers a queue: their work wanders as that of one.
        let pools = Queue { servers: 16.0, ..each };
        let filling = Apart { each: pools, queues: 64.0, choice: chance, help: Help::None }.filling();
        assert!((filling / (64.0 * (324.0 + 28.8)) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_comes_and_goes_at_its_time_is_steady_without_time_to_spare() {
        let queue = |busy, arrivals| Queue { busy, arrivals, services: 0.0, servers: 2.0 }.relaxation();
        assert_eq!(queue(1.0, 0.0), 2.0, "D/D/2 at load 1: what runs");
        assert!(queue(1.0 + 1e-6, 0.0).is_infinite() && queue(1.0, 1.0).is_infinite());
    }

    #[test]
    fn rare_long_requests_and_little_time_to_spare_make_the_memory_long() {
        let queue = |busy, services| Queue { busy, arrivals: 1.0, services, servers: 16.0 }.relaxation();
        // 0.46 % scans of 834 us among gets of 1.6 us have a squared coefficient of variation of 107.
        assert!(queue(0.98, 107.0) > 500_000.0 && queue(0.5, 107.0) < 2_000.0);
        assert!((queue(0.98, 107.0) / queue(0.98, 1.0) - 54.0).abs() < 1.0);
        // Half idle: what is remembered is the long request that runs.
        assert!(queue(0.1, 107.0) > 0.1 * 16.0 * 107.0);
    }
}
