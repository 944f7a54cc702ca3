//! The list of all figures, and the names that stand for several. `reproduction` looks up what the user asked for; the overview goes
//! through all. Constants.

use super::figure::Figure;
use super::{
    policies_figure_3, policies_figure_4, policies_figure_5, policies_figure_7, policies_figure_8,
    policies_figure_10, policies_figures_6_9, q_zilla, tail_control, tiny_quanta,
};

/// All figures, in the order in which they are run and reported: none needs a later one.
pub(crate) static FIGURES: [Figure; 53] = [
    policies_figure_3::FIGURE,
    policies_figure_4::FIGURE,
    policies_figure_5::FIGURE_A,
    policies_figure_5::FIGURE_B,
    policies_figure_5::FIGURE_C,
    policies_figures_6_9::FIGURE_6,
    policies_figure_7::FIGURE,
    policies_figure_8::FIGURE,
    policies_figures_6_9::FIGURE_9A,
    policies_figures_6_9::FIGURE_9B,
    policies_figure_10::FIGURE_A,
    policies_figure_10::FIGURE_B,
    tiny_quanta::FIGURE_1,
    tiny_quanta::FIGURE_2,
    tiny_quanta::FIGURE_4,
    tiny_quanta::FIGURE_5,
    tiny_quanta::FIGURE_6,
    tiny_quanta::FIGURE_7,
    tiny_quanta::FIGURE_8,
    tiny_quanta::FIGURE_9,
    tiny_quanta::FIGURE_10,
    tiny_quanta::FIGURE_11,
    tiny_quanta::FIGURE_12,
    tiny_quanta::LATENCIES,
    tiny_quanta::FIGURE_16,
    q_zilla::FIGURE_1,
    q_zilla::FIGURE_7,
    q_zilla::FIGURE_8A,
    q_zilla::FIGURE_8B,
    q_zilla::FIGURE_8C,
    q_zilla::FIGURE_9A,
    q_zilla::FIGURE_9B,
    q_zilla::FIGURE_9C,
    q_zilla::FIGURE_10,
    q_zilla::FIGURE_8_PARETO,
    q_zilla::FIGURE_9_PARETO,
    tail_control::FIGURE_2,
    tail_control::FIGURE_4,
    tail_control::FIGURE_6,
    tail_control::FIGURE_7,
    tail_control::FIGURE_7_SHORT_TABLE,
    tail_control::FIGURE_8,
    tail_control::FIGURE_9,
    tail_control::FIGURE_10,
    tail_control::FIGURE_11,
    tail_control::FIGURE_12,
    tail_control::FIGURE_13,
    tail_control::FIGURE_14,
    tail_control::FIGURE_15,
    tail_control::FIGURE_LOOPS,
    tail_control::FIGURE_BEYOND,
    tail_control::FIGURE_DRIFT,
    tail_control::FIGURE_SMALL,
];

/// Does `name` stand for this figure: as its own, one of its parts, one of its paper's, or all?
pub(crate) fn stands_for(name: &str, figure: &Figure) -> bool {
    match figure.name.strip_prefix(name) {
        Some(rest) => rest.is_empty() || rest.starts_with('-') || matches!(rest, "a" | "b" | "c"),
        None => name == "all",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_can_be_read_and_every_need_is_met_in_time() {
        for (at, figure) in FIGURES.iter().enumerate() {
            let plan = super::super::run::FigurePlan::new(figure, false)
                .unwrap_or_else(|error| panic!("{}: {error:?}", figure.name));
            assert!(plan.steps() > 0, "{}", figure.name);
            for need in figure.statements.iter().flat_map(|statement| statement.needs) {
                assert!(
                    FIGURES[..=at].iter().any(|other| other.name == *need),
                    "{} needs {need}",
                    figure.name
                );
            }
        }
    }

    #[test]
    fn names_stand_for_figures_parts_and_papers() {
        let count = |name: &str| FIGURES.iter().filter(|figure| stands_for(name, figure)).count();
        assert_eq!([count("all"), count("policies-figure-5"), count("policies-figure-5b")], [53, 3, 1]);
        assert_eq!([count("q-zilla"), count("q-zilla-figure-8"), count("q-zilla-figure-1")], [11, 4, 1]);
        assert_eq!(
            [count("tail-control"), count("tail-control-figure-1"), count("tail-control-figure-15")],
            [17, 0, 1]
        );
        assert_eq!(
            [count("tiny-quanta"), count("policies-figure-1"), count("figure"), count("")],
            [13, 0, 0, 0]
        );
    }
}
