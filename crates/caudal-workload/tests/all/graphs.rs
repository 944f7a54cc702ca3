//! Files of recorded graphs: what is read, and where errors point.

use caudal_workload::show::Shown;
use caudal_workload::{Demand, Service, WorkloadError};

use crate::{draws, spec};

const GOOD: &str = "\
# Two pages, one report.
class,request,task,work_us,leaves,after,worker
page,a,parse,10,,,3
page,b,merge,5,,one two,1
report,7,scan,800,16,parse,2
page,a,one,20,,parse,1
page,b,one,20,,,1
page,b,two,10,,,1
report,7,parse,100,,,4
page,a,two,0,,parse,3
page,a,three,5,,\"two  one\",3
";

fn read(text: &str, more: &str) -> Result<Service, WorkloadError> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("g.csv"), text).unwrap();
    spec(&format!("{{ file = \"g.csv\"{more} }}")).compile(dir.path())
}

#[test]
fn service_times_are_the_work_of_the_graphs() {
    let service = read(GOOD, "").unwrap();
    assert_eq!(service.classes(), ["page", "report"]);
    assert_eq!((service.class_weight(0), service.class_samples(0)), (2.0 / 3.0, Some(2)));
    assert_eq!((service.class_mean_ps(0), service.class_mean_ps(1)), (35e6, 900e6));
    let graphs = service.dag();
    for number in 0..100 {
        for (service_ps, class, nodes) in [(35_000_000, 0, 3..=4), (900_000_000, 1, 2..=2)] {
            let graph = graphs.graph(graphs.of(Demand { service_ps, class }, 1, number));
            assert!(nodes.contains(&graph.len()));
            assert_eq!((0..graph.len()).map(|node| graph.work_ps(node, service_ps)).sum::<u64>(), service_ps);
        }
    }
    // The report: 100 us, then a leaf of 50.
    let recorded = graphs.recorded().unwrap();
    assert!((recorded.mean_span_ps(35_000_000, u64::MAX) - 150e6).abs() < 1.0);
    // Of pages, 35 and 25.
    assert!((recorded.mean_span_ps(0, 35_000_000) - 30e6).abs() < 1.0);
    assert!((graphs.span() - 210.0 / 970.0).abs() < 1e-12);
    let report = graphs.graph(graphs.of(Demand { service_ps: 900_000_000, class: 1 }, 1, 1));
    assert_eq!((report.roots(), report.after(0), report.leaves(1, 800, 4)), (&[0][..], &[1][..], 16));
}

#[test]
fn shares_order_and_unit_are_those_of_other_files() {
    let service = read(GOOD, ", weights = { page = 0.1, report = 0.9 }").unwrap();
    assert_eq!(service.class_weight(1), 0.9);
    let span_ps = (0.1 * 30e6 + 0.9 * 150e6) / (0.1 * 35e6 + 0.9 * 900e6);
    assert!((service.dag().span() - span_ps).abs() < 1e-12);
    let replayed = draws(&read(GOOD, ", replay = true").unwrap(), 1, 4);
    let works: Vec<u64> = replayed.iter().map(|demand| demand.service_ps / 1_000_000).collect();
    assert_eq!(works, [35, 35, 900, 35]);
    let plain = "request,task,work,after\n1,x,7,\n";
    assert_eq!(read(plain, "").unwrap().mean_ps(), 7_000.0);
    assert_eq!(read(plain, ", unit = \"us\"").unwrap().mean_ps(), 7e6);
    // Each line a request of its own, if that is meant.
    let lines = read(GOOD, ", column = \"work_us\"").unwrap();
    assert!(lines.findings().iter().any(|finding| finding.to_string().contains("times are 0")));
    let times = read(&GOOD.replace(",0,", ",1,"), ", column = \"work_us\"").unwrap();
    assert_eq!((times.class_samples(0), times.dag().recorded().is_some()), (Some(7), false));
}

