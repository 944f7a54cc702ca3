//! The choice of a compiled loop for requests that fork, by the policies that a file names. The engine calls it once a run; it builds the
//! policies and starts the loop of [`super`].

use caudal_policy::parallelism::thresholds::Knowledge;
use caudal_policy::parallelism::tuner::{Purpose, Tuner};
use caudal_policy::parallelism::{
    AdmitFirst, Clairvoyant, ClassTables, DefaultTbb, Parallelism, ParallelismConfig, RetuneConfig, Serial,
    StealFirst, TailControl, TailControlConfig, ThresholdTable,
};
use caudal_workload::OfferedAt;

use super::Forks;
use super::any::AnyParallelism;
use super::retuning::{Oracle, Retuning};
use crate::engine::kernel::observe::Sink;
use crate::engine::kernel::run::{Outcome, Run};
use crate::engine::kernel::short_cuts::ShortCut;
use crate::thresholds::{TableDemand, tables};

/// Requests that fork, under the policy of the run's system.
pub(in crate::engine) fn forks<O: Sink>(run: &Run<'_>, observer: O) -> Outcome {
    if needs_more(run) || !run.short_cuts.allow(ShortCut::OwnCode) {
        return Forks::<_, _, true>::new(run, any_policy(run), observer).run();
    }
    match &run.system.parallelism {
        ParallelismConfig::Serial => plain(run, (Serial, None), observer),
        ParallelismConfig::StealFirst => plain(run, (StealFirst, None), observer),
        ParallelismConfig::AdmitFirst => plain(run, (AdmitFirst, None), observer),
        ParallelismConfig::DefaultTbb(config) => plain(run, (DefaultTbb::new(*config), None), observer),
        ParallelismConfig::TailControl(config) if config.span => {
            plain(run, tail_control::<true>(run, config), observer)
        }
        ParallelismConfig::TailControl(config) => plain(run, tail_control::<false>(run, config), observer),
        ParallelismConfig::Clairvoyant(config) => plain(run, (clairvoyant(run, config), None), observer),
    }
}

/// Do workers slice their time, or cores come and go? Other runs take code that knows nothing of it.
fn needs_more(run: &Run<'_>) -> bool {
    run.system.discipline.quantum().is_some() || run.system.allocation.triggers().is_some()
}

fn plain<P: Parallelism, O: Sink>(run: &Run<'_>, policies: (P, Option<Retuning>), observer: O) -> Outcome {
    Forks::<_, _, false>::new(run, policies, observer).run()
}

/// The policy of the run's system, as one type for all.
fn any_policy(run: &Run<'_>) -> (AnyParallelism, Option<Retuning>) {
    match &run.system.parallelism {
        ParallelismConfig::Serial => (AnyParallelism::Serial(Serial), None),
        ParallelismConfig::StealFirst => (AnyParallelism::StealFirst(StealFirst), None),
        ParallelismConfig::AdmitFirst => (AnyParallelism::AdmitFirst(AdmitFirst), None),
        ParallelismConfig::DefaultTbb(config) => (AnyParallelism::DefaultTbb(DefaultTbb::new(*config)), None),
        ParallelismConfig::TailControl(config) if config.span => {
            let (policy, retuning) = tail_control(run, config);
            (AnyParallelism::TailControlOfSpans(policy), retuning)
        }
        ParallelismConfig::TailControl(config) => {
            let (policy, retuning) = tail_control(run, config);
            (AnyParallelism::TailControl(policy), retuning)
        }
        ParallelismConfig::Clairvoyant(config) => {
            (AnyParallelism::Clairvoyant(clairvoyant(run, config)), None)
        }
    }
}

fn tail_control<const SPAN: bool>(
    run: &Run<'_>,
    config: &TailControlConfig,
) -> (TailControl<SPAN>, Option<Retuning>) {
    let tables = threshold_tables(run, config, Knowledge::Processed);
    let retuning = config.retune.map(|retune| retuning(run, config, retune));
    (TailControl::new(tables, config), retuning)
}

fn clairvoyant(run: &Run<'_>, config: &TailControlConfig) -> Clairvoyant {
    Clairvoyant::new(threshold_tables(run, config, Knowledge::Clairvoyant))
}

/// The tables of `config`, or those for its targets, the workload and the load.
fn threshold_tables(run: &Run<'_>, config: &TailControlConfig, knowledge: Knowledge) -> ClassTables {
    let work_out = || {
        let found = tables(run.service, &table_demand(run, config, knowledge));
        // With more work than cores, no table helps.
        found.map_or_else(|_| ThresholdTable::never().into(), |tables| tables.scaled(config.scale))
    };
    config.tables(run.service.classes()).unwrap_or_else(work_out)
}

/// Requests that fork, under any policy.
pub(in crate::engine) fn forks_under<P: Parallelism, O: Sink>(
    run: &Run<'_>,
    policy: P,
    observer: O,
) -> Outcome {
    if needs_more(run) {
        return Forks::<_, _, true>::new(run, (policy, None), observer).run();
    }
    plain(run, (policy, None), observer)
}

/// The load and the targets that the tables of `config` are for.
fn table_demand(run: &Run<'_>, config: &TailControlConfig, knowledge: Knowledge) -> TableDemand {
    let classes = run.service.classes();
    let targets = match config.classes.is_empty() {
        true => vec![config.target],
        false => classes.iter().map(|class| config.target_of(class)).collect(),
    };
    TableDemand { targets, mean_gap_ps: run.mean_gap_ps, work: 1.0, cores: run.system.cores, knowledge }
}

/// Thresholds of `config` that are worked out anew.
fn retuning(run: &Run<'_>, config: &TailControlConfig, retune: RetuneConfig) -> Retuning {
    let demand = table_demand(run, config, Knowledge::Processed);
    let scale = config.scale;
    if !retune.oracle {
        let span = run.service.dag().span();
        let purpose = Purpose { targets: demand.targets, cores: demand.cores, span, scale };
        return Retuning::Measured(Tuner::new(retune, purpose));
    }
    let (service, arrivals) = (run.service.clone(), run.arrivals.clone());
    let make = move |offered: OfferedAt| {
        let demand = TableDemand {
            mean_gap_ps: demand.mean_gap_ps / offered.rate,
            work: demand.work * offered.work,
            ..demand.clone()
        };
        tables(&service, &demand).ok().map(|tables| tables.scaled(scale))
    };
    Retuning::Known(Oracle {
        every_ps: retune.every.0.max(1),
        next_ps: 0,
        offered_at: Box::new(move |at_ps| arrivals.offered_at(at_ps)),
        make: Box::new(make),
        last: None,
    })
}
