//! One screen that a person understands at first sight.
//!
//! Plain words first, then what has to be known to read them rightly, then numbers. Every
//! section is a file; [`bench`] lists them in the order of the screen.

mod style;

mod screen;

mod target;

mod times;

mod requests;

mod connections;

mod followers;

mod machine;

mod bench;

pub use bench::bench;
pub(crate) use screen::{Screen, Tone};
pub use style::Style;
