//! Algorithm 1 of Q-Zilla as a state machine: which lane does a server join, and whom does an arrival interrupt?
//!
//! Every worker of the pool has a *seat*. A seat that runs a task counts for the task's lane. One that has been called
//! to lane 0 counts for lane 0 from then on, though its task is still stopping; and one whose task has stopped counts for
//! the lane that it will join, though it still pays for the switch: the paper's switches take no time, and if places in
//! lanes stood open meanwhile, others would take them and the bounds would not hold. A seat that does nothing counts for
//! no lane, which is what waiting at lane 0 comes to. The running tasks of a lane are linked by their entry number, so
//! that the youngest is known. Numbers only grow: who entered the pool, or a lane, later has the greater one.
//!
//! What it relies on is checked where it is cheap: a seat is joined only when it is free, and called only when it runs.
//!
//! Source: Mirhosseini et al., HPCA 2020, section 3.2, equations 1 and 3, and Algorithm 1.

use alloc::boxed::Box;
use alloc::vec;
use core::fmt;

use super::Lane;
use crate::list::List;

/// No seat.
const NOBODY: u32 = u32::MAX;

/// What the worker of a seat does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// No task.
    Nothing,
    /// It runs a task of this lane.
    Running(Lane),
    /// Called to lane 0 from a task of this lane, which is stopping.
    Called(Lane),
    /// On its way from a task that has stopped, to a task of this lane.
    Promised(Lane),
    /// On its way from a task that has stopped, to nothing that is known of.
    Between,
}

#[derive(Clone, Copy, Debug)]
struct Seat {
    doing: Doing,
    /// Of the task that it runs, or ran last.
    entry: u64,
    /// Neighbours among the running tasks of the lane.
    younger: u32,
    older: u32,
}

/// Servers and reservations of the lanes of one pool. See the [module](self).
#[derive(Clone, Debug)]
pub struct Lanes {
    lanes: u32,
    /// By lane: servers that count for it or a higher one.
    servers: [u16; Lanes::MAX],
    /// By lane: reservations of it and all higher ones, of the servers that there are.
    reserved: [u16; Lanes::MAX],
    /// The same when all servers are there.
    entitled: [u16; Lanes::MAX],
    /// By lane: the seat that runs its youngest task.
    youngest: [u32; Lanes::MAX],
    seats: Box<[Seat]>,
    /// By lane: of `servers`, those that are on their way to it and run no task of it yet.
    promised: [u32; Lanes::MAX],
    /// The sum of them.
    all_promised: u32,
    /// Workers on their way to nothing that is known of.
    between: u32,
}

/// What Algorithm 1 promises and does not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// More servers count for this lane and all higher ones than they have reservations (equation 1), and it is
    /// not because they would have been idle.
    Upper(Lane),
    /// Fewer servers count for this lane than equation 3 gives it.
    Lower(Lane),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Upper(lane) => {
                write!(f, "lane {lane} and those above it have too many servers (equation 1)")
            }
            Broken::Lower(lane) => write!(f, "lane {lane} has too few servers (equation 3)"),
        }
    }
}

impl Lanes {
    /// Most lanes of a pool.
    pub const MAX: usize = List::<u32>::CAPACITY;

    /// A pool with a server for each of `reservations`, which are by lane.
    ///
    /// # Panics
    /// If there is no lane, too many of them, or one without a reservation; or more than 65,535 servers.
    pub fn new(reservations: &[u32]) -> Lanes {
        let lanes = reservations.len();
        assert!((1..=Lanes::MAX).contains(&lanes), "{lanes} lanes");
        assert!(reservations.iter().all(|&count| count > 0), "a lane without a reservation");
        let servers: u32 = reservations.iter().sum();
        let mut reserved = [0; Lanes::MAX];
        for lane in 0..lanes {
            let above: u32 = reservations[lane..].iter().sum();
            reserved[lane] = u16::try_from(above).expect("at most 65,535 servers");
        }
        let seat = Seat { doing: Doing::Nothing, entry: 0, younger: NOBODY, older: NOBODY };
        Lanes {
            lanes: lanes as u32,
            servers: [0; Lanes::MAX],
            reserved,
            entitled: reserved,
            youngest: [NOBODY; Lanes::MAX],
            seats: vec![seat; servers as usize].into_boxed_slice(),
            promised: [0; Lanes::MAX],
            all_promised: 0,
            between: 0,
        }
    }

