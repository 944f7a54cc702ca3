//! Files and texts as a user reads them, and what came of it: shared by the tests of everything that reads measured times.

use std::path::{Path, PathBuf};

use caudal_workload::{AskKey, Columns, FileSpec, Service, ServiceSpec, Unit, WorkloadError};

/// The path of a file of `tests/inputs`.
pub(crate) fn path_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs").join(name)
}

/// A file of `tests/inputs`, read with these columns.
pub(crate) fn read_file(name: &str, columns: Columns) -> Result<Service, WorkloadError> {
    ServiceSpec::File(FileSpec { columns, ..FileSpec::new(path_of(name)) }).compile(Path::new(""))
}

/// A file with this text, read with these columns.
pub(crate) fn read_with(text: &str, columns: Columns) -> Result<Service, WorkloadError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.txt");
    std::fs::write(&path, text).unwrap();
    ServiceSpec::File(FileSpec { columns, ..FileSpec::new(path) }).compile(Path::new(""))
}

/// A file with this text, of which nothing else is said.
pub(crate) fn try_read(text: &str) -> Result<Service, WorkloadError> {
    read_with(text, Columns::default())
}

/// The service that a text describes without a question.
pub(crate) fn read(text: &str) -> Service {
    try_read(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The service that a text describes if its times are in `unit`.
pub(crate) fn in_unit(text: &str, unit: Unit) -> Service {
    read_with(text, Columns { unit: Some(unit), ..Columns::default() })
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Columns of which only the rows are meant for which `condition` holds.
pub(crate) fn only(condition: &str) -> Columns {
    Columns { filter: vec![condition.to_owned()], ..Columns::default() }
}

/// Columns of which the one with this name holds the times.
pub(crate) fn column(name: &str) -> Columns {
    Columns { column: Some(name.to_owned()), ..Columns::default() }
}

/// The mean in microseconds, to the nanosecond.
pub(crate) fn mean_us(service: &Service) -> f64 {
    (service.mean_ps() / 1e3).round() / 1e3
}

/// The mean in milliseconds, to the microsecond.
pub(crate) fn mean_ms(service: &Service) -> f64 {
    (service.mean_ps() / 1e6).round() / 1e3
}

/// All findings of a service, a line each.
pub(crate) fn notes(service: &Service) -> String {
    service.findings().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// The question that a reading ended with: its key, and the values of the answers.
pub(crate) fn asked(read: Result<Service, WorkloadError>) -> (AskKey, Vec<String>) {
    match read {
        Err(WorkloadError::Ask(ask)) => {
            (ask.key, ask.answers.iter().map(|answer| answer.value.clone()).collect())
        }
        Err(error) => panic!("{error}"),
        Ok(service) => panic!("{:?}", service.taken()),
    }
}

/// The error that a reading ended with, which is no question.
pub(crate) fn refused(read: Result<Service, WorkloadError>) -> String {
    match read {
        Err(WorkloadError::Ask(ask)) => panic!("{ask}"),
        Err(error) => error.to_string(),
        Ok(service) => panic!("{:?}", service.taken()),
    }
}

/// What is said of a text that cannot be read as it is, be it an error or a question.
pub(crate) fn refusal(text: &str) -> String {
    try_read(text).expect_err("it is refused").to_string()
}
