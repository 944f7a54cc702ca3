//! `caudal workload convert IN OUT`: the output of a tool as a file of this project.
//! The command calls it.
//!
//! Values become CSV (`class,service_ns`, with `timestamp_ns` if arrivals are wanted, or with `count`), histograms CSV with
//! bounds (`class,low_ns,high_ns,count`; the upper bound belongs to the next bucket), percentiles a workload in TOML.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use crate::arrivals::TimestampFile;
use crate::error::WorkloadError;
use crate::input::{self, Data, Histogram, Percentiles, Place, Source, Taken, Trace};
use crate::spec::{FileSpec, input_path};

/// A file that was read to be written again.
#[derive(Debug)]
pub struct Converted {
    /// The format, columns and unit that the file was taken for.
    pub taken: Taken,
    /// Notes for the user on how the file was understood, one each.
    pub notes: Vec<String>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Values { trace: Box<Trace>, weights: Vec<f64>, times_ps: Vec<u64> },
    Histograms(Vec<Histogram>),
    Percentiles(Vec<Percentiles>),
}

/// The form in which a converted file is best written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvertedFormat {
    /// Rows.
    Csv,
    /// A table `[workload]`.
    Toml,
}

impl Converted {
    /// Reads a file; and when its requests arrived, if that is wanted.
    ///
    /// # Errors
    /// As compiling it would give; recorded graphs are this project's own format already.
    pub fn read(spec: &FileSpec, arrivals: Option<&TimestampFile>) -> Result<Converted, WorkloadError> {
        let path = input_path(Path::new(""), &spec.file);
        let read = input::read_service(Source::open(&path)?, &path, &spec.columns)?;
        let place = Place(&path);
        let times_ps = match arrivals {
            None => Vec::new(),
            Some(file) => {
                let mut columns = file.columns.of_file();
                columns.filter.clone_from(&read.taken.filter);
                input::read_timestamps(&path, &columns)?.times_ps
            }
        };
        let content = match read.data {
            Data::Trace(trace) => {
                if arrivals.is_some() && times_ps.len() != trace.ps.len() {
                    return Err(place.whole("has other numbers of arrivals and of times"));
                }
                Content::Values { trace: Box::new(trace), weights: Vec::new(), times_ps }
            }
            _ if arrivals.is_some() => {
                return Err(place.whole("has no requests one by one, and so no arrivals"));
            }
            Data::Weighted(trace, weights) => Content::Values { trace: Box::new(trace), weights, times_ps },
            Data::Histograms(histograms) => Content::Histograms(histograms),
            Data::Percentiles(classes) => Content::Percentiles(classes),
            Data::Graphs(_) => {
                return Err(place.whole("holds recorded graphs, which is a format of this project already"));
            }
        };
        Ok(Converted { taken: read.taken, notes: read.notes, content })
    }

    /// The form in which this is best written.
    pub fn format(&self) -> ConvertedFormat {
        match self.content {
            Content::Values { .. } | Content::Histograms(_) => ConvertedFormat::Csv,
            Content::Percentiles(_) => ConvertedFormat::Toml,
        }
    }

    /// Writes rows, with a header; nothing of what is no rows.
    ///
    /// # Errors
    /// If that fails.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        match &self.content {
            Content::Values { trace, weights, times_ps } => write_values(out, trace, weights, times_ps),
            Content::Histograms(histograms) => write_histograms(out, histograms),
            Content::Percentiles(_) => Ok(()),
        }
    }

    /// The table `[workload]` of percentiles; nothing of others.
    pub fn toml(&self) -> Option<String> {
        let Content::Percentiles(classes) = &self.content else { return None };
        let of = |class: &Percentiles| {
            let point = |(percentile, ps): &(f64, u64)| format!("\"p{percentile}\" = \"{}ps\"", ps.max(&1));
            let moments = [("mean", class.stated.mean_ps), ("sd", class.stated.sd_ps)];
            let moments = moments
                .iter()
                .filter_map(|(name, ps)| Some(format!("{name} = \"{}ps\"", ((*ps)? as u64).max(1))));
            let points: Vec<String> = class.points.iter().map(point).chain(moments).collect();
            format!("{{ percentiles = {{ {} }} }}", points.join(", "))
        };
        let mut text = format!("# {}\n[workload]\n", self.taken.to_string().replace('\n', " "));
        if let [only] = &classes[..] {
            let _ = writeln!(text, "service = {}", of(only));
            return Some(text);
        }
        let total: f64 = classes.iter().map(|class| class.weight).sum();
        let class = |class: &Percentiles| {
            let name = serde_json::Value::from(class.class.as_str());
            format!("  {{ name = {name}, weight = {:?}, service = {} }},\n", class.weight / total, of(class))
        };
        let classes: String = classes.iter().map(class).collect();
        let _ = writeln!(text, "service = {{ distribution = \"mixture\", classes = [\n{classes}] }}");
        Some(text)
    }
}

fn write_values(out: &mut impl Write, trace: &Trace, weights: &[f64], times_ps: &[u64]) -> io::Result<()> {
    let has_classes = trace.classes.len() > 1 || trace.classes.first().is_some_and(|class| class != "all");
    let columns = [
        ("timestamp_ns", !times_ps.is_empty()),
        ("class", has_classes),
        ("service_ns", true),
        ("count", !weights.is_empty()),
    ];
    let header: Vec<&str> = columns.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
    writeln!(out, "{}", header.join(","))?;
    let classes: Vec<String> = trace.classes.iter().map(|class| quoted(class)).collect();
    for (index, &ps) in trace.ps.iter().enumerate() {
        if let Some(&at_ps) = times_ps.get(index) {
            write!(out, "{},", Ns(at_ps))?;
        }
        if has_classes {
            write!(out, "{},", classes[usize::from(trace.class_of(index))])?;
        }
        write!(out, "{}", Ns(ps))?;
        if let Some(weight) = weights.get(index) {
            write!(out, ",{weight}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_histograms(out: &mut impl Write, histograms: &[Histogram]) -> io::Result<()> {
    writeln!(out, "class,low_ns,high_ns,count")?;
    for Histogram { class, buckets, .. } in histograms {
        let class = quoted(class);
        for bucket in buckets {
            // A lower bound of 1 ps was 0.
            let low_ps = if bucket.low_ps == 1 { 0 } else { bucket.low_ps };
            writeln!(out, "{class},{},{},{}", Ns(low_ps), Ns(bucket.high_ps + 1), bucket.count)?;
        }
    }
    Ok(())
}

/// Picoseconds as nanoseconds, exactly.
struct Ns(u64);

impl std::fmt::Display for Ns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, rest) = (self.0 / 1000, self.0 % 1000);
        match rest {
            0 => write!(f, "{whole}"),
            _ => write!(f, "{whole}.{rest:03}"),
        }
    }
}

/// A field of CSV.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '#']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
