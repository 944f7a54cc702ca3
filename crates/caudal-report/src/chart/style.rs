//! The style that reports and charts in files of their own share: colours, markers, and the escaping of text in SVG and HTML. `draw` and
//! the report take it. Constants and pure functions.

use super::Ink;

/// The style sheet of charts; it stands in every page and in every file of its own.
pub(crate) const STYLE: &str = include_str!("../../assets/chart.css");

/// Colours in the style sheet (`k0` …); from there on they come again with a hollow marker.
const COLOURS: usize = 7;
const DASHES: [&str; 4] = ["6 3", "2 3", "9 3 2 3", "12 4"];

impl Ink {
    /// The classes of the group that holds a series.
    pub(crate) fn classes(self) -> String {
        match self {
            Self::Colour(n) if n / COLOURS % 2 == 1 => format!("k{} hollow", n % COLOURS),
            Self::Colour(n) => format!("k{}", n % COLOURS),
            Self::Grey(_) => "ref".into(),
            Self::Front => "front".into(),
        }
    }

    /// The dashes of its line, as an attribute with a leading space; empty for a full line.
    pub(crate) fn dash(self) -> String {
        match self {
            Self::Grey(n) => format!(" stroke-dasharray=\"{}\"", DASHES[n % DASHES.len()]),
            Self::Colour(_) | Self::Front => String::new(),
        }
    }

    /// Outline of its marker around the origin, of about 6 units across.
    pub(crate) fn marker(self) -> &'static str {
        const CIRCLE: &str = "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z";
        const SQUARE: &str = "M-2.6-2.6h5.2v5.2h-5.2z";
        const TRIANGLE: &str = "M0-3.4L3.3 2.5H-3.3z";
        const DIAMOND: &str = "M0-3.7L3.7 0L0 3.7L-3.7 0z";
        match self {
            // Shifted by one each time colours and fillings come again, so that no two look the same.
            Self::Colour(n) => [CIRCLE, SQUARE, TRIANGLE, DIAMOND][(n + n / (2 * COLOURS)) % 4],
            Self::Grey(_) | Self::Front => "M-1.8 0a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0-3.6 0z",
        }
    }
}

/// A little picture of a series for legends.
pub(crate) fn swatch(ink: Ink) -> String {
    format!(
        "<svg class=\"plot swatch\" viewBox=\"0 0 26 12\" width=\"26\" height=\"12\" aria-hidden=\"true\">\
         <g class=\"series {}\"><path class=\"curve\"{} d=\"M1 6H25\"/>\
         <path class=\"pt\" transform=\"translate(13,6)\" d=\"{}\"/></g></svg>",
        ink.classes(),
        ink.dash(),
        ink.marker()
    )
}

/// Text made safe for XML and HTML, in content and in quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(letter),
            // XML has no way to write these, not even escaped.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// Text cut to a number of letters, with an ellipsis.
pub(crate) fn shorten(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_owned();
    }
    text.chars().take(letters.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_a_user_cannot_become_markup() {
        assert_eq!(escape("a<b>&\"'\u{0}"), "a&lt;b&gt;&amp;&quot;&#39;\u{fffd}");
    }

    #[test]
    fn twenty_systems_look_different() {
        let looks: Vec<_> = (0..20).map(|n| (Ink::Colour(n).classes(), Ink::Colour(n).marker())).collect();
        for (at, look) in looks.iter().enumerate() {
            assert!(!looks[..at].contains(look), "{at}");
        }
    }
}
