//! Bisection over whole numbers, with an oracle that may have no answer. Each search of a plan calls it when its bracket is to be narrowed; the
//! oracle is a simulation. Pure, apart from the oracle.
//!
//! *Hardness* counts up: more load, or fewer cores. The oracle says whether a hardness passes. It need not be
//! monotone, and a simulated one never quite is: the bracket always lies between two hardnesses that were asked,
//! of which the lower one passed and the higher one did not.

/// The bounds of the hardest hardness that passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bracket {
    /// The hardest hardness that passed, if any did.
    pub pass: Option<u32>,
    /// The easiest hardness above it that was asked and did not pass, if there is one.
    pub fail: Option<u32>,
}

/// The range of a search, its begin and its first step.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The easiest hardness that may be asked.
    pub easiest: u32,
    /// The hardest hardness that may be asked.
    pub hardest: u32,
    /// The first hardness that is asked; the middle if none is given.
    pub guess: Option<u32>,
    /// First step away from the guess; later ones double.
    pub step: u32,
}

impl Span {
    /// The next hardness to ask, `None` when the bracket is as narrow as `width` says for its lower end.
    pub fn next(&self, bracket: Bracket, width: impl Fn(u32) -> u32, asked: u32) -> Option<u32> {
        let step = self.step.max(1).saturating_mul(1 << asked.saturating_sub(1).min(16));
        let within = |at: u32| at.clamp(self.easiest, self.hardest);
        match bracket {
            _ if self.easiest > self.hardest => None,
            Bracket { pass: None, fail: None } => {
                Some(within(self.guess.unwrap_or(self.easiest + (self.hardest - self.easiest) / 2)))
            }
            Bracket { pass: Some(pass), fail: None } => {
                (pass < self.hardest).then(|| within(pass.saturating_add(step)))
            }
            Bracket { pass: None, fail: Some(fail) } => {
                (fail > self.easiest).then(|| within(fail.saturating_sub(step)))
            }
            Bracket { pass: Some(pass), fail: Some(fail) } => {
                (fail - pass > width(pass).max(1)).then(|| pass + (fail - pass) / 2)
            }
        }
    }
}

impl Bracket {
    /// Narrows the bracket by an answer.
    pub fn learn(&mut self, hardness: u32, passed: bool) {
        if passed {
            self.pass = Some(self.pass.map_or(hardness, |pass| pass.max(hardness)));
            // A failure at an easier hardness was noise, or undecided.
            self.fail = self.fail.filter(|&fail| fail > hardness);
        } else {
            self.fail = Some(self.fail.map_or(hardness, |fail| fail.min(hardness)));
            self.pass = self.pass.filter(|&pass| pass < hardness);
        }
    }
}

/// Narrows `bracket` until it is no wider than `width` says, or the oracle answers `Ok(None)`, because it can not go on.
///
/// All answers stay in `bracket`, also if the oracle fails.
///
/// # Errors
/// The errors of the oracle.
pub fn bisect<E>(
    span: &Span,
    bracket: &mut Bracket,
    width: impl Fn(u32) -> u32,
    mut oracle: impl FnMut(u32) -> Result<Option<bool>, E>,
) -> Result<(), E> {
    let mut asked = 0;
    while let Some(hardness) = span.next(*bracket, &width, asked) {
        match oracle(hardness)? {
            Some(passed) => bracket.learn(hardness, passed),
            None => return Ok(()),
        }
        asked += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SPAN: Span = Span { easiest: 1, hardest: 999, guess: None, step: 20 };

    fn search(span: &Span, width: u32, oracle: impl Fn(u32) -> bool) -> (Bracket, u32) {
        let (mut bracket, mut asked) = (Bracket::default(), 0);
        let answer = |hardness| {
            asked += 1;
            assert!((span.easiest..=span.hardest).contains(&hardness));
            Ok::<_, ()>(Some(oracle(hardness)))
        };
        bisect(span, &mut bracket, |_| width, answer).unwrap();
        (bracket, asked)
    }

    proptest! {
        #[test]
        fn a_monotone_oracle_is_bracketed(truth in 0_u32..=1000, guess in proptest::option::of(1_u32..=999), width in 1_u32..20) {
            let (bracket, asked) = search(&Span { guess, ..SPAN }, width, |hardness| hardness <= truth);
            prop_assert!(bracket.pass.is_none_or(|pass| pass <= truth));
            prop_assert!(bracket.fail.is_none_or(|fail| fail > truth));
            prop_assert_eq!(bracket.pass.is_none(), truth == 0);
            prop_assert_eq!(bracket.fail.is_none(), truth >= 999);
            if let (Some(pass), Some(fail)) = (bracket.pass, bracket.fail) {
                prop_assert!(fail - pass <= width);
            }
            prop_assert!(asked <= 20, "{} questions", asked);
        }

        #[test]
        fn noise_near_the_truth_stays_near_the_truth(truth in 100_u32..900, noise in 0_u32..30, salt in any::<u64>()) {
            let jitter = |hardness: u32| {
                let bits = caudal_policy::random::hash(salt, u64::from(hardness));
                i64::from(noise) - (bits % (2 * u64::from(noise) + 1)) as i64
            };
            let (bracket, _) = search(&SPAN, 4, |hardness| i64::from(hardness) + jitter(hardness) <= i64::from(truth));
            let (pass, fail) = (bracket.pass.unwrap(), bracket.fail.unwrap());
            prop_assert!(pass < fail && fail - pass <= 4);
            prop_assert!(pass <= truth + noise && fail + noise >= truth, "{}..{} around {}", pass, fail, truth);
        }
    }

    #[test]
    fn stops_where_the_oracle_can_not_go_on_and_keeps_what_it_learnt() {
        let (mut bracket, mut left) = (Bracket::default(), 3);
        let answer = |hardness: u32| {
            left -= 1;
            if left < 0 { Err("interrupted") } else { Ok(Some(hardness <= 300)) }
        };
        assert_eq!(bisect(&SPAN, &mut bracket, |_| 1, answer), Err("interrupted"));
        assert_eq!((bracket.pass, bracket.fail), (None, Some(440)));
        let before = bracket;
        bisect(&SPAN, &mut bracket, |_| 1, |_| Ok::<_, ()>(None)).unwrap();
        assert_eq!(bracket, before);
    }
}
