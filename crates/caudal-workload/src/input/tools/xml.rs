//! XML: times of tests, as JUnit and all that follow it write them, and samples of JMeter. Other XML is named by its first element.
//! The table of tools (`mod.rs`) asks whether a text has this form, and calls the reader once if it has. Pure.

use super::{Names, Shown};
use crate::error::WorkloadError;
use crate::input::{Place, shorten, source, text};

/// Does this begin as XML does, or with an element of those that are known?
pub(super) fn holds_xml(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    [&b"<?xml"[..], b"<testsuite", b"<testResults"].iter().any(|begin| head.starts_with(begin))
}

/// A tag: `<testcase name="a" time="0.012"/>`.
#[derive(Debug, PartialEq)]
struct Tag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, String)>,
    /// Does it begin an element that ends later?
    opens: bool,
    /// Does it end one that began before?
    closes: bool,
    /// The number of the line, from 1.
    line: usize,
}

impl Tag<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// The tags of a text, without comments and the like.
struct Tags<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Tags<'a> {
    fn new(text: &'a str) -> Tags<'a> {
        Tags { rest: text, line: 1 }
    }

    /// Goes on behind so many bytes.
    fn skip(&mut self, bytes: usize) -> &'a str {
        let (passed, rest) = self.rest.split_at(bytes);
        self.line += passed.bytes().filter(|&byte| byte == b'\n').count();
        self.rest = rest;
        passed
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = Tag<'a>;

    fn next(&mut self) -> Option<Tag<'a>> {
        loop {
            let at = self.rest.find('<')?;
            self.skip(at);
            // What has no tags in it, whatever it looks like.
            let ends = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];
            if let Some((begin, end)) = ends.iter().find(|(begin, _)| self.rest.starts_with(begin)) {
                let length = self.rest[begin.len()..].find(end)?;
                self.skip(begin.len() + length + end.len());
                continue;
            }
            let line = self.line;
            let mut quote = None;
            let end = self.rest.char_indices().find(|&(_, letter)| {
                match quote {
                    Some(open) if open == letter => quote = None,
                    None if letter == '"' || letter == '\'' => quote = Some(letter),
                    _ => {}
                }
                letter == '>' && quote.is_none()
            });
            let (end, _) = end?;
            let inner = self.skip(end + 1)[1..].trim_end_matches('>').trim();
            let closes = inner.starts_with('/');
            let opens = !closes && !inner.ends_with('/');
            let inner = inner.trim_matches('/');
            let name = inner.split(|letter: char| letter.is_whitespace()).next().unwrap_or_default();
            return Some(Tag { name, attributes: attributes(&inner[name.len()..]), opens, closes, line });
        }
    }
}

fn attributes(mut rest: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    while let Some((name, value)) = rest.split_once('=') {
        let value = value.trim_start();
        let Some(quote) = value.chars().next().filter(|letter| ['"', '\''].contains(letter)) else { break };
        let Some((value, behind)) = value[1..].split_once(quote) else { break };
        found.push((name.trim(), plain(value)));
        rest = behind;
    }
    found
}

/// A value with the letters that its entities mean.
fn plain(value: &str) -> String {
    const KNOWN: [(&str, &str); 5] =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    KNOWN.iter().fold(value.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
}

/// The content of a document as a table.
///
/// # Errors
/// If it is other XML than is known here.
pub(super) fn table(bytes: &[u8], place: &Place<'_>) -> Result<Shown, WorkloadError> {
    let text = text(bytes);
    let root = Tags::new(&text).next().map(|tag| tag.name).unwrap_or_default();
    match root {
        "testsuites" | "testsuite" => runs(&text, place),
        "testResults" => samples(&text, place),
        "html" => Err(place.whole("is a page of HTML, which is not read here; give what it was made from")),
        root => Err(place.whole(format!(
            "is XML whose first element is `{}`, which is not read here: of XML, results of tests (JUnit's `testsuite`) and of JMeter \
             (`testResults`) are; write CSV or JSON instead",
            shorten(root)
        ))),
    }
}

/// A table of what each test took, in seconds: `<testcase classname="a" name="b" time="0.012"/>`.
fn runs(text: &str, place: &Place<'_>) -> Result<Shown, WorkloadError> {
    let mut shown = Shown::new("runs of tests as JUnit's XML", &["time_s", "name", "classname"]);
    let mut names = Names::default();
    for tag in Tags::new(text).filter(|tag| tag.name == "testcase" && !tag.closes) {
        source::check_stop()?;
        let Some(time) = tag.get("time") else { continue };
        let [name, class] = ["name", "classname"].map(|key| tag.get(key).unwrap_or_default());
        names.see(class);
        shown.rows.add(tag.line, &[time, name, class])?;
    }
    if shown.rows.count == 0 {
        return Err(place.whole("is JUnit's XML, and none of its tests has a time"));
    }
    if names.are_classes() {
        shown.class = Some("classname".to_owned());
    }
    shown.notes.push("each value is a run of a whole test, and none of a request".to_owned());
    Ok(shown)
}

/// The samples of JMeter as its CSV has them, but for those within others: `<httpSample t="12" lb="home" ts="1700000000000" s="true"/>`.
fn samples(text: &str, place: &Place<'_>) -> Result<Shown, WorkloadError> {
    let names = ["elapsed", "timeStamp", "label", "responseCode", "success"];
    let mut shown = Shown::new("XML of JMeter", &names);
    let mut depth = 0_usize;
    for tag in Tags::new(text).filter(|tag| tag.name.ends_with("ample")) {
        source::check_stop()?;
        if tag.closes {
            depth = depth.saturating_sub(1);
            continue;
        }
        if depth == 0
            && let Some(elapsed) = tag.get("t")
        {
            let [at, label, code, success] =
                ["ts", "lb", "rc", "s"].map(|key| tag.get(key).unwrap_or_default());
            shown.rows.add(tag.line, &[elapsed, at, label, code, success])?;
        }
        depth += usize::from(tag.opens);
    }
    if shown.rows.count == 0 {
        return Err(place.whole("is JMeter's XML, and holds no sample"));
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_with_their_lines() {
        let text = "<?xml version=\"1.0\"?>\n<!-- <a> -->\n<a b=\"x &amp; y>\" c='2'>\n<![CDATA[<no>]]><d\n e=\"3\"/></a>";
        let found: Vec<String> = Tags::new(text)
            .map(|tag| format!("{}:{}:{}:{}:{:?}", tag.line, tag.name, tag.opens, tag.closes, tag.attributes))
            .collect();
        assert_eq!(
            found,
            [
                "3:a:true:false:[(\"b\", \"x & y>\"), (\"c\", \"2\")]",
                "4:d:false:false:[(\"e\", \"3\")]",
                "5:a:false:true:[]",
            ]
        );
        for cut in
            ["<", "<a", "<a b", "<a b=", "<a b=\"", "<!--", "<![CDATA[", "</", "</>", "<>", "<é=\"ü\">"]
        {
            let _ = Tags::new(cut).count();
        }
    }
}
