//! An entry of a log: one call of a policy and its answer.
//! Hosts write entries, the replay reads them.
//!
//! ```text
//!  in memory   | kind | fields … |     at most 32 bytes
//!  in a file   | kind: 1 byte | each field: 1 to 10 bytes, seven bits a byte, least first |
//! ```

use caudal_policy::discipline::{Intake, Stopped};
use serde::{Deserialize, Serialize};

/// A value that fits into a field of an entry.
pub(crate) trait Field: Copy {
    fn to_word(self) -> u64;
    fn of_word(word: u64) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty),*) => { $(
        impl Field for $number {
            fn to_word(self) -> u64 {
                u64::from(self)
            }
            fn of_word(word: u64) -> Option<$number> {
                <$number>::try_from(word).ok()
            }
        }
    )* };
}
numbers!(u16, u32, u64);

impl Field for bool {
    fn to_word(self) -> u64 {
        u64::from(self)
    }
    fn of_word(word: u64) -> Option<bool> {
        (word < 2).then_some(word == 1)
    }
}

/// The answer of a discipline that was asked for its intake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// See [`Intake::None`].
    None,
    /// See [`Intake::Next`].
    Next,
    /// See [`Intake::All`].
    All,
}

impl From<Intake> for Answer {
    fn from(intake: Intake) -> Answer {
        match intake {
            Intake::None => Answer::None,
            Intake::Next => Answer::Next,
            Intake::All => Answer::All,
        }
    }
}

impl Field for Answer {
    fn to_word(self) -> u64 {
        self as u64
    }
    fn of_word(word: u64) -> Option<Answer> {
        [Answer::None, Answer::Next, Answer::All].get(usize::try_from(word).ok()?).copied()
    }
}

/// Why a task stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// See [`Stopped::Quantum`].
    Quantum,
    /// See [`Stopped::Preempted`].
    Preempted,
}

impl From<Stopped> for Why {
    fn from(why: Stopped) -> Why {
        match why {
            Stopped::Quantum => Why::Quantum,
            Stopped::Preempted => Why::Preempted,
        }
    }
}

impl Field for Why {
    fn to_word(self) -> u64 {
        self as u64
    }
    fn of_word(word: u64) -> Option<Why> {
        [Why::Quantum, Why::Preempted].get(usize::try_from(word).ok()?).copied()
    }
}

