//! The live view of `caudal top`: one thread asks the runtime for samples, this one draws them and listens to the keyboard. `top` calls
//! it when stdout is a terminal.
//!
//! The terminal is as it was after every end: a key, a signal (also a second one, which ends the process at once), the end of the
//! runtime, an error, a panic (ratatui's hook).

use std::io::IsTerminal;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::Duration;

use caudal_observe::socket::{AskError, Client};
use caudal_rt::stats::Snapshot;
use miette::IntoDiagnostic;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::view::{self, State};
use super::{failed, gone, no_terminal};
use crate::exit::Failure;
use crate::global::Global;

/// How often the keyboard and the wish to stop are polled.
const POLL_EVERY: Duration = Duration::from_millis(50);

/// How watching ended.
enum End {
    Asked,
    Gone(String),
    Failed(AskError),
}

/// Shows the runtime until somebody has seen enough.
pub(super) fn run(client: Client, id: &str, interval: Duration, global: &Global) -> miette::Result<()> {
    if !std::io::stdout().is_terminal() {
        return Err(no_terminal());
    }
    let samples = ask(client, interval);
    crate::global::before_exit(ratatui::restore);
    let mut terminal = ratatui::try_init().into_diagnostic()?;
    let ended = watch(&mut terminal, &samples, global);
    ratatui::restore();
    match ended.map_err(|error| Failure(format!("the terminal can not be drawn on: {error}")))? {
        End::Asked => Ok(()),
        End::Gone(last) => {
            errln!("{last}");
            Ok(())
        }
        End::Failed(error) => Err(failed(id, &error)),
    }
}

/// Asks for a snapshot every `interval`, until nobody wants any more.
fn ask(mut client: Client, interval: Duration) -> Receiver<Result<Snapshot, AskError>> {
    let (sender, receiver) = sync_channel(1);
    std::thread::spawn(move || {
        loop {
            let snapshot = client.snapshot();
            let over = snapshot.is_err();
            if sender.send(snapshot).is_err() || over {
                return;
            }
            std::thread::sleep(interval);
        }
    });
    receiver
}

fn watch(
    terminal: &mut DefaultTerminal,
    samples: &Receiver<Result<Snapshot, AskError>>,
    global: &Global,
) -> std::io::Result<End> {
    let mut state = State::default();
    let mut changed = true;
    while !global.stop.load(Relaxed) {
        match samples.try_recv() {
            Ok(Ok(snapshot)) => changed |= state.take(snapshot),
            Ok(Err(AskError::Gone)) => {
                return Ok(End::Gone(state.last().map_or_else(|| "the runtime is gone".to_owned(), gone)));
            }
            Ok(Err(error)) => return Ok(End::Failed(error)),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return Ok(End::Failed(AskError::Gone)),
        }
        if changed {
            terminal.draw(|frame| view::draw(frame, &state))?;
        }
        changed = false;
        if event::poll(POLL_EVERY)? {
            match event::read()? {
                Event::Key(key) if key.kind == KeyEventKind::Press => {
                    if !press(key, &mut state) {
                        return Ok(End::Asked);
                    }
                    changed = true;
                }
                Event::Resize(..) => changed = true,
                _ => {}
            }
        }
    }
    Ok(End::Asked)
}

/// `false`: enough.
fn press(key: KeyEvent, state: &mut State) -> bool {
    match key.code {
        KeyCode::Char('q') | KeyCode::Esc => return false,
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return false,
        KeyCode::Char('p' | ' ') => state.paused = !state.paused,
        KeyCode::Char('s') => state.sort = state.sort.next(),
        _ => {}
    }
    true
}
