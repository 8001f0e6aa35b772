//! An engine that keeps everything in memory, for tests and for trying things out.
//!
//! Owns the events of its streams and nothing else: the state machine decides, the clock
//! is the caller's. A change is durable the moment it is made, so every future is ready.
//! Invariant: changes, their order at the observer and what reads see are one order,
//! since all three happen under one lock. Limit: none on memory; trim or delete.
//! Start at [`MemoryStore`].

mod page;
mod store;
mod stream;
mod table;

pub use store::MemoryStore;
