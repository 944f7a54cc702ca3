//! A layout of lanes in a pool: where each lane ends, and how many servers each is entitled to. `climb` moves from one layout to the
//! next, `trials` simulates them, and `lane_tuning` puts the best into a system. Data, with its checks.

use std::fmt;

use caudal_config::{Pools, System};
use caudal_policy::Picos;
use caudal_policy::discipline::{DisciplineConfig, SitaConfig};
use caudal_policy::dispatch::{DispatchConfig, SitaDispatchConfig};
use serde::{Deserialize, Serialize};

use crate::show::spelled;

/// The largest number of lanes of a layout.
pub const LANES_MAX: usize = caudal_policy::List::<u32>::CAPACITY;

/// How requests come to their lanes, and servers to theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// By their size, which is known beforehand; each lane has its own servers.
    Sita,
    /// By the time that they have run; each lane has its own servers.
    PreemptiveSita,
    /// The same, with servers that go where they are needed as long as no lane can starve.
    SqdSita,
    /// The same, and a server that would idle runs any waiting request until a new request interrupts it.
    IsqdSita,
}

impl Family {
    /// All of them, in the order in which the paper builds one on the other.
    pub const ALL: [Family; 4] = [Family::Sita, Family::PreemptiveSita, Family::SqdSita, Family::IsqdSita];

    /// As files and the command line write it.
    pub fn name(self) -> &'static str {
        match self {
            Family::Sita => "sita",
            Family::PreemptiveSita => "preemptive-sita",
            Family::SqdSita => "sqd-sita",
            Family::IsqdSita => "isqd-sita",
        }
    }

    /// The system of `layout`; one lane is one queue, first come first served, under any name.
    pub fn system(self, layout: &Layout) -> System {
        let base = System::single_queue(layout.servers());
        if layout.lanes() == 1 {
            return base;
        }
        let config = SitaConfig::new(&layout.cutoffs, &layout.reservations);
        let config = config.expect("a layout has cutoffs that rise and a server for each lane");
        let name = self.name().to_owned();
        match self {
            Family::Sita => System {
                name,
                pools: Pools::Sizes(layout.reservations.clone()),
                dispatch: DispatchConfig::Sita(SitaDispatchConfig { cutoffs: config.cutoffs }),
                ..base
            },
            Family::PreemptiveSita => {
                System { name, discipline: DisciplineConfig::PreemptiveSita(config), ..base }
            }
            Family::SqdSita => System { name, discipline: DisciplineConfig::SqdSita(config), ..base },
            Family::IsqdSita => System { name, discipline: DisciplineConfig::IsqdSita(config), ..base },
        }
    }
}

/// Lanes in the order of the paper: the first is that of new requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Layout {
    /// Where lanes end, in time on a core; one less than there are lanes, increasing.
    pub cutoffs: Vec<Picos>,
    /// Servers of each lane; none is 0.
    pub reservations: Vec<u32>,
}

impl Layout {
    /// One lane of all servers: M/G/k.
    pub fn single(servers: u32) -> Layout {
        Layout { cutoffs: Vec::new(), reservations: vec![servers] }
    }

    /// The number of lanes.
    pub fn lanes(&self) -> usize {
        self.reservations.len()
    }

    /// How many servers they have together.
    pub fn servers(&self) -> u32 {
        self.reservations.iter().sum()
    }

    /// The same with a new first lane, which ends at `cutoff` and takes `servers` from lane `donor`; `None` where that is
    /// no layout.
    pub(crate) fn with_lane(&self, cutoff: Picos, donor: usize, servers: u32) -> Option<Layout> {
        let below = self.cutoffs.first().is_none_or(|&first| cutoff < first);
        if !below || cutoff == Picos::ZERO || self.lanes() == LANES_MAX || self.reservations[donor] <= servers
        {
            return None;
        }
        let mut layout = self.clone();
        layout.reservations[donor] -= servers;
        layout.reservations.insert(0, servers);
        layout.cutoffs.insert(0, cutoff);
        Some(layout)
    }

