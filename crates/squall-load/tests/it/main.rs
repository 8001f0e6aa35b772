//! The engine against the scripted server.
