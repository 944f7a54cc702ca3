//! What a real service asks of a discipline besides the protocol of the simulator: tasks that block, and tasks at the door.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use caudal_policy::discipline::{
    Discipline, End, Fcfs, Fresh, Intake, Lane, Las, LasConfig, Lone, Order, Pool, ProcessorSharing,
    ProcessorSharingConfig, STARTED_MAX, Stopped,
};
use caudal_policy::{Instant, Picos, TaskId, WorkerId};

/// A pool of one worker. Key lanes are sorted by (key, entry).
#[derive(Default)]
struct One {
    queues: [VecDeque<u32>; 2],
    keyed: [BTreeSet<(u64, u64, u32)>; 2],
    by_key: bool,
    entries: u64,
    attained_ps: [u64; 8],
    /// It was asked what to run and had nothing.
    rests: bool,
    runs: Option<u32>,
    resumed: bool,
}

impl One {
    fn of(discipline: &impl Discipline) -> One {
        One { by_key: discipline.order() == Order::Key, ..One::default() }
    }

    fn free(&mut self, discipline: &mut impl Discipline) -> Option<u32> {
        self.runs = None;
        discipline.on_free(NOW, ME, self);
        self.rests = self.runs.is_none();
        self.runs
    }

    /// The task that runs blocks; what runs then.
    fn block(&mut self, discipline: &mut impl Discipline) -> Option<u32> {
        let task = self.runs.take().expect("a task runs");
        discipline.on_blocked(NOW, ME, TaskId(task), self);
        self.free(discipline)
    }

    /// The task that runs completes; what runs then.
    fn complete(&mut self, discipline: &mut impl Discipline) -> Option<u32> {
        let task = self.runs.take().expect("a task runs");
        discipline.on_completed(NOW, ME, TaskId(task), self);
        self.free(discipline)
    }
}

const NOW: Instant = Instant(0);
const ME: WorkerId = WorkerId(0);

impl Pool for One {
    fn idle(&self) -> Option<WorkerId> {
        self.rests.then_some(ME)
    }
    fn len(&self, lane: Lane) -> u32 {
        let lane = lane as usize;
        (if self.by_key { self.keyed[lane].len() } else { self.queues[lane].len() }) as u32
    }
    fn idle_among(&self, _seats: Range<u32>) -> Option<WorkerId> {
        self.idle()
    }
    fn waiting_lanes(&self) -> u64 {
        unreachable!("not asked here")
    }
    fn head(&self, lane: Lane) -> Option<TaskId> {
        let keyed = self.keyed[lane as usize].first().map(|&(_, _, task)| task);
        keyed.or_else(|| self.queues[lane as usize].front().copied()).map(TaskId)
    }
    fn key(&self, _task: TaskId) -> u64 {
        unreachable!("not asked here")
    }
    fn take(&mut self, lane: Lane) -> Option<TaskId> {
        let keyed = self.keyed[lane as usize].pop_first().map(|(_, _, task)| task);
        keyed.or_else(|| self.queues[lane as usize].pop_front()).map(TaskId)
    }
    fn enqueue(&mut self, task: TaskId, lane: Lane, end: End) {
        assert!(!self.by_key, "a lane that is ordered by key has no ends");
        match end {
            End::Head => self.queues[lane as usize].push_front(task.0),
            End::Tail => self.queues[lane as usize].push_back(task.0),
        }
    }
    fn enqueue_by(&mut self, task: TaskId, lane: Lane, key: u64) {
        assert!(self.by_key, "a queue has no keys");
        self.entries += 1;
        self.keyed[lane as usize].insert((key, self.entries, task.0));
    }
    fn run(&mut self, _worker: WorkerId, task: TaskId, _quantum: Picos) {
        assert!(self.runs.is_none(), "one worker, one task");
        self.rests = false;
        self.runs = Some(task.0);
    }
    fn resume(&mut self, _worker: WorkerId, _quantum: Picos) {
        self.resumed = true;
    }
    fn preempt(&mut self, _worker: WorkerId) -> bool {
        false
    }
    fn seat(&self, _worker: WorkerId) -> u32 {
        0
    }
    fn worker(&self, _seat: u32) -> WorkerId {
        ME
    }
    fn workers(&self) -> u32 {
        1
    }
    fn running(&self, _i: u32) -> Option<(WorkerId, TaskId)> {
        self.runs.map(|task| (ME, TaskId(task)))
    }
    fn attained(&self, task: TaskId) -> Picos {
        Picos(self.attained_ps[task.index()])
    }
    fn remaining(&self, _task: TaskId) -> Picos {
        unreachable!("nobody here is clairvoyant")
    }
}

