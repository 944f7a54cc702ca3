//! One simulated point as results hold it: a typed row, with its schema and version. The simulator fills rows; the command, the tuner
//! and reports read them, also those of older versions from a results directory.
//!
//! A row is JSON in files and pipes only: [`Row::from_lines`] reads it there and [`Row::to_line`] writes it. In between it is this type,
//! and nobody asks it by key.
//!
//! * [`Row`]: the keys of a row. `docs/reference/output.md` is made from their documentation, [`schema()`] describes them to other
//!   programs.
//! * [`Stat`]: one number of a row with its interval, chosen by [`RowMetric`] and name, as charts and tables show it.
//!
//! ```
//! let text = r#"{"system":"go","load":0.5,"latency_ns":{"mean":null,"p99":{"estimate":2.0,"low":1.5,"high":null},"max":9.0}}"#;
//! let row = caudal_row::Row::from_lines(text)?.remove(0);
//! let p99 = row.stat(None, caudal_row::RowMetric::Latency, "p99").expect("the row has it");
//! assert_eq!((p99.estimate, p99.interval), (2.0, Some((1.5, f64::INFINITY))));
//! # Ok::<(), caudal_row::RowError>(())
//! ```

mod error;
mod read;
mod row;
#[cfg(feature = "schema")]
mod schema;
mod stat;

pub use error::RowError;
pub use row::{
    ClassRow, Classes, Gap, GivenUp, LaneRow, Miss, Overheads, Recorded, Row, VERSION, WaitByCause,
};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use stat::{RowMetric, Stat, miss_name};
