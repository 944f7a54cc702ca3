//! Neighbours: pools by turns, with a look at the next one.
//!
//! ## What it does
//! As round robin, but a request goes to the following pool if that has fewer unfinished requests.
//! ## When it helps
//! Two counters are read for a request, and none is drawn: a dispatcher on one core can do it.
//! ## When it hurts
//! It does not see beyond the neighbour: several long requests side by side block what comes there.
//! ## Parameters
//! None.
//! ## Source
//! Made up for this example.

use caudal_policy::dispatch::{Asks, Dispatch, Placement, Pools};
use caudal_policy::random::Draw;

/// See the [module](self).
#[derive(Clone, Copy, Debug, Default)]
pub struct Neighbours {
    turn: u32,
}

impl Dispatch for Neighbours {
    fn asks(&self) -> Asks {
        Asks::Counts
    }

    fn on_arrival(&mut self, _draw: Draw, pools: &mut impl Pools) -> Placement {
        // Cores may come and go: the number of open pools is not the same each time.
        let open = pools.open();
        let (here, following) = (pools.nth(self.turn % open), pools.nth((self.turn + 1) % open));
        self.turn = (self.turn + 1) % open;
        let shorter = pools.unfinished(following) < pools.unfinished(here);
        Placement::Pool(if shorter { following } else { here })
    }
}