fn sharing(fresh: Fresh, started_max: u32) -> ProcessorSharing {
    ProcessorSharing::new(ProcessorSharingConfig {
        fresh,
        started_max,
        lone: Lone::Elide,
        ..ProcessorSharingConfig::default()
    })
}

fn las(started_max: u32) -> Las {
    Las::new(LasConfig { started_max, ..LasConfig::default() })
}

fn arrive(tasks: Range<u32>, discipline: &mut impl Discipline, pool: &mut One) {
    tasks.for_each(|task| discipline.on_arrival(NOW, TaskId(task), pool));
}

#[test]
fn fcfs_runs_a_task_that_can_go_on_before_those_that_came_later() {
    let (mut fcfs, mut pool) = (Fcfs, One::of(&Fcfs));
    arrive(0..3, &mut fcfs, &mut pool);
    assert_eq!(pool.free(&mut fcfs), Some(0));
    assert_eq!(pool.block(&mut fcfs), Some(1), "a blocked task is in no lane");
    fcfs.on_ready(NOW, TaskId(0), &mut pool);
    assert_eq!(pool.runs, Some(1), "the worker was not idle");
    assert_eq!(pool.complete(&mut fcfs), Some(0));
    assert_eq!(pool.complete(&mut fcfs), Some(2));
    assert_eq!(pool.complete(&mut fcfs), None);
}

#[test]
fn a_worker_that_rests_runs_a_ready_task_at_once() {
    let mut pool = One::of(&Fcfs);
    arrive(0..1, &mut Fcfs, &mut pool);
    pool.free(&mut Fcfs);
    assert_eq!(pool.block(&mut Fcfs), None);
    Fcfs.on_ready(NOW, TaskId(0), &mut pool);
    assert_eq!(pool.runs, Some(0));
}

#[test]
fn under_processor_sharing_a_ready_task_waits_for_its_turn() {
    let mut ps = sharing(Fresh::First, STARTED_MAX);
    let mut pool = One::of(&ps);
    arrive(0..3, &mut ps, &mut pool);
    pool.free(&mut ps);
    assert_eq!(pool.block(&mut ps), Some(1));
    pool.runs = None;
    ps.on_stopped(NOW, ME, TaskId(1), Stopped::Quantum, &mut pool);
    assert!(!pool.resumed, "another waits");
    ps.on_ready(NOW, TaskId(0), &mut pool);
    let order: Vec<u32> = std::iter::from_fn(|| pool.free(&mut ps)).collect();
    assert_eq!(order, [2, 1, 0], "the fresh one, then turns in the order of joining");
}

/// The bound on started tasks, with one task that blocks, of a discipline with a bound of 2.
fn at_most_two_start_while_one_of_them_can_run(discipline: &mut impl Discipline) {
    let mut pool = One::of(discipline);
    arrive(0..4, discipline, &mut pool);
    assert_eq!(discipline.intake(&pool), Intake::Next);
    assert_eq!(pool.free(discipline), Some(0));
    pool.attained_ps[0] = 2_000;
    pool.runs = None;
    discipline.on_stopped(NOW, ME, TaskId(0), Stopped::Quantum, &mut pool);
    assert_eq!(pool.free(discipline), Some(1), "a second one starts");
    pool.attained_ps[1] = 2_000;
    assert_eq!(
        pool.block(discipline),
        Some(0),
        "a blocked one counts: no third one starts while this one can run"
    );
    pool.runs = None;
    assert_eq!(discipline.intake(&pool), Intake::Next, "nobody can run");
    pool.runs = Some(0);
    assert_eq!(discipline.intake(&pool), Intake::None);
    discipline.on_ready(NOW, TaskId(1), &mut pool);
    assert_eq!(pool.complete(discipline), Some(2), "one has gone");
    assert_eq!(discipline.intake(&pool), Intake::None);
    assert_eq!(pool.complete(discipline), Some(3));
    assert_eq!(pool.complete(discipline), Some(1));
    assert_eq!(pool.complete(discipline), None);
    assert!(matches!(discipline.intake(&pool), Intake::Next | Intake::All));
}

