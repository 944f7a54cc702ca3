//! A setting of the tail-control figures: a load, and a target latency there. Each figure lists its settings, and makes statements about
//! two systems in all of them. Pure.

use caudal_policy::Picos;

use super::super::cell::CONFIDENCE;
use super::super::claim::{Ask, Limit};
use super::super::measured::Measured;
use super::miss::{Aim, Product};

/// A load and a target.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    measured: &'a Measured,
    /// The load, as the file that is about it is called; empty if the figure has one.
    pub(super) load: &'static str,
    pub(super) late: Picos,
}

impl<'a> Setting<'a> {
    /// A system here: one that works towards a target, with this one.
    pub(super) fn aim(self, system: &str) -> Option<Aim<'a>> {
        let here =
            self.measured.cells.iter().filter(|cell| cell.workload == self.load && cell.system == system);
        let cell = here.into_iter().find(|cell| cell.target.is_none_or(|target| target == self.late))?;
        Some(Aim { cell, late: self.late })
    }

    /// The misses of one system over those of another.
    pub(super) fn ratio(self, (first, second): (&str, &str)) -> Option<Product<'a>> {
        Some(Product::ratio(self.aim(first)?, self.aim(second)?))
    }

    /// The one of two systems that misses fewer here, by the estimates. One that can not keep up has none, and is the worse.
    pub(super) fn better(self, [first, second]: [&str; 2]) -> Option<&str> {
        let misses = |aim: Aim<'_>| Some(aim.share(CONFIDENCE).estimate).filter(|share| !share.is_nan());
        let [own, theirs] =
            [self.aim(first)?, self.aim(second)?].map(|aim| misses(aim).unwrap_or(f64::INFINITY));
        Some(if own <= theirs { first } else { second })
    }

    /// `heavy, 25ms`.
    pub(super) fn name(self) -> String {
        match self.load {
            "" => self.late.to_string(),
            load => format!("{load}, {}", self.late),
        }
    }
}

/// The targets at one load, the shortest first.
pub(super) fn targets<'a>(measured: &'a Measured, load: &'static str) -> Vec<Setting<'a>> {
    let here = measured.cells.iter().find(|cell| cell.workload == load);
    let late = here.map_or(&[][..], |cell| &cell.late);
    late.iter().map(|&late| Setting { measured, load, late }).collect()
}

/// The loads, in the order of the files.
pub(super) fn loads(measured: &Measured) -> Vec<&'static str> {
    measured.values(|cell| cell.workload)
}

/// All settings, load by load.
pub(super) fn settings(measured: &Measured) -> Vec<Setting<'_>> {
    loads(measured).into_iter().flat_map(|load| targets(measured, load)).collect()
}

/// The shortest target at each load.
pub(super) fn shortest(measured: &Measured) -> Vec<Setting<'_>> {
    loads(measured).into_iter().filter_map(|load| targets(measured, load).first().copied()).collect()
}

/// The longest target at each load.
pub(super) fn longest(measured: &Measured) -> Vec<Setting<'_>> {
    loads(measured).into_iter().filter_map(|load| targets(measured, load).last().copied()).collect()
}

/// Are the misses of the first system over those of the second where `limit` says, at all of `settings`?
pub(super) fn at<'a>(
    settings: impl IntoIterator<Item = Setting<'a>>,
    systems: (&str, &str),
    limit: Limit,
) -> Vec<Ask<'a>> {
    let ask = |setting: Setting<'a>| Some(setting.ratio(systems)?.ask(setting.name(), limit));
    settings.into_iter().filter_map(ask).collect()
}

/// The same at every load and target.
pub(super) fn against<'a>(measured: &'a Measured, systems: (&str, &str), limit: Limit) -> Vec<Ask<'a>> {
    at(settings(measured), systems, limit)
}

#[cfg(test)]
mod tests {
    use super::super::super::cell::Cell;
    use super::super::super::synthetic::{figure, overloaded, point};
    use super::*;

    #[test]
    fn the_better_of_two_is_the_one_with_fewer_misses() {
        let late = vec![Picos::from_micros(10)];
        let cell = |system, ns| Cell { late: late.clone(), ..point(system, 16, ns, 0.0) };
        let measured = figure(vec![cell("a", 9e3), cell("b", 8e3)]);
        let here = settings(&measured)[0];
        assert_eq!(
            [here.better(["a", "b"]), here.better(["b", "a"]), here.better(["a", "c"])],
            [Some("b"), Some("b"), None]
        );
    }

    #[test]
    fn one_that_can_not_keep_up_is_never_the_better() {
        let late = vec![Picos::from_micros(10)];
        let [keeps, falls_behind] = ["a", "b"].map(|system| point(system, 16, 9e3, 0.0));
        let cells = [keeps, overloaded(falls_behind)].map(|cell| Cell { late: late.clone(), ..cell });
        let measured = figure(cells.into());
        let here = settings(&measured)[0];
        assert_eq!([here.better(["a", "b"]), here.better(["b", "a"])], [Some("a"), Some("a")]);
    }

    #[test]
    fn a_system_that_works_towards_a_target_is_judged_by_that_alone() {
        let late = vec![Picos::from_micros(10), Picos::from_micros(20)];
        let cell = |system, target| Cell {
            workload: "heavy",
            late: late.clone(),
            target,
            ..point(system, 16, 1e4, 0.0)
        };
        let measured = figure(vec![cell("a", None), cell("b", Some(late[1]))]);
        let all = settings(&measured);
        assert_eq!(
            all.iter().map(|setting| setting.name()).collect::<Vec<_>>(),
            ["heavy, 10us", "heavy, 20us"]
        );
        assert!(all[0].ratio(("b", "a")).is_none() && all[1].ratio(("b", "a")).is_some());
        assert_eq!(against(&measured, ("b", "a"), Limit::Below(1.0)).len(), 1);
    }
}
