//! Histories of one key, and a checker that says whether they are linearizable: whether some order of the operations that respects real
//! time gives the same answers, if one operation is carried out after the other.
//!
//! The checker is the search of Wing and Gong (1993), with the states that were seen before left out: from each state it tries every operation
//! that may come next, which are those that began before any other that is left has been answered.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use caudal_kv::store::{NotCounted, Stored};
use caudal_proto::text::{Direction, StoreMode};

use crate::NOW;
use crate::connection::Client;

/// An operation on the key, whose value is a number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Gets,
    Set(u64),
    /// `cas` with the number that the last `gets` of the same client has shown.
    Cas {
        seen: u64,
        value: u64,
    },
    Incr(u64),
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The value and its cas number.
    Item(Option<(u64, u64)>),
    Stored(Stored),
    Count(Result<u64, NotCounted>),
    Deleted(bool),
}

/// An operation with its answer, and the ticks at which it began and was answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) operation: Operation,
    pub(crate) answer: Answer,
    pub(crate) began: u64,
    pub(crate) ended: u64,
}

/// The operations of several clients on one key.
pub(crate) struct Recorder {
    key: String,
    ticks: AtomicU64,
    events: Mutex<Vec<Event>>,
}

impl Recorder {
    pub(crate) fn new(key: String) -> Recorder {
        Recorder { key, ticks: AtomicU64::new(0), events: Mutex::default() }
    }

    /// Carries out an operation and writes it down.
    pub(crate) fn run(&self, client: &mut impl Client, operation: Operation) -> Answer {
        let key = self.key.as_bytes();
        let mut put =
            |mode, value: u64| Answer::Stored(client.store(mode, key, 0, value.to_string().as_bytes(), NOW));
        let began = self.ticks.fetch_add(1, Ordering::SeqCst);
        let answer = match operation {
            Operation::Gets => Answer::Item(
                client.get(key, NOW).map(|(text, cas)| (text.trim().parse().expect("a number"), cas)),
            ),
            Operation::Set(value) => put(StoreMode::Set, value),
            Operation::Cas { seen, value } => put(StoreMode::Cas(seen), value),
            Operation::Incr(delta) => Answer::Count(client.arithmetic(key, Direction::Up, delta, NOW)),
            Operation::Delete => Answer::Deleted(client.delete(key, NOW)),
        };
        let ended = self.ticks.fetch_add(1, Ordering::SeqCst);
        self.events.lock().unwrap().push(Event { operation, answer, began, ended });
        answer
    }

    pub(crate) fn events(self) -> Vec<Event> {
        self.events.into_inner().unwrap()
    }
}

/// The state of the key in the sequential specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
struct State {
    item: Option<Versioned>,
    /// The largest cas number that was shown. Later values have larger ones.
    shown: u64,
}

/// A value, with its cas number if a `gets` has shown it. Nobody can name a number that was not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Versioned {
    value: u64,
    cas: Option<u64>,
}

impl State {
    /// The state after an operation with this answer; none if it is not the answer.
    fn after(self, operation: Operation, answer: Answer) -> Option<State> {
        let fresh = |value| State { item: Some(Versioned { value, cas: None }), ..self };
        match (operation, answer, self.item) {
            (Operation::Gets, Answer::Item(None), None) => Some(self),
            (Operation::Gets, Answer::Item(Some((value, cas))), Some(item)) if item.value == value => {
                match item.cas {
                    Some(known) => (known == cas).then_some(self),
                    None if cas > self.shown => {
                        Some(State { item: Some(Versioned { value, cas: Some(cas) }), shown: cas })
                    }
                    None => None,
                }
            }
            (Operation::Set(value), Answer::Stored(Stored::Stored), _) => Some(fresh(value)),
            (Operation::Cas { .. }, Answer::Stored(Stored::NotFound), None) => Some(self),
            (Operation::Cas { seen, value }, Answer::Stored(answer), Some(item)) => match answer {
                Stored::Stored if item.cas == Some(seen) => Some(fresh(value)),
                Stored::Exists if item.cas != Some(seen) => Some(self),
                _ => None,
            },
            (Operation::Incr(_), Answer::Count(Err(NotCounted::NotFound)), None) => Some(self),
            (Operation::Incr(delta), Answer::Count(Ok(sum)), Some(item)) => {
                (item.value.wrapping_add(delta) == sum).then(|| fresh(sum))
            }
            (Operation::Delete, Answer::Deleted(true), Some(_)) => Some(State { item: None, ..self }),
            (Operation::Delete, Answer::Deleted(false), None) => Some(self),
            _ => None,
        }
    }
}

