//! Table tests: `check(wire, expected)`, each in several portions.

mod table;

mod connection;
mod format;
