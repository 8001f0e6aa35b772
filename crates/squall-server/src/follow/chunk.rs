//! Chunks: bytes of a follow, with room for HTTP/1.1's chunked coding around them.
//!
//! A frame is shared by thousands of followers, so the few bytes that chunked coding adds
//! are shared with it, and each follower sends one slice.

use bytes::Bytes;

/// Room for the size in hexadecimal, of up to 8 digits, and a line end.
const BEFORE: usize = 10;
const LINE_END: &[u8] = b"\r\n";

/// Bytes that are being put together.
#[derive(Debug)]
pub(crate) struct ChunkBuilder(Vec<u8>);

/// Finished bytes, plain or as a chunk of HTTP/1.1.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    /// The size, a line end, the bytes, a line end.
    coded: Bytes,
    /// Where the bytes begin.
    start: usize,
}

impl ChunkBuilder {
    /// A builder with room for `bytes`.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        let mut room = Vec::with_capacity(BEFORE + bytes + LINE_END.len());
        room.extend_from_slice(&[0; BEFORE]);
        Self(room)
    }

    /// Where to append.
    pub(crate) fn out(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.len() <= BEFORE
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Ends the chunk. `hold` turns the finished buffer into shared bytes.
    pub(crate) fn finish_with(mut self, hold: impl FnOnce(Vec<u8>) -> Bytes) -> Chunk {
        let size = format!("{:x}\r\n", self.0.len() - BEFORE);
        let size_start = BEFORE.saturating_sub(size.len());
        if let Some(room) = self.0.get_mut(size_start..BEFORE) {
            // A chunk of 4 GiB or more would not fit; events are far smaller.
            room.copy_from_slice(&size.as_bytes()[..room.len()]);
        }
        self.0.extend_from_slice(LINE_END);
        let coded = hold(self.0).slice(size_start..);
        Chunk { coded, start: BEFORE - size_start }
    }

    pub(crate) fn finish(self) -> Chunk {
        self.finish_with(Bytes::from)
    }
}

impl Chunk {
    /// A chunk of these bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut builder = ChunkBuilder::with_capacity(bytes.len());
        builder.out().extend_from_slice(bytes);
        builder.finish()
    }

    /// Bytes with their coding.
    pub(crate) fn len(&self) -> usize {
        self.coded.len()
    }

    /// The bytes as a chunk of HTTP/1.1 (RFC 9112, section 7.1).
    pub(crate) fn coded(self) -> Bytes {
        self.coded
    }

    /// The bytes alone.
    pub(crate) fn plain(self) -> Bytes {
        let end = self.coded.len() - LINE_END.len();
        self.coded.slice(self.start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_buffer_serves_both_codings() {
        for length in [1, 15, 16, 4_096, 100_000] {
            let bytes = vec![b'x'; length];
            let chunk = Chunk::of(&bytes);
            assert_eq!(chunk.clone().plain(), bytes);
            let coded = [format!("{length:x}\r\n").as_bytes(), &bytes, b"\r\n"].concat();
            assert_eq!(chunk.coded(), coded);
        }
    }
}
