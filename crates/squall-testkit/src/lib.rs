//! squall-testkit.
