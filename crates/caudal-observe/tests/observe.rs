//! A runtime as it shows itself: numbers that add up, files that other programs read, timelines.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use caudal_observe::{Draw as _, Export as _, Metric};
use caudal_report::timeline::{decode, proto};
use caudal_rt::histogram::Histogram;
use caudal_rt::stats::{RecordError, Snapshot};
use caudal_rt::{Pinning, Runtime, Shutdown};

#[path = "../../caudal-rt/tests/common/mod.rs"]
mod common;
use common::runtime;

/// Runs requests of two classes, short and of some quanta.
fn some_requests(runtime: &Runtime, requests: u32) {
    let (short, long) = (runtime.class("short").unwrap(), runtime.class("long").unwrap());
    let handles: Vec<_> = (0..requests)
        .map(|i| {
            let (class, iterations) = if i % 10 == 0 { (long, 2_000) } else { (short, 1) };
            runtime.submit(class, move || (0..iterations).for_each(|_| caudal_rt::probe())).unwrap()
        })
        .collect();
    handles.into_iter().for_each(|handle| handle.wait().unwrap());
}

/// Waits until what has ended is measured: results are handed over first.
fn settled(runtime: &Runtime, requests: u64) -> Snapshot {
    loop {
        let snapshot = runtime.stats();
        if snapshot.classes.iter().map(|class| class.preemptions.count()).sum::<u64>() == requests {
            return snapshot;
        }
        std::thread::yield_now();
    }
}

#[test]
fn what_has_ended_is_counted_once_everywhere() {
    for two_level in [true, false] {
        let runtime = runtime(2, two_level, |b| b);
        some_requests(&runtime, 500);
        let snapshot = settled(&runtime, 500);
        let (short, long) = (snapshot.class("short").unwrap(), snapshot.class("long").unwrap());
        for (class, count) in [(short, 450), (long, 50)] {
            for histogram in
                [&class.queueing, &class.service, &class.sojourn, &class.quanta, &class.preemptions]
            {
                assert_eq!(histogram.count(), count, "{}", class.name);
            }
            assert!(class.sojourn.sum() >= class.service.sum());
            assert!(class.sojourn.max() >= class.service.max());
        }
        assert!(long.service.percentile(50.0) > short.service.percentile(50.0));
        assert!(long.quanta.sum() >= long.preemptions.sum(), "a preemption uses up a quantum");
        assert_eq!(long.lateness.is_empty(), long.quanta.sum() == 0.0);
        assert_eq!(snapshot.finished(), 500);
        assert!(snapshot.workers.iter().all(|worker| worker.inside == 0 && worker.inbox == 0));
        assert!(snapshot.stacks.mapped > 0 && snapshot.stacks.mapped <= snapshot.stacks.limit);
    }
}

/// Ends the load also where an assertion fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn numbers_add_up_while_requests_run() {
    let runtime = runtime(2, false, |b| b);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            let mut requests = 0;
            while !stop.load(Ordering::Relaxed) {
                some_requests(&runtime, 100);
                requests += 100;
            }
            requests
        });
        let _end = Stop(&stop);
        let mut last = runtime.stats();
        for _ in 0..200 {
            let now = runtime.stats();
            for class in &now.classes {
                let counts =
                    [&class.preemptions, &class.quanta, &class.sojourn, &class.service, &class.queueing];
                let counts = counts.map(Histogram::count);
                assert!(counts.is_sorted(), "{}: {counts:?}", class.name);
            }
            let measured: u64 = now.classes.iter().map(|class| class.sojourn.count()).sum();
            assert!(measured <= now.finished());
            for worker in &now.workers {
                let all = worker.busy_ns + worker.scheduling_ns + worker.idle_ns;
                assert!(all <= now.uptime_ns, "{all} ns of {}", now.uptime_ns);
                // A worker that has not begun yet has spent no time.
                assert!(all == 0 || (worker.shares().iter().sum::<f64>() - 1.0).abs() < 1e-9);
            }
            let window = now.since(&last);
            assert_eq!(window.interval_ns, now.uptime_ns - last.uptime_ns);
            assert_eq!(window.finished(), now.finished() - last.finished());
            for (class, window) in now.classes.iter().zip(&window.classes) {
                let before = last.class(&class.name).map_or(0, |class| class.sojourn.count());
                assert_eq!(window.sojourn.count(), class.sojourn.count() - before);
            }
            last = now;
        }
        stop.store(true, Ordering::Relaxed);
        let requests = load.join().unwrap();
        let end = settled(&runtime, requests);
        assert_eq!(end.since(&last).finished() + last.finished(), requests);
    });
}