#[test]
fn errors_point_at_line_and_column() {
    let head = "request,task,work_ns,after\n";
    let many: String = (0..=1 << 16).map(|task| format!("1,t{task},1,\n")).collect();
    for (text, place, says) in [
        ("request,task,work_ns\n1,a,5\n", "g.csv:1:1:", "there is no `after`"),
        ("request,task,after\n1,a,\n", "g.csv:1:1:", "there is no `work_ns`"),
        (head, "g.csv:", "no tasks"),
        (&format!("{head}1,a,5,b\n"), "g.csv:2:7:", "`b` is no task of request `1`"),
        (&format!("{head}1,a,5,\n1,b,5,a  c\n"), "g.csv:3:10:", "`c` is no task"),
        (&format!("{head}1,a,5,\n1,b,5,\"a c\"\n"), "g.csv:3:10:", "`c` is no task"),
        (&format!("{head}1,a,5,\n2,b,5,a\n"), "g.csv:3:7:", "`a` is no task of request `2`"),
        (&format!("{head}1,a,5,\n1,b,5,\n1,c,5,a;b\n"), "g.csv:4:7:", "separated by blanks"),
        (&format!("{head}1,a,5,\n1,b,5,c\n1,c,5,a b\n"), "g.csv:3:7:", "`b`, `c` wait for each other"),
        (&format!("{head}1,z,5,b\n1,b,5,c\n1,c,5,b\n"), "g.csv:3:7:", "in a circle"),
        (&format!("{head}1,a,5,a\n"), "g.csv:2:7:", "`a` waits for itself"),
        (&format!("{head}1,a,5,\n2,a,5,\n1,a,5,\n"), "g.csv:4:3:", "has a task `a` in line 2 already"),
        (&format!("{head}1,a,0,\n1,b,0,a\n"), "g.csv:2:5:", "request `1` has no work"),
        (&format!("{head}1,a,-3,\n"), "g.csv:2:5:", "negative"),
        (&format!("{head}1,a,,\n"), "g.csv:2:5:", "empty"),
        (&format!("{head},a,5,\n"), "g.csv:2:1:", "which request it belongs to"),
        (&format!("{head}1,,5,\n"), "g.csv:2:3:", "every task has a name"),
        (&format!("{head}1,a,5\n"), "g.csv:2:6:", "3 columns, but the first row has 4"),
        (&format!("{head}1,a,3000000000000,\n1,b,3000000000000,\n"), "g.csv:3:5:", "more than an hour"),
        (&format!("{head}{many}"), "g.csv:65538:3:", "at most 65536 tasks, this one 65537"),
        ("class,request,task,work_ns,after\nx,1,a,5,\ny,1,b,5,\n", "g.csv:3:1:", "of one class"),
        ("class,request,task,work_ns,after\n,1,a,5,\n", "g.csv:2:1:", "cannot name a class"),
        ("request,task,work_ns,leaves,after\n1,a,5,0,\n", "g.csv:2:7:", "`0` is no number of leaves"),
        ("request,task,work_ns,leaves,after\n1,a,5,x,\n", "g.csv:2:7:", "write 1 to 1048576"),
    ] {
        let error = read(text, "").expect_err(says).to_string();
        assert!(error.contains(place) && error.contains(says), "{place} {says}\n{error}");
    }
    for (more, says) in [
        (", scale = { page = 2.0 }", "recorded graphs are not scaled"),
        (", unit = \"ns\"", "column `work_us` is in us, but `unit` says ns"),
        (", weights = { page = 1.0 }", "says nothing about class `report`"),
    ] {
        let error = read(GOOD, more).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_mixture_has_no_graphs() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("g.csv"), GOOD).unwrap();
    let mixture = "{ distribution = \"mixture\", classes = [{ name = \"a\", weight = 1, service = { file = \"g.csv\" } }] }";
    let error = spec(mixture).compile(dir.path()).unwrap_err().to_string();
    assert!(
        error.contains("`classes[0].service.file` = \"g.csv\"") && error.contains("by itself"),
        "{error}"
    );
}

#[test]
fn what_was_recorded_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("g.csv");
    std::fs::write(&path, GOOD).unwrap();
    let shown = Shown::open(path.to_str().unwrap()).unwrap();
    let text = shown.text(80);
    let paragraph = text.split("\n\n").find(|part| part.starts_with("Recorded")).expect("a paragraph");
    assert!(
        paragraph.lines().count() > 1 && paragraph.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let text = paragraph.replace('\n', " ");
    let wanted = "Recorded graphs of 3 requests with 2 to 4 tasks: 21.6 % of the work has to be done one after the other, so \
                  4.62 cores";
    assert!(text.contains(wanted), "{text}");
    assert_eq!(shown.json()["graphs"]["tasks"], serde_json::json!([2, 4]));
    assert!(Shown::open("exp-1us").unwrap().json().get("graphs").is_none());
}
