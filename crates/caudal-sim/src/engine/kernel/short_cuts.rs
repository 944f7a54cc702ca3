//! The names of the engine's short cuts, and the set of them that a run allows. An experiment allows all; a test leaves out one after the
//! other, to show that no answer changes. Data only.

/// A short cut by which some systems are simulated faster. None changes what comes out; [`ShortCut::Leaps`] counts less finely while it is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortCut {
    /// One first-come-first-served queue and nothing else: requests take the core that is free first, without an event.
    Central,
    /// Work stealing between queues of one core each and nothing else: a loop of its own.
    Stealing,
    /// Lanes by time served in pools that nobody takes from: a loop of its own.
    Lanes,
    /// Processor sharing in pools of one core: from completion to completion, without an event for each slice. Preemptions and
    /// what they cost are accounted for when a request completes.
    Leaps,
    /// First come first served: queues without a discipline to ask.
    Lines,
    /// Code that is compiled for the combination of policies alone.
    OwnCode,
}

impl ShortCut {
    /// Every short cut.
    pub const ALL: [ShortCut; 6] = [
        ShortCut::Central,
        ShortCut::Stealing,
        ShortCut::Lanes,
        ShortCut::Leaps,
        ShortCut::Lines,
        ShortCut::OwnCode,
    ];
}

/// A set of short cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortCuts(u8);

impl ShortCuts {
    /// All of them: what is fastest.
    pub const ALL: ShortCuts = ShortCuts((1 << ShortCut::ALL.len()) - 1);
    /// None of them: the general loop, an event for each slice, every discipline asked.
    pub const NONE: ShortCuts = ShortCuts(0);
    /// The short cuts that leave each slice of a request an event, for an observer of slices.
    pub const STEPWISE: ShortCuts = ShortCuts(1 << ShortCut::Lines as u8 | 1 << ShortCut::OwnCode as u8);

    /// The set without `short_cut`.
    #[must_use]
    pub const fn without(self, short_cut: ShortCut) -> ShortCuts {
        ShortCuts(self.0 & !(1 << short_cut as u8))
    }

    /// Is `short_cut` in the set?
    pub const fn allow(self, short_cut: ShortCut) -> bool {
        self.0 >> short_cut as u8 & 1 == 1
    }
}
