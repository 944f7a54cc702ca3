//! Lanes as text: the answer on one screen, or all of it. `lanes` calls [`print()`] once, when the search is done. It only prints.

use caudal_results::answers::lanes::{HEAD, cells, classes, drifts, few, meanings};
use caudal_results::table::Table;
use caudal_tune::lanes::{LanesAnswer, LanesQuestion};

use crate::answer::Screen;

/// The meaning of the tables' marks.
const MARKS: &str = "lanes: servers of each lane, and after how much service a request moves on. slowdown: time in the system over \
                     service time. work: the part of the core time that is work. ±: half of the confidence interval, in \
                     percent; ±?: no upper end is known; ≤: the upper end, where the interval is wider than the number. A dash: \
                     nothing is known, or there is nothing.";

/// Prints the answer; with `explain`, all systems, classes and reasons, too.
pub(super) fn print(question: &LanesQuestion, answer: &LanesAnswer, explain: bool) {
    out!("{}", screen(Screen::new(), question, answer, explain));
}

fn screen(mut screen: Screen, question: &LanesQuestion, answer: &LanesAnswer, explain: bool) -> Screen {
    let summary = &answer.summary;
    screen.headline(&summary.run);
    screen.facts(summary.facts.iter().map(|fact| (fact.about, fact.text.as_str())));
    if !answer.judged.is_empty() {
        screen.gap();
        let table = screen.answers(few(question, answer));
        screen.paragraph(&meanings(question, &table));
    }
    if !answer.drifts.is_empty() {
        screen.gap();
        screen.paragraph(&format!("When the workload changes, the {} is:", question.target));
        screen.table(drifts(question, answer));
        screen.paragraph(
            "loss: that of these lanes over that of lanes made for the other workload, on the same requests.",
        );
    }
    screen.gap();
    summary.why.iter().for_each(|sentence| screen.paragraph(sentence));
    screen.gap();
    if explain {
        all(&mut screen, question, answer);
    } else {
        screen.paragraph("All classes, limits and reasons: the same command with --explain, or the report.");
    }
    screen
}

/// Everything that was found.
fn all(screen: &mut Screen, question: &LanesQuestion, answer: &LanesAnswer) {
    if !answer.judged.is_empty() {
        let target = question.target.to_string();
        let mut table = Table::new(&HEAD.map(|head| if head.is_empty() { target.as_str() } else { head }));
        answer.judged.iter().for_each(|judged| table.row(cells(question, judged)));
        screen.as_it_is(&table.to_string());
        screen.gap();
    }
    if let Some(classes) = classes(answer) {
        let head: Vec<&str> = classes.head.iter().map(String::as_str).collect();
        let mut table = Table::new(&head);
        classes.lines.into_iter().for_each(|line| table.row(line));
        screen.as_it_is(&table.to_string());
        screen.gap();
    }
    if !answer.judged.is_empty() {
        screen.paragraph(MARKS);
        screen.gap();
    }
    answer.explanation.iter().for_each(|sentence| screen.point(sentence));
}
