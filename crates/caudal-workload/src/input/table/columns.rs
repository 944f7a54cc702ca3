//! The meaning of a table's columns, found by names, by what fields look like, by the writer and by what the
//! user says. Called once a table, before its rows are read.

use super::finder::Finder;
use super::layout::{Filter, Layout, Role, Shape, Status};
use super::names::{CLASSES, WEIGHTS, is_arrival, is_index, rank};
use super::presets::Preset;
use super::separator::Separator;
use super::shares::{self, Points};
use crate::error::WorkloadError;
use crate::input::between;
use crate::input::number::{Number, Style};
use crate::input::shorten;
use crate::input::unit::words;

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
}
