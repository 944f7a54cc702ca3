//! Files with measured times. The first line of an input names the kind of file, the rest is the file: any
//! bytes give samplers that draw, or one error.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use caudal_workload::{
    ArrivalSpec, Columns, Demand, FileSpec, Replay, ServiceSpec, TimestampColumns, TimestampFile, Unit,
};
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
        b"csv" | b"replay" | b"timestamps" | b"text" | b"commas" | b"counts" => "input",
        b"hlog" => "input.hlog",
        b"hgrm" => "input.hgrm",
        _ => return,
    };
    let path = DIR.join(name);
    std::fs::write(&path, content).expect("the input is written");
    match kind {
        b"timestamps" => arrivals(&path),
        b"replay" => service(&path, Columns::default(), Replay::Rotate),
        // Readers that know the unit go on where others ask for it.
        b"text" => service(&path, Columns { unit: Some(Unit::Us), ..Columns::default() }, Replay::Off),
        b"counts" => {
            let columns =
                Columns { count_column: Some("1".into()), unit: Some(Unit::Ms), ..Columns::default() };
            service(&path, columns, Replay::Off);
        }
        b"commas" => {
            let columns = Columns { decimal: Some(','), unit: Some(Unit::Ms), ..Columns::default() };
            service(&path, columns, Replay::Off);
        }
        _ => service(&path, Columns::default(), Replay::Off),
    }
});

fn service(path: &Path, columns: Columns, replay: Replay) {
    let file = FileSpec { columns, replay, ..FileSpec::new(path) };
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
    let file = TimestampFile { file: path.to_owned(), columns: TimestampColumns::default(), scale: false };
    match ArrivalSpec::File(file).compile(Path::new("")) {
        Ok(arrivals) => {
            let rate = arrivals.natural_rate();
            assert!(rate.is_none_or(|rate| rate > 0.0 && rate.is_finite()), "{rate:?}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
