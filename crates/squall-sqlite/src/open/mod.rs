//! Opening a data directory: whose it is, whether it is free, and of which schema.

mod connections;
mod error;

mod files;
mod pragma;
mod schema;

pub(crate) use connections::{Opened, open_reader, open_writer};
pub use error::OpenError;
pub use schema::SCHEMA_VERSION;