    /// There are `servers` from now on: each lane is entitled to its part of them, rounded, and to one at least. Where
    /// there are fewer servers than lanes, the highest lanes have them, which lower ones may use as well.
    pub fn share_out(&mut self, servers: u32) {
        let all = u64::from(self.entitled[0].max(1));
        for lane in 0..self.lanes {
            let part = (u64::from(self.entitled[lane as usize]) * u64::from(servers) + all / 2) / all;
            let least = servers.min(self.lanes - lane);
            let most = servers.saturating_sub(lane).max(least);
            self.reserved[lane as usize] = (part as u32).clamp(least, most) as u16;
        }
    }

    /// How many there are.
    #[inline]
    pub fn count(&self) -> u32 {
        self.lanes
    }

    /// Phase 1: the highest lane of those where tasks wait, a bit each, that may have one more server (lines 2 to 15).
    #[inline(always)]
    pub fn within_bounds(&self, waiting: u64) -> Option<Lane> {
        // Most often nothing waits anywhere.
        if waiting == 0 {
            return None;
        }
        for lane in (0..self.lanes as usize).rev() {
            let (servers, reserved) = (self.servers[lane], self.reserved[lane]);
            if servers < reserved && waiting >> lane & 1 != 0 {
                return Some(lane as Lane);
            }
            // Then nothing waits in a lower lane.
            if servers > reserved {
                return None;
            }
        }
        None
    }

    /// Phase 2: the lowest lane of those where tasks wait (lines 16 to 21).
    #[inline(always)]
    pub fn beyond_bounds(waiting: u64) -> Option<Lane> {
        (waiting != 0).then(|| waiting.trailing_zeros())
    }

    /// Does nobody come to a lane who has not begun a task of it yet?
    #[inline(always)]
    pub fn all_have_come(&self) -> bool {
        self.all_promised == 0
    }

    /// Whom an arrival interrupts: the youngest running task of the highest lane that breaks the upper bound, as the
    /// seat of its worker (lines 30 to 41).
    #[inline(always)]
    pub fn to_interrupt(&self) -> Option<u32> {
        for lane in (0..self.lanes as usize).rev() {
            if self.servers[lane] > self.reserved[lane] {
                let seat = self.youngest[lane];
                return (seat != NOBODY).then_some(seat);
            }
        }
        None
    }

    /// The worker of `seat` begins a task that entered `lane` as number `entry`.
    #[inline(always)]
    pub fn join(&mut self, seat: u32, lane: Lane, entry: u64) {
        assert!(self.seats[seat as usize].doing == Doing::Nothing, "a worker runs one task at a time");
        self.count_for(lane);
        // Nearly always the youngest of its lane; one that was interrupted while a younger one began may not be.
        let (mut younger, mut older) = (NOBODY, self.youngest[lane as usize]);
        while older != NOBODY && self.seats[older as usize].entry > entry {
            (younger, older) = (older, self.seats[older as usize].older);
        }
        self.seats[seat as usize] = Seat { doing: Doing::Running(lane), entry, younger, older };
        match younger {
            NOBODY => self.youngest[lane as usize] = seat,
            _ => self.seats[younger as usize].older = seat,
        }
        if older != NOBODY {
            self.seats[older as usize].younger = seat;
        }
    }

    /// The worker of `seat` has been asked to stop its task and to come to lane 0.
    #[inline]
    pub fn call(&mut self, seat: u32) {
        if let Doing::Running(lane) = self.seats[seat as usize].doing {
            self.unlink(seat, lane);
            self.promise(0);
            self.seats[seat as usize].doing = Doing::Called(lane);
        }
    }

    /// The task of `seat` has completed or stopped; its lane.
    ///
    /// # Panics
    /// If there was none.
    #[inline(always)]
    pub fn leave(&mut self, seat: u32) -> Lane {
        let lane = match self.seats[seat as usize].doing {
            Doing::Running(lane) => {
                self.unlink(seat, lane);
                lane
            }
            Doing::Called(lane) => {
                self.release(0);
                lane
            }
            Doing::Nothing | Doing::Promised(_) | Doing::Between => unreachable!("only what runs can stop"),
        };
        self.seats[seat as usize].doing = Doing::Nothing;
        lane
    }

    /// The worker of `seat` is on its way from a task that has stopped; to `lane`, if that is known.
    #[inline]
    pub fn depart(&mut self, seat: u32, lane: Option<Lane>) {
        self.seats[seat as usize].doing = match lane {
            Some(lane) => {
                self.promise(lane);
                Doing::Promised(lane)
            }
            None => {
                self.between += 1;
                Doing::Between
            }
        };
    }