#[test]
fn a_worker_that_never_rests_is_seen_busy() {
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("endless").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let handle = runtime
        .submit(class, move || {
            while !seen.load(Ordering::Relaxed) {
                caudal_rt::probe();
            }
        })
        .unwrap();
    let begun = loop {
        let snapshot = runtime.stats();
        if snapshot.workers[0].running.is_some() {
            break snapshot;
        }
    };
    assert_eq!(begun.workers[0].running.as_deref(), Some("endless"));
    std::thread::sleep(Duration::from_millis(20));
    let worker = &runtime.stats().since(&begun).workers[0];
    assert!(worker.busy_ns > 0, "nobody waits for the worker, so it never comes to scheduling: {worker:?}");
    assert!(worker.idle_ns <= worker.busy_ns, "{worker:?}");
    assert_eq!(worker.inside, 1);
    stop.store(true, Ordering::Relaxed);
    handle.wait().unwrap();
}

#[test]
fn requests_that_end_otherwise_are_counted() {
    let runtime = runtime(1, true, |b| b);
    let class = runtime.class("bad").unwrap();
    assert!(runtime.submit(class, || panic!("as told")).unwrap().wait().is_err());
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    // The worker is in this one, without a probe, until the others have been told.
    let blocker = runtime.submit(class, move || while !seen.load(Ordering::Relaxed) {}).unwrap();
    let cancelled = runtime.submit(class, || ()).unwrap();
    assert!(cancelled.cancel());
    let expired = runtime.request(class).deadline(Duration::from_nanos(1)).submit(|| ()).unwrap();
    stop.store(true, Ordering::Relaxed);
    assert!(cancelled.wait().is_err() && expired.wait().is_err());
    blocker.wait().unwrap();
    let counters = runtime.stats().counters;
    assert_eq!((counters.panicked, counters.cancelled, counters.expired, counters.refused), (1, 1, 1, 0));
    runtime.shutdown(Shutdown::Drain);
    assert!(runtime.submit(class, || ()).is_err());
}

#[test]
fn nothing_is_measured_where_that_is_asked_for() {
    let runtime = runtime(1, true, |b| b.measuring(false));
    some_requests(&runtime, 20);
    let snapshot = runtime.stats();
    assert!(snapshot.classes.iter().all(|class| class.sojourn.is_empty() && class.queueing.is_empty()));
    assert!(snapshot.finished() <= 20);
}

#[test]
fn a_snapshot_as_json_is_the_same_when_it_is_read() {
    let runtime = runtime(1, false, |b| b.name("a \"name\""));
    some_requests(&runtime, 200);
    let snapshot = settled(&runtime, 200);
    let text = serde_json::to_string(&snapshot).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&value["stalls"], &value["runtime"]["name"]), (&"raw".into(), &"a \"name\"".into()));
    assert_eq!(value["classes"][0]["sojourn"]["count"], 180);
    let read: Snapshot = serde_json::from_str(&text).unwrap();
    assert_eq!(read, snapshot);
    let later = runtime.stats().since(&read);
    assert_eq!(later.classes[0].sojourn.count(), 0);
    assert!(serde_json::from_str::<Snapshot>(&text.replacen("\"scale\":1.0", "\"scale\":0.0", 1)).is_err());
}

/// A sample line: name, labels, value.
fn sample(line: &str) -> (String, HashMap<String, String>, f64) {
    let (series, value) = line.rsplit_once(' ').unwrap();
    let (name, labels) = match series.split_once('{') {
        Some((name, labels)) => (name, labels.strip_suffix('}').unwrap()),
        None => (series, ""),
    };
    assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{line}");
    let pairs = labels.split("\",").filter(|pair| !pair.is_empty()).map(|pair| {
        let (key, value) = pair.split_once("=\"").unwrap();
        (key.to_owned(), value.trim_end_matches('"').to_owned())
    });
    (name.to_owned(), pairs.collect(), value.parse().unwrap())
}

