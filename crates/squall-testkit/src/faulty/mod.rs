//! A store that gets into trouble by a script.
//!
//! Owns the script and its dice; the store behind it keeps the events. Faults are chosen
//! when a method is called, in call order, so one seed gives one history. Waits use
//! tokio's clock and stand still while that is paused. A change with a fault runs in a
//! task of its own: like any store's, it outlives its caller. Start at [`FaultyStore`].

mod gate;
mod script;
mod store;

pub use gate::Gate;
pub use script::{Fault, Method, When};
pub use store::FaultyStore;