    /// The worker of `seat` is free to decide. Wherever it was going, it joins the lane that the bounds want it in now.
    #[inline(always)]
    pub fn arrive(&mut self, seat: u32) {
        match self.seats[seat as usize].doing {
            Doing::Nothing => return,
            Doing::Promised(lane) => self.release(lane),
            Doing::Between => self.between -= 1,
            Doing::Running(_) | Doing::Called(_) => unreachable!("a worker runs one task at a time"),
        }
        self.seats[seat as usize].doing = Doing::Nothing;
    }

    /// Number of the task that `seat` runs, or ran last.
    #[inline]
    pub fn entry(&self, seat: u32) -> u64 {
        self.seats[seat as usize].entry
    }

    /// Workers that are on their way to `lane` and run no task of it yet.
    #[inline(always)]
    pub fn promised(&self, lane: Lane) -> u32 {
        self.promised[lane as usize]
    }

    /// The order of workers whose tasks stop at the same time: those that were called to lane 0 first, so that their
    /// tasks wait in their lanes again before anybody looks there; then by entry.
    #[inline]
    pub fn tie(&self, seat: u32) -> u64 {
        let Seat { doing, entry, .. } = self.seats[seat as usize];
        if matches!(doing, Doing::Called(_)) { 0 } else { entry }
    }

    /// The first promise that is not kept, where `waits` tells how many tasks wait in a lane. Workers that are on their
    /// way between two tasks count for whichever lane needs them.
    ///
    /// Promises are the paper's, where switches take no time. If they do, equation 1 still holds without interruptions;
    /// equation 3 may not, for a while, where somebody took what another was on its way to.
    ///
    /// # Errors
    /// The highest lane at fault.
    pub fn check(&self, interruptible: bool, waits: impl Fn(Lane) -> u32) -> Result<(), Broken> {
        let promised = |lane: Lane| self.promised[lane as usize];
        // Where another has been faster, who was promised to a lane goes wherever tasks wait.
        let spare = |lane: Lane| promised(lane).saturating_sub(waits(lane));
        let unbound = self.between + (0..self.lanes).map(spare).sum::<u32>();
        let on_their_way = self.between + (0..self.lanes).map(promised).sum::<u32>();
        let waiting_below = |lane: Lane| (0..lane).map(&waits).sum::<u32>() > on_their_way;
        for lane in (0..self.lanes).rev() {
            let at = lane as usize;
            let (servers, reserved) = (u32::from(self.servers[at]), u32::from(self.reserved[at]));
            let above = if lane + 1 < self.lanes { u32::from(self.servers[at + 1]) } else { 0 };
            if servers > reserved && (!interruptible || waiting_below(lane)) {
                return Err(Broken::Upper(lane));
            }
            let tasks = servers - above - promised(lane) + waits(lane);
            let due = tasks.min(reserved.saturating_sub(above));
            if servers - above + unbound < due {
                return Err(Broken::Lower(lane));
            }
        }
        Ok(())
    }

    fn promise(&mut self, lane: Lane) {
        self.promised[lane as usize] += 1;
        self.all_promised += 1;
        self.count_for(lane);
    }

    fn release(&mut self, lane: Lane) {
        self.promised[lane as usize] -= 1;
        self.all_promised -= 1;
        self.discount(lane);
    }

    #[inline(always)]
    fn count_for(&mut self, lane: Lane) {
        // Of all lanes, in vectors: a loop up to this one would end anywhere.
        for (at, servers) in self.servers.iter_mut().enumerate() {
            *servers += u16::from(at as u16 <= lane as u16);
        }
    }

    #[inline(always)]
    fn discount(&mut self, lane: Lane) {
        for (at, servers) in self.servers.iter_mut().enumerate() {
            *servers -= u16::from(at as u16 <= lane as u16);
        }
    }

    #[inline(always)]
    fn unlink(&mut self, seat: u32, lane: Lane) {
        self.discount(lane);
        let Seat { younger, older, .. } = self.seats[seat as usize];
        match younger {
            NOBODY => self.youngest[lane as usize] = older,
            _ => self.seats[younger as usize].older = older,
        }
        if older != NOBODY {
            self.seats[older as usize].younger = younger;
        }
    }
}

/// Numbers of tasks that enter a pool, or a lane of it, in their order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entries {
    last: u64,
    /// The last number of the tasks that are being moved here.
    moved_to: u64,
}

impl Entries {
    /// The number of a task that enters a lane now.
    #[inline(always)]
    pub(super) fn enter(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// The number of a task that is moved into a lane now, with `more` older ones to follow.
    pub(super) fn enter_before(&mut self, more: u32) -> u64 {
        // They come youngest first, and the last of them closes the gap.
        let entry = self.last + 1 + u64::from(more);
        self.moved_to = self.moved_to.max(entry);
        if more == 0 {
            self.last = self.moved_to;
        }
        entry
    }
}
