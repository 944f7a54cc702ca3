//! The hill climb of Mirhosseini et al. (HPCA 2020, section 5), with races instead of single runs.
//! Called by the search for lanes, and by the tuning of lanes in a plan.
//!
//! It begins with all servers in one lane. A step is one of: servers from one lane to another; a new first lane with
//! servers of some other; another end of a lane; one lane less. All that a step may lead to race on the same
//! requests, and the climb goes on from the winner if that is certainly better. It ends where no step is.
//!
//! The paper moves one reservation at a time, and only to the youngest lane. Here several move at once, by powers of two,
//! between any two lanes, so that 32 servers take no more steps than 8.

use caudal_policy::Picos;
use serde::{Deserialize, Serialize};

use super::grid::around;
use super::layout::Layout;
use super::race::{Tried, race, summary};
use super::trials::{Contender, Trials};
use crate::{Journal, TuneError};

/// Rounds of cutoffs halfway to their neighbours.
const REFINEMENTS: usize = 2;

/// The kind of change that a step tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Move {
    /// Nothing: what the climb begins with.
    Start,
    /// A first lane is added.
    AddLane,
    /// Servers from one lane to another.
    MoveServers,
    /// The end of a lane moves.
    ShiftCutoff,
    /// A lane is dropped.
    DropLane,
}

impl Move {
    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Move::Start => "start",
            Move::AddLane => "add a lane",
            Move::MoveServers => "move servers",
            Move::ShiftCutoff => "shift a cutoff",
            Move::DropLane => "drop a lane",
        }
    }
}

/// A step of the climb.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The kind of change that it tried.
    #[serde(rename = "move")]
    pub kind: Move,
    /// The layout from which it began.
    pub from: Layout,
    /// All layouts that raced.
    pub tried: Vec<Tried>,
    /// The best of the layouts that raced.
    pub leader: Option<Layout>,
    /// Was that certainly better than where the step began?
    pub taken: bool,
    /// Requests that the step simulated.
    pub requests: u64,
    /// Did the budget keep some from running, or from running on?
    #[serde(default)]
    pub cut_short: bool,
    /// Rounds that the best so far has run after it.
    rounds: usize,
}

/// The climb so far.
pub(crate) struct Climb<'a, 'b> {
    pub(crate) trials: &'a Trials<'b>,
    pub(crate) grid: &'a [Picos],
    pub(crate) journal: &'a dyn Journal,
    /// The number of the journal's part that is this climb's.
    pub(crate) chapter: usize,
    /// Requests that may be simulated. A race that would take more than is left of them has fewer runners, or ends early.
    pub(crate) budget: u64,
    /// The largest number of lanes.
    pub(crate) lanes_max: usize,
    pub(crate) steps: Vec<Step>,
    /// Did the budget end it?
    pub(crate) cut_short: bool,
}

impl Climb<'_, '_> {
    /// Climbs from one lane of all servers.
    pub(crate) fn run(&mut self, servers: u32) -> Result<Contender, TuneError> {
        let mut best = self.start(Layout::single(servers))?;
        let mut known = self.grid.to_vec();
        let mut refinements = 0;
        loop {
            let moved = self.step(&mut best, Move::MoveServers, server_moves)?
                || self.step(&mut best, Move::AddLane, |layout| self::new_lanes(layout, &known))?
                || self.step(&mut best, Move::DropLane, fewer_lanes)?;
            if moved {
                continue;
            }
            let halves = |layout: &Layout| other_cutoffs(layout, |cutoff| around(cutoff, &known));
            let refined = halves(&best.layout);
            let shifted = self.step(&mut best, Move::ShiftCutoff, halves)?;
            known.extend(refined.iter().flat_map(|layout| layout.cutoffs.iter().copied()));
            refinements += 1;
            if !shifted || refinements == REFINEMENTS {
                return Ok(best);
            }
        }
    }

    /// Finds cutoffs for reservations that are given, one lane after the other.
    pub(crate) fn fit(&mut self, start: Layout) -> Result<Contender, TuneError> {
        let mut best = self.start(start)?;
        let mut known = self.grid.to_vec();
        for round in 0..=REFINEMENTS {
            let mut moved = false;
            for lane in 0..best.layout.cutoffs.len() {
                let near = if round == 0 { known.clone() } else { around(best.layout.cutoffs[lane], &known) };
                let ends =
                    |layout: &Layout| near.iter().filter_map(|&end| layout.with_cutoff(lane, end)).collect();
                moved |= self.step(&mut best, Move::ShiftCutoff, ends)?;
                known.extend(&near);
            }
            if !moved && round > 0 {
                break;
            }
        }
        Ok(best)
    }

    fn start(&mut self, layout: Layout) -> Result<Contender, TuneError> {
        let mut best = Contender::new(layout);
        if let Some(step) = self.recall() {
            best.owed = step.rounds;
            self.steps.push(step);
            return Ok(best);
        }
        let before = self.trials.simulated();
        self.trials.advance(&mut best, 0, self.trials.threads)?;
        let step = Step {
            kind: Move::Start,
            from: best.layout.clone(),
            tried: vec![summary(self.trials, &best)],
            leader: Some(best.layout.clone()),
            taken: true,
            requests: self.trials.simulated() - before,
            cut_short: false,
            rounds: best.rounds.len(),
        };
        self.keep(step);
        Ok(best)
    }

