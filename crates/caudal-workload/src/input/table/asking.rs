//! Questions about columns that only the user can answer, and tables that hold no times of requests. Called by the finder of columns
//! where names and fields do not tell.

use super::finder::Finder;
use super::layout::Role;
use super::names::listed;
use crate::error::{Answer, Ask, AskKey, RowProblem, WorkloadError};
use crate::input::number::{Number, Style};
use crate::input::percentiles::{Statistic, percentile_of};
use crate::input::shorten;
use crate::input::unit::words;

impl Finder<'_> {
    /// # Errors
    /// If the values that nobody asked for by name are no times of requests, but statistics or sums of many.
    pub(super) fn refuse_sums(&self, value: usize) -> Result<(), WorkloadError> {
        let Some(header) = self.header() else { return Ok(()) };
        let name = &header[value];
        let inner = percentile_of(name).filter(|percentile| *percentile > 0.0 && *percentile < 100.0);
        if inner.is_some() && self.sample.rows.len() > 1 {
            return Err(self.place.whole(format!(
                "its column `{}` is a percentile of each interval or run, by its name: from those no distribution of requests follows; \
                 give a row a request, or the percentiles of one of them, as in `p50 = 1.2 ms, p99 = 9 ms`",
                shorten(name)
            )));
        }
        Ok(())
    }

    /// # Errors
    /// If the rows sum up many calls each.
    pub(super) fn refuse_summary(&self) -> Result<(), WorkloadError> {
        let Some(header) = self.header() else { return Ok(()) };
        let mut statistics: Vec<Statistic> = Vec::new();
        // `mean_exec_time` is a mean as `mean_time` is.
        let of_what = ["exec", "execution", "query", "request", "call", "calls"];
        let plain = |name: &String| -> String {
            words(name)
                .into_iter()
                .filter(|word| !of_what.contains(&word.as_str()))
                .collect::<Vec<_>>()
                .join(" ")
        };
        for statistic in header.iter().filter_map(|name| Statistic::of(&plain(name))) {
            if !statistics.contains(&statistic) {
                statistics.push(statistic);
            }
        }
        if statistics.len() > 2 && statistics.contains(&Statistic::Mean) {
            return Err(self.place.whole(format!(
                "its rows sum up many calls each, by their least, their longest and their mean: the columns are {}. They say nothing of a \
                 tail; give what each call takes, or percentiles",
                listed(header)
            )));
        }
        Ok(())
    }

    /// A column that is called as times are and holds none.
    pub(super) fn no_times(&self, at: usize) -> WorkloadError {
        let field = self.sample.column(at).find(|field| Number::parse(field, Style::POINT_GROUPED).is_err());
        self.place.whole(format!(
            "its column `{}` is called as times are, but `{}` in it is none that can be read, such as 1592, 1.6us, 0:00:01.25 or PT0.5S; \
             write it so, or say which column is meant by `--column`",
            shorten(&self.title(at)),
            shorten(&crate::input::text(field.unwrap_or_default()))
        ))
    }

    /// `601 get`: a time of 601, or 601 times `get`?
    pub(super) fn times_or_counts(&self) -> WorkloadError {
        let field = |at: usize| shorten(&crate::input::text(self.sample.rows[0].get(at).unwrap_or_default()));
        let (count, name) = (field(0), field(1));
        WorkloadError::Ask(Box::new(Ask {
            path: self.place.0.to_owned(),
            problem: format!(
                "has two columns and no header, `{count} {name}`, …, of which no name comes twice: the numbers may say how often each name \
                 occurred, as `uniq -c` counts, and then there are no times in it"
            ),
            key: AskKey::Column,
            answers: vec![Answer {
                key: AskKey::Column,
                value: "1".to_owned(),
                means: format!("the numbers are times: `{name}` took {count}"),
            }],
        }))
    }

    /// `601 10`: 601 times 10?
    pub(super) fn values_or_counts(&self) -> WorkloadError {
        let first = |at: usize| -> String {
            let fields = self.sample.column(at).take(3).map(|field| shorten(&crate::input::text(field)));
            fields.collect::<Vec<_>>().join(", ")
        };
        let mut answers: Vec<Answer> = Vec::new();
        for at in (0..2).filter(|&at| self.counts(at)) {
            answers.push(Answer {
                key: AskKey::CountColumn,
                value: (at + 1).to_string(),
                means: format!(
                    "the times are {}, … and occur {}, … times, as `uniq -c` counts",
                    first(1 - at),
                    first(at)
                ),
            });
        }
        for at in 0..2 {
            let means =
                format!("the times are {}, …, each a request, and the other column is none", first(at));
            answers.push(Answer { key: AskKey::Column, value: (at + 1).to_string(), means });
        }
        WorkloadError::Ask(Box::new(Ask {
            path: self.place.0.to_owned(),
            problem: "has two columns and no header, and one of them may say how often each value of the other occurs".to_owned(),
            key: AskKey::CountColumn,
            answers,
        }))
    }

    /// `38,682`: one number or two?
    pub(super) fn decimal_or_two(&self) -> WorkloadError {
        let field = |at: usize| crate::input::text(self.sample.rows[0].get(at).unwrap_or_default());
        let (first, second) = (field(0), field(1));
        let answer = |key, value: &str, means: String| Answer { key, value: value.to_owned(), means };
        WorkloadError::Ask(Box::new(Ask {
            path: self.place.0.to_owned(),
            problem: format!(
                "`{first},{second}` is one number with a decimal comma, or two columns without a header"
            ),
            key: AskKey::Decimal,
            answers: vec![
                answer(AskKey::Decimal, ",", format!("one column, whose first value is {first}.{second}")),
                answer(AskKey::Column, "1", format!("two columns, and the times are {first}, …")),
                answer(AskKey::Column, "2", format!("two columns, and the times are {second}, …")),
            ],
        }))
    }

    pub(super) fn which_column(&self, candidates: &[usize]) -> WorkloadError {
        let what = if self.role == Role::Service { "the times" } else { "the times of arrivals" };
        // A name that two columns have names neither.
        let called = |at: usize| match self.header() {
            Some(header) if header.iter().filter(|name| **name == header[at]).count() > 1 => {
                (at + 1).to_string()
            }
            _ => self.title(at),
        };
        let answers = candidates.iter().take(12).map(|&at| {
            let first: Vec<String> =
                self.sample.column(at).take(3).map(|f| shorten(&crate::input::text(f))).collect();
            Answer { key: AskKey::Column, value: called(at), means: format!("{}, …", first.join(", ")) }
        });
        let answers: Vec<Answer> = answers.collect();
        if answers.is_empty() {
            let columns =
                self.header().map_or(String::new(), |header| format!("; its columns are {}", listed(header)));
            return self.place.whole(format!("no column holds {what}{columns}"));
        }
        let header = match self.sample.header {
            Some(_) => "",
            None => " and no header (such as `class,service_us`, or `service_us,count` of a histogram)",
        };
        WorkloadError::Ask(Box::new(Ask {
            path: self.place.0.to_owned(),
            problem: format!("has {} columns{header}, and several may hold {what}", self.sample.width()),
            key: AskKey::Column,
            answers,
        }))
    }

    pub(super) fn only_arrivals(&self, at: usize) -> WorkloadError {
        let problem = "these are times of arrivals, for `arrivals = { file = … }`; service times say how long each \
                       request takes, in a column such as `service_ns`";
        let before: usize =
            self.header().map_or(0, |names| names[..at].iter().map(|name| name.len() + 1).sum());
        self.place.row(self.sample.first_line, before + 1, RowProblem::Format(problem.to_owned()))
    }
}
