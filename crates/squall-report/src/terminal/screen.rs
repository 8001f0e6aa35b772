//! Lines of a screen, as they are written.

use super::style::Style;
use crate::text::wrap;

/// Columns of a label before its text, so that all texts begin in one column.
const LABEL_COLUMNS: usize = 13;

/// Kinds that one field lists before it sums up the rest: as many as a request can fail in.
pub(super) const KINDS_MAX: usize = 9;

const YELLOW: &str = "\u{1b}[33m";
const RED: &str = "\u{1b}[31m";
const PLAIN: &str = "\u{1b}[0m";

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Normal,
    Warning,
    Failure,
}

/// A screen that grows downwards.
#[derive(Debug)]
pub(crate) struct Screen {
    style: Style,
    text: String,
}

impl Screen {
    pub(crate) fn new(style: Style) -> Self {
        Self { style, text: String::new() }
    }

    /// Columns that a line may take.
    pub(super) fn columns(&self) -> u16 {
        self.style.columns()
    }

    /// A paragraph from the first column on.
    pub(super) fn paragraph(&mut self, text: &str, tone: Tone) {
        self.wrapped("", 0, text, tone);
    }

    /// A label, and a text that stays in its own column however long it is.
    pub(crate) fn field(&mut self, label: &str, text: &str, tone: Tone) {
        self.wrapped(label, LABEL_COLUMNS, text, tone);
    }

    /// A line that is laid out already.
    pub(super) fn line(&mut self, line: &str, tone: Tone) {
        let color = match tone {
            Tone::Warning if self.style.color => YELLOW,
            Tone::Failure if self.style.color => RED,
            _ => "",
        };
        self.text.push_str(color);
        self.text.push_str(line);
        self.text.push_str(if color.is_empty() { "" } else { PLAIN });
        self.text.push('\n');
    }

    /// An empty line, unless there is one already.
    pub(super) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn wrapped(&mut self, label: &str, indent: usize, text: &str, tone: Tone) {
        let width = usize::from(self.columns()).saturating_sub(indent);
        for (index, line) in wrap(text, width).into_iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            self.line(&format!("{label:indent$}{line}"), tone);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_warnings_and_failures_are_coloured_and_only_if_asked() {
        let check = |color: bool, expected: &str| {
            let mut screen = Screen::new(Style { color, ..Style::default() });
            screen.paragraph("a", Tone::Normal);
            screen.paragraph("b", Tone::Warning);
            screen.field("c", "d", Tone::Failure);
            assert_eq!(screen.finish(), expected);
        };
        check(false, "a\nb\nc            d\n");
        check(true, "a\n\u{1b}[33mb\u{1b}[0m\n\u{1b}[31mc            d\u{1b}[0m\n");
    }

    #[test]
    fn a_long_field_stays_in_its_column() {
        let mut screen = Screen::new(Style { width: 80, ..Style::default() });
        screen.field("label", &"word ".repeat(20), Tone::Normal);
        let text = screen.finish();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.chars().count() <= 80));
        assert!(lines.iter().skip(1).all(|line| line.starts_with("             word")));
    }
}
