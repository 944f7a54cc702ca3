//! The conditions of `--where` on JSON: which objects are meant, by the values of their keys. `lines` and `choosing` ask for each object,
//! and refuse the file in the end if a condition left nothing. Pure, but for its counts.

use serde_json::Value;

use super::values::plain;
use crate::error::WorkloadError;
use crate::input::{Columns, Data, Place, Read, Trace, shorten};

/// One condition on the value of a key.
struct Condition {
    key: String,
    equal: bool,
    value: String,
    text: String,
    /// Did any object have the key?
    is_known: bool,
}

/// All of them, and how many objects they left out.
pub(super) struct Conditions {
    all: Vec<Condition>,
    pub(super) left_out: u64,
}

impl Conditions {
    /// The conditions of the user.
    ///
    /// # Errors
    /// If it is no condition.
    pub(super) fn of(wanted: &Columns, place: &Place<'_>) -> Result<Conditions, WorkloadError> {
        let condition = |text: &String| {
            let (name, value) = text.split_once('=').ok_or_else(|| {
                place.whole(format!(
                    "`{text}` is no condition; write a key, `=` or `!=`, and a value, as in status=200"
                ))
            })?;
            let (name, equal) = name.strip_suffix('!').map_or((name, true), |name| (name, false));
            Ok(Condition {
                key: name.trim().to_owned(),
                equal,
                value: value.trim().to_owned(),
                text: text.clone(),
                is_known: false,
            })
        };
        let all = wanted.filter.iter().map(condition).collect::<Result<_, WorkloadError>>()?;
        Ok(Conditions { all, left_out: 0 })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Do they hold? Each is looked at in the first of the objects that has its key.
    pub(super) fn hold<'a>(&mut self, objects: impl Iterator<Item = &'a Value> + Clone) -> bool {
        let mut hold = true;
        for condition in &mut self.all {
            let found = objects.clone().find_map(|object| lookup(object, &condition.key));
            condition.is_known |= found.is_some();
            hold &= found.is_some_and(|found| plain(found) == condition.value) == condition.equal;
        }
        hold
    }

    /// As [`Conditions::hold`], and counts so many values if not.
    pub(super) fn keep<'a>(&mut self, objects: impl Iterator<Item = &'a Value> + Clone, values: u64) -> bool {
        let keep = self.hold(objects);
        self.left_out += if keep { 0 } else { values };
        keep
    }

    /// # Errors
    /// If a condition is on a key that nothing has, or nothing is left.
    pub(super) fn check(
        &self,
        is_left: bool,
        keys: &[String],
        place: &Place<'_>,
    ) -> Result<(), WorkloadError> {
        if let Some(unknown) = self.all.iter().find(|condition| !condition.is_known) {
            let keys = match keys {
                [] => String::new(),
                keys => format!("; there is {}", listed(keys)),
            };
            return Err(place.whole(format!(
                "no row is left: nothing in it has `{}`, of which `--where {}` speaks{keys}",
                shorten(&unknown.key),
                shorten(&unknown.text)
            )));
        }
        if is_left || self.is_empty() {
            return Ok(());
        }
        let texts: Vec<&str> = self.all.iter().map(|condition| condition.text.as_str()).collect();
        Err(place.whole(format!(
            "no row is left: `{}` holds for none of its {}",
            texts.join("` and `"),
            self.left_out
        )))
    }
}

/// The first of some names.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(12).map(|name| format!("`{}`", shorten(name))).collect();
    shown.join(", ")
}

/// The value of an object under a key such as `status`, or `http.status`: that of an object within it, or one whose own name has the dot.
pub(super) fn lookup<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    let of = |key: &str| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        value => value.get(key),
    };
    of(key).or_else(|| key.match_indices('.').find_map(|(dot, _)| lookup(of(&key[..dot])?, &key[dot + 1..])))
}

