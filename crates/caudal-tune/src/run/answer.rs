//! The answer of a plan, made of what its run has found: results of systems, the winner, the policy file and the sentences. `planning`
//! calls it when all steps are done. Pure.

use caudal_config::write_policy;

use super::{Entry, Run};
use crate::candidate::LeftOut;
use crate::evidence::Ranking;
use crate::explain;
use crate::judge::{LoadVerdict, ProbeContext};
use crate::plan::{Plan, Reach, SystemResult, TargetResult, Winner};
use crate::search::{Level, Search};

impl Run<'_> {
    pub(crate) fn into_plan(mut self, left_out: Vec<LeftOut>) -> Plan {
        self.settle();
        let interrupted = self.interrupted();
        let Run { context, mut entries, confirmed, .. } = self;
        // Deployable ones first where they are as good: a reference line never wins.
        entries.sort_by(|a, b| {
            let deployable = |entry: &Entry| entry.search.candidate.deployable();
            a.search.before(&b.search).then(deployable(b).cmp(&deployable(a)))
        });
        let systems: Vec<SystemResult> = entries.iter().map(|entry| entry.result(&context)).collect();
        let searches: Vec<Search> = entries.into_iter().map(|entry| entry.search).collect();
        let ranking = Ranking::of(&searches);
        let evidence =
            ranking.and_then(|ranking| ranking.evidence(context.question, &context.aims, &searches));
        let (mut headline, explanation) = explain::explain(&context, evidence.as_ref(), &systems, &searches);
        if interrupted {
            headline = format!("So far, as it was interrupted: {headline}");
        }
        let standing = explain::Standing { confirmed, interrupted };
        let summary = explain::summary(&context, evidence.as_ref(), &searches, standing);
        let winner = evidence.map(|evidence| {
            let candidate = &evidence.winner.candidate;
            let row = &evidence.probe.row;
            let system = candidate.holding(row.cores_allocated);
            let header = explain::header(&context, &headline, (&system, row.rate_per_s));
            let policy_toml = write_policy(&system, &candidate.plan.costs, &header);
            Winner { system: candidate.name().to_owned(), policy_toml, confirmed }
        });
        Plan {
            headline,
            summary,
            winner,
            explanation,
            systems,
            left_out,
            rows: searches
                .iter()
                .flat_map(|search| search.probes.values())
                .map(|probe| probe.row.clone())
                .collect(),
            budget: context.question.budget.requests,
            spent: searches.iter().map(|search| search.charged).sum(),
            simulated: searches.iter().map(|search| search.simulated).sum(),
            events: context.events.load(std::sync::atomic::Ordering::Relaxed),
            interrupted,
        }
    }
}

impl Entry {
    fn result(&self, context: &ProbeContext<'_>) -> SystemResult {
        let Entry { search, tuning, .. } = self;
        let best = search.best();
        let failed_at = search.failed().and_then(|fail| search.at(fail));
        let targets = best.map_or(Vec::new(), |probe| {
            let each = context.aims.iter().zip(&probe.estimates);
            each.map(|(aim, &estimate)| TargetResult {
                target: aim.target.to_string(),
                estimate,
                limit: aim.limit,
            })
            .collect()
        });
        SystemResult {
            system: search.candidate.name().to_owned(),
            reference_only: search.candidate.plan.reference_only(),
            dedicated_cores: search.candidate.dedicated,
            reach: Reach {
                pass: search.bracket.pass.map(|pass| search.value(pass)),
                fail: search.failed().map(|fail| search.value(fail)),
                fail_certain: failed_at.is_some_and(|probe| probe.verdict == LoadVerdict::Fail),
                confirmed: search.confirmed(),
                certain: search.certain().map(|certain| search.value(certain)),
                missed: search.missed().map(|missed| search.value(missed)),
            },
            rate_per_s: best.map(|probe| probe.row.rate_per_s),
            targets,
            efficiency: best.map(|probe| probe.row.efficiency),
            preemptions_per_request: best.map(|probe| probe.row.preemptions_per_request),
            screened_only: search.level == Level::Coarse
                && search.bracket.pass.is_some()
                && !search.confirmed(),
            untried: search.is_open(),
            budget_ended: search.exhausted,
            tuning: tuning.clone(),
            failed: search.failed.clone(),
        }
    }
}
