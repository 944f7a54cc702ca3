//! The trace of a contestant: when each request was to arrive, started and completed, and when the machine stood still.
//! Contestants write it, filters read it.
//!
//! A file is little-endian throughout; programs in other languages write it as well:
//!
//! ```text
//! at   bytes
//!   0      8  "CAUDTRC\0"
//!   8      4  version (1)
//!  12      4  C, number of classes
//!  16      8  frequency of the time stamp counter, Hz (f64)
//!  24      8  seed
//!  32      8  load (f64)
//!  40      8  N, number of requests
//!  48      8  G, number of gaps in the work
//!  56      8  H, number of gaps in the generator's loop
//!  64      8  gaps that found no room
//!  72     32  contestant's name, UTF-8, padded with zeros
//! 104   16 C  per class: share (f64), service time (ns)
//!       32 N  per request by arrival: class, intended arrival, start, completion (all u64; ns after the run's start)
//!     16 G+H  per gap: start, end (ns after the run's start)
//! ```
//!
//! A request that never completed has a completion of 2^64 − 1.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::{self, Tsc};
use crate::gaps::{Gap, GapLog};
use crate::schedule::{Class, Mix, Schedule};

const MAGIC: [u8; 8] = *b"CAUDTRC\0";
const VERSION: u32 = 1;
const NAME_BYTES: usize = 32;
/// Completion of a request that did not complete.
pub const NEVER: u64 = u64::MAX;

/// Why a trace cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// Reading or writing failed; a file that ends early is among these.
    #[error("trace: {0}")]
    Io(#[from] io::Error),
    /// Another file, or one of another version.
    #[error("this is no trace of version {VERSION}: {0}")]
    Format(&'static str),
}

/// One request as it went; times in ns after the run's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Number of the class in the mix.
    pub class: u32,
    /// When it was to arrive.
    pub arrival_ns: u64,
    /// When its work began.
    pub start_ns: u64,
    /// When its work was done; [`NEVER`] if it was not.
    pub completion_ns: u64,
}

impl Request {
    /// The time from the intended arrival to completion, in ns; `None` if it did not complete.
    pub fn sojourn_ns(&self) -> Option<u64> {
        (self.completion_ns != NEVER).then(|| self.completion_ns.saturating_sub(self.arrival_ns))
    }
}

/// A run of one contestant.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The name of the contestant; at most 32 bytes are kept.
    pub contestant: String,
    /// Frequency of the time stamp counter, in Hz.
    pub tsc_hz: f64,
    /// Seed of the schedule.
    pub seed: u64,
    /// Load of the schedule.
    pub load: f64,
    /// The classes.
    pub mix: Mix,
    /// The requests by arrival.
    pub requests: Vec<Request>,
    /// Gaps that the work noticed, in ns after the run's start.
    pub gaps: Vec<Gap>,
    /// Gaps that the generator's loop noticed, in ns after the run's start.
    pub generator_gaps: Vec<Gap>,
    /// Gaps that found no room in a log.
    pub gaps_lost: u64,
}

impl Trace {
    /// Writes the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), TraceError> {
        let mut out = BufWriter::new(File::create(path)?);
        self.write_to(&mut out)?;
        Ok(out.flush()?)
    }

    /// Reads a file that any contestant wrote.
    ///
    /// # Errors
    /// If it cannot be read, ends early, or is something else.
    pub fn read(path: &Path) -> Result<Trace, TraceError> {
        Trace::read_from(&mut BufReader::new(File::open(path)?))
    }

    fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&(self.mix.classes().len() as u32).to_le_bytes())?;
        let (gaps, of_generator) = (self.gaps.len() as u64, self.generator_gaps.len() as u64);
        let counts = [self.requests.len() as u64, gaps, of_generator, self.gaps_lost];
        put(out, &[self.tsc_hz.to_bits(), self.seed, self.load.to_bits()])?;
        put(out, &counts)?;
        out.write_all(&padded(&self.contestant))?;
        for class in self.mix.classes() {
            put(out, &[class.share.to_bits(), class.service_ns])?;
        }
        for request in &self.requests {
            put(
                out,
                &[u64::from(request.class), request.arrival_ns, request.start_ns, request.completion_ns],
            )?;
        }
        for gap in self.gaps.iter().chain(&self.generator_gaps) {
            put(out, &[gap.start, gap.end])?;
        }
        Ok(())
    }

    fn read_from(file: &mut impl Read) -> Result<Trace, TraceError> {
        let (mut magic, mut small, mut name) = ([0; 8], [0; 4], [0; NAME_BYTES]);
        file.read_exact(&mut magic)?;
        if magic != MAGIC {
            return Err(TraceError::Format("it begins otherwise"));
        }
        file.read_exact(&mut small)?;
        if u32::from_le_bytes(small) != VERSION {
            return Err(TraceError::Format("its version is another"));
        }
        file.read_exact(&mut small)?;
        let class_count = u32::from_le_bytes(small);
        let [hz, seed, load, request_count, gap_count, generator_gap_count, gaps_lost] = get(file)?;
        file.read_exact(&mut name)?;
        let length = name.iter().position(|&byte| byte == 0).unwrap_or(NAME_BYTES);
        let contestant = String::from_utf8_lossy(&name[..length]).into_owned();
        let class = |file: &mut _| {
            get(file).map(|[share, service_ns]| Class { share: f64::from_bits(share), service_ns })
        };
        let classes: Vec<Class> = several(file, u64::from(class_count), class)?;
        let mix = Mix::new(classes).map_err(|_| TraceError::Format("its classes are no mix"))?;
        let requests: Vec<Request> = several(file, request_count, request)?;
        if requests.iter().any(|request| request.class >= class_count) {
            return Err(TraceError::Format("a request has a class that is not there"));
        }
        let gap = |file: &mut _| get(file).map(|[start, end]| Gap { start, end });
        let gaps = several(file, gap_count, gap)?;
        let generator_gaps = several(file, generator_gap_count, gap)?;
        let (tsc_hz, load) = (f64::from_bits(hz), f64::from_bits(load));
        Ok(Trace { contestant, tsc_hz, seed, load, mix, requests, gaps, generator_gaps, gaps_lost })
    }
}

