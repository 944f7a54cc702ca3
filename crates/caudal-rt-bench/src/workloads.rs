//! The workloads that benchmarks of the runtime run and simulate: classes with one service time each, because a contestant can run only such.
//! The fidelity run takes its table of workloads from here when it begins; the series of Tiny Quanta and the other measurements make
//! workloads of their own of the same types. Some classes are read from files of measured requests.

use std::error::Error;
use std::path::Path;

/// A class of requests.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Class {
    pub(crate) name: String,
    pub(crate) share: f64,
    pub(crate) service_ns: u64,
}

/// A mix of classes.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) classes: Vec<Class>,
}

impl Workload {
    /// The mix as an argument of contestants: `0.995:500ns,0.005:500000ns`.
    pub(crate) fn mix(&self) -> String {
        let class = |class: &Class| format!("{}:{}ns", class.share, class.service_ns);
        self.classes.iter().map(class).collect::<Vec<_>>().join(",")
    }

    /// The mix as `service` of a policy's file, with these shares and with the times that the file `services` has for each class.
    pub(crate) fn measured_in(&self, services: &Path) -> String {
        let weights: Vec<String> =
            self.classes.iter().map(|class| format!("\"{}\" = {:?}", class.name, class.share)).collect();
        format!("{{ file = {:?}, weights = {{ {} }} }}", services.display().to_string(), weights.join(", "))
    }

    /// The class of this name.
    pub(crate) fn number_of(&self, name: &str) -> Option<u32> {
        self.classes.iter().position(|class| class.name == name).map(|number| number as u32)
    }

    /// Mean of the nominal service times. Loads refer to it.
    pub(crate) fn mean_ns(&self) -> f64 {
        self.classes.iter().map(|class| class.share * class.service_ns as f64).sum()
    }

    /// Requests that come in `span_ns` at `load`.
    pub(crate) fn requests_in(&self, span_ns: u64, load: f64) -> usize {
        (span_ns as f64 * load / self.mean_ns()) as usize
    }
}

/// The measured requests of a file, with other shares of its classes than it has.
pub(crate) fn measured_with_shares(
    name: &'static str,
    trace: &Path,
    shares: &[(&str, f64)],
) -> Result<Workload, Box<dyn Error>> {
    let text = std::fs::read_to_string(trace).map_err(|error| format!("{}: {error}", trace.display()))?;
    let mut classes = measured(&text)?;
    for &(kind, share) in shares {
        let is_part = |class: &Class| class.name.split('-').next() == Some(kind);
        let whole: f64 = classes.iter().filter(|class| is_part(class)).map(|class| class.share).sum();
        classes.iter_mut().filter(|class| is_part(class)).for_each(|class| class.share *= share / whole);
    }
    Ok(Workload { name, classes })
}

/// The workloads of the table.
pub(crate) fn workloads(trace: &Path) -> Result<Vec<Workload>, Box<dyn Error>> {
    let class = |name: &str, share, service_ns| Class { name: name.to_owned(), share, service_ns };
    let measured =
        measured(&std::fs::read_to_string(trace).map_err(|error| format!("{}: {error}", trace.display()))?)?;
    Ok(vec![
        Workload {
            name: "extreme-bimodal",
            classes: vec![class("short", 0.995, 500), class("long", 0.005, 500_000)],
        },
        Workload {
            name: "high-bimodal",
            classes: vec![class("short", 0.5, 1_000), class("long", 0.5, 100_000)],
        },
        Workload { name: "measured", classes: measured },
    ])
}

/// The parts into which a class's requests are split, by rank from the shortest to the longest: each becomes a class here.
const PARTS: [(f64, f64); 3] = [(0.0, 0.5), (0.5, 0.95), (0.95, 1.0)];
/// A class of fewer requests is not split.
const PARTED_MIN: usize = 1_000;

/// The classes of a file of measured service times (`class,service_ns`). Each is split into up to three parts; the time of a part is its
/// mean.
fn measured(text: &str) -> Result<Vec<Class>, Box<dyn Error>> {
    let mut by_class: Vec<(String, Vec<u64>)> = Vec::new();
    for line in text.lines().skip(1).filter(|line| !line.is_empty()) {
        let (name, service_ns) = line.split_once(',').ok_or("a line without a class")?;
        let service_ns: u64 = service_ns.trim().parse()?;
        match by_class.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(service_ns),
            None => by_class.push((name.to_owned(), vec![service_ns])),
        }
    }
    let all: usize = by_class.iter().map(|(_, values)| values.len()).sum();
    let mut classes = Vec::new();
    for (name, mut values) in by_class {
        values.sort_unstable();
        let whole = [(0.0, 1.0)];
        let parts = if values.len() < PARTED_MIN { &whole[..] } else { &PARTS[..] };
        for (number, (from, to)) in (1..).zip(parts) {
            let at = |share: f64| (share * values.len() as f64).round() as usize;
            let part = &values[at(*from)..at(*to)];
            let mean = part.iter().sum::<u64>() as f64 / part.len() as f64;
            let name = if parts.len() == 1 { name.clone() } else { format!("{name}-{number}") };
            classes.push(Class {
                name,
                share: part.len() as f64 / all as f64,
                service_ns: mean.round() as u64,
            });
        }
    }
    Ok(classes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cut_into_parts_that_make_the_whole() {
        let gets: String = (1..=2_000).map(|ns| format!("get,{ns}\n")).collect();
        let classes = measured(&format!("class,service_ns\n{gets}scan,90000\nscan,110000\n")).unwrap();
        let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
        assert_eq!(names, ["get-1", "get-2", "get-3", "scan"]);
        assert!((classes.iter().map(|class| class.share).sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(classes[0].service_ns, 501);
        assert_eq!(classes[3].service_ns, 100_000);
        let workload = Workload { name: "measured", classes };
        assert!(caudal_measure::contestant::mix(&workload.mix()).is_ok(), "{}", workload.mix());
    }
}