#[test]
fn prometheus_text_is_as_that_reads_it() {
    let runtime = runtime(2, true, |b| b);
    some_requests(&runtime, 300);
    let snapshot = settled(&runtime, 300);
    let text = snapshot.to_prometheus();
    let mut kinds: HashMap<&str, &str> = HashMap::new();
    let mut buckets: HashMap<(String, String), Vec<(f64, f64)>> = HashMap::new();
    let mut samples = HashMap::new();
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("# TYPE ") {
            let (name, kind) = head.split_once(' ').unwrap();
            assert!(kinds.insert(name, kind).is_none(), "{name} is described twice");
            continue;
        }
        if line.starts_with("# HELP ") {
            continue;
        }
        let (name, labels, value) = sample(line);
        let family =
            ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        let kind = kinds.get(family).unwrap_or_else(|| panic!("{family} has no type"));
        assert_eq!(*kind == "counter", name.ends_with("_total"), "{name}");
        if let Some(le) = labels.get("le") {
            let key = (name.clone(), labels["class"].clone());
            buckets.entry(key).or_default().push((le.replace("+Inf", "inf").parse().unwrap(), value));
        } else {
            let mut labels: Vec<_> = labels.into_iter().collect();
            labels.sort();
            assert!(samples.insert((name.clone(), labels), value).is_none(), "{line} comes twice");
        }
    }
    assert_eq!(buckets.len(), 14, "seven histograms of two classes");
    for ((name, class), buckets) in &buckets {
        assert!(buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{name} {class}: {buckets:?}");
        let labels = vec![("class".to_owned(), class.clone())];
        let count = samples[&(name.replace("_bucket", "_count"), labels)];
        assert_eq!(*buckets.last().unwrap(), (f64::INFINITY, count));
    }
    let sojourns = &buckets[&("caudal_request_sojourn_seconds_bucket".to_owned(), "short".to_owned())];
    assert_eq!((sojourns[0].0, sojourns[1].0, sojourns.last().unwrap().1), (1e-7, 2.5e-7, 270.0));
    let finished: f64 =
        samples.iter().filter(|((name, _), _)| name == "caudal_requests_finished_total").map(|s| s.1).sum();
    assert_eq!(finished, 300.0);
    let states = samples.keys().filter(|(name, _)| name == "caudal_worker_time_seconds_total").count();
    assert_eq!(states, 6, "three states of two workers");
}

#[test]
fn critical_sections_and_starved_workers_are_in_the_text() {
    let runtime = runtime(1, false, |b| b);
    let class = runtime.class("x").unwrap();
    (0..5).for_each(|_| runtime.submit(class, || caudal_rt::no_preempt(|| ())).unwrap().wait().unwrap());
    let mut snapshot = runtime.stats();
    snapshot.workers[0].starved = true;
    let text = snapshot.to_prometheus();
    assert!(text.contains("caudal_critical_section_seconds_count{class=\"x\"} 5"), "{text}");
    assert!(text.contains("caudal_worker_starved{worker=\"0\"} 1"), "{text}");
}

/// A log of the service times of a runtime, as a file.
fn service_log(runtime: &Runtime, requests: u64) -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("service.hlog");
    let snapshot = settled(runtime, requests);
    snapshot.write_hlog(Metric::Service, std::fs::File::create(&path).unwrap()).unwrap();
    (dir, path)
}

