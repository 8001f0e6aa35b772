//! squall-sqlite.