    /// The same with `servers` of lane `from` in lane `to`.
    pub(crate) fn moved(&self, from: usize, to: usize, servers: u32) -> Option<Layout> {
        if from == to || self.reservations[from] <= servers {
            return None;
        }
        let mut layout = self.clone();
        layout.reservations[from] -= servers;
        layout.reservations[to] += servers;
        Some(layout)
    }

    /// The same with another end of lane `lane`.
    pub(crate) fn with_cutoff(&self, lane: usize, cutoff: Picos) -> Option<Layout> {
        let above = lane == 0 || self.cutoffs[lane - 1] < cutoff;
        let below = self.cutoffs.get(lane + 1).is_none_or(|&next| cutoff < next);
        if !(above && below) || cutoff == Picos::ZERO || cutoff == self.cutoffs[lane] {
            return None;
        }
        let mut layout = self.clone();
        layout.cutoffs[lane] = cutoff;
        Some(layout)
    }

    /// The same without its lane `lane`, whose servers and requests go to the next one up, or down from the last.
    pub(crate) fn without_lane(&self, lane: usize) -> Option<Layout> {
        if self.lanes() == 1 {
            return None;
        }
        let mut layout = self.clone();
        let servers = layout.reservations.remove(lane);
        let heir = lane.min(layout.reservations.len() - 1);
        layout.reservations[heir] += servers;
        layout.cutoffs.remove(lane.min(layout.cutoffs.len() - 1));
        Some(layout)
    }
}

/// `13/2/1 at 2.1us and 40us`
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lanes() == 1 {
            return write!(f, "one queue of {}", self.servers());
        }
        let counts: Vec<String> = self.reservations.iter().map(ToString::to_string).collect();
        write!(f, "{}", counts.join("/"))?;
        for (index, cutoff) in self.cutoffs.iter().enumerate() {
            let before = match index {
                0 => " at ",
                _ if index + 1 == self.cutoffs.len() => " and ",
                _ => ", ",
            };
            write!(f, "{before}{}", spelled(&cutoff.to_string()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    #[test]
    fn moves_keep_the_servers_and_the_order_of_cutoffs() {
        let start = Layout::single(8);
        let two = start.with_lane(Picos(2 * US), 0, 3).unwrap();
        assert_eq!(two.to_string(), "3/5 at 2 µs");
        let three = two.with_lane(Picos(US), 1, 1).unwrap();
        assert_eq!(three.to_string(), "1/3/4 at 1 µs and 2 µs");
        assert_eq!(three.servers(), 8);
        assert_eq!(three.moved(2, 0, 2).unwrap().to_string(), "3/3/2 at 1 µs and 2 µs");
        assert_eq!(three.without_lane(1).unwrap().to_string(), "1/7 at 1 µs");
        assert_eq!(three.without_lane(2).unwrap().to_string(), "1/7 at 1 µs");
        assert_eq!(three.with_cutoff(1, Picos(9 * US)).unwrap().to_string(), "1/3/4 at 1 µs and 9 µs");
    }

    #[test]
    fn what_is_no_layout_is_not_made() {
        let two = Layout { cutoffs: vec![Picos(2 * US)], reservations: vec![1, 7] };
        assert!(two.with_lane(Picos(2 * US), 1, 1).is_none(), "not below the first");
        assert!(two.with_lane(Picos(0), 1, 1).is_none());
        assert!(two.with_lane(Picos(US), 0, 1).is_none(), "the donor would starve");
        assert!(two.moved(0, 1, 1).is_none());
        assert!(two.with_cutoff(0, Picos(2 * US)).is_none(), "the same");
        assert!(Layout::single(4).without_lane(0).is_none());
    }

    #[test]
    fn one_lane_is_one_queue_under_any_name() {
        for family in Family::ALL {
            assert_eq!(family.system(&Layout::single(4)), System::single_queue(4));
        }
    }
}
