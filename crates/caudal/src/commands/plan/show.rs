//! A plan as text: the answer on one screen, or all of it. `plan` calls [`print()`] once, when the plan is made. It only prints.

use caudal_results::answers::plan::{few, meanings};
use caudal_results::describe::counted;
use caudal_tune::{Plan, Question};

use super::all;
use crate::answer::Screen;

/// Prints the answer; with `explain`, all systems and all reasons, too.
pub(super) fn print(question: &Question, plan: &Plan, explain: bool) {
    out!("{}", screen(Screen::new(), question, plan, explain));
}

fn screen(mut screen: Screen, question: &Question, plan: &Plan, explain: bool) -> Screen {
    let summary = &plan.summary;
    screen.headline(&summary.run);
    screen.facts(summary.facts.iter().map(|fact| (fact.about, fact.text.as_str())));
    if !summary.shown.is_empty() {
        screen.gap();
        let table = screen.answers(few(question, plan));
        screen.paragraph(&meanings(question, plan, &table));
    }
    screen.gap();
    summary.why.iter().for_each(|sentence| screen.paragraph(sentence));
    screen.gap();
    if explain {
        all::add(&mut screen, question, plan);
    } else {
        screen.paragraph(&format!(
            "More (a table of {}, what was tuned): the same command with --explain, or the report.",
            counted(plan.systems.len(), "system")
        ));
    }
    screen
}
