//! Dispatch: a request arrives; which pool gets it, or is it held?

mod jbsq;
mod jsq;
mod least_work;
mod power_of_k;
mod random;
mod round_robin;
mod sita;

pub use jbsq::{Jbsq, JbsqConfig};
pub use jsq::{Jsq, JsqConfig, Ties};
pub use least_work::LeastWork;
pub use power_of_k::{PowerOfK, PowerOfKConfig};
pub use random::Random;
pub use round_robin::RoundRobin;
pub use sita::{Sita, SitaDispatchConfig};

use crate::random::Draw;
use crate::{Picos, PoolId};

/// The pools that have a core now ("open" pools), as places: all that a [`Blind`] policy sees.
pub trait Places {
    /// Open pools; at least one.
    fn open(&self) -> u32;
    /// The `i`-th open pool, `i <` [`Places::open`], in increasing order of id.
    fn nth(&self, i: u32) -> PoolId;
}

/// The work in each open pool. Counts may be stale.
pub trait Counts {
    /// Requests of `pool` that have not finished: waiting, preempted and running.
    fn unfinished(&self, pool: PoolId) -> u32;
    /// The fewest unfinished requests of any open pool, and how many open pools have so few.
    fn shortest(&self) -> Shortest;
    /// The `i`-th of the shortest open pools, `i <` [`Shortest::pools`], in increasing order of id.
    fn nth_shortest(&self, i: u32) -> PoolId;
    /// The next of the shortest open pools after `pool`, in increasing order of id.
    fn shortest_after(&self, pool: PoolId) -> Option<PoolId>;
    /// Quanta that the *current* requests of `pool` have received so far.
    fn serviced_quanta(&mut self, pool: PoolId) -> u64;
    /// [`Counts::serviced_quanta`] if they are more than `bound`: most often they are not, and to know only
    /// that can be cheaper than to count them.
    #[inline]
    fn serviced_quanta_above(&mut self, pool: PoolId, bound: u64) -> Option<u64> {
        let quanta = self.serviced_quanta(pool);
        (quanta > bound).then_some(quanta)
    }
    /// Service time that the unfinished requests of `pool` still need. Clairvoyant: only a simulator knows.
    fn unfinished_work(&mut self, pool: PoolId) -> Picos;
    /// Service time of the request that is to be placed. Clairvoyant: only a simulator knows.
    fn arriving_work(&self) -> Picos;
}

/// The open pools and the work in each: what a dispatch policy sees.
pub trait Pools: Places + Counts {}

impl<T: Places + Counts> Pools for T {}

/// The shortest pools: their length, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortest {
    /// Unfinished requests of each of them.
    pub unfinished: u32,
    /// How many pools are that short; at least one.
    pub pools: u32,
}

/// Where a request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// To this pool, at no cost to any worker.
    Pool(PoolId),
    /// It landed at a worker of `landed`, which pays to move it to `pool`; free where both are the same.
    Moved {
        /// The pool that the network chose.
        landed: PoolId,
        /// The pool that the policy chose.
        pool: PoolId,
    },
    /// Nowhere yet: it waits at the dispatcher, first come first served, until a completion makes room.
    Hold,
}

/// The counts for which a dispatch policy asks; a host keeps no others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Nothing about unfinished requests.
    Nothing,
    /// [`Counts::unfinished`].
    Counts,
    /// [`Counts::unfinished`] and the shortest pools.
    Shortest,
}

/// A dispatch policy. One instance per dispatcher.
pub trait Dispatch {
    /// The counts for which it asks.
    fn asks(&self) -> Asks {
        Asks::Shortest
    }

    /// May it answer [`Placement::Hold`]?
    fn holds(&self) -> bool {
        false
    }

    /// Places the request that has just arrived.
    fn on_arrival(&mut self, draw: Draw, pools: &mut impl Pools) -> Placement;

    /// A request has finished and others are held: where does the oldest held one go, if anywhere?
    ///
    /// Asked again until it answers `None` or nothing is held.
    fn on_room(&mut self, _draw: Draw, _pools: &mut impl Pools) -> Option<PoolId> {
        None
    }
}

/// A dispatch policy that looks at no counts: it chooses a pool for each request at once, on any host.
pub trait Blind {
    /// Places the request that has just arrived.
    fn place(&mut self, draw: Draw, places: &impl Places) -> PoolId;
}

impl<T: Blind> Dispatch for T {
    fn asks(&self) -> Asks {
        Asks::Nothing
    }

    #[inline(always)]
    fn on_arrival(&mut self, draw: Draw, pools: &mut impl Pools) -> Placement {
        Placement::Pool(self.place(draw, pools))
    }
}

