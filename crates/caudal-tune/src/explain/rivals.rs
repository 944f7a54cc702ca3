//! What is said of the others, at the winner's place and at their own.

use super::words::{called, cores, names, parts};
use crate::evidence::{Evidence, Rival};
use crate::judge::{Probe, Verdict};
use crate::search::Search;
use crate::show::{digits, percent, statistic, time, value};
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
        let opening =
            format!("Of the systems that {kind}, the best is {name}: it reaches {reach}{tied}{unknown}");
        let Some(there) = rival.there else { return format!("{opening}.") };
        if there.row.overloaded {
            return format!("{opening}; at {} it falls behind.{}", self.place(), self.burden(rival));
        }
        let tail = self.tail_of(there);
        if preempts && there.row.steady {
            format!("{opening}. {}{tail}", self.behind(there))
        } else {
            format!("{opening}.{}{tail}", self.burden(rival))
        }
    }

    /// How the tightest statistic does at the winner's place, as a sentence.
    fn tail_of(&self, there: &Probe) -> String {
        let aim = self.aim().0;
        let index = self.aims.iter().position(|other| std::ptr::eq(other, aim)).unwrap_or(0);
        let found = &there.estimates[index];
        format!(
            " At {} its {} is {}{}, {} times the limit.",
            self.place(),
            statistic(aim),
            // What is still filling up will be longer.
            if there.row.steady { "" } else { "at least " },
            value(aim, found.estimate),
            digits(found.estimate / aim.limit),
        )
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
            "At {} a {class} waits {} on average for its first turn{behind}; under {} it waits {}, and {} between \
             turns.",
            self.place(),
            time(theirs.queued),
            self.winner.candidate.name(),
            time(ours.queued),
            time(ours.preempted),
        )
    }

    /// What preemption costs a system for which it does not pay.
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
            (false, true) => {
                format!("The runner-up, {name}, reaches {reach}: closer than this search tells apart")
            }
            (_, false) => format!("The runner-up, {name}, reaches {reach}"),
        };
        let Some(there) = rival.there else { return format!("{opening}.") };
        if there.verdict == Verdict::Pass {
            return format!("{opening}.");
        }
        if there.row.overloaded {
            let (more, burden) = (self.dedicated(rival), self.burden(rival));
            return format!("{opening}; at {} it falls behind{more}.{burden}", self.place());
        }
        format!("{opening}.{}{}", self.tail_of(there), self.difference(there))
    }

    /// The cause of waiting that sets a rival most apart from the winner.
    fn difference(&self, there: &Probe) -> String {
        let (theirs, ours) = (self.waits(&there.row), self.waits(&self.probe.row));
        let causes = [
            ("waiting for its first turn", theirs.queued, ours.queued),
            ("waiting between turns", theirs.preempted, ours.preempted),
            ("on a core that does something for the scheduler", theirs.overhead, ours.overhead),
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
            (more, Machine::Cores(_)) => format!(", with {more} core fewer for requests"),
        }
    }

    /// Runs that are long enough for a line near saturation take too long: both ends of what is known are said.
    pub(super) fn reference(&self, reference: &Search) -> String {
        let (name, ours) = (reference.candidate.name(), self.winner.sure_merit());
        let why = reference.candidate.plan.reference_only().unwrap_or("nobody could build it");
        let opening = format!("The best reference line, {name} ({why}),");
        let sure = reference.sure_merit();
        if reference.confirmed() {
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
            "{opening} is confirmed to reach {}{missed}; the winner gets {share} of its way.",
            self.reach(reference)
        )
    }
}