#[test]
fn a_log_is_read_back_by_its_library_and_by_workloads() {
    use base64::Engine as _;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    let runtime = runtime(1, true, |b| b);
    some_requests(&runtime, 400);
    let (_dir, path) = service_log(&runtime, 400);
    let text = std::fs::read(&path).unwrap();
    assert!(String::from_utf8_lossy(&text).contains("stalls: raw"));
    let snapshot = runtime.stats();
    let mut tags = Vec::new();
    for entry in IntervalLogIterator::new(&text) {
        let LogEntry::Interval(interval) = entry.unwrap() else { continue };
        let name = interval.tag().unwrap().as_str();
        let bytes = base64::prelude::BASE64_STANDARD.decode(interval.encoded_histogram()).unwrap();
        let mut decoder = hdrhistogram::serialization::Deserializer::new();
        let read: hdrhistogram::Histogram<u64> = decoder.deserialize(&mut &bytes[..]).unwrap();
        let own = &snapshot.class(name).unwrap().service;
        assert_eq!(read.len(), own.count());
        let (theirs, ours) = (read.value_at_quantile(0.5) as f64, own.percentile(50.0));
        // A log holds whole nanoseconds, to three digits.
        assert!((theirs - ours).abs() < 1.0 + 0.005 * ours, "{name}: {theirs} ns there, {ours} ns here");
        tags.push(name.to_owned());
    }
    tags.sort();
    assert_eq!(tags, ["long", "short"]);
    let shown = caudal_workload::show::Shown::open(path.to_str().unwrap()).unwrap().text(80);
    assert!(shown.contains("short") && shown.contains("long"), "{shown}");
}

#[test]
fn slices_of_a_timeline_do_not_overlap() {
    let runtime = Arc::new(runtime(2, false, |b| b.pinning(Pinning::None)));
    let stop = Arc::new(AtomicBool::new(false));
    let (own, seen) = (Arc::clone(&runtime), Arc::clone(&stop));
    let until_then = Stop(&stop);
    let load = std::thread::spawn(move || {
        while !seen.load(Ordering::Relaxed) {
            some_requests(&own, 50);
        }
    });
    // On a busy machine a window may be empty, or nearly so: it goes on until three have been full enough to tell.
    let mut full = 0;
    while full < 3 {
        let recording = runtime.record_timeline(Duration::from_millis(30)).unwrap();
        assert!(recording.window() >= Duration::from_millis(30));
        let trace = decode(&recording.write_perfetto(Vec::new()).unwrap()).unwrap();
        let mut tracks: HashMap<u64, Vec<(u64, String)>> = HashMap::new();
        let (mut slices, mut last) = (0_usize, HashMap::new());
        for packet in &trace.packet {
            let Some(proto::Data::TrackEvent(event)) = &packet.data else { continue };
            let at = packet.timestamp.unwrap();
            let open = tracks.entry(event.track_uuid()).or_default();
            assert!(at >= *last.get(&event.track_uuid()).unwrap_or(&0), "time goes forward on a track");
            last.insert(event.track_uuid(), at);
            match event.r#type() {
                proto::EventType::SliceBegin => {
                    let name = event.name().to_owned();
                    assert!(
                        open.is_empty() || (name == "asleep" && open.len() == 1 && open[0].1 == "idle"),
                        "{name} begins in {open:?}"
                    );
                    slices += usize::from(name.starts_with("short ") || name.starts_with("long "));
                    open.push((at, name));
                }
                proto::EventType::SliceEnd => assert!(open.pop().is_some_and(|(begin, _)| begin <= at)),
                _ => {}
            }
        }
        assert!(tracks.values().all(Vec::is_empty));
        assert!(recording.events() >= slices, "{} events of {slices} slices", recording.events());
        full += u32::from(slices > 10);
    }
    assert_eq!(runtime.record_timeline(Duration::ZERO).unwrap_err(), RecordError::Window(Duration::ZERO));
    assert!(runtime.record_timeline(Duration::from_secs(2)).is_err());
    // Of two at once one is refused. One may have ended before the other has begun: then they try again.
    let both = || {
        let own = Arc::clone(&runtime);
        let other = std::thread::spawn(move || own.record_timeline(Duration::from_millis(200)));
        let mine = runtime.record_timeline(Duration::from_millis(200));
        let refused = [mine.err(), other.join().unwrap().err()].into_iter().flatten();
        refused.collect::<Vec<_>>()
    };
    let refused = std::iter::repeat_with(both).find(|refused| !refused.is_empty()).unwrap();
    assert_eq!(refused, [RecordError::Busy]);
    drop(until_then);
    load.join().unwrap();
}
