//! The rate of an arrival process that changes over time in a cycle: a polygon, of which steps are the case without slopes. The sampler
//! asks for the rate at a time, for each arrival; compilation asks for its mean. Pure.

use super::{OfferedAt, RampPoint, Step};
use crate::error::WorkloadError;
use crate::spec::positive_time;

/// One cycle of a rate whose mean over time is 1.
#[derive(Debug)]
pub(super) struct Profile {
    segments: Vec<Segment>,
    /// Length of the cycle.
    pub(super) cycle_ps: u64,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    start_ps: f64,
    length_ps: f64,
    /// Rates at its start and end, as multiples of the mean.
    from: f64,
    to: f64,
    /// ∫ rate over it, in ps of the mean rate.
    area: f64,
    /// The factor of service times.
    work: f64,
}

/// A stretch of the cycle as it is written: its length in ps, the rates at its ends, and the work.
struct Corner {
    length_ps: u64,
    from: f64,
    to: f64,
    work: f64,
}

impl Profile {
    pub(super) fn steps(steps: &[Step]) -> Result<Profile, WorkloadError> {
        let mut corners = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            let place = format!("steps[{index}]");
            let length = positive_time("for", step.duration).map_err(|error| error.under(&place))?;
            let rate = rate(step.rate).map_err(|error| error.under(&place))?;
            let work = work(step.work).map_err(|error| error.under(&place))?;
            corners.push(Corner { length_ps: length, from: rate, to: rate, work });
        }
        Profile::new("steps", "at least one step with a rate above 0", &corners)
    }

    pub(super) fn ramps(points: &[RampPoint]) -> Result<Profile, WorkloadError> {
        let mut corners = Vec::new();
        for (index, point) in points.iter().enumerate() {
            let place = format!("points[{index}]");
            rate(point.rate).map_err(|error| error.under(&place))?;
            let Some(before) = index.checked_sub(1).map(|before| points[before]) else {
                if point.at.0 != 0 {
                    return Err(WorkloadError::value(
                        "points[0].at",
                        point.at,
                        "the first point stands at 0",
                    ));
                }
                continue;
            };
            let Some(length) = point.at.0.checked_sub(before.at.0) else {
                let expected = format!("points go forward in time; the one before is at {}", before.at);
                return Err(WorkloadError::value(format!("{place}.at"), point.at, expected));
            };
            if length > 0 {
                positive_time("at", point.at).map_err(|error| error.under(&place))?;
                corners.push(Corner { length_ps: length, from: before.rate, to: point.rate, work: 1.0 });
            }
        }
        Profile::new("points", "at least two points in time, and a rate above 0 somewhere", &corners)
    }

    fn new(key: &str, expected: &str, corners: &[Corner]) -> Result<Profile, WorkloadError> {
        let cycle_ps: u64 = corners.iter().map(|corner| corner.length_ps).fold(0, u64::saturating_add);
        let arrivals = |corner: &Corner| corner.length_ps as f64 * (corner.from + corner.to) / 2.0;
        let total: f64 = corners.iter().map(arrivals).sum();
        if total <= 0.0 || !total.is_finite() {
            return Err(WorkloadError::value(
                key,
                format!("[{} entries]", corners.len()),
                format!("needs {expected}"),
            ));
        }
        if cycle_ps > crate::LONGEST_PS {
            let sum = caudal_policy::time::Picos(cycle_ps);
            return Err(WorkloadError::value(key, sum, "a cycle lasts at most one hour"));
        }
        let mean = total / cycle_ps as f64;
        let mean_work = corners.iter().map(|corner| corner.work * arrivals(corner)).sum::<f64>() / total;
        let mut start_ps = 0.0;
        let mut segments = Vec::with_capacity(corners.len());
        for corner in corners {
            let (length_ps, from, to) = (corner.length_ps as f64, corner.from / mean, corner.to / mean);
            let (area, work) = (length_ps * (from + to) / 2.0, corner.work / mean_work);
            segments.push(Segment { start_ps, length_ps, from, to, area, work });
            start_ps += length_ps;
        }
        Ok(Profile { segments, cycle_ps })
    }

    /// Does the work of a request depend on when it arrives?
    pub(super) fn stretches(&self) -> bool {
        self.segments.iter().any(|segment| segment.work != 1.0)
    }

    /// The rate and the work that are offered `at_ps` picoseconds after the first cycle began.
    pub(super) fn at(&self, at_ps: u64) -> OfferedAt {
        let into_ps = (at_ps % self.cycle_ps) as f64;
        let segment = self.segments.partition_point(|segment| segment.start_ps <= into_ps).max(1) - 1;
        let Segment { start_ps, length_ps, from, to, work, .. } = self.segments[segment];
        let passed = ((into_ps - start_ps) / length_ps).min(1.0);
        OfferedAt { rate: from + (to - from) * passed, work }
    }

    pub(super) fn peak_factor(&self) -> f64 {
        let most = |segment: &Segment| segment.from.max(segment.to) * segment.work;
        self.segments.iter().map(most).fold(0.0, f64::max)
    }

    /// Where a stream is that begins `at_ps` into the cycle.
    pub(super) fn place_at(&self, at_ps: u64) -> Place {
        let at_ps = at_ps as f64;
        let segment = self.segments.partition_point(|segment| segment.start_ps <= at_ps).max(1) - 1;
        Place { segment, area: self.segments[segment].until(at_ps - self.segments[segment].start_ps) }
    }

    /// From `place`, walks until the area under the rate has grown by `area`. Returns how often the cycle
    /// began anew on the way.
    pub(super) fn walk(&self, place: &mut Place, mut area: f64) -> u64 {
        // The mean rate is 1, so a whole cycle's area is its length.
        let whole = (area / self.cycle_ps as f64).floor();
        area -= whole * self.cycle_ps as f64;
        let mut cycles = whole as u64;
        loop {
            let segment = &self.segments[place.segment];
            let left = segment.area - place.area;
            if area < left {
                place.area += area;
                return cycles;
            }
            area -= left;
            place.area = 0.0;
            place.segment += 1;
            if place.segment == self.segments.len() {
                place.segment = 0;
                cycles += 1;
            }
        }
    }

    /// Time since the cycle began, in ps.
    pub(super) fn time_ps(&self, place: &Place) -> f64 {
        let segment = &self.segments[place.segment];
        segment.start_ps + segment.after(place.area)
    }
}

