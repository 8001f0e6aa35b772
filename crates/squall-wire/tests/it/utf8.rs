//! Text in pieces.

use proptest::collection::vec;
use proptest::prelude::*;
use squall_wire::utf8::{complete_len, push_lossy};

/// Bytes of which many begin, continue or break a character.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<char>().prop_map(|character| String::from(character).into_bytes()),
        vec(prop_oneof![0x78..=0xC5_u8, 0xDF..=0xFF_u8], 0..3),
    ];
    vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn lossy(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    push_lossy(&mut out, bytes);
    String::from_utf8(out).unwrap()
}

proptest! {
    /// Holding back cut characters gives the text that was sent, however it was cut.
    #[test]
    fn text_sent_in_pieces_is_the_text(bytes in any_bytes(), lens in vec(1..5_usize, 1..20)) {
        let (mut text, mut held, mut rest) = (String::new(), Vec::new(), bytes.as_slice());
        for len in lens {
            let (piece, behind) = rest.split_at(len.min(rest.len()));
            rest = behind;
            held.extend_from_slice(piece);
            let cut = held.split_off(complete_len(&held));
            prop_assert!(cut.len() <= 3);
            text.push_str(&lossy(&held));
            held = cut;
        }
        held.extend_from_slice(rest);
        text.push_str(&lossy(&held));
        prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
    }

    /// Of a text, exactly the cut character is held back.
    #[test]
    fn a_cut_text_loses_only_its_last_character(text in any::<String>(), at in any::<prop::sample::Index>()) {
        let at = at.index(text.len() + 1);
        let complete = complete_len(&text.as_bytes()[..at]);
        prop_assert_eq!(complete, text.floor_char_boundary(at));
    }
}
