//! The row of results: its keys, in the order in which they are written. The simulator fills one for each point, and reports read it. A
//! new key is added here; one that goes, or means something else, raises [`VERSION`]. Data only.

use caudal_stats::{Estimate, Summary};
use serde::de::{Deserializer, Error as _};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::RowError;
use crate::read::{estimate, list, no_estimate, no_summary, number, some_summary, summary, yes};
#[cfg(feature = "schema")]
use crate::schema;

/// Version of the keys of a row and of what they mean. A key that is added leaves it as it is, for readers leave out what they do not
/// know.
pub const VERSION: u32 = 1;

/// One line of results. Times are in ns; estimates are `{"estimate", "low", "high"}`, or `null`.
///
/// A row that is written can be read back, to the last bit. A key that is not there has its default: numbers 0, which no point has as
/// its load or cores, and statistics none.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Name of the system.
    pub system: String,
    /// Name of the point within its file.
    #[serde(default)]
    pub point: String,
    /// Offered work over the capacity of the machine's cores.
    #[serde(default)]
    pub load: f64,
    /// Requests offered per second.
    #[serde(default)]
    pub rate_per_s: f64,
    /// Cores of the machine.
    #[serde(default)]
    pub cores: u32,
    /// Cores held at the start, or all the time.
    #[serde(default)]
    pub cores_allocated: u32,
    /// Cores that serve no requests, on top.
    #[serde(default)]
    pub cores_dedicated: u32,
    /// The swept keys, with their values here.
    #[serde(default)]
    pub varied: Map<String, Value>,
    /// Could somebody run this system?
    #[serde(default = "yes")]
    pub deployable: bool,
    /// Measured requests.
    #[serde(default)]
    pub requests: u64,
    /// Of those, how many never completed.
    #[serde(default)]
    pub unfinished: u64,
    /// Requests left out at the start of each replication.
    #[serde(default)]
    pub warm_up: u64,
    /// Independent replications.
    #[serde(default)]
    pub replications: usize,
    /// Did the system fall behind its load? Then its latency is `null`.
    #[serde(default)]
    pub overloaded: bool,
    /// Lanes in which cores may idle while tasks wait elsewhere, and how busy they are; overloaded from 1 on. Missing where
    /// there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<LaneRow>,
    /// Are the reported percentiles as precise as was asked? But for those of `at_gap`.
    #[serde(default)]
    pub precise: bool,
    /// Percentiles of the latency of all requests that lie at a gap: on which side a run finds them is a matter of luck,
    /// so they are not judged.
    #[serde(default)]
    pub at_gap: Vec<Gap>,
    /// The miss ratios that were asked for. Missing where there are none.
    #[serde(default, deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub misses: Vec<Miss>,
    /// Were replications long enough for the system's relaxation time, did its backlog no longer grow, and was as much work
    /// done as is offered? Never of recorded arrivals, which have no steady state.
    #[serde(default = "yes")]
    pub steady: bool,
    /// The part of recorded arrivals that was played, which the figures are about; missing where arrivals are a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// Sojourn time.
    #[serde(default = "no_summary", deserialize_with = "summary")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::summary"))]
    pub latency_ns: Summary,
    /// Sojourn over service time. Its mean has no upper end where it is infinite but for the resolution of time: all
    /// requests wait, and service times are exponential or of another density that is not 0 at 0.
    #[serde(default = "no_summary", deserialize_with = "summary")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::summary"))]
    pub slowdown: Summary,
    /// Sojourn less service time; its mean is the sum of `wait_ns`. Missing unless `wait` in `[measure]` asks for it.
    #[serde(default, deserialize_with = "some_summary", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::summary"))]
    pub waiting_ns: Option<Summary>,
    /// Mean time per request that was not service, by cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ns: Option<WaitByCause>,
    /// The same by class of requests.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::classes"))]
    pub classes: Classes,
    /// Service times without probes over core time held; in rows of a plan, dedicated cores are held too, all the time.
    #[serde(default = "no_estimate", deserialize_with = "estimate")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::estimate"))]
    pub efficiency: Estimate,
    /// Cores held, on average; dedicated ones come on top.
    #[serde(default = "no_estimate", deserialize_with = "estimate")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::estimate"))]
    pub cores_mean: Estimate,
    /// Shares of the core time held, as in `efficiency`, that went to something else than work.
    #[serde(default)]
    pub overheads: Overheads,
    /// Preemptions per request.
    #[serde(default = "no_estimate", deserialize_with = "estimate")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::estimate"))]
    pub preemptions_per_request: Estimate,
    /// Steals per request.
    #[serde(default = "no_estimate", deserialize_with = "estimate")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::estimate"))]
    pub steals_per_request: Estimate,
    /// Share of arrivals that found no spare core (per-task allocation).
    #[serde(default = "no_estimate", deserialize_with = "estimate")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::estimate"))]
    pub grants_refused_share: Estimate,
    /// Requests that fork and were given up: nobody helped them any more. Missing where none can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up: Option<GivenUp>,
    /// Seed of the experiment.
    #[serde(default)]
    pub seed: u64,
    /// Time that it took.
    #[serde(default)]
    pub wall_s: f64,
}

