//! Finding a service, and making its store ready: names, connections, a first answer, and a value for every key.
//! Used by the crate's users.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use caudal_policy::random::{Draw, hash};

use crate::traffic::Command;
use crate::transport::{Answer, Broken, Outcome, ROOM_MIN, Transport};

/// The time after which a request that is to make a service ready is sent once more.
const AGAIN_AFTER: Duration = Duration::from_millis(500);
/// How often such a request is sent before the service counts as silent.
const TRIES_MAX: u32 = 6;
/// The pause after a look that found no answer.
const PAUSE: Duration = Duration::from_micros(50);

/// Error of an address.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// It is no address with a port.
    #[error(
        "`{given}` is no address with a port; write HOST:PORT, as in 127.0.0.1:11211, localhost:11211 or [::1]:11211"
    )]
    Form {
        /// The text that was given.
        given: String,
    },
    /// The name is not known.
    #[error(
        "the name `{name}` cannot be resolved ({source}); give a name that `getent hosts {name}` finds, or an address, as in \
         127.0.0.1:11211"
    )]
    Name {
        /// The name.
        name: String,
        /// The system's error.
        source: io::Error,
    },
}

/// The first address of `HOST:PORT`.
///
/// # Errors
/// [`AddressError`]: there is no port, or nobody knows the name.
pub fn resolve(given: &str) -> Result<SocketAddr, AddressError> {
    let form = || AddressError::Form { given: given.to_owned() };
    let (name, port) = given.rsplit_once(':').ok_or_else(form)?;
    if name.is_empty() || !port.parse::<u16>().is_ok_and(|port| port > 0) {
        return Err(form());
    }
    let name = || name.to_owned();
    let mut found = given.to_socket_addrs().map_err(|source| AddressError::Name { name: name(), source })?;
    let nothing = || AddressError::Name { name: name(), source: io::Error::other("it has no address") };
    found.next().ok_or_else(nothing)
}

/// Sends every command until it is answered, and hears how many are done. A key that is not there counts as an answer.
///
/// # Errors
/// [`Broken`]: the service does not answer, or with an error; or somebody has set `stop`.
pub fn ask_all<T: Transport>(
    transport: &mut T,
    commands: impl Iterator<Item = Command>,
    stop: &AtomicBool,
    mut progress: impl FnMut(u64),
) -> Result<(), Broken> {
    struct Asked {
        command: Command,
        at: Instant,
        tries: u32,
    }
    let mut commands = commands.peekable();
    let mut asked: Vec<Option<Asked>> = (0..ROOM_MIN).map(|_| None).collect();
    let (mut done, mut answers) = (0, Vec::new());
    while commands.peek().is_some() || asked.iter().any(Option::is_some) {
        for (id, slot) in asked.iter_mut().enumerate() {
            let late = slot.as_ref().is_some_and(|asked| asked.at.elapsed() > AGAIN_AFTER);
            if late {
                transport.forget(id as u32);
            }
            let (command, tries) = match slot {
                Some(asked) if late => (asked.command, asked.tries + 1),
                Some(_) => continue,
                None => match commands.next() {
                    Some(command) => (command, 1),
                    None => continue,
                },
            };
            if tries > TRIES_MAX {
                let within = AGAIN_AFTER * TRIES_MAX;
                return Err(Broken(format!(
                    "the service takes requests and does not answer: {command:?} had no answer within {} s; it may speak another \
                     protocol, or hang, or answer to UDP or to TCP only",
                    within.as_secs_f64()
                )));
            }
            transport.send(id as u32, command)?;
            *slot = Some(Asked { command, at: Instant::now(), tries });
        }
        transport.flush()?;
        transport.poll(&mut answers)?;
        if stop.load(Relaxed) {
            return Err(Broken("interrupted before the first measured request".to_owned()));
        }
        if answers.is_empty() {
            std::thread::sleep(PAUSE);
        }
        for Answer { id, outcome } in answers.drain(..) {
            let Some(Asked { command, .. }) = asked.get_mut(id as usize).and_then(Option::take) else {
                continue;
            };
            match outcome {
                Outcome::Done | Outcome::Missing | Outcome::Wrong => done += 1,
                Outcome::Refused => {
                    return Err(Broken(format!(
                        "the service refuses {command:?} because it is overloaded, before the run has begun; take the other \
                         load off it"
                    )));
                }
                Outcome::Failed => {
                    let why = transport.first_failure().unwrap_or("an error").to_owned();
                    return Err(Broken(format!("the service answers {command:?} with `{why}`")));
                }
            }
        }
        progress(done);
    }
    Ok(())
}

/// How much more than its share the busiest of some workers has on average if a hash spreads `flows` over them: 1 for an even spread.
///
/// # Panics
/// If there is no flow or no worker.
pub fn unevenness(flows: u32, workers: u32) -> f64 {
    const ROUNDS: u64 = 1_000;
    assert!(flows > 0 && workers > 0, "{flows} flows over {workers} workers");
    let mut busiest = 0_u64;
    for round in 0..ROUNDS {
        let mut counts = vec![0_u32; workers as usize];
        let mut draw = Draw::new(hash(round, flows.into()), 0);
        (0..flows).for_each(|_| counts[draw.below(workers) as usize] += 1);
        busiest += u64::from(counts.into_iter().max().unwrap_or(0));
    }
    busiest as f64 / ROUNDS as f64 * f64::from(workers) / f64::from(flows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_need_a_port_and_names_an_address() {
        assert_eq!(resolve("127.0.0.1:11211").unwrap().port(), 11_211);
        for given in ["localhost", "127.0.0.1:", ":80", "127.0.0.1:0", "host:99999"] {
            let error = resolve(given).unwrap_err().to_string();
            assert!(error.contains("write HOST:PORT") && error.contains(given), "{error}");
        }
        let error = resolve("no-such-name.invalid:1").unwrap_err().to_string();
        assert!(error.contains("`no-such-name.invalid` cannot be resolved"), "{error}");
    }

    #[test]
    fn a_hash_spreads_many_flows_evenly_and_few_unevenly() {
        assert_eq!((unevenness(5, 1), unevenness(1, 4)), (1.0, 4.0));
        assert!(unevenness(10_000, 4) < 1.03);
        let few = unevenness(8, 4);
        assert!((1.6..2.2).contains(&few), "{few}");
    }
}
