//! squall-stream.
