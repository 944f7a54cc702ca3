//! The speed that a scan keeps beside sockets on which nothing comes: pre-empted under processor sharing with a server's sockets, against run to
//! completion without any. Prints the median of paired ratios. Run it on a machine that is idle otherwise.

use std::error::Error;
use std::time::{Duration, Instant};

use caudal_net::{Answers, Limits, Listen, Net, Origin, Served, Service, Then};
use caudal_rt::{Builder, ClassId, Pinning, Runtime};

const SHARING: &str = "{ policy = \"processor-sharing\", quantum = \"2us\" }";
const COMPLETION: &str = "{ policy = \"fcfs\" }";
/// Pairs of runs.
const ROUNDS: usize = 15;

struct Silent(ClassId);

impl Service for Silent {
    type Session = ();

    fn class(&self, _: Origin<'_, ()>, _: &[u8]) -> ClassId {
        self.0
    }

    fn datagram(&self, _: &[u8], _: &mut Answers) {}

    fn stream(&self, (): &mut (), bytes: &[u8], _: &mut Vec<u8>) -> Served {
        Served { consumed: bytes.len(), then: Then::Read { needed: 1 } }
    }
}

fn builder(discipline: &str) -> Result<Builder, Box<dyn Error>> {
    let text = format!(
        "[system]\ncores = 1\npools = \"per-core\"\ndispatch = {{ policy = \"random\" }}\ndiscipline = {discipline}\n"
    );
    Ok(Builder::parse(&text, "scan.toml")?.pinning(Pinning::These(vec![1])))
}

/// Work of some 20 ms, with a probe every few hundred nanoseconds.
fn scan() -> u64 {
    let mut sum = 0_u64;
    for item in 0..100_000_u64 {
        for word in 0..128 {
            sum = std::hint::black_box(sum ^ item.rotate_left(word));
        }
        caudal_rt::probe();
    }
    sum
}

/// The time of one scan.
fn timed(runtime: &Runtime) -> Result<Duration, Box<dyn Error>> {
    let class = runtime.class("scan")?;
    let handle = runtime.submit(class, || {
        let begun = Instant::now();
        std::hint::black_box(scan());
        begun.elapsed()
    })?;
    Ok(handle.wait()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let any = Some("127.0.0.1:0".parse()?);
    let listen = Listen { udp: any, tcp: any, ..Listen::default() };
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let alone = {
            let runtime = builder(COMPLETION)?.start()?;
            (0..4).map(|_| timed(&runtime)).collect::<Result<Vec<_>, _>>()?
        };
        let beside = {
            let builder = builder(SHARING)?;
            let service = Silent(builder.class("other")?);
            let (_net, builder) = Net::bind(&listen, Limits::default(), 1, service)?.attach(builder);
            let runtime = builder.start()?;
            (0..4).map(|_| timed(&runtime)).collect::<Result<Vec<_>, _>>()?
        };
        let best = |times: Vec<Duration>| times.into_iter().min().unwrap_or_default().as_secs_f64();
        ratios.push(best(alone) / best(beside));
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "a scan beside idle sockets keeps {:.3} of its speed [{:.3}..{:.3}]",
        ratios[ROUNDS / 2],
        ratios[0],
        ratios[ROUNDS - 1]
    );
    Ok(())
}