fn request(file: &mut impl Read) -> io::Result<Request> {
    let [class, arrival_ns, start_ns, completion_ns] = get(file)?;
    // A class beyond 2^32 stays beyond every number of classes.
    Ok(Request { class: u32::try_from(class).unwrap_or(u32::MAX), arrival_ns, start_ns, completion_ns })
}

/// `count` items one after the other; memory grows with what is really there, whatever the header says.
fn several<R: Read, T>(
    file: &mut R,
    count: u64,
    item: impl Fn(&mut R) -> io::Result<T>,
) -> io::Result<Vec<T>> {
    (0..count).map(|_| item(file)).collect()
}

fn put(out: &mut impl Write, numbers: &[u64]) -> io::Result<()> {
    numbers.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))
}

fn get<const N: usize>(file: &mut impl Read) -> io::Result<[u64; N]> {
    let mut numbers = [0; N];
    for number in &mut numbers {
        let mut bytes = [0; 8];
        file.read_exact(&mut bytes)?;
        *number = u64::from_le_bytes(bytes);
    }
    Ok(numbers)
}

fn padded(name: &str) -> [u8; NAME_BYTES] {
    let mut bytes = [0; NAME_BYTES];
    let length = name.floor_char_boundary(NAME_BYTES);
    bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
    bytes
}

/// Start and completion of every request while the run lasts; one cell a request, written by whoever runs it.
///
/// ```text
/// cells   | start, completion | start, completion | ...     16 bytes a request, 0 until written
/// ```
///
/// A request is run by one thread at a time, which stores `start`, then `completion` with release. Whoever reads a
/// completion that is not 0 with acquire therefore sees the start that belongs to it. No other word is shared: that the run is
/// over is seen from the cells alone, so that recording costs two plain stores.
#[derive(Debug)]
pub struct Recorder {
    cells: Box<[Cell]>,
}

#[derive(Debug)]
struct Cell {
    start: AtomicU64,
    completion: AtomicU64,
}

impl Recorder {
    /// Cells for `requests` requests, touched, so that no page is missing during the run.
    pub fn new(requests: usize) -> Recorder {
        let cells: Box<[Cell]> =
            (0..requests).map(|_| Cell { start: AtomicU64::new(1), completion: AtomicU64::new(1) }).collect();
        for cell in &cells {
            // Zeros alone may come from pages that exist once only.
            cell.start.store(0, Ordering::Relaxed);
            cell.completion.store(0, Ordering::Relaxed);
        }
        Recorder { cells }
    }

    /// Notes that `request` starts now; returns the reading.
    ///
    /// # Panics
    /// If there is no such request.
    #[inline(always)]
    pub fn start(&self, request: usize) -> u64 {
        let now = clock::now();
        self.cells[request].start.store(now, Ordering::Relaxed);
        now
    }

    /// Notes that `request` is complete now; returns the reading.
    ///
    /// # Panics
    /// If there is no such request.
    #[inline(always)]
    pub fn complete(&self, request: usize) -> u64 {
        let now = clock::now();
        self.cells[request].completion.store(now, Ordering::Release);
        now
    }

    /// Spins until every request is complete or the counter has passed `deadline`; says which.
    pub fn wait_for_all(&self, deadline: u64) -> bool {
        for cell in &self.cells {
            while cell.completion.load(Ordering::Acquire) == 0 {
                if clock::now() > deadline {
                    return false;
                }
                std::hint::spin_loop();
            }
        }
        true
    }