/// The most operations of a history: one bit of a word for each.
pub(crate) const EVENTS_MAX: usize = 128;

/// Whether the history of a key that does not exist at the beginning is linearizable.
pub(crate) fn is_linearizable(events: &[Event]) -> bool {
    assert!(events.len() <= EVENTS_MAX, "{} operations", events.len());
    let all = (0..events.len()).fold(0_u128, |all, index| all | 1 << index);
    let mut seen = HashSet::new();
    let mut open = vec![(0_u128, State::default())];
    while let Some((done, state)) = open.pop() {
        if done == all {
            return true;
        }
        let left = || (0..events.len()).filter(|index| done & (1 << index) == 0);
        let first_end = left().map(|index| events[index].ended).min().expect("one is left");
        for index in left().filter(|&index| events[index].began < first_end) {
            if let Some(next) = state.after(events[index].operation, events[index].answer) {
                let next = (done | 1 << index, next);
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
    }
    false
}

fn event(operation: Operation, answer: Answer, began: u64, ended: u64) -> Event {
    Event { operation, answer, began, ended }
}

#[test]
fn the_checker_accepts_what_some_order_explains() {
    let set =
        |value, began, ended| event(Operation::Set(value), Answer::Stored(Stored::Stored), began, ended);
    let gets = |item, began, ended| event(Operation::Gets, Answer::Item(item), began, ended);
    // A read beside a write sees it or not, and two reads beside two writes may see them in either order.
    assert!(is_linearizable(&[set(1, 0, 3), gets(None, 1, 2)]));
    assert!(is_linearizable(&[set(1, 0, 3), gets(Some((1, 5)), 1, 2)]));
    assert!(is_linearizable(&[
        set(1, 0, 9),
        set(2, 1, 8),
        gets(Some((2, 5)), 2, 3),
        gets(Some((1, 6)), 4, 5)
    ]));
}

#[test]
fn the_checker_refuses_what_no_order_explains() {
    let set =
        |value, began, ended| event(Operation::Set(value), Answer::Stored(Stored::Stored), began, ended);
    let gets = |item, began, ended| event(Operation::Gets, Answer::Item(item), began, ended);
    let incr = |sum, began, ended| event(Operation::Incr(1), Answer::Count(Ok(sum)), began, ended);
    let cas = |seen, answer, began, ended| {
        event(Operation::Cas { seen, value: 9 }, Answer::Stored(answer), began, ended)
    };
    // An update is lost: both sums are the same.
    assert!(!is_linearizable(&[set(1, 0, 1), incr(2, 2, 5), incr(2, 3, 4)]));
    // A read after a write does not see it.
    assert!(!is_linearizable(&[set(1, 0, 1), set(2, 2, 3), gets(Some((1, 5)), 4, 5)]));
    // Two reads see two writes and then the first again.
    assert!(!is_linearizable(&[
        set(1, 0, 1),
        set(2, 2, 9),
        gets(Some((2, 6)), 3, 4),
        gets(Some((1, 5)), 5, 6)
    ]));
    // Two clients replace the same value by its number.
    let both = [cas(5, Stored::Stored, 4, 7), cas(5, Stored::Stored, 5, 6)];
    assert!(!is_linearizable(&[&[set(1, 0, 1), gets(Some((1, 5)), 2, 3)], &both[..]].concat()));
    // The number of a value that was replaced is as good as that of the new one.
    let replaced = [set(1, 0, 1), gets(Some((1, 5)), 2, 3), set(1, 4, 5), cas(5, Stored::Stored, 6, 7)];
    assert!(!is_linearizable(&replaced));
    // What was deleted is found.
    assert!(!is_linearizable(&[
        set(1, 0, 1),
        event(Operation::Delete, Answer::Deleted(true), 2, 3),
        incr(2, 4, 5)
    ]));
}
