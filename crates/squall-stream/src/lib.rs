//! The domain of squall, without HTTP and without an engine.
//!
//! Owns what a stream is: names, offsets, content types, the requests that change
//! or read a stream, the rules that decide them, and the [`StreamStore`] trait that
//! every engine fulfils. Does not own storage (an engine) or the wire (the server).
//!
//! Invariant: nothing here does IO or reads a clock; the present is an argument.
//! Start at [`store::StreamStore`], then [`machine`].
#![warn(missing_docs)]

pub mod content_type;
pub mod event;
pub mod expiry;
pub mod instant;
pub mod json;
pub mod limits;
pub mod name;
pub mod offset;
pub mod producer;

pub mod request;

pub mod machine;

pub mod observer;
pub mod store;

pub mod memory;

#[cfg(feature = "conformance")]
pub mod conformance;

pub use content_type::{ContentKind, ContentType};
pub use event::{Event, Page};
pub use expiry::Expiry;
pub use instant::{Clock, UnixMillis};
pub use name::StreamName;
pub use offset::{Offset, ReadFrom};
pub use store::StreamStore;
