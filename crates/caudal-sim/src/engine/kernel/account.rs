//! The accounts of a run: where the time of the cores went, and how often what happened. Every loop of the engine adds to one at each
//! event; an experiment and the row of a point read it at the end. Data only.

/// Core time by what it went to, in ps, and counts of what happened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// Work on requests, probes included.
    pub busy_ps: u128,
    /// Work that arrived, probes included.
    pub offered_ps: u128,
    /// Cores held, from the decision to grow on.
    pub held_ps: u128,
    /// Cores on their way.
    pub allocating_ps: u128,
    /// Checks of walks.
    pub looking_ps: u128,
    /// Moving tasks from victims and overloaded pools.
    pub moving_ps: u128,
    /// Placing requests at other workers.
    pub placing_ps: u128,
    /// Switching from one task to the next, beginning and finishing requests included.
    pub switching_ps: u128,
    /// Cores that the machine took away, while they were held; what a worker did meanwhile is counted as well, if it is
    /// counted from begin to end: walks of thieves.
    pub stalled_ps: u128,
    /// Preemptions.
    pub preemptions: u64,
    /// Steals, those that found nothing any more included.
    pub steals: u64,
    /// Steals that found nothing any more.
    pub steals_empty: u64,
    /// Flags answered.
    pub sheds: u64,
    /// Cores granted.
    pub grants: u64,
    /// Arrivals that found no spare core, under per-task allocation.
    pub grants_refused: u64,
    /// Requests completed.
    pub completed: u64,
    /// Of those, how many were given up: nobody helped them any more.
    pub given_up: u64,
    /// How long those took from arrival to completion.
    pub given_up_ps: u128,
}

impl Account {
    pub(crate) fn since(&self, start: &Account) -> Account {
        Account {
            busy_ps: self.busy_ps - start.busy_ps,
            offered_ps: self.offered_ps - start.offered_ps,
            held_ps: self.held_ps - start.held_ps,
            allocating_ps: self.allocating_ps - start.allocating_ps,
            looking_ps: self.looking_ps - start.looking_ps,
            moving_ps: self.moving_ps - start.moving_ps,
            placing_ps: self.placing_ps - start.placing_ps,
            switching_ps: self.switching_ps - start.switching_ps,
            stalled_ps: self.stalled_ps - start.stalled_ps,
            preemptions: self.preemptions - start.preemptions,
            steals: self.steals - start.steals,
            steals_empty: self.steals_empty - start.steals_empty,
            sheds: self.sheds - start.sheds,
            grants: self.grants - start.grants,
            grants_refused: self.grants_refused - start.grants_refused,
            completed: self.completed - start.completed,
            given_up: self.given_up - start.given_up,
            given_up_ps: self.given_up_ps - start.given_up_ps,
        }
    }
}
