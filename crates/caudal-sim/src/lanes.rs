//! The load of each lane of a system, by arithmetic: a lane can be overloaded while cores idle on purpose. An experiment checks by it
//! that no lane is overloaded, and the row of a point reports it. Pure.
//!
//! A lane of preemptive SITA has its own servers. Of SQD-SITA, the lanes from some one on have together no more
//! servers than they have reservations (Mirhosseini et al., HPCA 2020, equation 1). What such servers have to do follows
//! from the service times alone: the part of each request between the cutoffs, whatever the order in which requests come.
//! Where that is more than they can do, the requests of that lane wait longer and longer, and nothing of it shows in
//! a percentile that only shorter requests make.
//!
//! Hardware contexts slow each other down, and cutoffs count time on a context, not work. Then it is the least that a lane
//! has to do: each request came to it as fast as it could, alone on its core, and runs there at the speed that the lane's
//! contexts have when only they are active, or waits for memory and leaves the core to the others, whichever makes less
//! of it. Switches and cold misses are a part of it where no request can do without: under preemptive SITA. A request
//! that ends within the overrun of a cutoff never gets beyond it.

use caudal_config::{ContextsConfig, Costs, System};
use caudal_policy::allocation::AllocationConfig;
use caudal_policy::discipline::{DisciplineConfig, SitaConfig};
use caudal_policy::dispatch::DispatchConfig;
use caudal_policy::rebalance::RebalanceConfig;
use caudal_policy::{List, Picos};
use caudal_stats::relaxation::Queue;
use caudal_workload::Service;
use serde::{Deserialize, Serialize};

/// Servers that share a part of the work of each request, and get none from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaneLoad {
    /// The lane, from 0; of SQD-SITA: this one and all above it.
    pub lane: u32,
    /// Most servers that it can have.
    pub servers: u32,
    /// Work that arrives for them over what they can do, with the overheads that no request can do without; from 1 on there
    /// is no steady state. On hardware contexts, at least this.
    pub busy: f64,
    /// Share of all requests that come here.
    pub share: f64,
    /// Squared coefficient of variation of what they do here.
    #[serde(skip)]
    scv: f64,
}

impl LaneLoad {
    /// Requests, of all lanes, that arrive in the lane's relaxation time.
    pub(crate) fn relaxation(&self, arrivals: f64) -> f64 {
        let LaneLoad { servers, busy, share, scv, .. } = *self;
        if share == 0.0 {
            return 0.0;
        }
        Queue { busy, arrivals, services: scv, servers: f64::from(servers) }.relaxation() / share
    }
}

/// The work of the requests of a lane there.
#[derive(Clone, Copy, Debug)]
struct Part {
    share: f64,
    mean_ps: f64,
    scv: f64,
}

/// The lanes of `system` in which servers may idle while tasks wait elsewhere, under requests that come `mean_gap_ps`
/// apart; of cores that come and go, if all are there. Empty where all cores serve all requests, and where it is not known
/// which cores serve what: with thieves, with fewer cores than the machine has, and with several pools that differ.
pub fn lane_loads(system: &System, costs: &Costs, service: &Service, mean_gap_ps: f64) -> Vec<LaneLoad> {
    // Cores that come and go are never more than all.
    let fewer = system.allocation == AllocationConfig::Static && system.cores_allocated != system.cores;
    let sizes = system.pool_sizes().unwrap_or_default();
    if system.rebalance != RebalanceConfig::None || fewer {
        return Vec::new();
    }
    let size = sizes.iter().copied().max().unwrap_or(0);
    let times = Times { service, costs, speeds: Speeds::of(system, size) };
    let per_pool = mean_gap_ps * sizes.len() as f64;
    let alike = sizes.windows(2).all(|pair| pair[0] == pair[1]);
    match (system.dispatch, system.discipline) {
        (DispatchConfig::Sita(config), _) => times.sized(&config.cutoffs, &sizes, mean_gap_ps),
        (_, DisciplineConfig::PreemptiveSita(config)) if alike => times.fixed(&config, per_pool),
        (_, DisciplineConfig::SqdSita(config)) if alike => times.decoupled(&config, per_pool),
        _ => Vec::new(),
    }
}

