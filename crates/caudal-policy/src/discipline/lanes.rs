//! Algorithm 1 of Q-Zilla as a state machine: which lane does a server join, and whom does an arrival interrupt?
//!
//! Every worker of the pool has a *seat*. A seat that runs a task counts for the task's lane. A seat that has been called
//! to lane 0 counts for lane 0 from then on, although its task is still stopping. A seat whose task has stopped counts for
//! the lane that it will join, although it still pays for the switch. In the paper switches take no time; if a place in a
//! lane were open during a switch, other workers would take it and the bounds would not hold. A seat that does nothing
//! counts for no lane, which has the same effect as waiting at lane 0. The running tasks of a lane are a ring, by their
//! entry number, so that the youngest is known. Numbers only grow: a task that entered the pool, or a lane, later has the
//! greater number.
//!
//! Preconditions are checked where that is cheap: a seat is joined only when it is free, and called only when it runs.
//!
//! Source: Mirhosseini et al., HPCA 2020, section 3.2, equations 1 and 3, and Algorithm 1.

use alloc::boxed::Box;
use core::fmt;
use core::hint::select_unpredictable;

use super::Lane;
use crate::list::List;

/// The activity of the worker of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// No task.
    Nothing,
    /// It runs a task of its lane.
    Running,
    /// Called to lane 0 from a task of its lane, which is stopping.
    Called,
    /// On its way from a task that has stopped, to a task of the lane for which it counts.
    Promised,
    /// On its way from a task that has stopped; its next task is not known yet.
    Between,
}

#[derive(Clone, Copy, Debug)]
struct Seat {
    /// Of the task that it runs, or ran last.
    entry: u64,
    /// Neighbours in the ring of its lane. A seat that is in no ring is its own neighbour, or its neighbours are not used.
    younger: u32,
    older: u32,
    /// Of the task that it runs, or ran last.
    lane: u8,
    /// The lane for which it counts, if it counts for one.
    counts: u8,
    doing: Doing,
}

/// Servers and reservations of the lanes of one pool. See the [module](self).
#[derive(Clone, Debug)]
pub struct Lanes {
    lanes: u32,
    slack: Slack,
    /// By lane: reservations of it and all higher ones, of the servers that there are.
    reserved: [u16; Lanes::MAX],
    /// The same when all servers are there.
    entitled: [u16; Lanes::MAX],
    /// The places of the workers, then one place for each lane, at which the ring of the lane begins and ends. This place has no
    /// task and counts as older than all tasks. So no ring is empty, and every link leads to a place.
    seats: Box<[Seat]>,
    /// The first place that is a lane's.
    ends: u32,
    /// By lane: of the servers that count for it, those that are on their way to it and run no task of it yet.
    promised: [u32; Lanes::MAX],
    /// The sum of them.
    all_promised: u32,
    /// Workers on their way to a task that is not known yet.
    between: u32,
}

/// A promise of Algorithm 1 that is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// More servers count for this lane and all higher ones than they have reservations (equation 1), and it is
    /// not because they would have been idle.
    Upper(Lane),
    /// Fewer servers count for this lane than equation 3 gives it.
    Lower(Lane),
    /// More servers count for lanes than there are: some are switched off.
    Absent,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Upper(lane) => {
                write!(f, "lane {lane} and those above it have too many servers (equation 1)")
            }
            Broken::Lower(lane) => write!(f, "lane {lane} has too few servers (equation 3)"),
            Broken::Absent => write!(f, "servers that are switched off count for lanes"),
        }
    }
}

impl Lanes {
    /// Most lanes of a pool.
    pub const MAX: usize = List::<u32>::CAPACITY;

