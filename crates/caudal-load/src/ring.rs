//! A service in the generator's own memory that answers every request at once: what the generator costs by itself.
//! Used by the crate's users.

use crate::traffic::Command;
use crate::transport::{Answer, Broken, Outcome, Transport};

/// A ring of requests. What a flush has sent is answered by the next look for answers.
#[derive(Debug)]
pub struct Ring {
    slots: Box<[u32]>,
    taken: usize,
    sent: usize,
    answered: usize,
}

impl Ring {
    /// A ring with room for `capacity` requests, rounded up to a power of two.
    pub fn new(capacity: u32) -> Ring {
        let slots = vec![0; (capacity as usize).next_power_of_two()].into();
        Ring { slots, taken: 0, sent: 0, answered: 0 }
    }
}

impl Transport for Ring {
    #[inline]
    fn send(&mut self, id: u32, _: Command) -> Result<(), Broken> {
        let mask = self.slots.len() - 1;
        self.slots[self.taken & mask] = id;
        self.taken = self.taken.wrapping_add(1);
        Ok(())
    }

    #[inline]
    fn flush(&mut self) -> Result<(), Broken> {
        self.sent = self.taken;
        Ok(())
    }

    #[inline]
    fn poll(&mut self, answers: &mut Vec<Answer>) -> Result<(), Broken> {
        let mask = self.slots.len() - 1;
        while self.answered != self.sent {
            answers.push(Answer { id: self.slots[self.answered & mask], outcome: Outcome::Done });
            self.answered = self.answered.wrapping_add(1);
        }
        Ok(())
    }

    fn forget(&mut self, _: u32) {}
}
