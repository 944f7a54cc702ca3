//! What a user of the crate sees: moments, streams, files, specs, and what is shown.

mod arrays;
mod arrivals;
mod dataframes;
mod documents;
mod files;
mod graphs;
mod histograms;
mod inputs;
mod lines;
mod logs;
mod moments;
mod reading;
mod refusals;
mod shown;
mod specs;
mod summaries;
mod tables;
mod tools;
mod traces;
mod units;

use std::path::Path;

use caudal_workload::{Demand, Service, ServiceSpec, WorkloadError};

/// The spec that a file with `service = <text>` holds.
fn spec(text: &str) -> ServiceSpec {
    #[derive(serde::Deserialize)]
    struct Workload {
        service: ServiceSpec,
    }
    let workload: Workload =
        toml::from_str(&format!("service = {text}")).unwrap_or_else(|e| panic!("{text}: {e}"));
    workload.service
}

fn try_service(text: &str) -> Result<Service, WorkloadError> {
    spec(text).compile(Path::new("."))
}

fn service(text: &str) -> Service {
    try_service(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn draws(service: &Service, seed: u64, count: usize) -> Vec<Demand> {
    let mut out = vec![Demand::default(); count];
    service.sampler(seed).fill(&mut out);
    out
}
