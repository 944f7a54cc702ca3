//! An echo server on UDP and TCP, whose requests run under a policy.
//!
//! ```text
//! cargo run --release -p caudal-net --example echo -- 127.0.0.1:7007
//! printf 'hello\n' | nc -w1 127.0.0.1 7007; printf 'hello\n' | nc -u -w1 127.0.0.1 7007
//! ```

use std::error::Error;
use std::time::Duration;

use caudal_net::{Answers, Limits, Listen, Net, Origin, Served, Service, Then};
use caudal_rt::{Builder, ClassId};

const POLICY: &str = "[system]\ncores = 1\npools = \"per-core\"\ndispatch = { policy = \"random\" }\n\
    discipline = { policy = \"processor-sharing\", quantum = \"2us\" }\n";

struct Echo(ClassId);

impl Service for Echo {
    type Session = ();

    fn class(&self, _: Origin<'_, ()>, _: &[u8]) -> ClassId {
        self.0
    }

    fn datagram(&self, bytes: &[u8], answers: &mut Answers) {
        answers.bytes().extend_from_slice(bytes);
    }

    fn stream(&self, (): &mut (), bytes: &[u8], answer: &mut Vec<u8>) -> Served {
        answer.extend_from_slice(bytes);
        Served { consumed: bytes.len(), then: Then::Read { needed: 1 } }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7007".to_owned()).parse()?;
    let builder = Builder::parse(POLICY, "echo.toml")?;
    let service = Echo(builder.class("echo")?);
    let listen = Listen { udp: Some(address), tcp: Some(address), ..Listen::default() };
    let (net, builder) = Net::bind(&listen, Limits::default(), 1, service)?.attach(builder);
    let _runtime = builder.start()?;
    eprintln!("echo listens at {address}, UDP and TCP; Ctrl-C ends it");
    let mut before = net.counts();
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let counts = net.counts();
        if counts != before {
            let all = counts.all().into_iter().filter(|(_, count)| *count > 0);
            let words: Vec<String> = all.map(|(name, count)| format!("{name} {count}")).collect();
            eprintln!("{} open; {}", counts.open(), words.join(", "));
            before = counts;
        }
    }
}
