//! The check of a plan's question: can it be asked, and on how large a machine where it does not say? `planning` calls it before it
//! simulates anything. Pure.

use crate::aims::aims;
use crate::candidates::candidates;
use crate::{Goal, Machine, Question, TuneError};

/// The smallest machine that is tried where nobody says how many cores there are.
const MACHINE_MIN: u32 = 16;

impl Question {
    /// The same question on a machine where nobody is near overload; a larger one, if arithmetic says that the targets can not
    /// be met there. [`crate::plan_on_enough_cores`] takes larger ones still where the systems need them.
    #[must_use]
    pub fn on_enough_cores(self) -> Question {
        let Some(offered) = self.offered_cores() else { return self };
        let cores = (2.0 * offered).ceil().min(f64::from(caudal_config::CORES_MAX)) as u32;
        let machine = Machine::Cores(cores.clamp(MACHINE_MIN, caudal_config::CORES_MAX));
        let mut question = Question { machine, ..self };
        while let (Err(TuneError::Unreachable(_)), Some(machine)) =
            (question.check(), question.machine.larger())
        {
            question.machine = machine;
        }
        question
    }

    /// Checks what [`crate::plan()`] relies on.
    ///
    /// # Errors
    /// The first thing that can not be asked.
    pub fn check(&self) -> Result<(), TuneError> {
        if self.targets.is_empty() {
            return Err(TuneError::NoTarget);
        }
        if self.budget.requests == 0 {
            return Err(TuneError::NoBudget);
        }
        let cores = self.machine.capacity_cores();
        if !(1..=caudal_config::CORES_MAX).contains(&cores) {
            return Err(TuneError::Cores(cores));
        }
        match self.goal {
            Goal::HighestLoad if self.workload.arrivals.natural_rate().is_some() => {
                return Err(TuneError::RecordedArrivals);
            }
            Goal::FewestCores(offered) if offered.load(&self.workload.service, cores) >= 1.0 => {
                return Err(TuneError::Overload { load: offered.load(&self.workload.service, cores) });
            }
            _ => {}
        }
        aims(self)?;
        candidates(self).map(|_| ())
    }
}
