//! Replays the log of a runtime: `cargo run --release -p caudal-sim --example replay -- run.log`.

use std::process::ExitCode;

use caudal_log::DecisionLog;
use caudal_sim::replay::replay;

/// Differences that are shown.
const SHOWN: usize = 10;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("write the path of a log")?;
    let log = DecisionLog::read(&std::fs::read(path)?)?;
    let replay = replay(&log, SHOWN)?;
    if log.lost() > 0 {
        eprintln!("{} entries found no room in the log", log.lost());
    }
    if replay.is_same() {
        println!("{} decisions, all as the simulator's host decides", replay.decisions);
        return Ok(ExitCode::SUCCESS);
    }
    println!("{} decisions, {} events with others:", replay.decisions, replay.differing);
    replay.differences.iter().for_each(|difference| println!("{difference}"));
    Ok(ExitCode::FAILURE)
}
