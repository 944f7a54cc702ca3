//! Options of reading a file, which [`crate::File::read_with`] and [`crate::File::parse_with`] take from the command line. `file` and
//! `workload` look at them while they read. Data only.

use caudal_workload::{ArrivalSpec, Arrivals, Service, ServiceSpec};

use crate::coherence::SystemHost;

/// How a file is read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Settings that win over the file's: `system.discipline.quantum=1us`. Applied in this order, before
    /// anything is checked.
    pub overrides: Vec<String>,
    /// The host that is to run the systems.
    pub host: SystemHost,
    /// Service times that were compiled already, instead of `service` of the file.
    pub service: Option<(ServiceSpec, Service)>,
    /// Arrivals that were compiled already, instead of `arrivals` of the file.
    pub arrivals: Option<(ArrivalSpec, Arrivals)>,
}

impl Default for Options {
    fn default() -> Self {
        Options { overrides: Vec::new(), host: SystemHost::Simulator, service: None, arrivals: None }
    }
}
