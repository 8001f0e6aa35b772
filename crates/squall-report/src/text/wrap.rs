//! Text broken into lines of a bounded width.

/// Breaks `text` at spaces into lines of at most `width` characters, none of them empty.
///
/// A number stays with the word after it, which is its unit or noun. A word longer than a line
/// is cut, since a URL may be longer than any screen. Control characters are replaced: a report
/// must not move the cursor of whoever reads it.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut line_len = 0;
    for word in words(text, width) {
        let word: Vec<char> = word.chars().map(visible).collect();
        for (index, piece) in word.chunks(width).enumerate() {
            let is_joined = index == 0 && line_len > 0 && line_len + 1 + piece.len() <= width;
            if is_joined {
                line.push(' ');
                line_len += 1;
            } else if line_len > 0 {
                lines.push(std::mem::take(&mut line));
                line_len = 0;
            }
            line.extend(piece);
            line_len += piece.len();
        }
    }
    if line_len > 0 {
        lines.push(line);
    }
    lines
}

/// The words of `text`, each number joined with its unit unless the two would be a long line.
fn words(text: &str, width: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_number = false;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match words.last_mut() {
            Some(number) if is_number && number.len() + word.len() < width / 2 => {
                number.push(' ');
                number.push_str(word);
                is_number = false;
            }
            _ => {
                is_number = word.starts_with(|character: char| character.is_ascii_digit());
                words.push(word.to_owned());
            }
        }
    }
    words
}

fn visible(character: char) -> char {
    if character.is_control() { char::REPLACEMENT_CHARACTER } else { character }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, width: usize, expected: &[&str]) {
        assert_eq!(wrap(text, width), expected);
    }

    #[test]
    fn lines_break_at_spaces() {
        check("", 10, &[]);
        check("one two three", 7, &["one two", "three"]);
        check("one two three", 6, &["one", "two", "three"]);
        check("  one   two ", 80, &["one two"]);
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        check("waits of 4.10 ms and 9 %", 14, &["waits of", "4.10 ms and", "9 %"]);
        check("1 2 3", 4, &["1 2", "3"]);
    }

    #[test]
    fn a_word_longer_than_a_line_is_cut() {
        check("a bcdefgh i", 3, &["a", "bcd", "efg", "h i"]);
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        check("a\u{1b}[31m\tb\nc", 80, &["a\u{fffd}[31m\u{fffd}b\u{fffd}c"]);
    }

    proptest! {
        /// No line is longer than asked for or empty, and no character but a space is lost.
        #[test]
        fn lines_fit_and_lose_nothing(text in "[a-zµ0-9 ]{0,200}", width in 1..40_usize) {
            let lines = wrap(&text, width);
            prop_assert!(lines.iter().all(|line| (1..=width).contains(&line.chars().count())));
            prop_assert!(lines.iter().all(|line| line.trim() == line));
            let kept: String = lines.concat().replace(' ', "");
            prop_assert_eq!(kept, text.replace(' ', ""));
        }
    }
}
