//! Why the winner wins, in sentences made of numbers of the run.

use caudal_sim::row::{Row, Waits};

use crate::candidate::Candidate;
use crate::evidence::{Evidence, Rival};
use crate::judge::{Aim, Bench, Probe, Verdict};
use crate::plan::SystemResult;
use crate::search::Search;
use crate::show::{digits, estimate, percent, rate, statistic, time, value};
use crate::{Goal, Machine, Question};

/// Service times whose squared coefficient of variation is below this hardly differ.
const SCV_ALIKE: f64 = 0.1;

/// The headline, and the reasons.
pub(crate) fn explain(
    bench: &Bench<'_>,
    evidence: Option<&Evidence<'_>>,
    systems: &[SystemResult],
    searches: &[Search],
) -> (String, Vec<String>) {
    let Some(evidence) = evidence else { return nobody(bench, searches) };
    let reasons = [
        Some(evidence.dispersion()),
        evidence.contrast.map(|rival| evidence.other_kind(rival)),
        Some(evidence.price()),
        evidence.tie().or_else(|| evidence.runner_up.map(|rival| evidence.runner_up(rival))),
        evidence.unknown(),
        evidence.reference.map(|reference| evidence.reference(reference)),
        Some(tuning(systems)),
    ];
    (evidence.headline(), reasons.into_iter().flatten().collect())
}

/// The comment at the top of a policy file.
pub(crate) fn header(bench: &Bench<'_>, headline: &str) -> String {
    let question = bench.question;
    let targets: Vec<String> = question.targets.iter().map(ToString::to_string).collect();
    format!(
        "Made by `caudal plan` {} for {} within {}, seed {}.\n{headline}",
        env!("CARGO_PKG_VERSION"),
        question.workload_name,
        targets.join(" and "),
        question.measure.seed,
    )
}

fn machine(question: &Question) -> String {
    match question.machine {
        Machine::Cores(1) => "1 core".to_owned(),
        Machine::Cores(cores) => format!("{cores} cores"),
        Machine::Runtime { workers: 1 } => "1 worker".to_owned(),
        Machine::Runtime { workers } => format!("{workers} workers"),
    }
}

fn targets(question: &Question) -> String {
    let all: Vec<String> = question.targets.iter().map(|target| format!("`{target}`")).collect();
    all.join(" and ")
}

/// A system with what was tuned about it: `caudal-ps with a quantum of 1us`.
fn called(candidate: &Candidate) -> String {
    let name = candidate.name();
    match &candidate.tuned[..] {
        [] => name.to_owned(),
        [(key, only)] => {
            let value = only.as_str().map_or_else(|| only.to_string(), str::to_owned);
            format!("{name} with a {} of {value}", key.rsplit('.').next().unwrap_or(key))
        }
        several => {
            let values: Vec<String> = several
                .iter()
                .map(|(_, value)| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
                .collect();
            format!("{name} with a range of {}", values.join(" to "))
        }
    }
}

/// No deployable system passes: which comes closest?
fn nobody(bench: &Bench<'_>, searches: &[Search]) -> (String, Vec<String>) {
    let question = bench.question;
    let (targets, machine) = (targets(question), machine(question));
    let open = |search: &&Search| search.probes.is_empty() || search.exhausted;
    let interrupted = bench.stop.load(std::sync::atomic::Ordering::Relaxed);
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
        return (
            headline,
            vec!["Every one of them falls behind its load, wherever it was tried.".to_owned()],
        );
    };
    let found: Vec<String> = results(&bench.aims, probe);
    let text = format!(
        "The nearest is {}: at {} its {}, {} times the limit.",
        called(&search.candidate),
        place(question, probe, search),
        found.join(", "),
        digits(probe.score),
    );
    (headline, vec![text])
}

/// `1 core`, `12 cores`.
fn cores(count: f64) -> String {
    format!("{count} core{}", if count == 1.0 { "" } else { "s" })
}

/// `load 0.78`, or `12 cores`.
fn place(question: &Question, probe: &Probe, search: &Search) -> String {
    match question.goal {
        Goal::HighestLoad => format!("load {}", probe.spot.load),
        Goal::FewestCores(_) => {
            let workers = probe.row.cores_allocated;
            let extra = match question.machine {
                Machine::Cores(_) => search.candidate.dedicated,
                Machine::Runtime { .. } => 0,
            };
            cores(f64::from(workers + extra))
        }
    }
}

/// `get p99.9 is 43.1 us (41.0 us to 46.2 us)`, for each target.
fn results(aims: &[Aim], probe: &Probe) -> Vec<String> {
    let show = |(aim, found): (&Aim, _)| format!("{} is {}", statistic(aim), estimate(aim, found));
    aims.iter().zip(&probe.estimates).map(show).collect()
}