/// The speeds of the servers of one pool.
struct Speeds {
    /// Of hardware contexts: what all of them do at most, and what one core does by active ones if the pool lies in one.
    contexts: Option<(f64, Option<Vec<f64>>)>,
}

impl Speeds {
    fn of(system: &System, size: u32) -> Speeds {
        let of_contexts = |contexts: &ContextsConfig| {
            let in_one_core = size <= contexts.count && contexts.count.is_multiple_of(size.max(1));
            let all = contexts.most() * f64::from(system.cores);
            (all, in_one_core.then(|| contexts.speeds()))
        };
        Speeds { contexts: system.contexts.as_ref().map(of_contexts) }
    }

    /// Of each of so many servers, if all others rest, at most: 1 for a core.
    fn alone(&self, servers: u32) -> f64 {
        let servers = f64::from(servers.max(1));
        match &self.contexts {
            None => 1.0,
            Some((_, Some(speeds))) => throughput(speeds, servers) / servers,
            Some((all, None)) => (all / servers).min(1.0),
        }
    }
}

/// The work of a core, per unit of time, with so many active contexts, on average, on straight lines between whole numbers of them.
pub(crate) fn throughput(speeds: &[f64], active: f64) -> f64 {
    let at = |count: usize| if count == 0 { 0.0 } else { speeds[(count - 1).min(speeds.len() - 1)] };
    let below = active.floor();
    let (from, to) = (at(below as usize), at(below as usize + 1));
    from + (to - from) * (active - below)
}

/// Service times as the cores see them, probes included.
struct Times<'a> {
    service: &'a Service,
    costs: &'a Costs,
    speeds: Speeds,
}

impl Times<'_> {
    /// The work that is left after `cutoff` of time on a core.
    fn after(&self, cutoff: Picos) -> Part {
        let left = self.service.excess((cutoff.0 as f64 / self.costs.probe_factor) as u64);
        Part { share: left.share, mean_ps: left.mean_ps * self.costs.probe_factor, scv: left.scv() }
    }

    /// Lanes with servers of their own.
    fn fixed(&self, config: &SitaConfig, gap_ps: f64) -> Vec<LaneLoad> {
        let starts = self.starts(&config.cutoffs);
        let lane = |(lane, &servers): (usize, &u32)| {
            let from = self.after(starts[lane]);
            let width = starts.get(lane + 1).map(|end| end.0 - starts[lane].0);
            let cold_ps = if lane == 0 { 0 } else { self.costs.cold_miss.0 };
            // Others of the core go faster while one waits for memory: alone, or without the wait.
            let waiting_ps = self.occupied_ps((starts[lane], width), 1.0, cold_ps);
            let sharing_ps = self.occupied_ps((starts[lane], width), self.speeds.alone(servers), 0);
            load(lane, servers, Part { mean_ps: waiting_ps.max(sharing_ps), ..from }, gap_ps)
        };
        config.reservations.iter().enumerate().map(lane).collect()
    }

    /// How long a request has a server of the lane that begins at `start` and is so wide, at `speed`, if it waits for memory
    /// first.
    fn occupied_ps(&self, (start, width): (Picos, Option<u64>), speed: f64, cold_ps: u64) -> f64 {
        let from = self.after(start);
        let Some(width_ps) = width else { return from.mean_ps / speed + from.share * cold_ps as f64 };
        let work_ps = width_ps.saturating_sub(cold_ps) as f64 * speed;
        let beyond = self.after(Picos(start.0 + work_ps as u64));
        (from.mean_ps - beyond.mean_ps) / speed
            + from.share * cold_ps.min(width_ps) as f64
            + beyond.share * self.costs.preemption.0 as f64
    }

    /// Where lanes begin: whoever is stopped at a cutoff runs on for the overrun.
    fn starts(&self, cutoffs: &List<Picos>) -> Vec<Picos> {
        let ends = cutoffs.iter().map(|cutoff| Picos(cutoff.0.saturating_add(self.costs.overrun.0)));
        std::iter::once(Picos::ZERO).chain(ends).collect()
    }

    /// Lanes from each one on; all together are the whole system.
    fn decoupled(&self, config: &SitaConfig, gap_ps: f64) -> Vec<LaneLoad> {
        let starts = self.starts(&config.cutoffs);
        let from = |lane: usize| {
            let servers = config.reservations[lane..].iter().sum();
            let part = self.after(starts[lane]);
            load(lane, servers, Part { mean_ps: part.mean_ps / self.speeds.alone(servers), ..part }, gap_ps)
        };
        (1..config.reservations.len()).map(from).collect()
    }

    /// Pools by the size of requests.
    fn sized(&self, cutoffs: &List<Picos>, sizes: &[u32], gap_ps: f64) -> Vec<LaneLoad> {
        let by_size = self.service.by_size(&cutoffs.iter().map(|cutoff| cutoff.0).collect::<Vec<_>>());
        let pool = |(pool, &servers): (usize, &u32)| {
            let share = by_size.class_weight(pool);
            let mean_ps =
                if share > 0.0 { by_size.class_mean_ps(pool) * share * self.costs.probe_factor } else { 0.0 };
            let scv = if share > 0.0 { by_size.class_scv(pool) } else { 0.0 };
            load(pool, servers, Part { share, mean_ps: mean_ps / self.speeds.alone(servers), scv }, gap_ps)
        };
        sizes.iter().enumerate().map(pool).collect()
    }
}

