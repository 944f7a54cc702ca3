//! Which column of a table is what.

use super::presets::Preset;
use super::sample::Sample;
use super::separator::Separator;
use super::shares::{self, Points};
use crate::error::{Answer, Ask, AskKey, RowProblem, WorkloadError};
use crate::input::between;
use crate::input::dates;
use crate::input::number::{Number, Style};
use crate::input::percentiles::{Statistic, percentile_of};
use crate::input::unit::{Said, Unit, words};
use crate::input::{Columns, Place, shorten};

/// Columns that say how often a row's value occurs.
const WEIGHTS: [&str; 10] = [
    "count",
    "counts",
    "share",
    "weight",
    "frequency",
    "freq",
    "probability",
    "p",
    "occurrences",
    "requests",
];
/// Columns that hold classes, besides `class`: if they have few names.
const CLASSES: [&str; 10] =
    ["type", "op", "operation", "kind", "label", "request_type", "method", "endpoint", "route", "command"];
/// More names than this in the first rows are no classes.
const CLASSES_MAX: usize = 16;
/// Words of names that count something, which is no time.
const SIZES: [&str; 12] = [
    "tokens", "token", "bytes", "byte", "size", "sizes", "length", "count", "requests", "items", "rows",
    "packets",
];
/// As many times nothing was counted: an epoch in seconds is more.
const COUNT_MAX: u64 = 900_000_000;
/// What an index may be called.
const INDEX: [&str; 14] = [
    "",
    "index",
    "idx",
    "unnamed: 0",
    "row",
    "i",
    "id",
    "no",
    "nr",
    "#",
    "seq",
    "iteration",
    "iter",
    "request",
];

/// What is wanted of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Service times.
    Service,
    /// Times of arrivals.
    Arrival,
}

/// What a row is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// A value.
    Value,
    /// A value, and how often it occurs.
    Weighted { weight: usize },
    /// Values between the column of the values and this one, and how many.
    Range { high: usize, weight: usize },
    /// How many values there are up to this one.
    Cumulative { weight: usize },
    /// A percentile, which this column says.
    PercentileRow { percentile: usize },
    /// Percentiles of a class, each in a column of its own, perhaps its mean, and how many requests the class had.
    Percentiles { columns: Vec<(usize, Statistic)>, count: Option<usize> },
    /// Values between the two bounds that the column of the values has, as in `(0.5, 1.0]`, and how many.
    Interval { weight: usize },
    /// The lower (or upper) bound of each bucket, the other one being that of the next (or last), and how many.
    Edges { weight: usize, is_low: bool },
    /// A point of a distribution: the share of what is up to a value, or beyond it.
    Points { share: usize, points: Points },
    /// The beginning of a request, and the column of its end.
    Between { end: usize },
}

/// A condition on rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) column: usize,
    pub(super) equal: bool,
    pub(super) value: String,
    pub(super) text: String,
}

/// Which column is what.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) shape: Shape,
    pub(super) value: usize,
    /// The name of the column of the values, where there is more than one column.
    pub(super) value_name: Option<String>,
    pub(super) class: Option<usize>,
    pub(super) class_name: Option<String>,
    /// What classes are called instead of what the column holds.
    pub(super) class_names: &'static [(&'static str, &'static str)],
    pub(super) filters: Vec<Filter>,
    /// The column that says whether a request succeeded, and what it holds then.
    pub(super) success: Option<(usize, &'static [&'static str])>,
    /// The column of what a value is to be divided by.
    pub(super) runs: Option<usize>,
    /// The unit, and who says it; nothing if nobody does.
    pub(super) unit: Option<(Unit, &'static str)>,
    pub(super) style: Style,
    /// Fields of a row.
    pub(super) width: usize,
    /// The columns in words.
    pub(super) format: String,
    pub(super) has_arrivals: Option<String>,
    /// What the writer's times are.
    pub(super) note: Option<&'static str>,
    /// The column that tells rows of percentiles apart which are of intervals, runs or metrics, and no classes.
    pub(super) rows_by: Option<usize>,
    /// The column that says when a row of percentiles was.
    pub(super) when: Option<usize>,
    /// The column in which rows may be called totals, where it has no classes.
    pub(super) label: Option<usize>,
    /// The column of statuses, and what they say.
    pub(super) status: Option<(usize, Status)>,
    /// The column by whose counts rows of means are weighed.
    pub(super) means_of: Option<String>,
    /// What the columns are called.
    pub(super) names: Vec<String>,
}

/// How a column says whether a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// By a status of HTTP: 400 and above, and 0.
    Http,
    /// By a word: `false`.
    Success,
}

impl Status {
    /// Does a field say that it failed?
    pub(super) fn is_failure(self, field: &[u8]) -> bool {
        match self {
            Status::Http => field.len() == 3 && matches!(field[0], b'4' | b'5') || field == b"0",
            Status::Success => field.eq_ignore_ascii_case(b"false") || field == b"0",
        }
    }
}

/// A table that is being looked at.
pub(super) struct Finder<'a> {
    pub(super) sample: &'a Sample,
    pub(super) wanted: &'a Columns,
    pub(super) role: Role,
    pub(super) place: &'a Place<'a>,
}