    /// A pool with a server for each of `reservations`, which are by lane.
    ///
    /// # Panics
    /// If there is no lane, too many of them, or one without a reservation; or more than 32,767 servers.
    pub fn new(reservations: &[u32]) -> Lanes {
        let lanes = reservations.len();
        assert!((1..=Lanes::MAX).contains(&lanes), "{lanes} lanes");
        assert!(reservations.iter().all(|&count| count > 0), "a lane without a reservation");
        let servers: u32 = reservations.iter().sum();
        assert!(servers <= Slack::MOST, "{servers} servers of {}", Slack::MOST);
        let mut reserved = [0; Lanes::MAX];
        for lane in 0..lanes {
            reserved[lane] = reservations[lane..].iter().sum::<u32>() as u16;
        }
        let seat =
            |own: u32, doing: Doing| Seat { entry: 0, younger: own, older: own, lane: 0, counts: 0, doing };
        let workers = (0..servers).map(|own| seat(own, Doing::Nothing));
        let ends = (servers..servers + lanes as u32).map(|own| seat(own, Doing::Between));
        Lanes {
            lanes: lanes as u32,
            slack: Slack::new(&reserved[..lanes]),
            reserved,
            entitled: reserved,
            seats: workers.chain(ends).collect(),
            ends: servers,
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
            let part = (part as u32).clamp(least, most) as u16;
            let before = core::mem::replace(&mut self.reserved[lane as usize], part);
            self.slack.change(lane, i32::from(part) - i32::from(before));
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
        self.slack.highest_with_room(waiting)
    }

    /// Phase 2: the lowest lane of those where tasks wait (lines 16 to 21).
    #[inline(always)]
    pub fn beyond_bounds(waiting: u64) -> Option<Lane> {
        (waiting != 0).then(|| waiting.trailing_zeros())
    }

    /// Phase 1, or else phase 2.
    #[inline(always)]
    pub fn within_or_beyond_bounds(&self, waiting: u64) -> Option<Lane> {
        let lowest = Lanes::beyond_bounds(waiting)?;
        Some(self.slack.highest_with_room_or(waiting, lowest))
    }

    /// Has every worker that was on its way to a lane begun a task of it?
    #[inline(always)]
    pub fn all_have_come(&self) -> bool {
        self.all_promised == 0
    }

    /// The task that an arrival interrupts: the youngest running task of the highest lane that breaks the upper bound, as the
    /// seat of its worker (lines 30 to 41).
    #[inline(always)]
    pub fn to_interrupt(&self) -> Option<u32> {
        let lane = self.slack.highest_exceeded()?;
        let seat = self.seats[(self.ends + lane) as usize].older;
        (seat < self.ends).then_some(seat)
    }

    /// The worker of `seat` begins a task that entered `lane` as number `entry`.
    #[inline(always)]
    pub fn join(&mut self, seat: u32, lane: Lane, entry: u64) {
        self.slack.take(lane);
        let seats = &mut self.seats[..];
        assert!(seats[seat as usize].doing == Doing::Nothing, "a worker runs one task at a time");
        // Nearly always the youngest of its lane; one that was interrupted while a younger one began may not be.
        let mut younger = self.ends + lane;
        let mut older = seats[younger as usize].older;
        while seats[older as usize].entry > entry {
            (younger, older) = (older, seats[older as usize].older);
        }
        let (counts, lane) = (lane as u8, lane as u8);
        seats[seat as usize] = Seat { entry, younger, older, lane, counts, doing: Doing::Running };
        seats[younger as usize].older = seat;
        seats[older as usize].younger = seat;
    }

    /// The worker of `seat` has been asked to stop its task and to come to lane 0.
    #[inline]
    pub fn call(&mut self, seat: u32) {
        let place = self.seats[seat as usize];
        assert!(place.doing == Doing::Running, "only what runs can be interrupted");
        Self::unlink(&mut self.seats, place);
        self.slack.give(Lane::from(place.counts));
        self.promise(0);
        self.seats[seat as usize] =
            Seat { younger: seat, older: seat, counts: 0, doing: Doing::Called, ..place };
    }

    /// The task of `seat` has completed or stopped; its lane.
    ///
    /// # Panics
    /// If there was none.
    #[inline(always)]
    pub fn leave(&mut self, seat: u32) -> Lane {
        let seats = &mut self.seats[..];
        let place = seats[seat as usize];
        assert!(matches!(place.doing, Doing::Running | Doing::Called), "only what runs can stop");
        seats[seat as usize].doing = Doing::Nothing;
        // Whether it was called is a toss, so both go the same way: one that was is alone in its ring.
        Self::unlink(seats, place);
        self.slack.give(Lane::from(place.counts));
        let called = u32::from(place.doing == Doing::Called);
        self.promised[0] -= called;
        self.all_promised -= called;
        Lane::from(place.lane)
    }

    /// The worker of `seat` is on its way from a task that has stopped; to `lane`, if that is known.
    #[inline]
    pub fn depart(&mut self, seat: u32, lane: Option<Lane>) {
        let place = &mut self.seats[seat as usize];
        match lane {
            Some(lane) => {
                (place.doing, place.counts) = (Doing::Promised, lane as u8);
                self.promise(lane);
            }
            None => {
                place.doing = Doing::Between;
                self.between += 1;
            }
        }
    }

    /// The worker of `seat` is free to decide, or gone. Wherever it was going, it does not count for that lane any more.
    #[inline(always)]
    pub fn arrive(&mut self, seat: u32) {
        let place = &mut self.seats[seat as usize];
        let (doing, lane) = (place.doing, Lane::from(place.counts));
        if doing == Doing::Nothing {
            return;
        }
        place.doing = Doing::Nothing;
        match doing {
            Doing::Promised => self.release(lane),
            Doing::Between => self.between -= 1,
            _ => unreachable!("a worker runs one task at a time"),
        }
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
    /// tasks wait in their lanes again before another worker takes from there; then by entry.
    #[inline]
    pub fn tie(&self, seat: u32) -> u64 {
        let Seat { doing, entry, .. } = self.seats[seat as usize];
        if doing == Doing::Called { 0 } else { entry }
    }

    /// Does a lane have too many servers while more tasks wait below it than servers are on their way to anything? `waits`
    /// tells how many wait in a lane. Then a server has to leave its lane.
    pub fn keeps_others_waiting(&self, waits: impl Fn(Lane) -> u32) -> bool {
        let Some(exceeded) = self.slack.highest_exceeded() else { return false };
        (0..exceeded).map(waits).sum::<u32>() > self.on_their_way()
    }

    /// The first promise that is not kept, where `present` workers are not switched off and `waits` tells how many tasks
    /// wait in a lane. Workers that are on their way between two tasks count for whichever lane needs them.
    ///
    /// Nothing is promised of a pool that is still at work with more servers than it is to have.
    ///
    /// Promises are the paper's, where switches take no time. If they do, equation 1 still holds without interruptions;
    /// equation 3 may not hold for a while, where a worker took a task that another was on its way to, or the worker that was due is switched off.
    ///
    /// # Errors
    /// The highest lane at fault.
    pub fn check(
        &self,
        interruptible: bool,
        present: u32,
        waits: impl Fn(Lane) -> u32,
    ) -> Result<(), Broken> {
        let busy = self.seats[..self.ends as usize].iter().filter(|seat| seat.doing != Doing::Nothing);
        if busy.count() > present as usize {
            return Err(Broken::Absent);
        }
        if self.slack.of(0) < 0 {
            return Ok(());
        }
        let promised = |lane: Lane| self.promised[lane as usize];
        // Where another has been faster, who was promised to a lane goes wherever tasks wait.
        let spare = |lane: Lane| promised(lane).saturating_sub(waits(lane));
        let unbound = self.between + (0..self.lanes).map(spare).sum::<u32>();
        let on_their_way = self.on_their_way();
        let waiting_below = |lane: Lane| (0..lane).map(&waits).sum::<u32>() > on_their_way;
        for lane in (0..self.lanes).rev() {
            let at = lane as usize;
            let (servers, reserved) = (self.servers(lane), u32::from(self.reserved[at]));
            let above = if lane + 1 < self.lanes { self.servers(lane + 1) } else { 0 };
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

    /// Servers that run nothing and are on their way to something.
    fn on_their_way(&self) -> u32 {
        self.between + self.all_promised
    }

    /// Servers that count for `lane` or a higher one.
    fn servers(&self, lane: Lane) -> u32 {
        (i32::from(self.reserved[lane as usize]) - self.slack.of(lane)) as u32
    }

    fn promise(&mut self, lane: Lane) {
        self.promised[lane as usize] += 1;
        self.all_promised += 1;
        self.slack.take(lane);
    }

    fn release(&mut self, lane: Lane) {
        self.promised[lane as usize] -= 1;
        self.all_promised -= 1;
        self.slack.give(lane);
    }

    #[inline(always)]
    fn unlink(seats: &mut [Seat], Seat { younger, older, .. }: Seat) {
        seats[younger as usize].older = older;
        seats[older as usize].younger = younger;
    }
}

/// By lane: how many servers more it and all higher lanes may have, together; less than 0 if they have too many.
///
/// ```text
///   63       48 47       32 31       16 15        0
///   | lane 3    | lane 2    | lane 1    | lane 0    |     then lanes 4 to 7, and so on
///     top bit set: not exceeded, what is below it is the room that is left
/// ```
///
/// Four lanes are one number, so that a server more or less is one addition, and what is asked of all lanes is asked at
/// once. Lanes that are not there have no room and do not exceed it.
#[derive(Clone, Copy, Debug)]
struct Slack {
    words: [u64; Lanes::MAX / LANES],
    /// The lanes that are in use.
    used: usize,
}

/// Lanes of a word.
const LANES: usize = 4;
/// 1 of each lane.
const ONES: u64 = 0x0001_0001_0001_0001;
/// The top bit of each lane: no slack.
const TOPS: u64 = ONES << 15;

impl Slack {
    /// Most servers, so that no lane's slack borrows from the next.
    const MOST: u32 = 32_767;

    fn new(reserved: &[u16]) -> Slack {
        let mut slack = Slack { words: [TOPS; Lanes::MAX / LANES], used: reserved.len().div_ceil(LANES) };
        for (lane, &reserved) in reserved.iter().enumerate() {
            slack.change(lane as Lane, i32::from(reserved));
        }
        slack
    }

    /// `lane` has so many reservations more.
    fn change(&mut self, lane: Lane, more: i32) {
        let (at, shift) = Self::place(lane);
        self.words[at] = self.words[at].wrapping_add((i64::from(more) << shift) as u64);
    }

    fn of(&self, lane: Lane) -> i32 {
        let (at, shift) = Self::place(lane);
        i32::from((self.words[at] >> shift) as u16) - (1 << 15)
    }

    #[inline(always)]
    fn place(lane: Lane) -> (usize, u32) {
        (lane as usize / LANES % (Lanes::MAX / LANES), lane % LANES as u32 * 16)
    }

    /// The amount that a server of the lane at `shift` takes from its word: 1 of that lane and of all lower ones.
    #[inline(always)]
    fn ones_up_to(shift: u32) -> u64 {
        ONES >> (48 - shift)
    }

    /// A server more counts for `lane`.
    #[inline(always)]
    fn take(&mut self, lane: Lane) {
        let (at, shift) = Self::place(lane);
        self.words[at] -= Self::ones_up_to(shift);
        if at > 0 {
            self.words[..at].iter_mut().for_each(|word| *word -= ONES);
        }
    }

    /// A server less.
    #[inline(always)]
    fn give(&mut self, lane: Lane) {
        let (at, shift) = Self::place(lane);
        self.words[at] += Self::ones_up_to(shift);
        if at > 0 {
            self.words[..at].iter_mut().for_each(|word| *word += ONES);
        }
    }

    /// The highest of the lanes of `among`, a bit each, that has room, unless a higher one is exceeded.
    #[inline(always)]
    fn highest_with_room(&self, among: u64) -> Option<Lane> {
        if self.used > 1 {
            return self.highest_with_room_of_many(among);
        }
        let (room, exceeded) = self.room(0, among);
        (room > exceeded).then(|| Self::highest(0, room))
    }

    /// This value, or `other`. Which of them is a toss, and there is nothing to do between them: no branch.
    #[inline(always)]
    fn highest_with_room_or(&self, among: u64, other: Lane) -> Lane {
        if self.used > 1 {
            return self.highest_with_room_of_many(among).unwrap_or(other);
        }
        let (room, exceeded) = self.room(0, among);
        select_unpredictable(room > exceeded, Self::highest(0, room), other)
    }

    #[cold]
    fn highest_with_room_of_many(&self, among: u64) -> Option<Lane> {
        let each = (0..self.used).rev().map(|at| (at, self.room(at, among)));
        let (at, (room, exceeded)) = { each }.find(|(_, (room, exceeded))| room | exceeded != 0)?;
        (room > exceeded).then(|| Self::highest(at, room))
    }

    /// The tops of those lanes of word `at` that are among `among`, a bit each, and have room, and of those that are
    /// exceeded. No lane is in both, so that the highest is in the set that is the greater number.
    #[inline(always)]
    fn room(&self, at: usize, among: u64) -> (u64, u64) {
        // One bit to the top of each lane: 15, 30, 45 and 60 places up, of which only the right ones are kept.
        let asked = (among >> (at * LANES) & 0xf) * (1 << 15 | 1 << 30 | 1 << 45 | 1 << 60);
        ((self.words[at] - ONES) & asked & TOPS, !self.words[at] & TOPS)
    }

    /// The highest lane that has more servers than it may.
    #[inline(always)]
    fn highest_exceeded(&self) -> Option<Lane> {
        if self.used > 1 {
            return self.highest_exceeded_of_many();
        }
        let exceeded = !self.words[0] & TOPS;
        (exceeded != 0).then(|| Self::highest(0, exceeded))
    }

    #[cold]
    fn highest_exceeded_of_many(&self) -> Option<Lane> {
        let each = (0..self.used).rev().map(|at| (at, !self.words[at] & TOPS));
        { each }.find(|&(_, exceeded)| exceeded != 0).map(|(at, exceeded)| Self::highest(at, exceeded))
    }

    /// The highest of the lanes of word `at` whose tops these are.
    #[inline(always)]
    fn highest(at: usize, tops: u64) -> Lane {
        // With a bit that is no lane's, nobody asks whether there are any.
        (at * LANES) as Lane + (tops | 1).ilog2() / 16
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
