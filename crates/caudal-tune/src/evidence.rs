//! What the explanation rests on: the winner, and the others at its load.

use crate::Question;
use crate::candidate::Candidate;
use crate::judge::{Aim, Probe};
use crate::search::Search;

/// A system next to the winner.
#[derive(Clone, Copy)]
pub(crate) struct Rival<'a> {
    pub(crate) search: &'a Search,
    /// How it does where the winner is at its limit, if that was simulated.
    pub(crate) there: Option<&'a Probe>,
}

/// The winner and those that it is held against.
pub(crate) struct Evidence<'a> {
    pub(crate) question: &'a Question,
    pub(crate) aims: &'a [Aim],
    pub(crate) winner: &'a Search,
    /// The winner at its limit.
    pub(crate) probe: &'a Probe,
    /// The next best that could be deployed.
    pub(crate) runner_up: Option<Rival<'a>>,
    /// The best deployable of the other kind: that runs requests to completion, or that does not.
    pub(crate) contrast: Option<Rival<'a>>,
    /// The best reference line.
    pub(crate) reference: Option<&'a Search>,
}

/// Who wins, and who is next to it: indices into a slice of searches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Podium {
    pub(crate) winner: usize,
    pub(crate) runner_up: Option<usize>,
    pub(crate) contrast: Option<usize>,
    pub(crate) reference: Option<usize>,
}

impl Podium {
    /// The order of the deployable systems, if one of them passes anywhere.
    pub(crate) fn of(searches: &[Search]) -> Option<Podium> {
        let best = |fits: &dyn Fn(&Candidate) -> bool| {
            let fitting = searches.iter().enumerate().filter(|(_, search)| fits(&search.candidate));
            fitting.min_by(|a, b| a.1.before(b.1)).map(|(index, _)| index)
        };
        let winner = best(&Candidate::deployable)?;
        searches[winner].best()?;
        let won = searches[winner].candidate.clone();
        let other = |candidate: &Candidate| candidate.deployable() && candidate.name() != won.name();
        Some(Podium {
            winner,
            runner_up: best(&other),
            contrast: best(&|candidate| other(candidate) && candidate.preempts() != won.preempts()),
            reference: best(&|candidate| !candidate.deployable()),
        })
    }

    pub(crate) fn evidence<'a>(
        &self,
        question: &'a Question,
        aims: &'a [Aim],
        searches: &'a [Search],
    ) -> Option<Evidence<'a>> {
        let winner = &searches[self.winner];
        let probe = winner.best()?;
        let cores = winner.total_cores(winner.bracket.pass?);
        let rival = |index: usize| {
            let search = &searches[index];
            Rival { search, there: search.at(search.hardness_of(probe.spot, cores)) }
        };
        let reference =
            self.reference.map(|index| &searches[index]).filter(|search| search.bracket.pass.is_some());
        Some(Evidence {
            question,
            aims,
            winner,
            probe,
            runner_up: self.runner_up.map(rival),
            contrast: self.contrast.map(rival),
            reference,
        })
    }
}
