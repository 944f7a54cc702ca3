//! Files of times: written as `caudal` reads them, and summed up.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::figures::Figures;
use crate::measure::Timed;

/// The text of a file: a column `service_ns`, and `class` before it if there are classes.
pub(crate) fn csv(timed: &[Timed], classes: &[&str]) -> String {
    let mut text = String::from(if classes.is_empty() { "service_ns\n" } else { "class,service_ns\n" });
    for timed in timed {
        if let Some(class) = classes.get(usize::from(timed.class)) {
            text.push_str(class);
            text.push(',');
        }
        writeln!(text, "{}", timed.ns).expect("strings take everything");
    }
    text
}

/// A table in Markdown of what the files hold: a line a file, and one a class.
pub(crate) fn summary(files: &[PathBuf]) -> Result<String> {
    let mut text = String::from(
        "| file | class | requests | median, us | p99, us | p99.9, us | longest, us | mean, us | SCV | SCV to p99.9 |\n\
         | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |\n",
    );
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let rows = read(file)?;
        line(&mut text, &name, "all", rows.iter().map(|row| row.1));
        let mut classes: Vec<&str> = Vec::new();
        for (class, _) in rows.iter().filter(|row| !row.0.is_empty()) {
            if !classes.contains(&class.as_str()) {
                classes.push(class);
            }
        }
        classes.sort_unstable();
        for class in classes {
            line(&mut text, &name, class, rows.iter().filter(|row| row.0 == class).map(|row| row.1));
        }
    }
    Ok(text)
}

fn line(text: &mut String, file: &str, class: &str, times_ns: impl Iterator<Item = u64>) {
    let figures = Figures::of(times_ns);
    let us = |ns: u64| format!("{:.3}", ns as f64 / 1e3);
    writeln!(
        text,
        "| `{file}` | {class} | {} | {} | {} | {} | {} | {:.3} | {:.3} | {:.3} |",
        figures.count,
        us(figures.median_ns),
        us(figures.p99_ns),
        us(figures.p999_ns),
        us(figures.max_ns),
        figures.mean_ns / 1e3,
        figures.scv,
        figures.scv_to_p999,
    )
    .expect("strings take everything");
}

/// Class (empty where there is none) and time of each line after the header.
fn read(file: &Path) -> Result<Vec<(String, u64)>> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("`{name}` cannot be read"))?;
    let rows: Vec<(String, u64)> = text
        .lines()
        .enumerate()
        .skip(1)
        .map(|(at, line)| {
            let (class, ns) = line.rsplit_once(',').unwrap_or(("", line));
            let ns = ns.parse().with_context(|| format!("`{name}`, line {}: not a time in ns", at + 1))?;
            Ok((class.to_owned(), ns))
        })
        .collect::<Result<_>>()?;
    anyhow::ensure!(!rows.is_empty(), "`{name}` holds no times");
    Ok(rows)
}
