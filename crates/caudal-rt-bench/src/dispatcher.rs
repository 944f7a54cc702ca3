//! How many requests a second the dispatcher places, where nothing else limits it; and how many go through to their end.

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use caudal_measure::compare::Spread;
use caudal_rt::bench::Drain;
use caudal_rt::clock::{Clock, now};
use caudal_rt::{Builder, ClassId, Intake, Pinning, Polled, Shutdown};
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
        self.measure("make and place", Drain::Release)?;
        self.end_to_end()
    }

    /// A dispatcher and one real worker, which runs requests that do nothing.
    fn end_to_end(&self) -> Result<(), Box<dyn Error>> {
        let (mut trials, clock) = (Vec::new(), Clock::of_this_machine());
        for _ in 0..self.trials {
            let builder = Builder::of(system(1, &self.dispatch, &processor_sharing(2_000))?);
            let class = builder.class("empty")?;
            let over: &'static AtomicU64 = Box::leak(Box::default());
            let (begun, when) = channel();
            let source = Source { class, left: self.requests, begun: Some(begun), over };
            let runtime = builder.pinning(Pinning::These(vec![1, 0])).source(source).start()?;
            let begun = when.recv()?;
            while over.load(Ordering::Acquire) == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            runtime.shutdown(Shutdown::Drain);
            trials.push(clock.nanos(over.load(Ordering::Acquire) - begun) / self.requests as f64);
        }
        print(&"end to end, one real worker", &trials);
        Ok(())
    }

    fn measure(&self, what: &str, drain: Drain) -> Result<(), Box<dyn Error>> {
        let mut trials = Vec::new();
        for _ in 0..self.trials {
            let plan = system(self.workers, &self.dispatch, &processor_sharing(2_000))?;
            let done = caudal_rt::bench::dispatcher(plan, self.requests, [0, 1], drain, self.pause_ns);
            trials.push(done.nanos / done.requests as f64);
        }
        print(&format_args!("{what}, {} workers", self.workers), &trials);
        Ok(())
    }
}

fn print(what: &dyn std::fmt::Display, trials: &[f64]) {
    let Some(spread) = Spread::of(trials) else { return };
    println!(
        "{what}: {:.1} ns a request ({:.1} to {:.1}), {:.1} M requests/s",
        spread.median,
        spread.low,
        spread.high,
        1e3 / spread.median
    );
}

/// Requests that do nothing, as fast as they are asked for; the last one says when it ran.
struct Source {
    class: ClassId,
    left: u64,
    begun: Option<Sender<u64>>,
    over: &'static AtomicU64,
}

impl caudal_rt::Source for Source {
    fn poll(&mut self, intake: &mut Intake<'_>) -> Polled {
        if let Some(begun) = self.begun.take() {
            let _ = begun.send(now());
        }
        while intake.has_room() && self.left > 1 {
            intake.submit(self.class, now(), || ());
            self.left -= 1;
        }
        if intake.has_room() && self.left == 1 {
            let over = self.over;
            intake.submit(self.class, now(), move || over.store(now(), Ordering::Release));
            self.left = 0;
        }
        if self.left > 0 { Polled::Worked } else { Polled::Over }
    }
}