    /// Races all of `next` of the best so far; `true` if one of them takes its place.
    fn step(
        &mut self,
        best: &mut Contender,
        kind: Move,
        next: impl Fn(&Layout) -> Vec<Layout>,
    ) -> Result<bool, TuneError> {
        let mut layouts = next(&best.layout);
        layouts.retain(|layout| layout.lanes() <= self.lanes_max && *layout != best.layout);
        if layouts.is_empty() {
            return Ok(false);
        }
        if let Some(step) = self.recall() {
            if let (true, Some(leader)) = (step.taken, &step.leader) {
                *best = Contender::new(leader.clone());
            }
            best.owed = step.rounds;
            self.cut_short |= step.cut_short;
            let taken = step.taken;
            self.steps.push(step);
            return Ok(taken);
        }
        let left = self.budget.saturating_sub(self.steps.iter().map(|step| step.requests).sum());
        if left == 0 {
            self.cut_short = true;
            return Ok(false);
        }
        // What a broken-off climb has run of it is no part of this step.
        if let Some(round) = best.owed.checked_sub(1) {
            self.trials.advance(best, round, self.trials.threads)?;
        }
        let before = self.trials.simulated();
        let raced = race(self.trials, best, layouts, left)?;
        self.cut_short |= raced.cut_short;
        if raced.cut_short && raced.tried.is_empty() {
            return Ok(false);
        }
        let after = if raced.better { raced.leader.as_ref() } else { Some(&*best) };
        let step = Step {
            rounds: after.map_or(0, |contender| contender.rounds.len()),
            kind,
            from: best.layout.clone(),
            tried: raced.tried,
            leader: raced.leader.as_ref().map(|leader| leader.layout.clone()),
            taken: raced.better,
            requests: self.trials.simulated() - before,
            cut_short: raced.cut_short,
        };
        self.keep(step);
        if let (true, Some(leader)) = (raced.better, raced.leader) {
            *best = leader;
        }
        Ok(raced.better)
    }

    fn recall(&self) -> Option<Step> {
        let entry = self.journal.recall(self.chapter, self.steps.len())?;
        serde_json::from_value(entry["lanes"].clone()).ok()
    }

    fn keep(&mut self, step: Step) {
        self.journal.keep(serde_json::json!({
            "step": self.chapter,
            "entry": self.steps.len(),
            "phase": step.kind.name(),
            "system": self.trials.machine.family.name(),
            "requests": step.requests,
            "lanes": step,
        }));
        self.steps.push(step);
    }
}

/// 1, 2, 4, ... below `all`.
fn amounts(all: u32) -> impl Iterator<Item = u32> {
    (0..31).map(|power| 1 << power).take_while(move |&amount| amount < all)
}

/// The same, and what they leave of `all`: which of two lanes few servers are enough for is not known. Rising.
fn shares(all: u32) -> Vec<u32> {
    let mut found: Vec<u32> = amounts(all).flat_map(|amount| [amount, all - amount]).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn server_moves(layout: &Layout) -> Vec<Layout> {
    let lanes = layout.lanes();
    let pairs = (0..lanes).flat_map(|from| (0..lanes).map(move |to| (from, to)));
    let moves = pairs.flat_map(|(from, to)| {
        amounts(layout.reservations[from]).filter_map(move |amount| layout.moved(from, to, amount))
    });
    moves.collect()
}

/// A new first lane at each end of the grid, with servers from the lane that has most, or from the first.
fn new_lanes(layout: &Layout, grid: &[Picos]) -> Vec<Layout> {
    let most = (0..layout.lanes()).max_by_key(|&lane| layout.reservations[lane]).unwrap_or(0);
    let mut donors = vec![most];
    if most != 0 {
        donors.push(0);
    }
    let mut found = Vec::new();
    for &end in grid {
        for &donor in &donors {
            let given = shares(layout.reservations[donor]).into_iter();
            found.extend(given.filter_map(|amount| layout.with_lane(end, donor, amount)));
        }
    }
    found
}

fn fewer_lanes(layout: &Layout) -> Vec<Layout> {
    // One lane is where the climb began.
    let lanes = if layout.lanes() > 2 { layout.lanes() } else { 0 };
    (0..lanes).filter_map(|lane| layout.without_lane(lane)).collect()
}

fn other_cutoffs(layout: &Layout, near: impl Fn(Picos) -> Vec<Picos>) -> Vec<Layout> {
    let lanes = 0..layout.cutoffs.len();
    lanes
        .flat_map(|lane| {
            near(layout.cutoffs[lane]).into_iter().filter_map(move |end| layout.with_cutoff(lane, end))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_lane_may_have_nearly_all_servers() {
        let lanes = new_lanes(&Layout::single(8), &[Picos(5)]);
        let first: Vec<u32> = lanes.iter().map(|it| it.reservations[0]).collect();
        assert_eq!(first, [1, 2, 4, 6, 7]);
    }

    #[test]
    fn moves_reach_every_neighbour_once() {
        let layout = Layout { cutoffs: vec![Picos(5)], reservations: vec![3, 5] };
        let servers: Vec<String> =
            server_moves(&layout).iter().map(|it| format!("{:?}", it.reservations)).collect();
        assert_eq!(servers, ["[2, 6]", "[1, 7]", "[4, 4]", "[5, 3]", "[7, 1]"]);
        let lanes = new_lanes(&layout, &[2, 5, 9].map(Picos));
        let lanes: Vec<String> = lanes.iter().map(|it| format!("{:?}", it.reservations)).collect();
        assert_eq!(
            lanes,
            ["[1, 3, 4]", "[2, 3, 3]", "[3, 3, 2]", "[4, 3, 1]", "[1, 2, 5]", "[2, 1, 5]"],
            "below the first only"
        );
        assert!(fewer_lanes(&layout).is_empty());
    }
}
