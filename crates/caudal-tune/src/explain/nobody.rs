//! The explanation where no deployable system passes.
//! The explanation of a plan calls it when the search has ended, for the sentences that apply. Pure.

use super::limits::limits;
use super::words::{called, place, results, targets};
use crate::judge::ProbeContext;
use crate::search::Search;
use crate::show::digits;

/// No deployable system passes: which comes closest?
pub(super) fn nobody(context: &ProbeContext<'_>, searches: &[Search]) -> (String, Vec<String>) {
    let question = context.question;
    let (targets, machine) = (targets(question), question.machine);
    let open = |search: &&Search| search.probes.is_empty() || search.exhausted;
    let interrupted = context.stop.load(std::sync::atomic::Ordering::Relaxed);
    let untried = searches.iter().filter(|search| search.candidate.deployable()).filter(open).count();
    let headline = match (interrupted, untried) {
        (false, 0) => format!("No deployable system meets {targets} on {machine}."),
        (true, _) => format!("No deployable system has been shown to meet {targets} on {machine}."),
        (false, _) => format!(
            "Nothing was shown within the budget: no deployable system is known to meet {targets} on {machine}, but \
             {untried} of them could not be tried to the end."
        ),
    };
    let deployable = searches.iter().filter(|search| search.candidate.deployable());
    let easiest = deployable.filter_map(|search| Some((search, search.probes.values().next()?)));
    let alive = easiest.filter(|(_, probe)| probe.score.is_finite());
    let nearest = alive.min_by(|a, b| a.1.score.total_cmp(&b.1.score));
    let Some((search, probe)) = nearest else {
        if interrupted || untried > 0 {
            return (headline, vec!["A larger budget tells more.".to_owned()]);
        }
        return (headline, vec!["Each of them falls behind at every load that was tried.".to_owned()]);
    };
    let found: Vec<String> = results(&context.aims, probe);
    let text = format!(
        "The nearest is {}: at {} its {}, {} times the limit.",
        called(&search.candidate),
        place(question, probe, search),
        found.join(", "),
        digits(probe.score),
    );
    let why = limits(&search.candidate.plan.costs, &context.aims);
    (headline, std::iter::once(text).chain(why).collect())
}
