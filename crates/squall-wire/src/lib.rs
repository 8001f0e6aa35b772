//! squall-wire.
