//! Sentences on the other systems, at the winner's load and at their own.
//! The explanation of a plan calls it when the search has ended, for the sentences that apply. Pure.

use caudal_stats::Estimate;

use super::words::{called, cores, names, parts, place};
use crate::aims::{Aim, estimate, statistic, value};
use crate::evidence::{Evidence, Rival};
use crate::judge::{LoadVerdict, Probe};
use crate::search::Search;
use crate::show::{digits, percent, time};
use crate::{Goal, Machine};

impl Evidence<'_> {
    /// The best system that does what the winner does not: preempt, or run to completion.
    pub(super) fn other_kind(&self, rival: Rival<'_>) -> String {
        let preempts = self.winner.candidate.preempts();
        let (name, reach) = (called(&rival.search.candidate), self.reach(rival.search));
        let tied = names(&self.contrast_ties)
            .map_or(String::new(), |names| format!(" ({names} can not be told apart from it)"));
        let unknown = names(&self.contrast_unknown)
            .map_or(String::new(), |names| format!(", as far as is known: nothing was confirmed of {names}"));
        let kind = if preempts { "run every request to completion" } else { "interrupt requests" };
        let opening = format!(
            "Of the deployable systems that {kind}, the best is {name}: it reaches {reach}{tied}{unknown}"
        );
        let Some(there) = rival.there else { return format!("{opening}.") };
        if there.row.overloaded {
            return format!("{opening}; at {} it falls behind.{}", self.place(), self.burden(rival));
        }
        let tail = self.tail_of(rival, there);
        if preempts && there.row.holds() {
            format!("{opening}. {}{tail}", self.behind(there))
        } else {
            format!("{opening}.{}{tail}", self.burden(rival))
        }
    }

    /// How a rival does at the winner's place, as a sentence. A run that was too short says nothing of that, unless it
    /// misses nevertheless; then the nearest certain miss is said.
    fn tail_of(&self, rival: Rival<'_>, there: &Probe) -> String {
        if there.row.holds() || there.verdict == LoadVerdict::Fail {
            return self.tail_at(rival.search, there);
        }
        match rival.search.missed().and_then(|missed| rival.search.at(missed)) {
            Some(miss) => self.tail_at(rival.search, miss),
            None => format!(" Whether it gets to {} is not known: that takes longer runs.", self.place()),
        }
    }

    /// The statistic that is furthest beyond its limit, or nearest to it, at a place where something is known.
    fn tail_at(&self, search: &Search, probe: &Probe) -> String {
        let place = place(self.question, probe, search);
        if probe.row.overloaded {
            return format!(" At {place} it falls behind.");
        }
        let missed = |(aim, found): &(&Aim, &Estimate)| found.low >= aim.limit;
        let ratio = |(aim, found): &(&Aim, &Estimate)| found.estimate / aim.limit;
        let worst = self
            .aims
            .iter()
            .zip(&probe.estimates)
            .max_by(|a, b| missed(a).cmp(&missed(b)).then(ratio(a).total_cmp(&ratio(b))));
        let Some((aim, found)) = worst else { return String::new() };
        // What is still filling up will be longer.
        let (is, times) = match probe.row.holds() {
            true => (estimate(aim, found), found.estimate),
            false => (format!("at least {}", value(aim, found.low)), found.low),
        };
        format!(" At {place} its {} is {is}, {} times the limit.", statistic(aim), digits(times / aim.limit))
    }

    /// Waiting behind long requests in a system that runs to completion, against the winner's waiting.
    fn behind(&self, there: &Probe) -> String {
        let (theirs, ours) = (self.waits(&there.row), self.waits(&self.probe.row));
        let class = self.class_name();
        let behind = match theirs.behind_long.filter(|_| theirs.queued > 0.0) {
            Some(behind_ns) => format!(
                ", {} of it ({}) while cores run requests longer than the mean",
                time(behind_ns),
                percent(behind_ns / theirs.queued),
            ),
            None => String::new(),
        };
        format!(
            "At {} a {class} waits {} on average for its first time slice{behind}; under {} it waits {}, and {} \
             between slices.",
            self.place(),
            time(theirs.queued),
            self.winner.candidate.name(),
            time(ours.queued),
            time(ours.preempted),
        )
    }

    /// A sentence on what preemption costs a system for which it does not pay.
    fn burden(&self, rival: Rival<'_>) -> String {
        let row = rival.search.best().map(|probe| &probe.row).or(rival.there.map(|probe| &probe.row));
        let parts = row.map_or(Vec::new(), |row| parts(row, &rival.search.candidate));
        if parts.is_empty() {
            String::new()
        } else {
            format!(" Where it is at its limit, {}.", parts.join(", "))
        }
    }

    pub(super) fn runner_up(&self, rival: Rival<'_>) -> String {
        let (name, reach) = (called(&rival.search.candidate), self.reach(rival.search));
        let (ours, theirs) = (self.winner.sure_merit(), rival.search.sure_merit());
        let opening = match (self.winner.is_told_apart_from(rival.search), theirs > 0.0) {
            (true, true) => {
                format!("The runner-up, {name}, reaches {reach}, {} less", percent(1.0 - theirs / ours))
            }
            (false, true) if !rival.search.is_closed() => {
                format!(
                    "The runner-up, {name}, is confirmed to reach {reach}, and whether it gets further is not known"
                )
            }
            (false, true) => {
                format!(
                    "The runner-up, {name}, reaches {reach}: the difference is smaller than this search can tell apart"
                )
            }
            (_, false) => format!("The runner-up, {name}, reaches {reach}"),
        };
        let Some(there) = rival.there else { return format!("{opening}.") };
        if there.verdict == LoadVerdict::Pass {
            return format!("{opening}.");
        }
        if there.row.overloaded {
            let (more, burden) = (self.dedicated(rival), self.burden(rival));
            return format!("{opening}; at {} it falls behind{more}.{burden}", self.place());
        }
        // What is still filling up is no match for what is not.
        let difference = if there.row.holds() { self.difference(there) } else { String::new() };
        format!("{opening}.{}{difference}", self.tail_of(rival, there))
    }

    /// The cause of waiting that sets a rival most apart from the winner.
    fn difference(&self, there: &Probe) -> String {
        let (theirs, ours) = (self.waits(&there.row), self.waits(&self.probe.row));
        let causes = [
            ("waiting for its first time slice", theirs.queued, ours.queued),
            ("waiting between slices", theirs.preempted, ours.preempted),
            ("on a core that does something for the scheduler", theirs.overhead, ours.overhead),
            (
                "running on fewer cores than there are",
                theirs.fewer_cores.unwrap_or(0.0),
                ours.fewer_cores.unwrap_or(0.0),
            ),
            ("on probes", theirs.probes, ours.probes),
        ];
        let widest = causes.iter().max_by(|a, b| (a.1 - a.2).total_cmp(&(b.1 - b.2)));
        match widest {
            Some((cause, theirs, ours)) if theirs - ours > 1.0 => format!(
                " A {} spends {} {cause}, under {} {}.",
                self.class_name(),
                time(*theirs),
                self.winner.candidate.name(),
                time(*ours),
            ),
            _ => String::new(),
        }
    }

    /// Cores that a rival dedicates beyond those of the winner: what both pay for sets neither apart.
    fn dedicated(&self, rival: Rival<'_>) -> String {
        let more = rival.search.candidate.dedicated.saturating_sub(self.winner.candidate.dedicated);
        match (more, self.question.machine) {
            (0, _) | (_, Machine::Runtime { .. }) => String::new(),
            (more, Machine::Cores(_)) => format!(", with {} fewer for requests", cores(f64::from(more))),
        }
    }

    /// Runs that are long enough for a line near saturation take too long: both ends of what is known are said.
    pub(super) fn reference(&self, reference: &Search) -> String {
        let (name, ours) = (reference.candidate.name(), self.winner.sure_merit());
        let why = reference.candidate.plan.reference_only().unwrap_or("nobody could build it");
        let opening = format!("The best reference line, {name} ({why}),");
        let sure = reference.sure_merit();
        if reference.confirmed() && reference.is_closed() {
            return format!(
                "{opening} reaches {}; the winner gets {} of that.",
                self.reach(reference),
                percent(ours / sure)
            );
        }
        let (low, high) = (ours / reference.missed_merit().min(1.0), ours / sure);
        let missed = match (reference.missed(), self.question.goal) {
            (None, _) => String::new(),
            (Some(missed), Goal::HighestLoad) => format!(" and misses at load {}", reference.value(missed)),
            (Some(missed), Goal::FewestCores(_)) => {
                format!(" and misses on {}", cores(reference.value(missed)))
            }
        };
        let share = match (sure > 0.0, high > 1.0) {
            (false, _) | (_, true) => format!("at least {}", percent(low)),
            (true, false) => format!("{} to {}", percent(low), percent(high)),
        };
        format!(
            "{opening} is confirmed to reach {}{missed}; the winner reaches {share} of what this line reaches.",
            self.reach(reference)
        )
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use caudal_config::{File, Measure};

    use super::*;
    use crate::bisect::Bracket;
    use crate::candidates::candidates;
    use crate::judge::{Depth, Precision, ProbeContext};
    use crate::search::{Effort, Level};
    use crate::{Budget, Control, Phase, Question};

    fn question() -> Question {
        let text = "[workload]\nservice = \"extreme-bimodal\"\n[system]\ncores = 1";
        Question {
            workload: File::parse(text, "test.toml").expect("a file").workload.expect("there is one"),
            workload_name: String::new(),
            targets: vec!["p99 slowdown < 10".parse().expect("a target")],
            machine: Machine::Cores(4),
            goal: Goal::HighestLoad,
            systems: vec!["caudal-ps".to_owned(), "tiny-quanta".to_owned()],
            costs: Vec::new(),
            measure: Measure::default(),
            budget: Budget::default(),
            quick: true,
        }
    }

    /// A system with simulated places, in thousandths.
    fn searched(context: &ProbeContext<'_>, name: &str, places: &[u32]) -> Search {
        let found = candidates(context.question).expect("candidates").0;
        let candidate = found.into_iter().find(|it| it.name() == name).expect("a preset");
        let mut search = Search::new(candidate, context.question);
        let (first, depth) = (2_000, Depth::Coarse(2_000));
        let precision = Precision { first, most: first, depth, persists: false, confirming: false };
        let (level, phase) = (Level::Full, Phase::Refining);
        let effort = Effort { level, precision, quota: u64::MAX, phase, threads: 1 };
        for &place in places {
            search.simulate(context, effort, place).expect("nothing stops it");
        }
        search
    }

    #[test]
    fn of_a_run_that_was_too_short_nothing_is_cited_but_a_miss() {
        let question = question();
        let control = Control { threads: 1, stop: &AtomicBool::new(false), progress: &|_| {} };
        let context = ProbeContext::new(&question, &control).expect("a question");
        let winner = searched(&context, "caudal-ps", &[400]);
        let mut rival = searched(&context, "tiny-quanta", &[300, 360, 400]);
        let mut show = |place: u32, verdict: LoadVerdict, steady: bool, (low, estimate): (f64, f64)| {
            let probe = rival.probes.get_mut(&place).expect("simulated");
            (probe.verdict, probe.row.steady, probe.row.overloaded) = (verdict, steady, false);
            probe.estimates = vec![Estimate { estimate, low, high: f64::INFINITY }];
        };
        show(300, LoadVerdict::Pass, true, (4.0, 4.5));
        show(360, LoadVerdict::Fail, true, (1872.0, 2836.0));
        show(400, LoadVerdict::Undecided, false, (5.0, 5.51));
        rival.bracket = Bracket { pass: Some(300), fail: Some(360) };
        let evidence = Evidence {
            question: &question,
            aims: &context.aims,
            winner: &winner,
            probe: winner.at(400).expect("simulated"),
            runner_up: None,
            contrast: None,
            ties: Vec::new(),
            contrast_ties: Vec::new(),
            contrast_unknown: Vec::new(),
            unknown: Vec::new(),
            parallel: Vec::new(),
            reference: None,
        };
        let said = |rival: &Search| evidence.runner_up(Rival { search: rival, there: rival.at(400) });
        let text = said(&rival);
        let miss = "At load 0.36 its p99 slowdown is 2836 (at least 1872), 284 times the limit.";
        assert!(text.ends_with(miss), "{text}");
        assert!(!text.contains("5.51") && !text.contains("A request spends"), "{text}");

        // Where no miss is known, nothing is.
        let mut open = rival.clone();
        open.probes.remove(&360);
        assert!(
            said(&open).ends_with("Whether it gets to load 0.4 is not known: that takes longer runs."),
            "{}",
            said(&open)
        );

        // A short run that misses does so: what it shows is a lower bound.
        let probe = rival.probes.get_mut(&400).expect("simulated");
        (probe.verdict, probe.estimates[0].low) = (LoadVerdict::Fail, 50.0);
        let text = said(&rival);
        assert!(
            text.ends_with("At load 0.4 its p99 slowdown is at least 50.0, 5.00 times the limit."),
            "{text}"
        );
    }
}
