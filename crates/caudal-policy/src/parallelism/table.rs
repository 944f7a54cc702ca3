//! The large-request threshold by the number of active requests. Tail-control reads it at each decision; `caudal threshold` and the tuner
//! work it out, before a run or between two epochs.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::thresholds::Threshold;
use super::thresholds::classes::ClassThresholds;
use crate::Picos;

/// The processing time from which on a request is large, by the number of active requests. A table does not change; when the load
/// or the work has changed, the host replaces it by another one.
///
/// Source: Li et al., PPoPP 2016, section 4.1: the table of pairs (q_t, l).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThresholdTable {
    /// Of 1 active request, 2, …; the last holds for all more.
    limits: Box<[Picos]>,
}

impl ThresholdTable {
    /// No request is ever large.
    pub fn never() -> ThresholdTable {
        ThresholdTable { limits: Box::new([Picos(u64::MAX)]) }
    }

    /// The thresholds of 1, 2, … active requests; of more than there are, the last one. None: no request is ever large.
    pub fn new(limits: impl IntoIterator<Item = Picos>) -> ThresholdTable {
        let limits: Vec<Picos> = limits.into_iter().collect();
        if limits.is_empty() { Self::never() } else { ThresholdTable { limits: limits.into() } }
    }

    /// All thresholds times `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> ThresholdTable {
        ThresholdTable {
            limits: self.limits.iter().map(|limit| Picos((limit.0 as f64 * factor) as u64)).collect(),
        }
    }

    /// The threshold while `active` requests have arrived and not completed.
    #[inline]
    pub fn at(&self, active: u32) -> Picos {
        let last = self.limits.len() - 1;
        self.limits[(active.max(1) as usize - 1).min(last)]
    }

    /// Rows of the table.
    pub fn limits(&self) -> &[Picos] {
        &self.limits
    }
}

/// Tables by the index of a class; one for all, if all classes have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassTables {
    tables: Box<[ThresholdTable]>,
}

impl ClassTables {
    /// A table for each class, in their order. None: no request is ever large.
    pub fn new(tables: impl IntoIterator<Item = ThresholdTable>) -> ClassTables {
        let tables: Vec<ThresholdTable> = tables.into_iter().collect();
        if tables.is_empty() { ThresholdTable::never().into() } else { ClassTables { tables: tables.into() } }
    }

    /// The tables of so many classes for 1, 2, … active requests.
    pub fn of_rows(rows: &[ClassThresholds], classes: usize) -> ClassTables {
        let table = |class: usize| {
            ThresholdTable::new(rows.iter().map(|row| Picos((row.limits_s[class] * 1e12) as u64)))
        };
        ClassTables::new((0..classes).map(table))
    }

    /// The threshold of a class while `active` requests have arrived and not completed.
    #[inline]
    pub fn at(&self, class: u8, active: u32) -> Picos {
        self.tables[usize::from(class).min(self.tables.len() - 1)].at(active)
    }

    /// The tables.
    pub fn tables(&self) -> &[ThresholdTable] {
        &self.tables
    }

    /// All thresholds times `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> ClassTables {
        ClassTables { tables: self.tables.iter().map(|table| table.scaled(factor)).collect() }
    }
}

impl From<ThresholdTable> for ClassTables {
    fn from(table: ThresholdTable) -> ClassTables {
        ClassTables { tables: Box::new([table]) }
    }
}

impl FromIterator<Threshold> for ThresholdTable {
    fn from_iter<I: IntoIterator<Item = Threshold>>(rows: I) -> ThresholdTable {
        Self::new(rows.into_iter().map(|row| Picos((row.limit_s * 1e12) as u64)))
    }
}