/// A part of the work of each request that some servers share, and that none helps from elsewhere: a lane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneRow {
    /// The lane, from 0; of SQD-SITA: this one and all above it.
    pub lane: u32,
    /// Most servers that it can have.
    pub servers: u32,
    /// Work that arrives for them over what they can do, with the overheads that no request can do without; from 1 on there
    /// is no steady state. On hardware contexts, at least this.
    pub busy: f64,
    /// Share of all requests that come here.
    pub share: f64,
}

/// The part of recorded arrivals that was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recorded {
    /// Arrivals in the file.
    pub arrivals: u64,
    /// The first ones, which every replication played and did not measure: those of a `warm-up` that was given.
    pub left_out: u64,
    /// The arrivals after them, which every replication measured.
    pub measured: u64,
}

impl Recorded {
    /// Was every arrival played?
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.left_out.checked_add(self.measured) == Some(self.arrivals)
    }
}

/// Requests that tail-control gave up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GivenUp {
    /// Share of all requests.
    #[serde(deserialize_with = "estimate")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::estimate"))]
    pub share: Estimate,
    /// Their mean latency; `null` if there were none.
    #[serde(deserialize_with = "estimate")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::estimate"))]
    pub mean_ns: Estimate,
}

/// A target latency with the share of requests that miss it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Miss {
    /// The target latency.
    pub late_ns: f64,
    /// The share of requests that take longer; `null` in overload.
    #[serde(deserialize_with = "estimate")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::estimate"))]
    pub ratio: Estimate,
}

/// A percentile around which there are hardly any values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gap {
    /// The percentile, 0 to 100.
    pub percentile: f64,
    /// The value below the gap.
    pub low_ns: f64,
    /// The value above it.
    pub high_ns: f64,
}

/// Mean time per request that was not service, in ns, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct WaitByCause {
    /// From arrival to first service.
    #[serde(deserialize_with = "number")]
    pub queued: f64,
    /// Of that, while workers of the pool ran requests longer than the mean; `null` under preemption. Of whoever waits
    /// in the time in which the measured requests arrive: where few wait very long, the part is a rough one.
    pub behind_long: Option<f64>,
    /// Between first service and completion, waiting for the next slice.
    #[serde(deserialize_with = "number")]
    pub preempted: f64,
    /// On a core that did something for the scheduler.
    #[serde(deserialize_with = "number")]
    pub overhead: f64,
    /// Of requests that fork, between admission and completion: longer than they would have taken alone on all cores, which
    /// is their work over the cores, or their span. Left out where requests are done by one core each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fewer_cores: Option<f64>,
    /// Extra work of probes; of requests that fork, what they take longer for it alone on all cores.
    #[serde(deserialize_with = "number")]
    pub probes: f64,
}

/// Statistics by class, in the order of the service's classes.
#[derive(Clone, Debug, Default)]
pub struct Classes(pub Vec<(String, ClassRow)>);

/// Statistics of one class.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClassRow {
    /// Measured requests that completed.
    #[serde(default)]
    pub requests: u64,
    /// Sojourn time.
    #[serde(default = "no_summary", deserialize_with = "summary")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::summary"))]
    pub latency_ns: Summary,
    /// Sojourn over service time.
    #[serde(default = "no_summary", deserialize_with = "summary")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::summary"))]
    pub slowdown: Summary,
    /// Sojourn less service time. Missing unless `wait` in `[measure]` asks for it.
    #[serde(default, deserialize_with = "some_summary", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::summary"))]
    pub waiting_ns: Option<Summary>,
    /// The miss ratios that were asked for. Missing where there are none.
    #[serde(default, deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub misses: Vec<Miss>,
    /// Mean time per request that was not service, by cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ns: Option<WaitByCause>,
}

/// Shares of the core time held, 0 to 1; with the efficiency they make 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Overheads {
    /// Extra work of probes.
    pub probes: f64,
    /// Looking for tasks to steal.
    pub looking: f64,
    /// Moving stolen and shed tasks.
    pub moving: f64,
    /// Placing requests at other cores.
    pub placing: f64,
    /// Switching from one task to the next, beginning and finishing requests included.
    pub switching: f64,
    /// Taken away by the machine; only where `costs.stalls` says that it takes cores away.
    #[serde(skip_serializing_if = "is_zero")]
    pub stalled: f64,
    /// Waiting for granted cores to come.
    pub allocating: f64,
    /// Nothing to do.
    pub idle: f64,
    /// On dedicated cores; 0 but in rows of a plan.
    pub dedicated: f64,
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

