//! What people and programs read of a record.
#![expect(clippy::unwrap_used, reason = "what a test cannot do without may panic")]

mod records;

mod screen;

mod words;

mod schema;

mod documents;
