//! Files of times. The program writes one for each service after each round, by [`csv`], in the form that `caudal` reads; its subcommand for tables
//! reads such files by [`summary`].

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::figures::Figures;
use crate::measure::Timed;

/// The text of a file: the column `service_ns`, with `class` before it if there are classes, and `stall_ns` after it if stalls were
/// measured (`watched`).
pub(crate) fn csv(timed: &[Timed], classes: &[&str], watched: bool) -> String {
    let class = if classes.is_empty() { "" } else { "class," };
    let mut text = format!("{class}service_ns{}\n", if watched { ",stall_ns" } else { "" });
    for timed in timed {
        if let Some(class) = classes.get(usize::from(timed.class)) {
            text.push_str(class);
            text.push(',');
        }
        write!(text, "{}", timed.ns).expect("strings take everything");
        if watched {
            write!(text, ",{}", timed.stall_ns).expect("strings take everything");
        }
        text.push('\n');
    }
    text
}

/// A table in Markdown about the times in `files`: a line for each file, and one for each class.
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

/// Class (empty where there is none) and time of each line after the header that is not marked as stalled.
fn read(file: &Path) -> Result<Vec<(String, u64)>> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("`{name}` cannot be read"))?;
    let rows = unstalled(&text).with_context(|| format!("`{name}`"))?;
    anyhow::ensure!(!rows.is_empty(), "`{name}` holds no times");
    Ok(rows)
}

fn unstalled(text: &str) -> Result<Vec<(String, u64)>> {
    let names: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
    let column = |name: &str| names.iter().position(|&column| column == name);
    let (class, stall) = (column("class"), column("stall_ns"));
    let service = column("service_ns").context("no column `service_ns`")?;
    let mut rows = Vec::new();
    for (at, line) in text.lines().enumerate().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let time = |column: usize| -> Result<u64> {
            let cell = cells.get(column).copied().unwrap_or_default();
            cell.parse().with_context(|| format!("line {}: not a time in ns", at + 1))
        };
        if stall.map(time).transpose()?.unwrap_or(0) == 0 {
            let class = class.and_then(|class| cells.get(class)).copied().unwrap_or_default();
            rows.push((class.to_owned(), time(service)?));
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_marked_are_not_summed_up() {
        let rows = unstalled("class,service_ns,stall_ns\na,7,0\nb,9000,5000\nb,8,0\n").unwrap();
        assert_eq!(rows, [("a".to_owned(), 7), ("b".to_owned(), 8)]);
        assert_eq!(unstalled("service_ns\n7\n").unwrap(), [(String::new(), 7)]);
        for wrong in ["ns\n7\n", "service_ns\nx\n", "service_ns,stall_ns\n7\n"] {
            assert!(unstalled(wrong).is_err(), "{wrong:?}");
        }
    }
}
