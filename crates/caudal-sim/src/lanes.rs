//! How busy the lanes of a system are, by arithmetic: a lane can be overloaded while cores idle on purpose.
//!
//! A lane of preemptive SITA has its own servers. Of SQD-SITA, the lanes from some one on have together no more
//! servers than they have reservations (Mirhosseini et al., HPCA 2020, equation 1). What such servers have to do follows
//! from the service times alone: the part of each request between the cutoffs, whatever the order in which requests come.
//! Where that is more than they can do, the requests of that lane wait longer and longer, and nothing of it shows in
//! a percentile that only shorter requests make.

use caudal_config::{Costs, System};
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
    /// Work that arrives for them over what they can do, without the scheduler's overheads; from 1 on there is no
    /// steady state.
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

/// What the requests of a lane do there.
#[derive(Clone, Copy, Debug)]
struct Part {
    share: f64,
    mean_ps: f64,
    scv: f64,
}

/// The lanes of `system` in which servers may idle while tasks wait elsewhere, under requests that come `mean_gap_ps`
/// apart. Empty where all cores serve all requests, and where it is not known which cores serve what: with thieves,
/// with cores that come and go, and with several pools that differ.
pub fn lane_loads(system: &System, costs: &Costs, service: &Service, mean_gap_ps: f64) -> Vec<LaneLoad> {
    let shared = system.rebalance != RebalanceConfig::None || system.allocation != AllocationConfig::Static;
    let sizes = system.pool_sizes().unwrap_or_default();
    if shared || system.cores_allocated != system.cores {
        return Vec::new();
    }
    let times = Times { service, stretch: costs.probe_factor };
    let per_pool = mean_gap_ps * sizes.len() as f64;
    let alike = sizes.windows(2).all(|pair| pair[0] == pair[1]);
    match (system.dispatch, system.discipline) {
        (DispatchConfig::Sita(config), _) => times.sized(&config.cutoffs, &sizes, mean_gap_ps),
        (_, DisciplineConfig::PreemptiveSita(config)) if alike => times.fixed(&config, per_pool),
        (_, DisciplineConfig::SqdSita(config)) if alike => times.decoupled(&config, per_pool),
        _ => Vec::new(),
    }
}

/// Service times as the cores see them, probes included.
struct Times<'a> {
    service: &'a Service,
    stretch: f64,
}

impl Times<'_> {
    /// What is left after `cutoff` of time on a core.
    fn after(&self, cutoff: Picos) -> Part {
        let left = self.service.excess((cutoff.0 as f64 / self.stretch) as u64);
        Part { share: left.share, mean_ps: left.mean_ps * self.stretch, scv: left.scv() }
    }

    /// Lanes with servers of their own.
    fn fixed(&self, config: &SitaConfig, gap_ps: f64) -> Vec<LaneLoad> {
        let starts = starts(&config.cutoffs);
        let lane = |(lane, &servers): (usize, &u32)| {
            let from = self.after(starts[lane]);
            let beyond_ps = starts.get(lane + 1).map_or(0.0, |&end| self.after(end).mean_ps);
            let part = Part { mean_ps: from.mean_ps - beyond_ps, ..from };
            load(lane, servers, part, gap_ps)
        };
        config.reservations.iter().enumerate().map(lane).collect()
    }

    /// Lanes from each one on; all together are the whole system.
    fn decoupled(&self, config: &SitaConfig, gap_ps: f64) -> Vec<LaneLoad> {
        let starts = starts(&config.cutoffs);
        let from = |lane: usize| {
            let servers = config.reservations[lane..].iter().sum();
            load(lane, servers, self.after(starts[lane]), gap_ps)
        };
        (1..config.reservations.len()).map(from).collect()
    }

    /// Pools by the size of requests.
    fn sized(&self, cutoffs: &List<Picos>, sizes: &[u32], gap_ps: f64) -> Vec<LaneLoad> {
        let by_size = self.service.by_size(&cutoffs.iter().map(|cutoff| cutoff.0).collect::<Vec<_>>());
        let pool = |(pool, &servers): (usize, &u32)| {
            let share = by_size.class_weight(pool);
            let mean_ps = if share > 0.0 { by_size.class_mean_ps(pool) * share * self.stretch } else { 0.0 };
            let scv = if share > 0.0 { by_size.class_scv(pool) } else { 0.0 };
            load(pool, servers, Part { share, mean_ps, scv }, gap_ps)
        };
        sizes.iter().enumerate().map(pool).collect()
    }
}

/// Where lanes begin.
fn starts(cutoffs: &List<Picos>) -> Vec<Picos> {
    std::iter::once(Picos::ZERO).chain(cutoffs.iter().copied()).collect()
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