/// Any blind dispatch policy of this crate.
#[derive(Clone, Debug)]
pub enum AnyBlind {
    /// See [`Random`].
    Random(Random),
    /// See [`RoundRobin`].
    RoundRobin(RoundRobin),
}

impl AnyBlind {
    /// The policy of `config`, if it is blind.
    pub fn of(config: DispatchConfig) -> Option<AnyBlind> {
        match config {
            DispatchConfig::Random => Some(AnyBlind::Random(Random)),
            DispatchConfig::RoundRobin => Some(AnyBlind::RoundRobin(RoundRobin::default())),
            DispatchConfig::PowerOfK(_)
            | DispatchConfig::Jsq(_)
            | DispatchConfig::Jbsq(_)
            | DispatchConfig::LeastWork
            | DispatchConfig::Sita(_) => None,
        }
    }
}

impl Blind for AnyBlind {
    #[inline(always)]
    fn place(&mut self, draw: Draw, places: &impl Places) -> PoolId {
        match self {
            AnyBlind::Random(policy) => policy.place(draw, places),
            AnyBlind::RoundRobin(policy) => policy.place(draw, places),
        }
    }
}

/// The dispatch policy as a policy file names it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields))]
pub enum DispatchConfig {
    /// Uniformly at random, as a network card's receive-side scaling does.
    Random,
    /// One pool after the other.
    RoundRobin,
    /// The shortest of `k` pools drawn at random.
    PowerOfK(PowerOfKConfig),
    /// The shortest of all pools.
    Jsq(JsqConfig),
    /// The shortest of all pools if it is below a bound, else held.
    Jbsq(JbsqConfig),
    /// The pool with the least unfinished work; clairvoyant.
    LeastWork,
    /// A pool for each range of service times; clairvoyant.
    Sita(SitaDispatchConfig),
}

/// Any dispatch policy of this crate: a match that the branch predictor learns.
#[derive(Clone, Debug)]
pub enum AnyDispatch {
    /// See [`Random`].
    Random(Random),
    /// See [`RoundRobin`].
    RoundRobin(RoundRobin),
    /// See [`PowerOfK`].
    PowerOfK(PowerOfK),
    /// See [`Jsq`].
    Jsq(Jsq),
    /// See [`Jbsq`].
    Jbsq(Jbsq),
    /// See [`LeastWork`].
    LeastWork(LeastWork),
    /// See [`Sita`].
    Sita(Sita),
}

impl From<DispatchConfig> for AnyDispatch {
    fn from(config: DispatchConfig) -> AnyDispatch {
        match config {
            DispatchConfig::Random => AnyDispatch::Random(Random),
            DispatchConfig::RoundRobin => AnyDispatch::RoundRobin(RoundRobin::default()),
            DispatchConfig::PowerOfK(config) => AnyDispatch::PowerOfK(PowerOfK::new(config)),
            DispatchConfig::Jsq(config) => AnyDispatch::Jsq(Jsq::new(config)),
            DispatchConfig::Jbsq(config) => AnyDispatch::Jbsq(Jbsq::new(config)),
            DispatchConfig::LeastWork => AnyDispatch::LeastWork(LeastWork),
            DispatchConfig::Sita(config) => AnyDispatch::Sita(Sita::new(config)),
        }
    }
}

/// The only list of dispatch policies beside [`AnyDispatch`]: all that it does goes to the policy in it.
macro_rules! each {
    ($self:ident, $policy:ident => $call:expr) => {
        match $self {
            AnyDispatch::Random($policy) => $call,
            AnyDispatch::RoundRobin($policy) => $call,
            AnyDispatch::PowerOfK($policy) => $call,
            AnyDispatch::Jsq($policy) => $call,
            AnyDispatch::Jbsq($policy) => $call,
            AnyDispatch::LeastWork($policy) => $call,
            AnyDispatch::Sita($policy) => $call,
        }
    };
}

impl Dispatch for AnyDispatch {
    fn asks(&self) -> Asks {
        each!(self, policy => policy.asks())
    }

    fn holds(&self) -> bool {
        each!(self, policy => policy.holds())
    }

    #[inline(always)]
    fn on_arrival(&mut self, draw: Draw, pools: &mut impl Pools) -> Placement {
        each!(self, policy => policy.on_arrival(draw, pools))
    }

    #[inline]
    fn on_room(&mut self, draw: Draw, pools: &mut impl Pools) -> Option<PoolId> {
        each!(self, policy => policy.on_room(draw, pools))
    }
}
