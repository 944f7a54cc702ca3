use caudal_config::{Costs, Pools, System};
use caudal_policy::Picos;
use caudal_policy::discipline::*;
use caudal_policy::dispatch::*;
use caudal_policy::rebalance::*;
use caudal_sim::engine::*;
use caudal_workload::*;
fn main() {
    let which = std::env::args().nth(1).unwrap();
    let cores: u32 = std::env::args().nth(2).unwrap().parse().unwrap();
    let load: f64 = std::env::args().nth(3).unwrap().parse().unwrap();
    let n: u64 = std::env::args().nth(4).unwrap().parse().unwrap();
    let mut system = System::single_queue(cores);
    let mut costs = Costs::default();
    let service = find_named(if which.starts_with("ps") { "extreme-bimodal" } else { "exp-1us" })
        .unwrap()
        .compile()
        .unwrap();
    match which.as_str() {
        "mmk" => {}
        "steal" => {
            system.pools = Pools::PerCore;
            system.rebalance = RebalanceConfig::WorkStealing(Default::default());
        }
        _ => {
            system.pools = Pools::PerCore;
            system.dispatch = DispatchConfig::Jsq(JsqConfig { ties: Ties::Msq });
            let q = which[2..].parse::<u64>().unwrap_or(2000);
            system.discipline = DisciplineConfig::ProcessorSharing(ProcessorSharingConfig {
                quantum: Picos::from_nanos(q),
                ..Default::default()
            });
            costs.preemption = Picos::ZERO;
        }
    }
    let arrivals = ArrivalSpec::Poisson.compile(std::path::Path::new(".")).unwrap();
    let run = Run {
        system: &system,
        costs: &costs,
        service: &service,
        arrivals: &arrivals,
        mean_gap_ps: service.mean_ps() / (load * cores as f64),
        seed: 1,
        length: Length { warm_up: n / 10, measured: n },
        pilot: false,
        stepwise: std::env::args().nth(5).is_some(),
    };
    let t = std::time::Instant::now();
    let out = simulate(&run, Unwatched);
    let s = t.elapsed().as_secs_f64();
    let c = &out.classes[0];
    println!(
        "{which} N={cores} load={load}: {:.2} M req/s; {:.1} ns/req; mean {:.1} p50 {} p99 {} p99.9 {} ns; eff {:.4} preempt/req {:.3} steals/req {:.3} unfinished {} quanta/s {:.1}M",
        (n * 11 / 10) as f64 / s / 1e6,
        s * 1e9 / (n * 11 / 10) as f64,
        c.latency_ps.mean() / 1e3,
        c.latency_ps.percentile(50.) / 1000,
        c.latency_ps.percentile(99.) / 1000,
        c.latency_ps.percentile(99.9) / 1000,
        out.account.busy_ps as f64 / out.account.held_ps as f64,
        out.account.preemptions as f64 / n as f64,
        out.account.steals as f64 / n as f64,
        out.unfinished,
        out.classes.iter().map(|c| c.latency_ps.mean() * 0.0).sum::<f64>()
    );
}
