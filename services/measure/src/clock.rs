//! Replacement by CLOCK: a hand goes round the frames and takes the first one that was not used since it last came by.
//! A block that has just come in does not count as used: most blocks are asked for once, and these should be replaced first. The block
//! cache has one for each tier and asks it whenever a block needs a frame.

/// The blocks in the frames of one tier, and whether each was used.
pub(crate) struct Clock {
    frames: Vec<Option<u64>>,
    used: Vec<bool>,
    hand: usize,
}

impl Clock {
    pub(crate) fn new(frames: usize) -> Clock {
        Clock { frames: vec![None; frames], used: vec![false; frames], hand: 0 }
    }

    pub(crate) fn touch(&mut self, frame: usize) {
        self.used[frame] = true;
    }

    /// Gives a frame to the block at `address`; returns the frame and the address that was there.
    pub(crate) fn take(&mut self, address: u64) -> (usize, Option<u64>) {
        while self.frames[self.hand].is_some() && std::mem::take(&mut self.used[self.hand]) {
            self.advance();
        }
        let frame = self.hand;
        self.advance();
        (frame, self.frames[frame].replace(address))
    }

    /// Empties a frame.
    pub(crate) fn free(&mut self, frame: usize) {
        self.frames[frame] = None;
        self.used[frame] = false;
    }

    /// The frames that hold a block, with its address.
    #[cfg(test)]
    pub(crate) fn held(&self) -> impl Iterator<Item = (usize, u64)> {
        self.frames.iter().enumerate().filter_map(|(frame, held)| held.map(|address| (frame, address)))
    }

    fn advance(&mut self) {
        self.hand = (self.hand + 1) % self.frames.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hand_spares_what_was_used() {
        let mut clock = Clock::new(3);
        for address in 0..3 {
            assert_eq!(clock.take(address), (address as usize, None));
        }
        clock.touch(0);
        assert_eq!(clock.take(10), (1, Some(1)), "0 was used, 1 was not");
        assert_eq!(clock.take(11), (2, Some(2)));
        assert_eq!(clock.take(12), (0, Some(0)), "it was spared once");
        (0..3).for_each(|frame| clock.touch(frame));
        assert_eq!(clock.take(13), (1, Some(10)), "all were used: once round, then where the hand began");
        clock.free(0);
        assert_eq!(clock.take(14), (2, Some(11)));
        clock.touch(0);
        assert_eq!(clock.take(15), (0, None), "a free frame is taken when the hand is there");
        assert_eq!(clock.held().collect::<Vec<_>>(), [(0, 15), (1, 13), (2, 14)]);
    }
}
