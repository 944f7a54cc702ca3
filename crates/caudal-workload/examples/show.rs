//! Prints a workload as `caudal workload show` does: `cargo run --example show -- rocksdb-0.5`.

use caudal_workload::show::Shown;

fn main() -> Result<(), caudal_workload::WorkloadError> {
    for text in std::env::args().skip(1) {
        println!("{}", Shown::open(&text)?.text(100));
    }
    Ok(())
}