fn load(lane: usize, servers: u32, part: Part, gap_ps: f64) -> LaneLoad {
    let busy = part.mean_ps / gap_ps / f64::from(servers);
    LaneLoad { lane: lane as u32, servers, busy, share: part.share, scv: part.scv }
}

#[cfg(test)]
mod tests {
    use caudal_config::{File, Point};

    use super::*;

    fn point(system: &str) -> Point {
        let text =
            format!("[workload]\nservice = \"extreme-bimodal\"\nload = 0.7\n[system]\ncores = 8\n{system}");
        File::parse(&text, "test.toml").expect("a file").points().expect("points").remove(0)
    }

    fn busy(system: &str) -> Vec<f64> {
        let point = point(system);
        let service = &point.workload.service;
        let gap_ps = service.mean_ps() / (0.7 * 8.0);
        let loads = lane_loads(&point.plan.system, &point.plan.costs, service, gap_ps);
        loads.iter().map(|lane| (lane.busy * 1e3).round() / 1e3).collect()
    }

    const LANES: &str = "cutoffs = [\"0.6us\", \"100us\"], reservations = [4, 2, 2]";

    #[test]
    fn lanes_have_what_is_between_their_cutoffs_to_do() {
        // 1.868 requests/us, of which 0.5 % have 500 us.
        let fixed = busy(&format!("pools = 1\ndiscipline = {{ policy = \"preemptive-sita\", {LANES} }}"));
        assert_eq!(fixed, [0.234, 0.464, 1.868]);
        let decoupled = busy(&format!("pools = 1\ndiscipline = {{ policy = \"sqd-sita\", {LANES} }}"));
        assert_eq!(decoupled, [1.166, 1.868], "both and the last");
        let all = busy(&format!("pools = 1\ndiscipline = {{ policy = \"isqd-sita\", {LANES} }}"));
        assert!(all.is_empty(), "no core idles while tasks wait");
        let sizes = busy(
            "pools = [4, 4]\ndispatch = { policy = \"sita\", cutoffs = [\"0.6us\"] }\ndiscipline = \"fcfs\"",
        );
        assert_eq!(sizes, [0.232, 1.168]);
    }