#[test]
fn a_bound_on_started_tasks_counts_blocked_ones() {
    at_most_two_start_while_one_of_them_can_run(&mut sharing(Fresh::First, 2));
    at_most_two_start_while_one_of_them_can_run(&mut las(2));
}

/// What all started tasks wait for may be a task that has not started.
fn where_all_started_ones_wait_one_more_starts(discipline: &mut impl Discipline) {
    let mut pool = One::of(discipline);
    arrive(0..3, discipline, &mut pool);
    assert_eq!(pool.free(discipline), Some(0));
    assert_eq!(pool.block(discipline), Some(1), "the bound is 1, but the one that has started waits");
    assert_eq!(pool.block(discipline), Some(2));
    discipline.on_ready(NOW, TaskId(0), &mut pool);
    assert_eq!(pool.complete(discipline), Some(0));
    discipline.on_ready(NOW, TaskId(1), &mut pool);
    assert_eq!(pool.complete(discipline), Some(1));
    assert_eq!(pool.complete(discipline), None);
    assert!(matches!(discipline.intake(&pool), Intake::Next | Intake::All));
}

#[test]
fn who_waits_for_a_task_that_has_not_started_does_not_wait_for_ever() {
    where_all_started_ones_wait_one_more_starts(&mut sharing(Fresh::First, 1));
    where_all_started_ones_wait_one_more_starts(&mut sharing(Fresh::Tail, 1));
    where_all_started_ones_wait_one_more_starts(&mut las(1));
}

#[test]
fn where_new_tasks_queue_with_the_others_the_bound_keeps_the_rest_out() {
    let mut ps = sharing(Fresh::Tail, 2);
    let mut pool = One::of(&ps);
    assert_eq!(ps.intake(&pool), Intake::All);
    arrive(0..4, &mut ps, &mut pool);
    assert_eq!(ps.intake(&pool), Intake::None);
    let turn = |ps: &mut ProcessorSharing, pool: &mut One| {
        let task = pool.runs.take().expect("a task runs");
        ps.on_stopped(NOW, ME, TaskId(task), Stopped::Quantum, pool);
        pool.free(ps)
    };
    assert_eq!(pool.free(&mut ps), Some(0));
    assert_eq!(turn(&mut ps, &mut pool), Some(1));
    assert_eq!(turn(&mut ps, &mut pool), Some(0), "the third and the fourth have not started");
    assert_eq!(pool.complete(&mut ps), Some(1));
    assert_eq!(turn(&mut ps, &mut pool), Some(2), "the third has taken the place of the first");
    assert_eq!(turn(&mut ps, &mut pool), Some(1));
}

#[test]
fn las_puts_a_ready_task_where_its_service_says() {
    let mut las = las(STARTED_MAX);
    let mut pool = One::of(&las);
    arrive(0..3, &mut las, &mut pool);
    assert_eq!(pool.free(&mut las), Some(0));
    pool.attained_ps[0] = 5_000;
    assert_eq!(pool.block(&mut las), Some(1));
    pool.attained_ps[1] = 9_000;
    pool.runs = None;
    las.on_stopped(NOW, ME, TaskId(1), Stopped::Quantum, &mut pool);
    las.on_ready(NOW, TaskId(0), &mut pool);
    let order: Vec<u32> = std::iter::from_fn(|| pool.free(&mut las)).collect();
    assert_eq!(order, [2, 0, 1]);
}

#[test]
fn where_the_order_of_arrival_decides_all_come_in() {
    assert_eq!(sharing(Fresh::Tail, STARTED_MAX).intake(&One::default()), Intake::All);
    assert_eq!(Fcfs.intake(&One::default()), Intake::Next);
    assert_eq!(las(STARTED_MAX).intake(&One::default()), Intake::Next);
}