impl WaitByCause {
    /// The causes that are known, by their keys, in ns and in the order in which they are written. `behind_long` is a part of `queued`.
    pub fn known(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let WaitByCause { queued, behind_long, preempted, overhead, fewer_cores, probes } = *self;
        let all = [
            ("queued", Some(queued)),
            ("behind_long", behind_long),
            ("preempted", Some(preempted)),
            ("overhead", Some(overhead)),
            ("fewer_cores", fewer_cores),
            ("probes", Some(probes)),
        ];
        all.into_iter().filter_map(|(cause, ns)| Some((cause, ns.filter(|ns| ns.is_finite())?)))
    }
}

impl Classes {
    /// The statistics of the class called `name`, if the row has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ClassRow> {
        self.0.iter().find(|(class, _)| class == name).map(|(_, row)| row)
    }

    /// The names of the classes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

impl Serialize for Classes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, class) in &self.0 {
            map.serialize_entry(name, class)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Classes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Classes, D::Error> {
        let classes = Map::deserialize(deserializer)?.into_iter();
        let class = |(name, class)| Ok((name, serde_json::from_value(class).map_err(D::Error::custom)?));
        classes.map(class).collect::<Result<_, _>>().map(Classes)
    }
}

impl Row {
    /// Reads rows from text with one JSON object a line; empty lines are skipped.
    ///
    /// # Errors
    /// [`RowError`] with the line (from 1) that is not a row.
    pub fn from_lines(text: &str) -> Result<Vec<Row>, RowError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(at, line)| serde_json::from_str(line).map_err(|source| RowError { line: at + 1, source }))
            .collect()
    }

    /// The row as a line of JSON, without its end.
    ///
    /// # Panics
    /// Never: all keys are text, and numbers that JSON does not have are written as `null`.
    #[must_use]
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("a row has nothing that JSON can not hold")
    }

    /// Do the figures hold for what they are about: the steady state, or all that was recorded of arrivals? Else they are
    /// lower bounds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.steady || self.recorded.is_some_and(|recorded| recorded.is_whole() && !self.overloaded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_an_older_version_is_read_and_has_the_defaults() {
        let line = r#"{"system":"go","latency_ns":null,"slowdown":{"p99":null,"mean":{"estimate":null,"low":null,"high":null}},
            "overloaded":true,"misses":null,"wait_ns":null,"efficiency":null,"novel":[1]}"#;
        let row: Row = serde_json::from_str(line).unwrap();
        assert!(row.overloaded && row.deployable && row.steady);
        assert!(row.efficiency.is_missing() && row.slowdown.mean.is_missing());
        assert!(row.latency_ns.percentiles.is_empty() && row.wait_ns.is_none());
    }

    #[test]
    fn a_line_is_read_and_written_as_it_came() {
        let line = r#"{"system":"go","point":"go/load=0.5","load":0.5,"rate_per_s":1000000.0,"cores":2,"cores_allocated":2,"cores_dedicated":0,"varied":{"load":0.5},"deployable":true,"requests":10,"unfinished":0,"warm_up":1,"replications":12,"overloaded":false,"lanes":[{"lane":1,"servers":2,"busy":0.5,"share":0.25}],"precise":true,"at_gap":[{"percentile":99.0,"low_ns":1.0,"high_ns":9.0}],"misses":[{"late_ns":25000000.0,"ratio":{"estimate":0.01,"low":0.008,"high":null}},{"late_ns":4020.0,"ratio":null}],"steady":false,"recorded":{"arrivals":9,"left_out":0,"measured":9},"latency_ns":{"mean":{"estimate":2.0,"low":1.5,"high":3.0},"p99":{"estimate":2.0,"low":1.5,"high":null},"max":9.0},"slowdown":{"mean":null,"p99":null,"max":null},"wait_ns":{"queued":1.0,"behind_long":null,"preempted":0.0,"overhead":0.0,"probes":0.0},"classes":{"get":{"requests":10,"latency_ns":{"mean":null,"max":null},"slowdown":{"mean":null,"max":null},"wait_ns":{"queued":1.0,"behind_long":0.5,"preempted":0.0,"overhead":0.0,"fewer_cores":2.0,"probes":0.0}}},"efficiency":null,"cores_mean":{"estimate":2.0,"low":2.0,"high":2.0},"overheads":{"probes":0.0,"looking":0.0,"moving":0.0,"placing":0.0,"switching":0.0,"allocating":0.0,"idle":1.0,"dedicated":0.0},"preemptions_per_request":null,"steals_per_request":null,"grants_refused_share":null,"given_up":{"share":{"estimate":0.1,"low":0.05,"high":0.2},"mean_ns":null},"seed":18446744073709551615,"wall_s":0.1}"#;
        let rows = Row::from_lines(&format!("{line}\n\n{line}\n")).unwrap();
        assert_eq!(rows.iter().map(Row::to_line).collect::<Vec<_>>(), [line, line]);
        assert!(rows[0].holds(), "all that was recorded was played");
    }

    #[test]
    fn the_line_of_a_broken_row_is_named() {
        let error = Row::from_lines("{\"system\":\"go\"}\n\n{\"load\":0.5}\n").unwrap_err();
        assert_eq!(error.line, 3);
        assert!(error.to_string().contains("line 3"), "{error}");
    }
}
