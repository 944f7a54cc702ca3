//! Prints how two policies of one's own do beside four built-in systems.

use caudal_config::{ConfigError, File, Point};
use caudal_policy::Picos;
use caudal_policy::dispatch::{Jsq, JsqConfig, Ties};
use caudal_sim::engine::SLOWDOWN_ONE;
use caudal_stats::{Estimate, Scale};
use custom_policy::neighbours::Neighbours;
use custom_policy::two_levels::TwoLevels;
use custom_policy::{Slowdowns, built_in, custom, measure};

/// The built-in systems, and the machine of the others: its cores, pools and costs.
const SYSTEMS: &str = r#"
[workload]
service = "extreme-bimodal"
load = 0.6

[[system]]
name = "jsq, fcfs"
cores = 16
dispatch = { policy = "jsq", ties = "random" }

[[system]]
name = "jsq, processor sharing"
cores = 16
dispatch = { policy = "jsq", ties = "msq" }
discipline = { policy = "processor-sharing", quantum = "2us" }
"#;

fn main() -> Result<(), ConfigError> {
    let points = File::parse(SYSTEMS, "example.toml")?.points()?;
    println!("{:32}{:>22}{:>22}", "slowdown (95 % interval)", "p99 of short ones", "p99 of long ones");
    for point in &points {
        show(&point.system.name, &measure(point, built_in));
    }
    let machine: &Point = &points[0];
    let levels = TwoLevels { cutoff: Picos::from_micros(2), turn: Picos::from_micros(5) };
    let jsq = || Jsq::new(JsqConfig { ties: Ties::Random });
    show("jsq, two levels", &measure(machine, |run| custom(run, || levels, jsq())));
    show("neighbours, two levels", &measure(machine, |run| custom(run, || levels, Neighbours::default())));
    Ok(())
}

fn show(name: &str, slowdowns: &Slowdowns) {
    let cells = slowdowns.iter().map(|class| {
        let p99 = Scale::per(SLOWDOWN_ONE as f64).estimate(class.percentile(99.0, 0.95));
        let Estimate { estimate, low, high } = p99;
        format!("{:>22}", format!("{estimate:.2} ({low:.2} to {high:.2})"))
    });
    println!("{name:32}{}", cells.collect::<String>());
}
