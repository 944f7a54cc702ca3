//! The commands that the requests of a workload become: keys, values that are known, shares of sets.
//! A session makes one [`Traffic`] before a run; the generator asks it for the command of each request that it sends, and the sockets' codecs
//! write keys and values by it and check the values of answers. Pure.

use caudal_policy::random::{Draw, hash};
use caudal_workload::Service;

use crate::schedule::Due;

/// The most bytes of a key, as memcached has it.
pub const KEY_BYTES_MAX: usize = caudal_proto::text::KEY_BYTES_MAX;
/// The fewest bytes of a key: a letter and the digits of a number of 32 bits.
pub const KEY_BYTES_MIN: usize = 11;
/// The most bytes of a value.
pub const VALUE_BYTES_MAX: usize = 1 << 20;

const OF_KEYS: u64 = 0x6b65_7973;
const OF_VALUES: u64 = 0x7661_6c75;

/// The keys of a store, and their values: a value is a function of its key, so whether an answer is right is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// How many keys, at least 1; each is asked for equally often.
    pub count: u32,
    /// Bytes of a key, from [`KEY_BYTES_MIN`] to [`KEY_BYTES_MAX`].
    pub key_bytes: usize,
    /// Bytes of a value, up to [`VALUE_BYTES_MAX`].
    pub value_bytes: usize,
}

impl Keys {
    /// Writes the key of a number, and returns it: `k`, and the number with zeros in front.
    ///
    /// # Panics
    /// If the bytes of a key are out of their range.
    #[inline]
    pub fn key<'a>(&self, number: u32, buffer: &'a mut [u8; KEY_BYTES_MAX]) -> &'a [u8] {
        let key = &mut buffer[..self.key_bytes];
        key.fill(b'0');
        key[0] = b'k';
        let mut rest = number;
        for digit in key.iter_mut().rev() {
            if rest == 0 {
                break;
            }
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        key
    }

    /// Writes the value of a key over `value`.
    #[inline]
    pub fn fill_value(&self, key: u32, value: &mut [u8]) {
        for (index, bytes) in value.chunks_mut(8).enumerate() {
            bytes.copy_from_slice(&word(key, index)[..bytes.len()]);
        }
    }

    /// Whether `value` is the value of the key.
    #[inline]
    pub fn is_value(&self, key: u32, value: &[u8]) -> bool {
        value.len() == self.value_bytes
            && value.chunks(8).enumerate().all(|(index, bytes)| *bytes == word(key, index)[..bytes.len()])
    }
}

#[inline]
fn word(key: u32, index: usize) -> [u8; 8] {
    hash(OF_VALUES ^ u64::from(key), index as u64).to_le_bytes()
}

/// A command to a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// `get` of a key.
    Get {
        /// The number of the key.
        key: u32,
    },
    /// `set` of a key to its value.
    Set {
        /// The number of the key.
        key: u32,
    },
    /// `scan` from a key on: an extension that Caudal's services have and memcached has not.
    Scan {
        /// The number of the key.
        key: u32,
        /// The most items.
        items: u32,
    },
    /// Calibrated work, for a service that speaks [`caudal_proto::spin`].
    Work {
        /// The class, as the workload numbers them.
        class: u8,
        /// The work, in ns.
        work_ns: u64,
    },
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Get,
    Set,
    Scan,
    Work,
}

/// From a request of the workload to a command and a class of the results.
#[derive(Clone, Debug)]
pub struct Traffic {
    classes: Vec<String>,
    kinds: Vec<Kind>,
    sets: f64,
    set_class: u8,
    keys: u32,
    scan_items: u32,
    seed: u64,
}

