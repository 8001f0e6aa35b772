//! Goes through the cases.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{append, close, create, delete, expiry, list, observe, producer, read, reopen, trim};
use crate::conformance::engine::Engine;
use crate::conformance::stage::Stage;
use crate::limits::StreamLimits;

/// A promise, and what breaks if it is broken.
pub(super) type Case = (&'static str, fn(Stage));

/// Puts an engine through every case, each on a place of its own.
///
/// # Panics
/// If a case fails. The panic names all that failed; what each met was printed before.
pub fn run(factory: &dyn Fn() -> Box<dyn Engine>) {
    let keeps_data = factory().keeps_data();
    if !keeps_data {
        eprintln!("passed over: the cases about opening a store again; this one keeps nothing");
    }
    let kept = if keeps_data { reopen::CASES } else { &[] };
    let groups = [
        create::CASES,
        append::CASES,
        close::CASES,
        producer::CASES,
        read::CASES,
        trim::CASES,
        delete::CASES,
        list::CASES,
        expiry::CASES,
        observe::CASES,
        kept,
    ];
    let mut failed = Vec::new();
    for (name, case) in groups.into_iter().flatten() {
        let stage = AssertUnwindSafe(|| case(Stage::new(factory(), limits())));
        if catch_unwind(stage).is_err() {
            failed.push(*name);
        }
    }
    assert!(failed.is_empty(), "broken promises: {failed:#?}");
}

/// Few producers, so that their limit is within reach.
fn limits() -> StreamLimits {
    StreamLimits { producers_max: 2, producer_idle_max_ms: 60_000, ..StreamLimits::default() }
}