    /// The trace of a run, in ns after its `epoch`, to be written to a file.
    pub fn trace(&self, run: &Run<'_>) -> Trace {
        let since = |ticks: u64| run.tsc.to_ns(ticks.saturating_sub(run.epoch));
        let request = |(cell, arrival): (&Cell, &crate::schedule::Arrival)| {
            let completion = cell.completion.load(Ordering::Acquire);
            let start = cell.start.load(Ordering::Relaxed);
            Request {
                class: arrival.class,
                arrival_ns: arrival.at_ns,
                start_ns: if start == 0 { NEVER } else { since(start) },
                completion_ns: if completion == 0 { NEVER } else { since(completion) },
            }
        };
        let in_ns = |log: &GapLog| {
            let during = log.gaps().iter().filter(|gap| gap.end > run.epoch);
            during.map(|gap| Gap { start: since(gap.start), end: since(gap.end) }).collect::<Vec<Gap>>()
        };
        let mut gaps: Vec<Gap> = run.gaps.iter().flat_map(|log| in_ns(log)).collect();
        gaps.sort_unstable_by_key(|gap| gap.start);
        let logs = run.gaps.iter().copied().chain(run.generator_gaps);
        Trace {
            contestant: run.contestant.to_owned(),
            tsc_hz: run.tsc.hz(),
            seed: run.schedule.seed,
            load: run.schedule.load,
            mix: run.schedule.mix.clone(),
            requests: self.cells.iter().zip(&run.schedule.arrivals).map(request).collect(),
            gaps,
            generator_gaps: run.generator_gaps.map(in_ns).unwrap_or_default(),
            gaps_lost: logs.map(GapLog::lost).sum(),
        }
    }
}

/// The facts about a run that is over, from which a [`Recorder`] makes its trace.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The name of the contestant.
    pub contestant: &'a str,
    /// The counter's frequency.
    pub tsc: Tsc,
    /// The counter at the run's start.
    pub epoch: u64,
    /// The requests that were to arrive.
    pub schedule: &'a Schedule,
    /// The log of the work, one a worker.
    pub gaps: &'a [&'a GapLog],
    /// The log of the generator's loop, if there is one.
    pub generator_gaps: Option<&'a GapLog>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Trace {
        Trace {
            contestant: "tokio, edited, 1 us".to_owned(),
            tsc_hz: 2.596e9,
            seed: 42,
            load: 0.4,
            mix: Mix::extreme_bimodal(),
            requests: vec![
                Request { class: 0, arrival_ns: 5, start_ns: 6, completion_ns: 506 },
                Request { class: 1, arrival_ns: 9, start_ns: NEVER, completion_ns: NEVER },
            ],
            gaps: vec![Gap { start: 100, end: 4_000 }, Gap { start: 9_000, end: 30_000 }],
            generator_gaps: vec![Gap { start: 1, end: 2 }],
            gaps_lost: 3,
        }
    }

    #[test]
    fn a_file_holds_all_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace");
        example().write(&path).unwrap();
        assert_eq!(Trace::read(&path).unwrap(), example());
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 104 + 2 * 16 + 2 * 32 + 3 * 16);
    }

    #[test]
    fn other_files_are_refused() {
        let mut bytes = Vec::new();
        example().write_to(&mut bytes).unwrap();
        for length in 0..bytes.len() {
            assert!(Trace::read_from(&mut &bytes[..length]).is_err(), "{length} bytes");
        }
        let changed = |at: usize, to: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = to;
            Trace::read_from(&mut &bytes[..]).unwrap_err().to_string()
        };
        assert!(changed(0, b'X').contains("begins otherwise"));
        assert!(changed(8, 2).contains("version"));
        assert!(changed(104 + 32, 2).contains("class that is not there"));
        // A header that promises 2^56 requests must not ask for the memory.
        assert!(changed(47, 1).contains("trace: "));
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        assert_eq!(&padded(&"é".repeat(20))[..], "é".repeat(16).as_bytes());
        assert_eq!(padded(&format!("x{}", "é".repeat(20)))[31], 0);
    }

    #[test]
    fn a_recorder_gives_what_was_recorded() {
        let schedule = Schedule::poisson(Mix::extreme_bimodal(), 0.5, 1, 3, 1);
        let (recorder, tsc) = (Recorder::new(3), Tsc::with_hz(2e9));
        let started = recorder.start(1);
        let completed = recorder.complete(1);
        recorder.start(2);
        assert!(!recorder.wait_for_all(0));
        let mut log = GapLog::new(0, 1);
        log.check(started + 20, started + 40);
        log.check(started + 50, started + 60);
        let mut early = GapLog::new(0, 9);
        early.check(1, 2);
        let (epoch, logs) = (started - 2_000, [&log]);
        let run = Run {
            contestant: "x",
            tsc,
            epoch,
            schedule: &schedule,
            gaps: &logs,
            generator_gaps: Some(&early),
        };
        let trace = recorder.trace(&run);
        let (first, second) = (trace.requests[0], trace.requests[1]);
        assert_eq!((first.start_ns, first.completion_ns, first.sojourn_ns()), (NEVER, NEVER, None));
        assert_eq!(second.start_ns, 1_000);
        assert_eq!(second.completion_ns, tsc.to_ns(completed - epoch));
        assert_eq!(
            (second.arrival_ns, second.class),
            (schedule.arrivals[1].at_ns, schedule.arrivals[1].class)
        );
        assert_eq!((trace.requests[2].completion_ns, trace.requests[2].start_ns == NEVER), (NEVER, false));
        assert_eq!(trace.gaps, [Gap { start: 1_010, end: 1_020 }]);
        assert_eq!((trace.gaps_lost, trace.generator_gaps.len()), (1, 0));
    }
}