    #[test]
    fn contexts_do_less_each_the_more_of_them_there_are() {
        let lanes = "cutoffs = [\"0.6us\", \"100us\"], reservations = [4, 2, 2]";
        let core = "cores = 1\ncontexts = { count = 8, throughput = [1, 1.5, 2, 2, 2, 2, 2, 2] }";
        let at = |policy: &str, costs: &str| {
            let text = format!(
                "[workload]\nservice = \"extreme-bimodal\"\nload = 0.35\n[system]\n{core}\n\
                 discipline = {{ policy = \"{policy}\", {lanes} }}\ncosts = {{ {costs} }}"
            );
            let point = File::parse(&text, "test.toml").expect("a file").points().expect("points").remove(0);
            let service = &point.workload.service;
            let gap_ps = service.mean_ps() / 0.7;
            let loads = lane_loads(&point.plan.system, &point.plan.costs, service, gap_ps);
            loads.iter().map(|lane| (lane.busy * 1e3).round() / 1e3).collect::<Vec<_>>()
        };
        // 0.2334 requests/us, 0.5 % of them of 500 us: 0.583 of work. Four contexts do 2, two do 1.5.
        let free = "preemption = \"0ns\"";
        assert_eq!(at("sqd-sita", free), [0.292, 0.311], "0.583 over 2, 0.467 over 1.5");
        // Four contexts keep short ones 1 us, and lane 0 for 0.6 of it. Long ones leave the second when its time is over.
        let first_to_third = at("preemptive-sita", free);
        assert_eq!(first_to_third, [0.035, 0.058, 0.311]);
        let cold = at("preemptive-sita", "preemption = \"0ns\", cold_miss = \"10us\"");
        assert_eq!(cold, [0.035, 0.058, 0.311], "who waits for memory leaves the core to the other one");
        let alone = at("preemptive-sita", "preemption = \"0ns\", cold_miss = \"200us\"");
        assert_eq!(
            alone[2], 0.35,
            "200 us of memory and 400 of work at full speed are more than 533 at three quarters"
        );
    }

    #[test]
    fn who_can_keep_up_is_not_overloaded_by_arithmetic() {
        let at = |service: &str, rate: &str, system: &str| {
            let text = format!(
                "[workload]\nservice = {service}\nrate = \"{rate}\"\n[system]\n{system}\n[measure]\nrequests = 20_000\n\
                 replications = 4\nwarm-up = 2_000"
            );
            let point = File::parse(&text, "test.toml").expect("a file").points().expect("points").remove(0);
            let gap_ps = point.workload.service.mean_ps() / (point.load * point.system.capacity());
            let loads = lane_loads(&point.plan.system, &point.plan.costs, &point.workload.service, gap_ps);
            loads.iter().map(|lane| lane.busy).fold(0.0, f64::max)
        };
        // All end within the overrun of the first lane's cutoff.
        let constant = "{ distribution = \"constant\", value = \"3us\" }";
        let lanes = "{ policy = \"preemptive-sita\", cutoffs = [\"2us\"], reservations = [6, 1] }";
        let costs = "costs = { overrun = \"2us\", preemption = \"0ns\" }";
        let overrun = at(constant, "1.5M/s", &format!("cores = 7\npools = 1\ndiscipline = {lanes}\n{costs}"));
        assert!(overrun < 1.0, "{overrun}");
        // Who waits for memory leaves the core to the others.
        let exponential = "{ distribution = \"exponential\", mean = \"20us\" }";
        let lanes = "{ policy = \"preemptive-sita\", cutoffs = [\"2us\"], reservations = [2, 2] }";
        let core = "cores = 1\ncontexts = { count = 4, throughput = [1, 1, 2, 2] }";
        let costs = "costs = { cold_miss = \"30us\", preemption = \"0ns\" }";
        let cold = at(exponential, "34k/s", &format!("{core}\ndiscipline = {lanes}\n{costs}"));
        assert!(cold > 0.5 && cold < 1.0, "{cold}");
    }

    #[test]
    fn half_as_many_pools_of_half_the_servers_are_as_busy() {
        let halves = busy(
            "pools = 2\ndispatch = \"random\"\n\
             discipline = { policy = \"preemptive-sita\", cutoffs = [\"0.6us\"], reservations = [2, 2] }",
        );
        let whole = busy(
            "pools = 1\ndiscipline = { policy = \"preemptive-sita\", cutoffs = [\"0.6us\"], reservations = [4, 4] }",
        );
        assert_eq!(halves, whole);
    }
}