impl Segment {
    /// The area under the rate up to a time since it began.
    fn until(&self, passed_ps: f64) -> f64 {
        let slope = (self.to - self.from) / self.length_ps;
        (self.from * passed_ps + slope * passed_ps * passed_ps / 2.0).clamp(0.0, self.area)
    }

    /// When the area has grown to `area`: the root of from·t + slope·t²/2 = area, in the form that also
    /// holds for slope 0.
    fn after(&self, area: f64) -> f64 {
        let slope = (self.to - self.from) / self.length_ps;
        let root = (self.from * self.from + 2.0 * slope * area).max(0.0).sqrt();
        let sum = self.from + root;
        if sum > 0.0 { (2.0 * area / sum).min(self.length_ps) } else { 0.0 }
    }
}

/// Where in the cycle a stream of arrivals is: a segment, and the area under the rate inside of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    segment: usize,
    area: f64,
}

fn work(work: f64) -> Result<f64, WorkloadError> {
    if (1e-6..=1e6).contains(&work) {
        return Ok(work);
    }
    Err(WorkloadError::value("work", work, "service times are multiplied by a number above 0, such as 1.5"))
}

fn rate(rate: f64) -> Result<f64, WorkloadError> {
    if (0.0..=1e12).contains(&rate) {
        return Ok(rate);
    }
    Err(WorkloadError::value("rate", rate, "a rate is a number from 0 on, such as 1.5"))
}