impl Finder<'_> {
    /// Finds the columns.
    ///
    /// # Errors
    /// [`WorkloadError::Ask`] where only the user knows, and others where what is wanted is not there.
    pub(super) fn layout(&self) -> Result<Layout, WorkloadError> {
        let preset = Preset::of(self.sample);
        if let Some(refused) = preset.and_then(|preset| preset.refused) {
            return Err(self.place.whole(refused));
        }
        let filters = self.filters(preset)?;
        if self.role == Role::Service
            && self.wanted.column.is_none()
            && let Some(layout) = self.percentiles(preset, &filters)?
        {
            return Ok(layout);
        }
        let points = self.points(preset);
        let mut weight = self.weight(preset)?.filter(|_| points.is_none());
        let interval = self.interval_column().filter(|_| preset.is_none() && self.role == Role::Service);
        if let Some(interval) = interval {
            // Whatever else is a number says how many there are.
            let numbers = |&at: &usize| at != interval && self.sample.is_numeric(at);
            weight = weight.or_else(|| (0..self.sample.width()).find(numbers));
        }
        let class = self.class(preset)?.filter(|&class| Some(class) != interval);
        let percentile = self.percentile_column(preset, class).filter(|_| points.is_none());
        let percentile = percentile.filter(|&at| weight != Some(at));
        // A column of percentiles is no time, and their names are no classes.
        let class = class.filter(|_| percentile != class);
        if self.role == Role::Service
            && self.wanted.column.is_none()
            && preset.is_none()
            && percentile.is_none()
        {
            self.refuse_summary()?;
        }
        let between = self.between(preset, weight);
        let value = match (interval.zip(weight), between, points) {
            (Some((interval, _)), ..) if self.wanted.column.is_none() => interval,
            (_, Some((start, _)), _) => start,
            (.., Some((share, _))) => self.value_beside(preset, class, share)?,
            _ => self.value(preset, class.or(percentile), weight)?,
        };
        let points = points.filter(|(share, _)| *share != value);
        // What the values are called stands above the counts in older tables of pandas.
        let name = self.name(value).or_else(|| interval.and(weight).and_then(|weight| self.name(weight)));
        let unit = self.unit(value, preset, name.as_deref())?.or_else(|| self.unit_of_epochs(value, between));
        // The comma of an interval separates its bounds.
        let style = if interval == Some(value) { Style::POINT } else { self.style(value)? };
        let shape = match (percentile.filter(|&percentile| percentile != value), weight) {
            (_, Some(weight)) if interval == Some(value) => Shape::Interval { weight },
            _ if between.is_some() => Shape::Between { end: between.map_or(0, |(_, end)| end) },
            (Some(percentile), _) => Shape::PercentileRow { percentile },
            (None, _) => match points {
                Some((share, points)) => Shape::Points { share, points },
                None => self.shape(value, weight),
            },
        };
        if self.role == Role::Service
            && shape == Shape::Value
            && self.wanted.column.is_none()
            && preset.is_none()
        {
            self.refuse_sums(value)?;
            if let Some(share) = shares::named(self.sample).filter(|&share| share != value) {
                return Err(self.place.whole(format!(
                    "its column `{}` is a distribution by its name, but its shares do not go from 0 to 1, or to 100, from row to row as the \
                     values rise",
                    shorten(&self.title(share))
                )));
            }
        }
        let means_of =
            weight.filter(|&weight| matches!(shape, Shape::Weighted { .. }) && self.are_intervals(weight));
        let success = preset.and_then(|preset| preset.success);
        let success = success.and_then(|(column, good)| Some((column.index(self.header())?, good)));
        // Columns of a class that was not asked for, if it is the weight, are no class.
        let class = class.filter(|&class| class != value);
        Ok(Layout {
            shape,
            value,
            value_name: match between {
                Some((start, end)) => Some(format!("{} - {}", self.title(end), self.title(start))),
                None => (self.sample.width() > 1).then(|| self.title(value)),
            },
            class,
            class_name: class.map(|class| self.title(class)),
            class_names: preset.map_or(&[], |preset| preset.class_names),
            filters,
            success: success.filter(|_| self.role == Role::Service),
            runs: preset.and_then(|preset| preset.runs?.index(self.header())).filter(|&runs| runs != value),
            unit,
            style,
            width: self.sample.width(),
            format: self.format(preset),
            has_arrivals: self.arrivals(preset).filter(|&at| at != value).map(|at| self.title(at)),
            note: preset.and_then(|preset| preset.note).filter(|_| self.wanted.column.is_none()),
            rows_by: None,
            when: None,
            label: (0..self.sample.width())
                .find(|&at| at != value && Some(at) != class && !self.is_mostly_numbers(at))
                .filter(|_| self.role == Role::Service && preset.is_none()),
            status: self.status().filter(|_| self.role == Role::Service && preset.is_none()),
            means_of: means_of.map(|weight| self.title(weight)),
            names: self.header().cloned().unwrap_or_default(),
        })
    }

    /// The column of shares of a distribution, and what they are of.
    fn points(&self, preset: Option<&Preset>) -> Option<(usize, Points)> {
        if preset.is_some() || self.role == Role::Arrival {
            return None;
        }
        shares::of(self.sample).filter(|(share, _)| {
            // Who asks for the shares themselves gets them.
            self.wanted.column.as_ref().is_none_or(|wanted| self.column(wanted).ok() != Some(*share))
        })
    }

    /// The column of the values beside shares.
    fn value_beside(
        &self,
        preset: Option<&Preset>,
        class: Option<usize>,
        share: usize,
    ) -> Result<usize, WorkloadError> {
        match self.header() {
            None if self.wanted.column.is_none() && self.sample.width() == 2 => Ok(1 - share),
            _ => self.value(preset, class, Some(share)),
        }
    }

    /// The columns of the beginnings and the ends of requests, where nothing says what they take.
    fn between(&self, preset: Option<&Preset>, weight: Option<usize>) -> Option<(usize, usize)> {
        if self.role == Role::Arrival || self.wanted.column.is_some() || weight.is_some() {
            return None;
        }
        if let Some(preset) = preset {
            return Some((preset.value.index(self.header())?, preset.until?.index(self.header())?));
        }
        let names: Vec<&str> = self.header()?.iter().map(String::as_str).collect();
        let pair = between::pair(&names)?;
        let says_it = |(at, name): (usize, &&str)| at != pair.0 && at != pair.1 && rank(name) > 0;
        let are_times = [pair.0, pair.1].iter().all(|&at| {
            let mut fields = self.sample.column(at).peekable();
            fields.peek().is_some()
                && fields.all(|field| between::between(field, field, Style::POINT).is_ok())
        });
        (are_times && !names.iter().enumerate().any(says_it)).then_some(pair)
    }

    /// The unit of beginnings that are times since 1970.
    fn unit_of_epochs(&self, value: usize, between: Option<(usize, usize)>) -> Option<(Unit, &'static str)> {
        between?;
        let mut units = self.sample.column(value).map(|field| dates::epoch_unit(&crate::input::text(field)));
        let first = units.next()??;
        units.all(|unit| unit == Some(first)).then_some((first, "these are epochs"))
    }

    /// Is there a column that says when, as a row an interval has it?
    fn are_intervals(&self, weight: usize) -> bool {
        const WHEN: [&str; 9] =
            ["minute", "second", "hour", "interval", "time", "t", "window", "day", "period"];
        self.header().is_some_and(|header| {
            header.iter().enumerate().any(|(at, name)| {
                at != weight && (is_arrival(name) || WHEN.contains(&name.to_lowercase().as_str()))
            })
        })
    }

    /// # Errors
    /// If the values that nobody asked for by name are no times of requests, but statistics or sums of many.
    fn refuse_sums(&self, value: usize) -> Result<(), WorkloadError> {
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
    fn refuse_summary(&self) -> Result<(), WorkloadError> {
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

    /// The column that says whether a request failed, if some did.
    fn status(&self) -> Option<(usize, Status)> {
        const HTTP: [&str; 8] = [
            "status",
            "statuscode",
            "httpstatus",
            "code",
            "responsecode",
            "httpcode",
            "httpresponsecode",
            "scstatus",
        ];
        let header = self.header()?;
        let is_status = |field: &[u8]| {
            field == b"0"
                || field.len() == 3
                    && (b'1'..=b'5').contains(&field[0])
                    && field.iter().all(u8::is_ascii_digit)
        };
        let is_word =
            |field: &[u8]| field.eq_ignore_ascii_case(b"true") || field.eq_ignore_ascii_case(b"false");
        let all = |at: usize, holds: &dyn Fn(&[u8]) -> bool| {
            let mut fields = self.sample.column(at).peekable();
            fields.peek().is_some() && fields.all(holds)
        };
        header.iter().enumerate().find_map(|(at, name)| {
            let joined = words(name).concat();
            if HTTP.contains(&joined.as_str()) && all(at, &is_status) {
                Some((at, Status::Http))
            } else if ["success", "ok", "succeeded", "successful"].contains(&joined.as_str())
                && all(at, &is_word)
            {
                Some((at, Status::Success))
            } else {
                None
            }
        })
    }

    fn header(&self) -> Option<&Vec<String>> {
        self.sample.header.as_ref()
    }

    /// The name of a column, if it has one.
    pub(super) fn name(&self, index: usize) -> Option<String> {
        self.header().and_then(|header| header.get(index)).filter(|name| !name.is_empty()).cloned()
    }

    /// What a column is called, or its number.
    fn title(&self, index: usize) -> String {
        self.name(index).unwrap_or_else(|| (index + 1).to_string())
    }

    fn format(&self, preset: Option<&Preset>) -> String {
        let table = match self.sample.separator {
            Separator::Byte(_) if self.sample.width() == 1 => "a value a line",
            Separator::Byte(b',') => "CSV",
            Separator::Byte(b'\t') => "TSV",
            Separator::Byte(b';') => "CSV with semicolons",
            Separator::Byte(_) => "CSV with bars",
            Separator::Blanks => "columns between blanks",
        };
        preset.map_or_else(|| table.to_owned(), |preset| format!("{table} of {}", preset.writer))
    }

    /// The column with this name or number.
    fn column(&self, wanted: &str) -> Result<usize, WorkloadError> {
        let named = self.header().and_then(|header| {
            header.iter().position(|name| name == wanted).or_else(|| {
                let mut alike =
                    header.iter().enumerate().filter(|(_, name)| name.eq_ignore_ascii_case(wanted));
                alike.next().map(|(index, _)| index).filter(|_| alike.next().is_none())
            })
        });
        let numbered =
            wanted.parse::<usize>().ok().filter(|number| (1..=self.sample.width()).contains(number));
        named.or(numbered.map(|number| number - 1)).ok_or_else(|| {
            let wanted = shorten(wanted);
            let problem = match self.header() {
                Some(header) => format!("there is no column `{wanted}`; the columns are {}", listed(header)),
                None => {
                    let width = self.sample.width();
                    format!("has no header, so no column `{wanted}`; write its number, 1 to {width}, or add a first line")
                }
            };
            match self.header() {
                Some(_) => self.place.row(self.sample.first_line, 1, RowProblem::Format(problem)),
                None => self.place.whole(problem),
            }
        })
    }

    fn filters(&self, preset: Option<&Preset>) -> Result<Vec<Filter>, WorkloadError> {
        let usual = preset.and_then(|preset| preset.filter).filter(|_| self.role == Role::Service);
        let usual = usual.filter(|_| self.wanted.filter.is_empty());
        let texts = self.wanted.filter.iter().map(String::as_str).chain(usual);
        texts
            .map(|text| {
                let (name, value) = text.split_once('=').ok_or_else(|| {
                    self.place.whole(format!(
                        "`{}` is no condition on rows; write a column, `=` or `!=`, and a value, as in status=200",
                        shorten(text)
                    ))
                })?;
                let (name, equal) = match name.strip_suffix('!') {
                    Some(name) => (name, false),
                    None => (name, true),
                };
                let column = self.column(name.trim())?;
                Ok(Filter { column, equal, value: value.trim().to_owned(), text: text.to_owned() })
            })
            .collect()
    }

    fn weight(&self, preset: Option<&Preset>) -> Result<Option<usize>, WorkloadError> {
        if self.role == Role::Arrival {
            return Ok(None);
        }
        if let Some(wanted) = &self.wanted.count_column {
            return if wanted.is_empty() { Ok(None) } else { self.column(wanted).map(Some) };
        }
        if let Some(preset) = preset {
            return Ok(preset.weight.and_then(|weight| weight.index(self.header())));
        }
        let counts = |name: &String| {
            let words = words(name);
            let is_count = words.iter().any(|word| word == "count");
            WEIGHTS.contains(&name.to_lowercase().as_str())
                || is_count && words.iter().any(|word| word.starts_with("cum"))
        };
        Ok(self.header().and_then(|header| header.iter().position(counts)))
    }

    fn class(&self, preset: Option<&Preset>) -> Result<Option<usize>, WorkloadError> {
        if self.role == Role::Arrival {
            return Ok(None);
        }
        if let Some(wanted) = &self.wanted.class_column {
            return if wanted.is_empty() { Ok(None) } else { self.column(wanted).map(Some) };
        }
        if let Some(preset) = preset {
            return Ok(preset.class.and_then(|class| class.index(self.header())));
        }
        let Some(header) = self.header() else {
            // Numbers are no classes.
            return Ok((self.sample.width() == 2 && !self.is_mostly_numbers(0)).then_some(0));
        };
        let named = |wanted: &str| header.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        if let Some(class) = named("class") {
            return Ok(Some(class));
        }
        let mut found = CLASSES.iter().filter_map(|name| named(name)).filter(|&at| self.has_few_names(at));
        Ok(found.next().filter(|_| found.next().is_none()))
    }

    /// Does a column hold names, and the same ones again and again?
    fn has_few_names(&self, index: usize) -> bool {
        let is_own = |field: &&[u8]| !is_sum(&crate::input::text(field));
        let mut names: Vec<&[u8]> = self.sample.column(index).filter(is_own).collect();
        let rows = names.len();
        names.sort_unstable();
        names.dedup();
        names.len() <= CLASSES_MAX && 2 * names.len() <= rows.max(2) && !self.sample.is_numeric(index)
    }

    /// The column of arrivals, if one is called so.
    fn arrivals(&self, preset: Option<&Preset>) -> Option<usize> {
        if let Some((column, _)) = preset.and_then(|preset| preset.arrival) {
            return column.index(self.header());
        }
        self.header()?.iter().position(|name| is_arrival(name))
    }

    fn value(
        &self,
        preset: Option<&Preset>,
        class: Option<usize>,
        weight: Option<usize>,
    ) -> Result<usize, WorkloadError> {
        if let Some(wanted) = &self.wanted.column {
            return self.column(wanted);
        }
        let of_preset = match self.role {
            Role::Service => preset.map(|preset| preset.value),
            Role::Arrival => preset.and_then(|preset| preset.arrival).map(|(column, _)| column),
        };
        if let Some(index) = of_preset.and_then(|column| column.index(self.header())) {
            return Ok(index);
        }
        match self.header() {
            Some(header) => self.named_value(header, class, weight),
            None => self.unnamed_value(weight),
        }
    }

    fn named_value(
        &self,
        header: &[String],
        class: Option<usize>,
        weight: Option<usize>,
    ) -> Result<usize, WorkloadError> {
        let one = header.len() == 1;
        let is_index = |at: usize| is_index(&header[at]) && !one && self.numbers_rows(at);
        let others: Vec<usize> = (0..header.len())
            .filter(|&at| Some(at) != class && Some(at) != weight && !is_index(at))
            .collect();
        let arrival = |&at: &usize| is_arrival(&header[at]);
        let candidates: Vec<usize> = match self.role {
            Role::Arrival => others.clone(),
            Role::Service => {
                let times: Vec<usize> = others.iter().copied().filter(|at| !arrival(at)).collect();
                if times.is_empty() && !others.is_empty() {
                    return Err(self.only_arrivals(others[0]));
                }
                times
            }
        };
        let rank = |&at: &usize| match self.role {
            Role::Arrival => usize::from(is_arrival(&header[at])) * 2,
            Role::Service => rank(&header[at]),
        };
        let named =
            candidates.iter().copied().filter(|at| rank(at) > 1 && self.sample.column(*at).next().is_some());
        let (read, unread): (Vec<usize>, Vec<usize>) = named.partition(|&at| self.is_mostly_numbers(at));
        let candidates: Vec<usize> = match candidates.iter().any(|&at| self.is_mostly_numbers(at)) {
            true => candidates.into_iter().filter(|&at| self.is_mostly_numbers(at)).collect(),
            false => candidates,
        };
        // What is called as times are and cannot be read is no reason to take something else.
        if let (Role::Service, [], Some(&at)) = (self.role, &read[..], unread.first()) {
            return Err(self.no_times(at));
        }
        let best = candidates.iter().map(rank).max().unwrap_or(0);
        let mut finest = candidates.iter().filter(|at| rank(at) == best);
        match (finest.next(), finest.next(), candidates.len()) {
            (Some(&only), None, _) if best > 0 => Ok(only),
            (Some(&low), Some(_), 2) if self.range_of(weight).is_some_and(|(from, _)| from == low) => Ok(low),
            (Some(&only), _, 1) => Ok(only),
            _ => match self.range_of(weight) {
                Some((low, _)) => Ok(low),
                None => Err(self.which_column(&candidates)),
            },
        }
    }

    /// A column that is called as times are and holds none.
    fn no_times(&self, at: usize) -> WorkloadError {
        let field = self.sample.column(at).find(|field| Number::parse(field, Style::POINT_GROUPED).is_err());
        self.place.whole(format!(
            "its column `{}` is called as times are, but `{}` in it is none that can be read, such as 1592, 1.6us, 0:00:01.25 or PT0.5S; \
             write it so, or say which column is meant by `--column`",
            shorten(&self.title(at)),
            shorten(&crate::input::text(field.unwrap_or_default()))
        ))
    }

    /// Does a column count 0, 1, 2, … or 1, 2, 3, …?
    fn numbers_rows(&self, at: usize) -> bool {
        let numbers: Option<Vec<u64>> =
            self.sample.column(at).map(|field| crate::input::text(field).parse().ok()).collect();
        numbers.is_some_and(|numbers| {
            numbers.first().is_some_and(|&first| first <= 1)
                && numbers.windows(2).all(|two| two[1] == two[0] + 1)
        })
    }

    fn is_mostly_numbers(&self, at: usize) -> bool {
        let (mut all, mut numbers) = (0, 0);
        for field in self.sample.column(at) {
            all += 1;
            let is_number =
                crate::input::number::looks_like_one(field) && field.iter().any(u8::is_ascii_digit);
            numbers += usize::from(is_number);
        }
        all > 0 && 2 * numbers >= all
    }

    fn unnamed_value(&self, weight: Option<usize>) -> Result<usize, WorkloadError> {
        let width = self.sample.width();
        let numbers: Vec<usize> =
            (0..width).filter(|&at| Some(at) != weight && self.is_mostly_numbers(at)).collect();
        match (weight, &numbers[..]) {
            (Some(_), [only]) => return Ok(*only),
            (None, [0, 1]) if self.role == Role::Service && self.may_count() => {
                return Err(self.values_or_counts());
            }
            _ => {}
        }
        let clock = numbers.iter().copied().find(|&at| self.role == Role::Service && self.is_clock(at));
        let numbers: Vec<usize> = numbers.into_iter().filter(|&at| Some(at) != clock).collect();
        if let Some(at) = clock.filter(|_| !numbers.iter().any(|&at| self.sample.is_numeric(at))) {
            return Err(self.place.whole(format!(
                "its column {} goes on as a clock does, and none of the others is a time by itself; give a column of what each request takes, or \
                 say which is meant by `--column`",
                at + 1
            )));
        }
        // Addresses and dates begin as numbers do: they are offered only where nothing is a number.
        let read: Vec<usize> = numbers.iter().copied().filter(|&at| self.sample.is_numeric(at)).collect();
        let numbers = if width > 2 && !read.is_empty() { read } else { numbers };
        // The only one that says its unit behind each number is a time, and the others are not.
        let with_unit = |&at: &usize| {
            let has_unit =
                |field: &[u8]| Number::parse(field, Style::POINT).is_ok_and(|number| number.unit.is_some());
            self.sample.column(at).all(has_unit)
        };
        if let (Role::Service, [only]) =
            (self.role, &numbers.iter().copied().filter(with_unit).collect::<Vec<_>>()[..])
        {
            return Ok(*only);
        }
        match (width, &numbers[..]) {
            (0 | 1, _) => Ok(0),
            (2, [1] | []) => Ok(1),
            (2, [0]) if self.role == Role::Service && weight.is_none() && self.may_count() => {
                Err(self.times_or_counts())
            }
            (2, [0]) => Ok(0),
            (2, _) if self.sample.separator == Separator::Byte(b',') => Err(self.decimal_or_two()),
            _ => Err(self.which_column(&numbers)),
        }
    }

    /// Does a column without a name say when something was: the time of day behind a date, or one that goes on from row to row?
    fn is_clock(&self, at: usize) -> bool {
        const FEW: usize = 5;
        let is_date = |field: &[u8]| {
            let is_digit = |at: usize| field.get(at).is_some_and(u8::is_ascii_digit);
            field.len() == 10
                && (0..4).all(is_digit)
                && [4, 7].iter().all(|&at| matches!(field[at], b'-' | b'/'))
        };
        let is_time_of_day = |field: &[u8]| field.iter().filter(|&&byte| byte == b':').count() == 2;
        if !self.sample.column(at).all(is_time_of_day) {
            return false;
        }
        if at > 0 && self.sample.column(at - 1).all(is_date) {
            return true;
        }
        let ps = |field: &[u8]| Number::parse(field, Style::POINT).ok()?.ps(Unit::S);
        let times: Vec<u128> = self.sample.column(at).filter_map(ps).collect();
        times.len() >= FEW && times.windows(2).all(|two| two[0] <= two[1]) && times.first() < times.last()
    }

    /// Does one of two columns perhaps say how often each value of the other one occurs, as `uniq -c` writes it? Whole numbers from 1
    /// on, and of the others none comes twice.
    fn may_count(&self) -> bool {
        let is_pair = self.sample.width() == 2 || self.sample.width() == 3 && self.unit_behind(1).is_some();
        self.sample.separator == Separator::Blanks && is_pair && (0..2).any(|at| self.counts(at))
    }

    /// The unit that stands behind each number of a column, as a column of its own.
    fn unit_behind(&self, at: usize) -> Option<Unit> {
        if self.header().is_some() || self.sample.separator != Separator::Blanks {
            return None;
        }
        let mut words = self.sample.column(at + 1).map(|word| Unit::of_word(&crate::input::text(word)));
        let first = words.next()??;
        words.all(|unit| unit == Some(first)).then_some(first)
    }

    fn counts(&self, at: usize) -> bool {
        let counts = |field: &[u8]| {
            crate::input::text(field).parse::<u64>().is_ok_and(|count| (1..COUNT_MAX).contains(&count))
        };
        let mut others: Vec<&[u8]> = self.sample.column(1 - at).collect();
        let rows = others.len();
        others.sort_unstable();
        others.dedup();
        rows > 1 && others.len() == rows && self.sample.column(at).all(counts) && !self.numbers_rows(at)
    }

    /// `601 get`: a time of 601, or 601 times `get`?
    fn times_or_counts(&self) -> WorkloadError {
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
    fn values_or_counts(&self) -> WorkloadError {
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
    fn decimal_or_two(&self) -> WorkloadError {
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

    fn which_column(&self, candidates: &[usize]) -> WorkloadError {
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

    fn only_arrivals(&self, at: usize) -> WorkloadError {
        let problem = "these are times of arrivals, for `arrivals = { file = … }`; service times say how long each \
                       request takes, in a column such as `service_ns`";
        let before: usize =
            self.header().map_or(0, |names| names[..at].iter().map(|name| name.len() + 1).sum());
        self.place.row(self.sample.first_line, before + 1, RowProblem::Format(problem.to_owned()))
    }

    /// Does a column hold something other than when something was?
    fn is_no_when(&self, at: usize) -> bool {
        let is_date = |field: &[u8]| {
            let field = crate::input::text(field);
            let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            field.get(..4).is_some_and(digits) && field.get(4..5).is_some_and(|mark| "-/".contains(mark))
                || field.contains(['/', ':']) && field.split(['/', ':', ' ']).take(2).all(digits)
        };
        let mut fields = self.sample.column(at).peekable();
        let are_dates = fields.peek().is_some() && fields.all(is_date);
        !are_dates && !self.header().is_some_and(|header| is_arrival(&header[at]))
    }

    /// The column that says which percentile a row is: by its own name, by the names in it (`p50`, `p99`; `mean` and `count` may
    /// stand among them), or, if it has no name, as a table of pandas' quantiles has none, by shares that rise.
    fn percentile_column(&self, preset: Option<&Preset>, class: Option<usize>) -> Option<usize> {
        if preset.is_some() || self.role == Role::Arrival || self.sample.width() < 2 {
            return None;
        }
        let named = ["percentile", "quantile", "percent", "percentage", "pct", "statistic"];
        let by_name = self.header().and_then(|header| {
            header.iter().position(|name| words(name).iter().any(|word| named.contains(&word.as_str())))
        });
        let are_statistics = |&at: &usize| {
            let names: Vec<String> = self.sample.column(at).map(crate::input::text).collect();
            let inner = |name: &&String| matches!(Statistic::of(name), Some(Statistic::Percentile(_)));
            names.iter().filter(inner).count() > names.len() / 3
                && names.iter().all(|name| Statistic::of(name).is_some() || is_no_time(name))
        };
        let are_shares = |&at: &usize| {
            let shares: Option<Vec<f64>> =
                self.sample.column(at).map(|field| crate::input::text(field).parse().ok()).collect();
            shares.is_some_and(|shares| {
                shares.iter().all(|share| (0.0..=1.0).contains(share))
                    && shares.iter().filter(|share| share.fract() > 0.0).count() > 1
                    // Of several classes, one after the other, each begins anew.
                    && shares.chunk_by(|a, b| a < b).all(|run| run.len() > 1 && run[0] == shares[0])
            })
        };
        let unnamed = self.header().and_then(|header| header.iter().position(|name| is_index(name)));
        by_name
            .or_else(|| class.filter(are_statistics))
            .or_else(|| unnamed.filter(|at| are_statistics(at) || are_shares(at)))
    }

    /// The column whose fields are intervals: `(0.5, 1.0]`.
    fn interval_column(&self) -> Option<usize> {
        let are = |&at: &usize| {
            let mut fields = self.sample.column(at).peekable();
            fields.peek().is_some() && fields.all(|field| interval(field).is_some())
        };
        (0..self.sample.width()).find(are)
    }

    /// The columns of the bounds of a histogram.
    fn range_of(&self, weight: Option<usize>) -> Option<(usize, usize)> {
        const LOW: [&str; 9] = ["low", "lower", "lo", "min", "from", "start", "begin", "left", "ge"];
        const HIGH: [&str; 9] = ["high", "upper", "hi", "max", "to", "end", "until", "right", "lt"];
        let weight = weight?;
        let header = self.header()?;
        let find = |known: &[&str]| {
            header.iter().enumerate().position(|(at, name)| {
                at != weight && words(name).iter().any(|word| known.contains(&word.as_str()))
            })
        };
        Some((find(&LOW)?, find(&HIGH)?)).filter(|(low, high)| low != high)
    }

    fn shape(&self, value: usize, weight: Option<usize>) -> Shape {
        let Some(weight) = weight.filter(|&weight| weight != value) else { return Shape::Value };
        if let Some((_, high)) = self.range_of(Some(weight)).filter(|&(low, _)| low == value) {
            return Shape::Range { high, weight };
        }
        let is_bound = self.name(value).is_some_and(|name| words(&name).iter().any(|word| word == "le"));
        let is_edge = |known: &[&str]| {
            self.name(value).is_some_and(|name| {
                let words = words(&name);
                let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
                has(known) && has(&["bin", "bins", "bucket", "buckets", "edge", "bound"])
            })
        };
        let says_so = self.name(weight).is_some_and(|name| words(&name).iter().any(|w| w.starts_with("cum")));
        if is_bound || says_so {
            Shape::Cumulative { weight }
        } else if is_edge(&["left", "low", "lower", "start", "from", "begin", "min"]) {
            Shape::Edges { weight, is_low: true }
        } else if is_edge(&["right", "high", "upper", "end", "to", "max"]) {
            Shape::Edges { weight, is_low: false }
        } else {
            Shape::Weighted { weight }
        }
    }

    fn unit(
        &self,
        value: usize,
        preset: Option<&Preset>,
        name: Option<&str>,
    ) -> Result<Option<(Unit, &'static str)>, WorkloadError> {
        let said = name.map_or(Said::Nothing, Unit::of_name);
        let by_name = "says the column's name";
        match (said, self.wanted.unit) {
            (Said::Unit(named), Some(wanted)) if named != wanted => {
                let (name, wanted, named) = (name.unwrap_or_default(), wanted.name(), named.name());
                Err(self
                    .place
                    .whole(format!("column `{name}` is in {named}, but `unit` says {wanted}; keep one")))
            }
            (_, Some(wanted)) => Ok(Some((wanted, "as you said"))),
            (Said::Unit(named), None) => Ok(Some((named, by_name))),
            (Said::Unknown, None) => {
                let name = shorten(name.unwrap_or_default());
                let problem = format!(
                    "`{name}` names no unit that is known here, or two: end it in _ps, _ns, _us, _ms or _s, or say `--unit` \
                     (`unit = …` in a file)"
                );
                let before: usize =
                    self.header().map_or(0, |names| names[..value].iter().map(|name| name.len() + 1).sum());
                Err(self.place.row(self.sample.first_line, before + 1, RowProblem::Format(problem)))
            }
            (Said::Nothing, None) => {
                Ok(self.unit_of_format(value, preset, name).or_else(|| self.unit_of_column()))
            }
        }
    }

    /// The unit that a column such as `duration_unit` says in every row.
    fn unit_of_column(&self) -> Option<(Unit, &'static str)> {
        let of = |at: usize| {
            let mut units = self.sample.column(at).map(|field| Unit::of_word(&crate::input::text(field)));
            let first = units.next()??;
            units.all(|unit| unit == Some(first)).then_some(first)
        };
        let names = self.header()?.iter().enumerate();
        let mut said = names
            .filter(|(_, name)| words(name).iter().any(|word| word == "unit"))
            .filter_map(|(at, _)| of(at));
        let unit = said.next().filter(|_| said.next().is_none())?;
        Some((unit, "says a column of it"))
    }

    fn unit_of_format(
        &self,
        value: usize,
        preset: Option<&Preset>,
        name: Option<&str>,
    ) -> Option<(Unit, &'static str)> {
        if let Some(preset) = preset {
            let of_arrivals = preset.arrival.filter(|(column, _)| column.index(self.header()) == Some(value));
            return match of_arrivals {
                Some((_, unit)) => unit.map(|unit| (unit, "as the writer has it")),
                None => Some((preset.unit, "as the writer has it")),
            };
        }
        if let Some(unit) = self.unit_behind(value) {
            return Some((unit, "stands behind each of them"));
        }
        // Prometheus's bounds are in seconds, by its own convention.
        let is_le = name.is_some_and(|name| name.eq_ignore_ascii_case("le"));
        is_le.then_some((Unit::S, "Prometheus's convention for `le`"))
    }

    /// What a name counts, if it is no time: `ContextTokens`.
    pub(super) fn counts_something(&self, value: usize) -> Option<String> {
        let name = self.name(value)?;
        words(&name).iter().any(|word| SIZES.contains(&word.as_str())).then_some(name)
    }

    fn style(&self, value: usize) -> Result<Style, WorkloadError> {
        match self.wanted.decimal {
            Some(',') => return Ok(Style::COMMA),
            Some('.') => return Ok(Style::POINT_GROUPED),
            Some(other) => {
                return Err(WorkloadError::value(
                    "decimal",
                    format!("{other:?}"),
                    "decimals stand behind `.` or `,`",
                ));
            }
            None => {}
        }
        self.sample.style(value).map_err(|field| {
            let (decimal, thousands) = (field.replace(',', "."), field.replace(',', ""));
            let answer =
                |value: &str, means: String| Answer { key: AskKey::Decimal, value: value.to_owned(), means };
            WorkloadError::Ask(Box::new(Ask {
                path: self.place.0.to_owned(),
                problem: format!("`{field}` has a decimal comma, or a comma between thousands"),
                key: AskKey::Decimal,
                answers: vec![
                    answer(",", format!("it is {decimal}")),
                    answer(".", format!("it is {thousands}")),
                ],
            }))
        })
    }

    /// The layout of a table whose columns are percentiles.
    fn percentiles(
        &self,
        preset: Option<&Preset>,
        filters: &[Filter],
    ) -> Result<Option<Layout>, WorkloadError> {
        let Some(header) = self.header().filter(|_| preset.is_none()) else { return Ok(None) };
        let mut columns: Vec<(usize, Statistic)> = Vec::new();
        for (at, name) in header.iter().enumerate() {
            // `Median Response Time` and `50%` say the same: the first one does.
            let statistic = Statistic::of(name);
            columns.extend(
                statistic.filter(|one| columns.iter().all(|(_, known)| known != one)).map(|one| (at, one)),
            );
        }
        let is_inner =
            |statistic: &Statistic| matches!(statistic, Statistic::Percentile(p) if *p > 0.0 && *p < 100.0);
        if columns.iter().filter(|(_, statistic)| is_inner(statistic)).count() < 2 {
            return Ok(None);
        }
        let writer = SUMMARIES
            .iter()
            .find(|(_, _, names)| names.iter().all(|name| header.iter().any(|found| found == name)));
        let first = columns.iter().find(|(_, statistic)| is_inner(statistic)).map_or(0, |(at, _)| *at);
        let unit = match (writer, self.wanted.unit) {
            (_, Some(unit)) => Some((unit, "as you said")),
            (Some((_, unit, _)), None) => Some((*unit, "as the writer has it")),
            (None, None) => self.unit(first, None, Some(header[first].as_str()))?,
        };
        let of_statistics = |at: usize| columns.iter().any(|(column, _)| *column == at);
        let class = match &self.wanted.class_column {
            Some(wanted) => Some(self.column(wanted)?),
            None => {
                let names: Vec<usize> = (0..header.len())
                    .filter(|&at| !self.is_mostly_numbers(at) && !of_statistics(at) && self.is_no_when(at))
                    .filter(|&at| words(&header[at]).iter().all(|word| word != "unit"))
                    .collect();
                let named = ["name", "class", "test", "label"];
                let by_name = |&&at: &&usize| named.contains(&header[at].to_lowercase().as_str());
                names.iter().find(by_name).or(names.first()).copied()
            }
        };
        let count = header.iter().position(|name| {
            let words = words(name);
            words.last().is_some_and(|last| last == "count") || name.eq_ignore_ascii_case("requests")
        });
        // Rows without names are of runs or of intervals, which have a number or a time; those of metrics have names that say so.
        let are_metrics = |at: &usize| {
            let of_metric = ["metric", "metrics", "measure", "measurement", "statistic"];
            of_metric.contains(&header[*at].to_lowercase().as_str())
                || self.sample.column(*at).any(|field| row_unit(field).is_some())
        };
        let asked = self.wanted.class_column.as_ref().is_some_and(|name| !name.is_empty());
        let rows_by = match class {
            Some(class) => Some(class).filter(are_metrics),
            None => (0..header.len()).find(|at| columns.iter().all(|(column, _)| column != at)),
        };
        let rows_by = rows_by.filter(|_| !asked);
        Ok(Some(Layout {
            value: first,
            value_name: None,
            rows_by,
            label: None,
            when: (0..header.len())
                .find(|&at| is_arrival(&header[at]) || !self.is_no_when(at))
                .or_else(|| (0..header.len()).find(|&at| Some(at) != class && !of_statistics(at))),
            status: None,
            means_of: None,
            names: header.clone(),
            class,
            class_name: class.map(|class| self.title(class)),
            class_names: &[],
            filters: filters.to_vec(),
            success: None,
            runs: None,
            unit,
            style: self.style(first)?,
            width: self.sample.width(),
            format: match writer {
                Some((writer, ..)) => format!("percentiles of {writer}"),
                None => "a table of percentiles".into(),
            },
            has_arrivals: None,
            note: None,
            shape: Shape::Percentiles { columns, count },
        }))
    }
}

/// Writers of tables of percentiles: what is in which unit there, and columns by which they are known.
const SUMMARIES: [(&str, Unit, &[&str]); 3] = [
    ("Locust", Unit::Ms, &["Request Count", "Median Response Time", "Average Response Time"]),
    ("Taurus", Unit::S, &["avg_ct", "avg_lt", "avg_rt", "perc_50.0"]),
    ("perf_analyzer", Unit::Us, &["Concurrency", "Inferences/Second", "Client Send", "p99 latency"]),
];

/// What the name of a row says of its unit, in brackets: `Request Latency (ms)`, `Output Sequence Length (tokens)`.
pub(super) fn row_unit(name: &[u8]) -> Option<Said> {
    let name = crate::input::text(name);
    let (_, unit) = name.trim().strip_suffix(')')?.rsplit_once('(')?;
    Some(Unit::of_word(unit).map_or(Said::Unknown, Said::Unit))
}

/// Is this the name of a row that sums up the others?
pub(super) fn is_sum(name: &str) -> bool {
    const SUMS: [&str; 11] = [
        "total",
        "totals",
        "average",
        "avg",
        "mean",
        "sum",
        "aggregated",
        "overall",
        "grand total",
        "median",
        "max",
    ];
    let name = name.trim_end_matches(':');
    SUMS.iter().any(|sum| name.eq_ignore_ascii_case(sum))
}

/// May a column with this name be an index?
fn is_index(name: &str) -> bool {
    INDEX.contains(&name.to_lowercase().as_str())
}

/// Is a row with this name among percentiles none of a time: how many there were, or what it says of names?
pub(super) fn is_no_time(name: &str) -> bool {
    ["count", "null_count", "unique", "top", "freq", "n", "samples"]
        .contains(&name.trim().to_lowercase().as_str())
}

/// An end of an interval, and whether it belongs to it.
#[derive(Clone, Copy)]
pub(super) struct Bound<'a> {
    pub(super) field: &'a [u8],
    pub(super) belongs: bool,
}

/// An interval as mathematics and pandas write it, `(0.5, 1.0]`: its ends.
pub(super) fn interval(field: &[u8]) -> Option<[Bound<'_>; 2]> {
    let [open @ (b'(' | b'['), inner @ .., close @ (b')' | b']')] = field.trim_ascii() else { return None };
    let comma = inner.iter().position(|&byte| byte == b',')?;
    let (low, high) = (inner[..comma].trim_ascii(), inner[comma + 1..].trim_ascii());
    let is_bound = |field: &[u8]| {
        crate::input::number::looks_like_one(field)
            || super::is_endless(field.strip_prefix(b"-").unwrap_or(field))
    };
    let bounds =
        [Bound { field: low, belongs: *open == b'[' }, Bound { field: high, belongs: *close == b']' }];
    bounds.iter().all(|bound| is_bound(bound.field)).then_some(bounds)
}

/// Does a column's name say that it holds when something arrived?
pub(in crate::input) fn is_arrival(name: &str) -> bool {
    const FIRST: [&str; 13] = [
        "timestamp",
        "timestamps",
        "arrival",
        "arrivals",
        "arrived",
        "start",
        "started",
        "begin",
        "ts",
        "epoch",
        "date",
        "datetime",
        "offset",
    ];
    let words = words(name);
    let duration = words.iter().any(|word| ["duration", "latency", "elapsed"].contains(&word.as_str()));
    let first = match words.first().map(String::as_str) {
        // `at_ms`, but not `At safepoint`.
        Some("at") => words[1..].iter().all(|word| Unit::of_word(word).is_some()),
        Some(word) => FIRST.contains(&word),
        None => false,
    };
    let any = words.iter().any(|word| word == "timestamp" || word == "arrival");
    let pair = words.windows(2).any(|two| two == ["time", "stamp"] || two == ["request", "start"]);
    (first || any || pair) && !duration
}

/// How clearly a name says that it holds what a request takes.
fn rank(name: &str) -> usize {
    const DURATIONS: [&str; 13] = [
        "latency",
        "latencies",
        "lat",
        "duration",
        "durations",
        "elapsed",
        "took",
        "rtt",
        "rt",
        "runtime",
        "resptime",
        "responsetime",
        "dur",
    ];
    const OF_TIME: [&str; 10] = [
        "response",
        "request",
        "execution",
        "exec",
        "processing",
        "query",
        "handling",
        "total",
        "run",
        "taken",
    ];
    let words = words(name);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    if words.first().is_some_and(|word| word == "service") {
        3
    } else if has(&DURATIONS) || has(&["time"]) && has(&OF_TIME) {
        2
    } else {
        usize::from(matches!(Unit::of_name(name), Said::Unit(_)))
    }
}

/// Names for a message.
pub(super) fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names
        .iter()
        .filter(|name| !name.is_empty())
        .take(12)
        .map(|name| format!("`{}`", shorten(name)))
        .collect();
    shown.join(", ")
}
