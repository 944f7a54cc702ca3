//! How many requests a second the dispatcher places, where nothing else limits it.

use std::error::Error;

use caudal_measure::compare::Spread;
use caudal_rt::bench::Drain;
use clap::Args;

use crate::system::{processor_sharing, system};

/// The command.
#[derive(Args)]
pub struct DispatcherBench {
    /// Workers, for whom one thread stands
    #[arg(long, default_value_t = 16)]
    workers: usize,
    /// Requests of a trial
    #[arg(long, default_value_t = 2_000_000)]
    requests: u64,
    /// Trials
    #[arg(long, default_value_t = 7)]
    trials: usize,
    /// How often each worker looks into its inbox, in ns; 0: as often as one thread can look into all of them
    #[arg(long, default_value_t = 1_000)]
    pause_ns: u64,
    /// Dispatch policy, as a file has it
    #[arg(long, default_value = "{ policy = \"jsq\", ties = \"msq\" }")]
    dispatch: String,
}

impl DispatcherBench {
    /// Measures and prints.
    ///
    /// # Errors
    /// If there is no such system.
    pub fn run(&self) -> Result<(), Box<dyn Error>> {
        self.measure("place", Drain::Count)?;
        self.measure("make and place", Drain::Release)
    }

    fn measure(&self, what: &str, drain: Drain) -> Result<(), Box<dyn Error>> {
        let mut trials = Vec::new();
        for _ in 0..self.trials {
            let plan = system(self.workers, &self.dispatch, &processor_sharing(2_000))?;
            let done = caudal_rt::bench::dispatcher(plan, self.requests, [0, 1], drain, self.pause_ns);
            trials.push(done.nanos / done.requests as f64);
        }
        let Some(spread) = Spread::of(&trials) else { return Ok(()) };
        println!(
            "{what}, {} workers: {:.1} ns a request ({:.1} to {:.1}), {:.1} M requests/s",
            self.workers,
            spread.median,
            spread.low,
            spread.high,
            1e3 / spread.median
        );
        Ok(())
    }
}
