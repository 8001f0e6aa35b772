//! squall-server.
