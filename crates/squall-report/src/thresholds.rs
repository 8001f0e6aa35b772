//! What became of the conditions after `--fail-if`.

use squall_stats::threshold::{Judgement, Quantity, Threshold};

use crate::terminal::{Screen, Style, Tone};

/// One line for each condition, in the order given; nothing without one.
#[must_use]
pub fn lines(judged: &[(Threshold, Judgement)], style: Style) -> String {
    let mut screen = Screen::new(style);
    for (threshold, judgement) in judged {
        let (verdict, reason, tone) = match judgement {
            Judgement::Passed { actual } => ("passed", measured(*actual), Tone::Normal),
            Judgement::Failed { actual } => ("FAILED", measured(*actual), Tone::Failure),
            Judgement::CannotTell { why } => ("cannot tell", why.clone(), Tone::Warning),
        };
        screen.field(verdict, &format!("{threshold}: {reason}"), tone);
    }
    screen.finish()
}

/// With enough decimals that a number just beyond its bound does not look equal to it.
fn measured(actual: Quantity) -> String {
    match actual {
        Quantity::Ns(_) | Quantity::Percent(_) => format!("it was {actual:.3}"),
        Quantity::PerSecond(_) => format!("it was {actual:.1}"),
        Quantity::Count(_) => format!("it was {actual:.0}"),
        actual => format!("it was {actual}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_has_a_line_with_its_verdict() {
        let judged = [
            ("rate < 1000", Judgement::Passed { actual: Quantity::PerSecond(38_412.34) }),
            ("p99 > 20ms", Judgement::Failed { actual: Quantity::Ns(20_004_000.0) }),
            ("failed > 0", Judgement::Failed { actual: Quantity::Count(412.0) }),
            ("missed > 1%", Judgement::Passed { actual: Quantity::Percent(0.25) }),
            ("lost > 0", Judgement::CannotTell { why: "there were no followers".to_owned() }),
        ]
        .map(|(text, judgement)| (text.parse().unwrap(), judgement));
        let expected = "\
passed       rate < 1000: it was 38412.3
FAILED       p99 > 20ms: it was 20.004ms
FAILED       failed > 0: it was 412
passed       missed > 1%: it was 0.250%
cannot tell  lost > 0: there were no followers
";
        assert_eq!(lines(&judged, Style::default()), expected);
        assert_eq!(lines(&[], Style::default()), "");
    }
}
