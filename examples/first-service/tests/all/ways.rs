//! What a program can do with a request, as the guide shows it.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use caudal_rt::{Builder, ClassId, Failure, Handle, Pinning, Runtime, Shutdown, SubmitError};

async fn sum_of_two(runtime: &Runtime, get: ClassId) -> Result<u64, Box<dyn Error>> {
    let (first, second) = (runtime.submit(get, || 1)?, runtime.submit(get, || 2)?);
    Ok(first.await? + second.await?)
}

fn or_busy(runtime: &Runtime, get: ClassId) -> String {
    match runtime.try_submit(get, || "an answer".to_owned()) {
        Ok(handle) => handle.wait().unwrap_or_else(|failure| failure.to_string()),
        // The closure comes back in `refused.job`.
        Err(refused) if refused.why == SubmitError::Full => "busy, come again".to_owned(),
        Err(refused) => refused.to_string(),
    }
}

fn in_time(runtime: &Runtime, get: ClassId) -> Result<Option<u64>, Box<dyn Error>> {
    let handle = runtime.request(get).deadline(Duration::from_millis(1)).submit(|| 42)?;
    match handle.wait() {
        Ok(value) => Ok(Some(value)),
        Err(Failure::Expired) => Ok(None),
        Err(other) => Err(other.to_string().into()),
    }
}

fn with_long_turns(runtime: &Runtime, scan: ClassId) -> Result<Handle<u64>, SubmitError> {
    runtime.request(scan).quantum(Duration::from_micros(20)).submit(|| {
        (0..100_000).fold(0, |sum, row| {
            caudal_rt::probe();
            sum + row
        })
    })
}

fn search(runtime: &Runtime, scan: ClassId) -> Result<Handle<u64>, SubmitError> {
    runtime.submit(scan, || -> u64 {
        loop {
            caudal_rt::check_cancelled();
            caudal_rt::probe();
        }
    })
}

fn broken(runtime: &Runtime, get: ClassId) -> Result<String, SubmitError> {
    let handle = runtime.submit(get, || -> u64 { panic!("no such key") })?;
    Ok(match handle.wait() {
        Err(Failure::Panicked(payload)) => format!("{:?}", payload.downcast_ref::<&str>()),
        Err(other) => other.to_string(),
        Ok(value) => value.to_string(),
    })
}

/// One worker, anywhere: tests run beside each other.
fn builder() -> Builder {
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("by-hand.toml");
    Runtime::builder(policy).unwrap().pinning(Pinning::None)
}

fn started() -> (Runtime, ClassId, ClassId) {
    let runtime = builder().start().unwrap();
    let (get, scan) = (runtime.class("get").unwrap(), runtime.class("scan").unwrap());
    (runtime, get, scan)
}

/// Keeps the worker until the flag is set; answers when it does.
fn keep_busy(runtime: &Runtime, class: ClassId) -> (Handle<()>, Arc<AtomicBool>) {
    let (begun, over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (begins, ends) = (Arc::clone(&begun), Arc::clone(&over));
    let body = move || {
        begins.store(true, Ordering::Relaxed);
        while !ends.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    };
    let handle = runtime.submit(class, body).unwrap();
    while !begun.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    (handle, over)
}

#[test]
fn tokio_awaits_handles() {
    let (runtime, get, _) = started();
    let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(tokio.block_on(sum_of_two(&runtime, get)).unwrap(), 3);
}

#[test]
fn a_full_queue_refuses_and_lets_in_again() {
    let runtime = builder().queues(2, 2).start().unwrap();
    let get = runtime.class("get").unwrap();
    let (busy, over) = keep_busy(&runtime, get);
    let waiting: Vec<_> = (0..2).map(|_| runtime.submit(get, || ()).unwrap()).collect();
    assert_eq!(or_busy(&runtime, get), "busy, come again");
    over.store(true, Ordering::Relaxed);
    busy.wait().unwrap();
    waiting.into_iter().for_each(|handle| handle.wait().unwrap());
    assert_eq!(or_busy(&runtime, get), "an answer");
}

#[test]
fn what_has_not_started_by_its_deadline_expires() {
    let (runtime, get, scan) = started();
    let (busy, over) = keep_busy(&runtime, scan);
    let late = std::thread::scope(|scope| {
        let asking = scope.spawn(|| in_time(&runtime, get).map_err(|error| error.to_string()));
        // Until it is there, and late.
        while runtime.stats().workers[0].inbox == 0 {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(5));
        over.store(true, Ordering::Relaxed);
        asking.join().unwrap()
    });
    assert_eq!(late, Ok(None));
    busy.wait().unwrap();
}

#[test]
fn a_request_can_have_turns_of_its_own() {
    let (runtime, _, scan) = started();
    assert_eq!(with_long_turns(&runtime, scan).unwrap().wait().unwrap(), 99_999 * 100_000 / 2);
}

#[test]
fn a_cancelled_request_ends_where_it_looks() {
    let (runtime, _, scan) = started();
    let handle = search(&runtime, scan).unwrap();
    handle.cancel();
    assert!(matches!(handle.wait(), Err(Failure::Cancelled)));
}

#[test]
fn a_panic_ends_its_request_only() {
    let (runtime, get, _) = started();
    assert_eq!(broken(&runtime, get).unwrap(), "Some(\"no such key\")");
    assert_eq!(or_busy(&runtime, get), "an answer");
}

#[test]
fn a_stopped_runtime_takes_no_requests() {
    let (runtime, get, _) = started();
    let last = runtime.submit(get, || 1).unwrap();
    let left = runtime.shutdown(Shutdown::Drain);
    assert_eq!((left.abandoned, left.threads), (0, 0));
    assert_eq!(last.wait().unwrap(), 1);
    assert_eq!(or_busy(&runtime, get), SubmitError::Stopped.to_string());
}