impl Traffic {
    /// Requests to a cache. Requests of a workload without classes are gets. Classes that are called `set` and `scan` are these
    /// commands, all others are gets. Of the gets, a share from 0 to 1 is made sets, in a class `set`.
    pub fn cache(service: &Service, keys: u32, sets: f64, scan_items: u32, seed: u64) -> Traffic {
        let mut classes = match service.classes() {
            [_] => vec!["get".to_owned()],
            classes => classes.to_vec(),
        };
        let kind = |class: &String| match class.as_str() {
            "set" => Kind::Set,
            "scan" => Kind::Scan,
            _ => Kind::Get,
        };
        let kinds = classes.iter().map(kind).collect();
        let set_class = classes.iter().position(|class| class == "set").unwrap_or(classes.len());
        if sets > 0.0 && set_class == classes.len() {
            classes.push("set".to_owned());
        }
        Traffic {
            classes,
            kinds,
            sets,
            set_class: set_class as u8,
            keys,
            scan_items,
            seed: hash(seed, OF_KEYS),
        }
    }

    /// Requests for calibrated work: the classes and the work of the workload.
    pub fn work(service: &Service) -> Traffic {
        let classes = service.classes().to_vec();
        let kinds = vec![Kind::Work; classes.len()];
        Traffic { classes, kinds, sets: 0.0, set_class: 0, keys: 1, scan_items: 1, seed: 0 }
    }

    /// The classes of the results.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The class in the results, and the command, of a request. The same seed gives the same commands.
    #[inline]
    pub fn command(&self, due: Due) -> (u8, Command) {
        let kind = self.kinds[usize::from(due.class)];
        if let Kind::Work = kind {
            return (due.class, Command::Work { class: due.class, work_ns: due.service_ps.div_ceil(1_000) });
        }
        let mut draw = Draw::new(self.seed, due.number);
        let key = draw.below(self.keys);
        match kind {
            Kind::Get if self.sets > 0.0 && unit(draw.bits()) < self.sets => {
                (self.set_class, Command::Set { key })
            }
            Kind::Set => (due.class, Command::Set { key }),
            Kind::Scan => (due.class, Command::Scan { key, items: self.scan_items }),
            Kind::Get | Kind::Work => (due.class, Command::Get { key }),
        }
    }
}

/// A number from 0 to below 1.
#[inline]
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use caudal_workload::ServiceSpec;

    use super::*;

    #[test]
    fn keys_differ_and_values_belong_to_their_keys() {
        let keys = Keys { count: 1_000, key_bytes: 21, value_bytes: 13 };
        let (mut one, mut other) = ([0; KEY_BYTES_MAX], [0; KEY_BYTES_MAX]);
        assert_eq!(keys.key(407, &mut one), b"k00000000000000000407");
        let longest = Keys { key_bytes: KEY_BYTES_MIN, ..keys };
        assert_eq!(longest.key(u32::MAX, &mut other), b"k4294967295");
        let mut value = [0; 13];
        keys.fill_value(5, &mut value);
        assert!(keys.is_value(5, &value) && !keys.is_value(6, &value) && !keys.is_value(5, &value[..12]));
        value[12] ^= 1;
        assert!(!keys.is_value(5, &value));
    }

    fn due(number: u64, class: u8) -> Due {
        Due { at_ns: 0, number, class, service_ps: 1_500 }
    }

    #[test]
    fn classes_become_commands_and_sets_have_their_share() {
        let service = ServiceSpec::named("facebook-usr").compile(Path::new("")).unwrap();
        let traffic = Traffic::cache(&service, 100, 0.25, 10, 1);
        assert_eq!(traffic.classes(), ["get", "set"]);
        let sets = (0..10_000).filter(|&number| traffic.command(due(number, 0)).0 == 1).count();
        // Five standard deviations of a binomial share.
        assert!(sets.abs_diff(2_500) < 217, "{sets}");
        let service = ServiceSpec::named("rocksdb-0.5").compile(Path::new("")).unwrap();
        let traffic = Traffic::cache(&service, 100, 0.0, 10, 1);
        assert_eq!(traffic.classes(), ["get", "scan"]);
        assert!(matches!(traffic.command(due(3, 1)), (1, Command::Scan { items: 10, .. })));
        let work = Traffic::work(&service).command(due(3, 1));
        assert_eq!(work, (1, Command::Work { class: 1, work_ns: 2 }));
    }
}
