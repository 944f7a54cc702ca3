//! The evidence of an explanation: the winner, and the other systems at its load. The run of a plan collects it when its steps are done,
//! and the sentences of `explain` are made of it. Data, and the order of the systems.

use crate::Question;
use crate::aims::Aim;
use crate::candidate::Candidate;
use crate::judge::Probe;
use crate::search::Search;

/// A system next to the winner.
#[derive(Clone, Copy)]
pub(crate) struct Rival<'a> {
    pub(crate) search: &'a Search,
    /// Its results at the winner's highest load, if they were simulated.
    pub(crate) there: Option<&'a Probe>,
}

/// The winner and the systems with which it is compared.
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
    /// Deployable systems that the search does not tell apart from the winner.
    pub(crate) ties: Vec<&'a Search>,
    /// Systems that the search does not tell apart from the one of the other kind.
    pub(crate) contrast_ties: Vec<&'a Search>,
    /// Systems of the other kind that may get further than that one, and of which nothing was confirmed.
    pub(crate) contrast_unknown: Vec<&'a Search>,
    /// Deployable systems of which it is not known that they do not get further than the winner.
    pub(crate) unknown: Vec<&'a Search>,
    /// Where requests fork: all deployable systems that let them, and the best of those that do not.
    pub(crate) parallel: Vec<Rival<'a>>,
    /// The best reference line.
    pub(crate) reference: Option<&'a Search>,
}

/// The least part of the best system's load that a system must be confirmed to carry to tie with it, if the search does not tell the two
/// apart. Brackets are about half as wide.
const TIE_FROM: f64 = 0.975;

/// The winner and the systems next to it: indices into a slice of searches.
#[derive(Clone, Debug)]
pub(crate) struct Ranking {
    pub(crate) winner: usize,
    /// The system that is confirmed to get furthest. The winner may be a simpler system that ties with it.
    pub(crate) furthest: usize,
    pub(crate) runner_up: Option<usize>,
    pub(crate) contrast: Option<usize>,
    pub(crate) reference: Option<usize>,
    /// See [`Evidence::parallel`].
    pub(crate) parallel: Vec<usize>,
    ties: Vec<usize>,
    contrast_ties: Vec<usize>,
}

/// The best of some systems.
struct BestSystems {
    /// The simplest of the systems that tie.
    simplest: usize,
    furthest: usize,
    /// The other systems that tie.
    ties: Vec<usize>,
}

impl BestSystems {
    /// Of those that fit: the system that is confirmed to get furthest, and the systems that tie with it.
    fn of(searches: &[Search], fits: impl Fn(&Candidate) -> bool) -> Option<BestSystems> {
        let mut order: Vec<usize> =
            (0..searches.len()).filter(|&index| fits(&searches[index].candidate)).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (&searches[a], &searches[b]);
            b.sure_merit().total_cmp(&a.sure_merit()).then(a.before(b))
        });
        let furthest = *order.first()?;
        let best = &searches[furthest];
        let ties = |index: &usize| {
            let other = &searches[*index];
            let near = other.confirmed() && other.sure_merit() >= TIE_FROM * best.sure_merit();
            *index == furthest || near && !best.is_told_apart_from(other)
        };
        let mut ties: Vec<usize> = order.into_iter().filter(ties).collect();
        // Stable: of equally simple ones, the one that gets furthest.
        let simplest = *ties.iter().min_by_key(|&&index| searches[index].candidate.mechanisms())?;
        ties.retain(|&index| index != simplest);
        Some(BestSystems { simplest, furthest, ties })
    }
}

impl Ranking {
    /// The order of the deployable systems, if one of them passes anywhere.
    pub(crate) fn of(searches: &[Search]) -> Option<Ranking> {
        let BestSystems { simplest: winner, furthest, ties } =
            BestSystems::of(searches, Candidate::deployable)?;
        searches[winner].best()?;
        let won = searches[winner].candidate.clone();
        let other = |candidate: &Candidate| candidate.deployable() && candidate.name() != won.name();
        let contrast =
            BestSystems::of(searches, |candidate| other(candidate) && candidate.preempts() != won.preempts());
        let reference = (0..searches.len())
            .filter(|&index| !searches[index].candidate.deployable())
            .min_by(|&a, &b| searches[a].before(&searches[b]));
        let deployable = |index: &usize| searches[*index].candidate.deployable();
        let mut parallel: Vec<usize> = (0..searches.len()).filter(deployable).collect();
        parallel.retain(|&index| searches[index].candidate.forks());
        if !parallel.is_empty() {
            let serial = |candidate: &Candidate| candidate.deployable() && !candidate.forks();
            parallel.extend(BestSystems::of(searches, serial).map(|best| best.furthest));
        }
        Some(Ranking {
            winner,
            furthest,
            parallel,
            runner_up: BestSystems::of(searches, other).map(|best| best.furthest),
            contrast: contrast.as_ref().map(|best| best.simplest),
            reference,
            ties,
            contrast_ties: contrast.map_or(Vec::new(), |best| best.ties),
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
        let all = |indices: &[usize]| indices.iter().map(|&index| &searches[index]).collect();
        let reference =
            self.reference.map(|index| &searches[index]).filter(|search| search.bracket.pass.is_some());
        let unknown = (0..searches.len()).filter(|index| {
            let search = &searches[*index];
            *index != self.winner
                && search.candidate.deployable()
                && !self.ties.contains(index)
                && !winner.is_told_apart_from(search)
        });
        let open_of_kind = |index: &usize| {
            let search = &searches[*index];
            let candidate = &search.candidate;
            let kind = candidate.deployable() && candidate.preempts() != winner.candidate.preempts();
            kind && search.certain().is_none()
                && self.contrast.is_some_and(|it| it != *index && !searches[it].is_told_apart_from(search))
        };
        let contrast_unknown: Vec<usize> = (0..searches.len()).filter(open_of_kind).collect();
        Some(Evidence {
            question,
            aims,
            winner,
            probe,
            runner_up: self.runner_up.map(rival),
            contrast: self.contrast.map(rival),
            ties: all(&self.ties),
            contrast_ties: all(&self.contrast_ties),
            contrast_unknown: all(&contrast_unknown),
            unknown: all(&unknown.collect::<Vec<_>>()),
            parallel: self.parallel.iter().map(|&index| rival(index)).collect(),
            reference,
        })
    }
}