/// `a`, `a and b`, `a, b and c`; none of nobody.
fn names(searches: &[&Search]) -> Option<String> {
    let names: Vec<&str> = searches.iter().map(|search| search.candidate.name()).collect();
    let (last, others) = names.split_last()?;
    Some(if others.is_empty() { (*last).to_owned() } else { format!("{} and {last}", others.join(", ")) })
}

impl Evidence<'_> {
    /// The requests that the tightest target is about: a class, or all.
    fn aim(&self) -> (&Aim, f64) {
        let ratio = |(aim, found): (&'_ Aim, &caudal_stats::Estimate)| found.estimate / aim.limit;
        let pairs = || self.aims.iter().zip(&self.probe.estimates);
        let tightest = pairs().max_by(|a, b| ratio(*a).total_cmp(&ratio(*b)));
        tightest.map_or((&self.aims[0], f64::NAN), |(aim, found)| (aim, found.estimate))
    }

    fn class_name(&self) -> String {
        let aim = self.aim().0;
        let name = aim.quantity.class.map(|class| self.question.workload.service.classes()[class].clone());
        name.map_or("request".to_owned(), |name| format!("`{name}`"))
    }

    /// Why a request of the tightest target's class waits.
    fn waits(&self, row: &Row) -> Waits {
        match self.aim().0.quantity.class {
            Some(class) => row.classes.0[class].1.wait_ns,
            None => row.wait_ns,
        }
    }

    fn place(&self) -> String {
        place(self.question, self.probe, self.winner)
    }

    /// What a system is confirmed to reach, as a load or in cores.
    fn reach(&self, search: &Search) -> String {
        match (search.certain(), search.bracket.pass, self.question.goal) {
            (Some(certain), _, Goal::HighestLoad) => format!("load {}", search.value(certain)),
            (Some(certain), _, Goal::FewestCores(_)) => cores(search.value(certain)),
            (None, Some(_), _) => "no load for certain (it was seen in short runs only)".to_owned(),
            (None, None, Goal::HighestLoad) => match search.missed() {
                Some(missed) => format!("not even load {}", search.value(missed)),
                None => "no load that is known".to_owned(),
            },
            (None, None, Goal::FewestCores(_)) => "no number of cores".to_owned(),
        }
    }

    fn headline(&self) -> String {
        let found = results(self.aims, self.probe).join(", ");
        let (question, name) = (self.question, called(&self.winner.candidate));
        let per_s = rate(self.probe.row.rate_per_s);
        let who = match (self.winner.confirmed(), self.unknown.iter().any(|search| search.is_open())) {
            (false, _) => format!("By the estimates of short runs only, {name}"),
            (true, true) => format!("Of the systems that were tried, {name}"),
            (true, false) => name,
        };
        match question.goal {
            Goal::HighestLoad => format!(
                "{who} carries {} of {}, {per_s}, within {}: there {found}.",
                self.place(),
                machine(question),
                targets(question),
            ),
            Goal::FewestCores(_) => format!(
                "{who} carries {per_s} on {} of {}, within {}: there {found}.",
                self.place(),
                machine(question),
                targets(question),
            ),
        }
    }

    /// Who ties with the winner, and why it is not the answer.
    fn tie(&self) -> Option<String> {
        let tied = names(&self.ties)?;
        let simplest =
            self.ties.iter().all(|search| search.candidate.mechanisms() > self.winner.candidate.mechanisms());
        let rule = match simplest {
            true => "has the fewest mechanisms",
            false => "is confirmed to get furthest of those with the fewest mechanisms",
        };
        let name = self.winner.candidate.name();
        Some(format!(
            "It is a tie with {tied}: closer than this search tells apart. {name} is named because it {rule}."
        ))
    }

    /// Who may get further, for all that is known.
    fn unknown(&self) -> Option<String> {
        let (untried, open): (Vec<&Search>, Vec<&Search>) =
            self.unknown.iter().copied().partition(|search| search.is_open());
        let open: Vec<String> = open
            .into_iter()
            .map(|search| match search.certain() {
                Some(_) => format!("{} ({} is confirmed)", search.candidate.name(), self.reach(search)),
                None => format!("{} (nothing is confirmed)", search.candidate.name()),
            })
            .collect();
        let untried =
            names(&untried).map(|names| format!("The budget ended before anything was known of {names}."));
        let open = (!open.is_empty()).then(|| {
            format!("The budget ended before it was known whether these get further: {}.", open.join(", "))
        });
        let both: Vec<String> = [untried, open].into_iter().flatten().collect();
        (!both.is_empty()).then(|| both.join(" "))
    }

    /// How much service times differ.
    fn dispersion(&self) -> String {
        let service = &self.question.workload.service;
        let (mean_ps, scv) = (service.mean_ps(), service.scv());
        if scv < SCV_ALIKE {
            let alike = format!("All requests take about as long, {} on average", time(mean_ps / 1e3));
            return format!("{alike} (squared coefficient of variation {scv:.2}): none is worth overtaking.");
        }
        let long =
            |class: &usize| service.class_weight(*class) > 0.0 && service.class_mean_ps(*class) > mean_ps;
        let classes: Vec<usize> = (0..service.classes().len()).filter(long).collect();
        if classes.is_empty() || classes.len() == service.classes().len() {
            let (p50, p999) = (service.quantile(0.5) as f64 / 1e3, service.quantile(0.999) as f64 / 1e3);
            return format!(
                "Service times differ (squared coefficient of variation {}): half of the requests take up to {}, \
                 one in a thousand more than {}.",
                digits(scv),
                time(p50),
                time(p999),
            );
        }
        let share: f64 = classes.iter().map(|&class| service.class_weight(class)).sum();
        let work: f64 = classes
            .iter()
            .map(|&class| service.class_weight(class) * service.class_mean_ps(class))
            .sum::<f64>();
        let names: Vec<String> =
            classes.iter().map(|&class| format!("`{}`", service.classes()[class])).collect();
        format!(
            "{} of the requests ({}) bring {} of the work, {} each on average; the mean of all is {} (squared \
             coefficient of variation {}).",
            percent(share),
            names.join(", "),
            percent(work / mean_ps),
            time(work / share / 1e3),
            time(mean_ps / 1e3),
            digits(scv),
        )
    }

    /// The best system that does what the winner does not: preempt, or run to completion.
    fn other_kind(&self, rival: Rival<'_>) -> String {
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

    /// What the winner's own scheduling costs.
    fn price(&self) -> String {
        let parts = parts(&self.probe.row, &self.winner.candidate);
        let name = self.winner.candidate.name();
        let efficiency = percent(self.probe.row.efficiency.estimate);
        match &parts[..] {
            [] => format!(
                "Scheduling costs {name} next to nothing: {efficiency} of the core time held is work."
            ),
            parts => {
                format!("What {name} pays: {}; {efficiency} of the core time held is work.", parts.join(", "))
            }
        }
    }

    fn runner_up(&self, rival: Rival<'_>) -> String {
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
    fn reference(&self, reference: &Search) -> String {
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

/// What a system's scheduling costs at a point, as parts of a sentence.
fn parts(row: &Row, candidate: &Candidate) -> Vec<String> {
    let mut parts = Vec::new();
    let preemptions = row.preemptions_per_request.estimate;
    if preemptions > 0.0 {
        let switching = percent(row.overheads.switching);
        parts
            .push(format!("{} preemptions a request take {switching} of the core time", digits(preemptions)));
    }
    let probe_factor = candidate.plan.costs.probe_factor;
    if probe_factor > 1.0 {
        parts.push(format!("probes make every request {} longer", percent(probe_factor - 1.0)));
    }
    let overheads = row.overheads;
    for (share, does) in [
        (overheads.looking, "looking for work takes"),
        (overheads.moving, "moving it takes"),
        (overheads.placing, "placing requests takes"),
        (overheads.allocating, "waiting for granted cores takes"),
    ] {
        if share >= 0.0005 {
            parts.push(format!("{does} {} of the core time", percent(share)));
        }
    }
    match candidate.dedicated {
        0 => {}
        1 => parts.push("1 core serves no requests".to_owned()),
        dedicated => parts.push(format!("{dedicated} cores serve no requests")),
    }
    parts
}

fn tuning(systems: &[SystemResult]) -> String {
    let tuned = systems.iter().filter_map(|system| {
        let tuning = system.tuning.as_ref()?;
        let mut values: Vec<&str> = Vec::new();
        for tried in &tuning.tried {
            if !values.contains(&tried.value.as_str()) {
                values.push(&tried.value);
            }
        }
        let outcome = match (tuning.chosen == tuning.published, values.is_empty()) {
            (_, true) => "not tuned, the budget did not suffice".to_owned(),
            (true, _) => format!("kept at {} after trying {}", tuning.chosen, values.join(", ")),
            (false, _) => {
                format!("{} instead of {}, out of {}", tuning.chosen, tuning.published, values.join(", "))
            }
        };
        Some(format!("{} of {}: {outcome}", tuning.parameter, system.system))
    });
    let tuned: Vec<String> = tuned.collect();
    match &tuned[..] {
        [] => "Nothing was tuned: no system near the best has a quantum or a range.".to_owned(),
        tuned => format!("Tuned: {}. All other parameters are those of the presets.", tuned.join("; ")),
    }
}
