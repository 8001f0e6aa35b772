//! Whose event it is.

use mio::Token;

/// The token of the thread's timer.
pub(crate) const TIMER: Token = Token(usize::MAX);

/// The token of the thread's waker.
pub(crate) const WAKER: Token = Token(usize::MAX - 1);

const FOLLOWER: u32 = 1 << 31;

/// Who owns a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A connection for requests.
    Slot(usize),
    /// A follower.
    Follower(usize),
}

/// The token of a socket. `generation` tells the owner's present socket from a former one, whose
/// event may be in the same batch as its end.
pub(crate) fn token(owner: Owner, generation: u32) -> Token {
    let low = match owner {
        Owner::Slot(index) => bits(index),
        Owner::Follower(index) => bits(index) | FOLLOWER,
    };
    Token((generation as usize) << 32 | low as usize)
}

/// What [`token`] was made of.
pub(crate) fn owner(token: Token) -> (Owner, u32) {
    let low = low(token.0);
    let generation = low_half(token.0 >> 32);
    let index = (low & !FOLLOWER) as usize;
    (if low & FOLLOWER == 0 { Owner::Slot(index) } else { Owner::Follower(index) }, generation)
}

fn low(token: usize) -> u32 {
    low_half(token)
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is asked for")]
fn low_half(value: usize) -> u32 {
    value as u32
}

/// There are at most as many sockets as files, which is far below the flag.
fn bits(index: usize) -> u32 {
    low_half(index) & !FOLLOWER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_gives_back_its_owner() {
        for who in [Owner::Slot(0), Owner::Slot(70_000), Owner::Follower(0), Owner::Follower(9)] {
            for generation in [0, 1, u32::MAX - 1] {
                assert_eq!(owner(token(who, generation)), (who, generation));
            }
        }
    }
}
