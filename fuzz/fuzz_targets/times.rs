//! Files with measured times. The first line of an input names the kind of file, the rest is the file: any
//! bytes give samplers that draw, or one error.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use caudal_workload::{ArrivalSpec, Demand, FileSpec, Replay, ServiceSpec, TimestampFile};
use libfuzzer_sys::fuzz_target;

/// Readers take paths: every process has a file of its own, in memory where there is such a place.
static DIR: LazyLock<PathBuf> = LazyLock::new(|| {
    let shared = Path::new("/dev/shm");
    let parent = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
    let dir = parent.join(format!("caudal-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a directory for inputs");
    dir
});

fuzz_target!(|input: &[u8]| {
    let Some(end) = input.iter().position(|&byte| byte == b'\n') else { return };
    let (kind, content) = (&input[..end], &input[end + 1..]);
    let name = match kind {
        b"csv" | b"replay" | b"timestamps" => "input.csv",
        b"hlog" => "input.hlog",
        b"hgrm" => "input.hgrm",
        _ => return,
    };
    let path = DIR.join(name);
    std::fs::write(&path, content).expect("the input is written");
    if kind == b"timestamps" { arrivals(&path) } else { service(&path, kind == b"replay") }
});

fn service(path: &Path, replay: bool) {
    let replay = if replay { Replay::Rotate } else { Replay::Off };
    let file = FileSpec { file: path.to_owned(), column: None, unit: None, replay, weights: None, scale: None };
    match ServiceSpec::File(file).compile(Path::new("")) {
        Ok(service) => {
            let mut batch = [Demand::default(); 16];
            service.sampler(1).fill(&mut batch);
            let classes = service.classes().len();
            assert!(batch.iter().all(|demand| demand.service_ps > 0 && usize::from(demand.class) < classes));
            assert!(service.mean_ps() > 0.0 && service.mean_ps().is_finite());
            for finding in service.findings() {
                assert!(!finding.to_string().is_empty());
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn arrivals(path: &Path) {
    let file = TimestampFile { file: path.to_owned(), column: None, unit: None, scale: false };
    match ArrivalSpec::File(file).compile(Path::new("")) {
        Ok(arrivals) => {
            let rate = arrivals.natural_rate();
            assert!(rate.is_none_or(|rate| rate > 0.0 && rate.is_finite()), "{rate:?}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
