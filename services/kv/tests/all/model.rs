//! Random commands, beside a model that keeps everything in a map: the store answers the same, and so does a session.

use std::collections::BTreeMap;

use caudal_kv::store::{NotCounted, Store, Stored};
use caudal_proto::text::{Direction, StoreMode};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::connection::{Client, Connection, small_service};
use crate::{NOW, small_store};

#[derive(Clone, Debug)]
enum Command {
    Get(u8),
    Store(u8, Mode, i64, String),
    Arithmetic(u8, Direction, u64),
    Touch(u8, i64),
    Delete(u8),
    Flush(i64),
    Wait(u32),
    Sweep,
}

/// A storage command, whose cas number is that of the item plus this.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Plain(StoreMode),
    Cas(u64),
}

fn command() -> impl Strategy<Value = Command> {
    let key = 0..6_u8;
    let exptime = prop_oneof![4 => Just(0), 2 => 1..6_i64, 1 => Just(-1)];
    let mode = prop_oneof![
        2 => Just(Mode::Plain(StoreMode::Set)),
        1 => Just(Mode::Plain(StoreMode::Add)),
        1 => Just(Mode::Plain(StoreMode::Replace)),
        1 => Just(Mode::Plain(StoreMode::Append)),
        1 => Just(Mode::Plain(StoreMode::Prepend)),
        1 => (0..2_u64).prop_map(Mode::Cas),
    ];
    let text = prop_oneof![any::<u64>().prop_map(|number| number.to_string()), "[0-9a ]{0,4}"];
    let direction = prop_oneof![Just(Direction::Up), Just(Direction::Down)];
    prop_oneof![
        4 => key.clone().prop_map(Command::Get),
        4 => (key.clone(), mode, exptime.clone(), text)
            .prop_map(|(key, mode, exptime, text)| Command::Store(key, mode, exptime, text)),
        2 => (key.clone(), direction, 0..200_u64).prop_map(|(key, way, delta)| Command::Arithmetic(key, way, delta)),
        1 => (key.clone(), exptime).prop_map(|(key, exptime)| Command::Touch(key, exptime)),
        1 => key.prop_map(Command::Delete),
        1 => prop_oneof![Just(0), 1..5_i64].prop_map(Command::Flush),
        2 => (1..4_u32).prop_map(Command::Wait),
        1 => Just(Command::Sweep),
    ]
}

#[derive(Clone, Debug)]
struct Known {
    text: String,
    /// Never, if 0.
    dies: u32,
}

/// The state of each key, and when everything is flushed.
#[derive(Default)]
struct Model {
    items: BTreeMap<u8, Known>,
    flush_at: Option<u32>,
}

fn dies(exptime: i64, now: u32) -> u32 {
    match exptime {
        0 => 0,
        ..0 => 1,
        _ => now + exptime as u32,
    }
}

impl Model {
    fn advance(&mut self, now: u32) {
        if self.flush_at.is_some_and(|at| at <= now) {
            self.items.clear();
            self.flush_at = None;
        }
        self.items.retain(|_, known| known.dies == 0 || known.dies > now);
    }

    /// The answer to a storage command, with `fresh` for whether a cas number is the item's.
    fn store(&mut self, key: u8, mode: Mode, known: Known) -> Stored {
        let old = self.items.get(&key).cloned();
        let new = match (mode, old) {
            (Mode::Cas(_), None) => return Stored::NotFound,
            (Mode::Cas(off), Some(_)) if off > 0 => return Stored::Exists,
            (Mode::Plain(StoreMode::Add), Some(_)) => return Stored::NotStored,
            (Mode::Plain(StoreMode::Replace | StoreMode::Append | StoreMode::Prepend), None) => {
                return Stored::NotStored;
            }
            (Mode::Plain(StoreMode::Append), Some(old)) => {
                Known { text: old.text + &known.text, dies: old.dies }
            }
            (Mode::Plain(StoreMode::Prepend), Some(old)) => {
                Known { text: known.text + &old.text, dies: old.dies }
            }
            _ => known,
        };
        self.items.insert(key, new);
        Stored::Stored
    }

    fn arithmetic(&mut self, key: u8, direction: Direction, delta: u64) -> Result<u64, NotCounted> {
        let known = self.items.get_mut(&key).ok_or(NotCounted::NotFound)?;
        let old: u64 = known.text.trim().parse().map_err(|_| NotCounted::NonNumeric)?;
        let new = match direction {
            Direction::Up => old.wrapping_add(delta),
            Direction::Down => old.saturating_sub(delta),
        };
        let width = known.text.len();
        known.text = format!("{new:<width$}");
        Ok(new)
    }
}

/// Gives `commands` to a client of `store`, and compares each answer with that of the model.
fn check(store: &Store, mut client: impl Client, commands: Vec<Command>) -> Result<(), TestCaseError> {
    let mut model = Model::default();
    let mut now = NOW;
    for command in commands {
        model.advance(now);
        match command {
            Command::Get(key) => {
                let text = client.get(&[b'a' + key], now).map(|(text, _)| text);
                prop_assert_eq!(text.as_ref(), model.items.get(&key).map(|known| &known.text));
            }
            Command::Store(key, mode, exptime, text) => {
                let name = [b'a' + key];
                let store_mode = match mode {
                    Mode::Plain(mode) => mode,
                    Mode::Cas(off) => StoreMode::Cas(client.get(&name, now).map_or(1, |(_, cas)| cas) + off),
                };
                let got = client.store(store_mode, &name, exptime, text.as_bytes(), now);
                let expected = model.store(key, mode, Known { text, dies: dies(exptime, now) });
                prop_assert_eq!(got, expected);
            }
            Command::Arithmetic(key, direction, delta) => {
                let got = client.arithmetic(&[b'a' + key], direction, delta, now);
                prop_assert_eq!(got, model.arithmetic(key, direction, delta));
            }
            Command::Touch(key, exptime) => {
                let got = client.touch(&[b'a' + key], exptime, now);
                let known = model.items.get_mut(&key);
                prop_assert_eq!(got, known.is_some());
                if let Some(known) = known {
                    known.dies = dies(exptime, now);
                }
            }
            Command::Delete(key) => {
                prop_assert_eq!(client.delete(&[b'a' + key], now), model.items.remove(&key).is_some());
            }
            Command::Flush(delay) => {
                client.flush_all(delay, now);
                model.flush_at = Some(now + delay as u32);
            }
            Command::Wait(seconds) => now += seconds,
            Command::Sweep => {
                store.sweep(10_000, now);
            }
        }
    }
    // Everything that a store counts as used is an item's.
    model.advance(now);
    for _ in 0..10 {
        store.sweep(10_000, now);
    }
    let expected: usize = model.items.values().map(|known| 1 + known.text.len() + 96).sum();
    prop_assert_eq!(store.used_bytes(), expected);
    prop_assert_eq!(store.stats().items, model.items.len() as u64);
    Ok(())
}

proptest! {
    #[test]
    fn a_store_answers_as_a_map_would(commands in vec(command(), 1..60)) {
        let store = small_store();
        check(&store, &store, commands)?;
    }

    #[test]
    fn a_session_answers_as_a_map_would(commands in vec(command(), 1..60)) {
        let service = small_service();
        check(service.store(), Connection::new(&service), commands)?;
    }
}