/// Of what a known writer wrote, the classes that are meant.
///
/// # Errors
/// If a condition is on anything else: what it says is not looked at there.
pub(super) fn only_classes(
    mut read: Read,
    wanted: &Columns,
    place: &Place<'_>,
) -> Result<Read, WorkloadError> {
    if wanted.filter.is_empty() || !read.taken.filter.is_empty() {
        return Ok(read);
    }
    let mut conditions = Conditions::of(wanted, place)?;
    let of_classes = read.taken.class_column.clone();
    // Classes whose column has no name of its own may be asked for all the same.
    let has_names = match &read.data {
        Data::Trace(trace) | Data::Weighted(trace, _) => trace.classes.iter().any(|name| name != "all"),
        Data::Histograms(all) => all.iter().any(|one| one.class != "all"),
        Data::Percentiles(all) => all.iter().any(|one| one.class != "all"),
        Data::Graphs(_) => false,
    };
    let is_of_class = |condition: &Condition| match &of_classes {
        Some(classes) => condition.key == *classes || condition.key == "class",
        None => has_names && ["class", "name", "command", "benchmark"].contains(&condition.key.as_str()),
    };
    if let Some(other) = conditions.all.iter().find(|condition| !is_of_class(condition)) {
        let instead = match &of_classes {
            Some(classes) => format!("only its classes can be picked, as in `--where {classes}=NAME`"),
            None if has_names => "only its classes can be picked, as in `--where class=NAME`".to_owned(),
            None => "it has no classes that could be picked; leave it away".to_owned(),
        };
        return Err(place.whole(format!(
            "is {}, where `--where {}` cannot be looked at: {instead}",
            read.taken.format, other.text
        )));
    }
    let (mut kept, mut names) = (0, Vec::new());
    let mut is_meant = |name: &str, values: u64| {
        let class = Value::String(name.to_owned());
        let object: serde_json::Map<String, Value> =
            conditions.all.iter().map(|condition| (condition.key.clone(), class.clone())).collect();
        let object = Value::Object(object);
        let keep = conditions.keep(std::iter::once(&object), values);
        kept += u64::from(keep);
        names.push(name.to_owned());
        keep
    };
    match &mut read.data {
        Data::Trace(trace) => of_trace(trace, None, &mut is_meant, place)?,
        Data::Weighted(trace, weights) => of_trace(trace, Some(weights), &mut is_meant, place)?,
        Data::Histograms(all) => {
            all.retain(|one| is_meant(&one.class, one.buckets.iter().map(|bucket| bucket.count).sum()));
        }
        Data::Percentiles(all) => all.retain(|one| is_meant(&one.class, 1)),
        Data::Graphs(_) => {}
    }
    if kept == 0 {
        let class = of_classes.as_deref().unwrap_or("class");
        return Err(place.whole(format!(
            "no row is left: `{}` holds for none of its {}; as `{class}` it has {}",
            wanted.filter.join("` and `"),
            names.len(),
            listed(&names)
        )));
    }
    read.taken.left_out = conditions.left_out;
    read.taken.filter.clone_from(&wanted.filter);
    read.taken.values = match &read.data {
        Data::Trace(trace) => trace.ps.len() as u64,
        Data::Weighted(_, weights) => weights.iter().sum::<f64>() as u64,
        Data::Histograms(all) => all.iter().flat_map(|one| &one.buckets).map(|bucket| bucket.count).sum(),
        _ => read.taken.values,
    };
    Ok(read)
}

/// Leaves the values of the classes that are meant, and their weights.
fn of_trace(
    trace: &mut Trace,
    weights: Option<&mut Vec<f64>>,
    is_meant: &mut dyn FnMut(&str, u64) -> bool,
    place: &Place<'_>,
) -> Result<(), WorkloadError> {
    let meant: Vec<bool> =
        trace.classes.iter().zip(trace.counts()).map(|(name, count)| is_meant(name, count)).collect();
    if let Some(weights) = weights {
        let mut at = 0;
        weights.retain(|_| {
            at += 1;
            meant[usize::from(trace.class_of(at - 1))]
        });
    }
    let mut meant = meant.iter();
    trace
        .retain_classes(|_| *meant.next().expect("one of each class"))
        .map_err(|problem| place.whole(problem.to_string()))
}
