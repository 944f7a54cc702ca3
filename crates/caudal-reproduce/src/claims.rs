//! The claims of the papers, each counted once. `overview` counts them when it writes the page of all figures. Pure, from records.
//!
//! Several statements may be one claim: what a paper says of several figures, what its words may mean, and what it says once
//! with a number and once without. A claim that is said of several figures agrees if it does in all of them. In one figure, it
//! agrees if one of its readings does: the paper's words admit each of them.

use super::readings::{claim, is_second_reading};
use super::record::{Line, RecordedFigure, Sign};
use super::size::Size;

/// A claim with what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Claimed {
    pub(crate) paper: &'static str,
    pub(crate) text: String,
    pub(crate) own: bool,
    pub(crate) simulated: bool,
    pub(crate) sign: Sign,
    /// None if the paper gives no number.
    pub(crate) size: Option<Size>,
    /// Sign and size in each of its figures, readings taken together.
    parts: Vec<(&'static str, Sign, Option<Size>)>,
}

/// All claims of these figures.
pub(crate) fn claims(all: &[RecordedFigure]) -> Vec<Claimed> {
    let mut claims: Vec<Claimed> = Vec::new();
    for line in all.iter().flat_map(RecordedFigure::statements) {
        add(&mut claims, &line);
    }
    for claimed in &mut claims {
        claimed.conclude();
    }
    claims
}

fn add(claims: &mut Vec<Claimed>, line: &Line<'_>) {
    let (paper, text) = (line.figure.paper(), claim(line.statement.text));
    let at = claims.iter().position(|other| other.paper == paper && other.text == text);
    let at = at.unwrap_or_else(|| {
        claims.push(Claimed {
            paper,
            text: text.to_owned(),
            own: line.figure.is_own(),
            simulated: line.figure.is_of_real_systems(),
            sign: Sign::Open,
            size: None,
            parts: Vec::new(),
        });
        claims.len() - 1
    });
    let (sign, size) = (line.sign(), line.size().map(|compared| compared.size));
    let parts = &mut claims[at].parts;
    // A second reading of a figure may be a figure by itself, and comes after it.
    let second = is_second_reading(line.statement.text);
    let name = if second { parts.first().map_or(line.figure.name, |part| part.0) } else { line.figure.name };
    match parts.iter_mut().find(|part| part.0 == name) {
        // The better reading of the same figure.
        Some(part) => {
            part.1 = part.1.min_by_rank(sign);
            part.2 = better(part.2, size);
        }
        None => parts.push((name, sign, size)),
    }
}

impl Sign {
    /// The one that counts of two readings in one figure.
    fn min_by_rank(self, other: Sign) -> Sign {
        let rank = |sign: Sign| match sign {
            Sign::Agrees => 0,
            Sign::Open => 1,
            Sign::Disagrees => 2,
            Sign::NotComparable => 3,
        };
        if rank(other) < rank(self) { other } else { self }
    }
}

/// The one that counts of two sizes.
fn better(one: Option<Size>, other: Option<Size>) -> Option<Size> {
    let rank = |size: Size| match size {
        Size::Agrees => 0,
        Size::Open => 1,
        Size::Larger => 2,
        Size::Smaller => 3,
    };
    match (one, other) {
        (Some(one), Some(other)) => Some(if rank(other) < rank(one) { other } else { one }),
        (one, other) => one.or(other),
    }
}

impl Claimed {
    fn conclude(&mut self) {
        let any = |sign: Sign| self.parts.iter().any(|part| part.1 == sign);
        self.sign = match () {
            () if any(Sign::Disagrees) => Sign::Disagrees,
            () if any(Sign::Open) => Sign::Open,
            () if any(Sign::Agrees) => Sign::Agrees,
            () => Sign::NotComparable,
        };
        let sizes = || self.parts.iter().filter_map(|part| part.2);
        let worst = [Size::Smaller, Size::Larger, Size::Open, Size::Agrees];
        self.size = worst.into_iter().find(|&size| sizes().any(|other| other == size));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_agrees_in_all_figures_or_not_at_all_and_in_one_reading_of_each() {
        let claimed = |parts: &[(&'static str, Sign, Option<Size>)]| {
            let mut claimed = Claimed {
                paper: "policies",
                text: String::new(),
                own: false,
                simulated: false,
                sign: Sign::Open,
                size: None,
                parts: parts.to_vec(),
            };
            claimed.conclude();
            (claimed.sign, claimed.size)
        };
        let (yes, no) = (Sign::Agrees, Sign::Disagrees);
        assert_eq!(claimed(&[("a", yes, None), ("b", no, None)]), (no, None));
        assert_eq!(
            claimed(&[("a", yes, Some(Size::Agrees)), ("b", Sign::Open, None)]),
            (Sign::Open, Some(Size::Agrees))
        );
        assert_eq!(no.min_by_rank(yes), yes);
        assert_eq!(yes.min_by_rank(Sign::NotComparable), yes);
        assert_eq!(better(Some(Size::Smaller), Some(Size::Agrees)), Some(Size::Agrees));
    }
}
