//! The spans of `tracing` that a request is in: left and entered again at every switch, as those of a future at every poll. `carry` calls
//! it, on the coroutine that gives its worker back or goes on, if a subscriber listens.
//!
//! A subscriber keeps the spans that were entered by thread. So the request leaves them, the innermost first, before its worker
//! goes on with another, and enters them again afterwards. Subscribers hear of both: a span's busy time is then the time that its
//! request has run.
//!
//! A subscriber that knows no current span (`Subscriber::current_span`) keeps none by thread that could be found.

use tracing_core::dispatcher;
use tracing_core::metadata::LevelFilter;
use tracing_core::span::Id;

/// More entered spans than that are taken for a subscriber that does not leave them when told to.
const DEPTH_MAX: usize = 256;

/// Is there a subscriber that any event or span comes to?
#[inline(always)]
pub(super) fn listens() -> bool {
    LevelFilter::current() != LevelFilter::OFF
}

/// Leaves all spans that were entered on this thread; they are in the answer, the innermost first.
pub(super) fn leave() -> Vec<Id> {
    let mut spans = Vec::new();
    if !listens() {
        return spans;
    }
    dispatcher::get_default(|subscriber| {
        while spans.len() < DEPTH_MAX
            && let Some(id) = subscriber.current_span().id()
        {
            subscriber.exit(id);
            spans.push(id.clone());
        }
    });
    spans
}

/// Enters the spans again that [`leave`] has left.
pub(super) fn enter(spans: Vec<Id>) {
    if spans.is_empty() {
        return;
    }
    dispatcher::get_default(|subscriber| spans.iter().rev().for_each(|id| subscriber.enter(id)));
}