macro_rules! entries {
    ($($(#[$doc:meta])* $kind:ident = $tag:literal { $($(#[$about:meta])* $field:ident: $type:ty),* })*) => {
        /// One line of a log: an event with what was observed, or a decision.
        ///
        /// Times are instants as the policy was given them, in ps; tasks are named as the host names them, and names are used
        /// again after a task has completed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Entry {
            $($(#[$doc])* $kind { $($(#[$about])* $field: $type),* },)*
        }

        impl Entry {
            /// Appends it as bytes.
            pub(crate) fn encode(&self, out: &mut Vec<u8>) {
                match *self {
                    $(Entry::$kind { $($field),* } => {
                        out.push($tag);
                        $(put_word($field.to_word(), out);)*
                    })*
                }
            }

            /// Takes one from the front of `bytes`; `None` if there is no whole one.
            pub(crate) fn decode(bytes: &mut &[u8]) -> Option<Entry> {
                match take_byte(bytes)? {
                    $($tag => Some(Entry::$kind { $($field: <$type>::of_word(take_word(bytes)?)?),* }),)*
                    _ => None,
                }
            }
        }
    };
}

entries! {
    /// Event: a task is new in the pool.
    Arrival = 1 { /// When.
        now_ps: u64, /// Its name from now on.
        task: u32 }
    /// Event: the worker has nothing to run. Repeats that change nothing are left out.
    Free = 2 { /// When.
        now_ps: u64 }
    /// Event: the task stopped before it completed.
    Stopped = 3 { /// When.
        now_ps: u64, /// Which.
        task: u32, /// Service that it has received, in ps.
        attained_ps: u64, /// Why.
        why: Why }
    /// Event: the task ended, or turned out to have ended when it was about to start.
    Completed = 4 { /// When.
        now_ps: u64, /// Which.
        task: u32, /// Service that it has received, in ps.
        attained_ps: u64 }
    /// Event: the task waits for something else than the worker.
    Blocked = 5 { /// When.
        now_ps: u64, /// Which.
        task: u32, /// Service that it has received, in ps.
        attained_ps: u64 }
    /// Event: the task, which was blocked, can run again.
    Ready = 6 { /// When.
        now_ps: u64, /// Which.
        task: u32 }
    /// Event: a task came from another pool; so many older ones follow.
    Moved = 7 { /// When.
        now_ps: u64, /// Its name from now on.
        task: u32, /// Older ones that follow.
        more: u32, /// Service that it has received elsewhere, in ps.
        attained_ps: u64 }
    /// Event and decision: how many unstarted tasks should come in? Where the answer is the one that was logged last, it is
    /// left out.
    Intake = 8 { /// What the discipline said.
        answer: Answer }

    /// Decision: the worker runs the task.
    Run = 16 { /// Which.
        task: u32, /// For so long at most; all ones: until it ends.
        quantum_ps: u64 }
    /// Decision: the stopped task goes on.
    Resume = 17 { /// For so long at most.
        quantum_ps: u64 }
    /// Decision: the task joins a lane.
    Enqueue = 18 { /// Which.
        task: u32, /// Which lane.
        lane: u32, /// At its head, else at its tail.
        at_head: bool }
    /// Decision: the task joins a lane that is ordered by key.
    EnqueueBy = 19 { /// Which.
        task: u32, /// Which lane.
        lane: u32, /// Its key.
        key: u64 }
    /// Decision: the head of a lane is taken.
    Take = 20 { /// Which lane.
        lane: u32, /// What the host had there.
        task: u32 }
    /// Decision: a worker is asked to stop.
    Preempt = 21 { /// Which.
        worker: u32, /// It is not too late.
        granted: bool }

    /// Observation: what the dispatcher knows of a worker from now on. Left out where nothing has changed.
    Seen = 32 { /// Which.
        worker: u32, /// Requests of it that have not finished.
        unfinished: u32, /// Quanta that those have received.
        quanta: u64 }
    /// Event and decision: a request was placed.
    Placed = 33 { /// Its number, which decides the draw.
        number: u64, /// Where it went.
        pool: u32 }
    /// Event and decision: a request is held. Left out where nothing has changed since it was held before.
    Held = 34 { /// Its number, which decides the draw.
        number: u64 }

    /// Event and decision: the worker begins a walk.
    Walk = 48 { /// How many it has begun, this one included, which decides the draw.
        number: u64, /// The place in the order of walks where it begins.
        start: u32 }
    /// Event and decision: it checked another queue on its walk.
    Looked = 49 { /// Whose.
        victim: u32, /// Requests there.
        len: u32, /// How many it wanted of them.
        amount: u32 }
    /// Decision: it took some, which ends the walk.
    Stole = 50 { /// Whose.
        victim: u32, /// How many it got; others may have been faster.
        got: u32 }
    /// Observation: its own queue is not empty any more, which ends the walk.
    OwnFirst = 51 {}
    /// Event and decision: is the own queue overloaded? Its oldest request has waited for so long.
    Overload = 52 { /// So long.
        waited_ps: u64, /// It is.
        sheds: bool }
    /// Observation: 64 workers from the given one on, a bit each: those without a flag.
    Unflagged = 53 { /// The first.
        first: u32, /// The bits.
        bits: u64 }
    /// Decision: this worker is flagged.
    Flag = 54 { /// How many flags the worker has drawn for, this one included, which decides the draw.
        number: u64, /// Who was drawn.
        target: u32 }
    /// Event and decision: the worker answers a flag.
    Shed = 55 { /// Who asked.
        asker: u32, /// Requests that the worker has waiting itself.
        own: u32, /// Requests that wait there.
        len: u32, /// How many it wanted of them.
        amount: u32 }
}

fn put_word(mut word: u64, out: &mut Vec<u8>) {
    while word >= 0x80 {
        out.push(word as u8 | 0x80);
        word >>= 7;
    }
    out.push(word as u8);
}

fn take_byte(bytes: &mut &[u8]) -> Option<u8> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(first)
}

fn take_word(bytes: &mut &[u8]) -> Option<u64> {
    let mut word = 0;
    for shift in (0..64).step_by(7) {
        let byte = take_byte(bytes)?;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return None;
        }
        word |= bits << shift;
        if byte < 0x80 {
            return Some(word);
        }
    }
    None
}

impl Entry {
    /// Does it say what a policy decided? Such are what a replay compares.
    pub fn is_decision(&self) -> bool {
        use Entry::*;
        matches!(
            self,
            Intake { .. }
                | Run { .. }
                | Resume { .. }
                | Enqueue { .. }
                | EnqueueBy { .. }
                | Take { .. }
                | Preempt { .. }
                | Placed { .. }
                | Held { .. }
                | Walk { .. }
                | Looked { .. }
                | Overload { .. }
                | Flag { .. }
                | Shed { .. }
        )
    }
}

const _: () = assert!(size_of::<Entry>() <= 32);
