//! Compilation of a file of recorded graphs into a service, whose service times are the work of the graphs.
//! Compilation of a spec calls it once for a file that turns out to hold graphs. Pure.

use std::path::Path;
use std::sync::Arc;

use super::{FileSpec, Replay};
use crate::dag::Graphs;
use crate::demand::Demand;
use crate::error::WorkloadError;
use crate::input::{GraphFile, Place, Row};
use crate::service::{Finding, Leaf, Sequence, Service, Shape, Values, examine};

impl FileSpec {
    pub(super) fn compile_graphs(
        &self,
        file: GraphFile,
        path: &Path,
        findings: &mut Vec<Finding>,
    ) -> Result<Service, WorkloadError> {
        if self.scale.is_some() {
            let problem = "recorded graphs are not scaled; drop `scale`, or change the work of their tasks";
            return Err(Place(path).whole(problem));
        }
        let GraphFile { classes, requests } = file;
        let mut by_class: Vec<Vec<Row>> = vec![Vec::new(); classes.len()];
        requests.iter().for_each(|(class, total, _)| by_class[usize::from(*class)].push(*total));
        let counts: Vec<f64> = by_class.iter().map(|rows| rows.len() as f64).collect();
        let shares = self.shares(&classes, &counts, path)?;
        let mut leaves = Vec::new();
        for (class, (rows, &weight)) in by_class.iter().zip(&shares).enumerate() {
            let values = Values::new(rows.iter().map(|row| row.ps).collect());
            findings.extend(examine(&classes[class], values.sorted_ps(), rows.iter().copied()));
            leaves.push(Leaf { class: class as u8, weight, shape: Shape::Values(Arc::new(values)) });
        }
        let demand = |&(class, Row { ps: service_ps, .. }, _): &(u8, Row, _)| Demand { service_ps, class };
        let sequence = (self.replay != Replay::Off).then(|| requests.iter().map(demand).collect());
        let weight = |class: u8| shares[usize::from(class)] / counts[usize::from(class)];
        let graphs = requests.into_iter().map(|(class, _, dag)| (class, weight(class), dag)).collect();
        let service = Service::new(classes, leaves);
        let service = match sequence {
            Some(rows) => service.with_replay(self.replay, Sequence(rows)),
            None => service,
        };
        Ok(service.with_dag(Graphs::recorded_as(graphs)))
    }
}
