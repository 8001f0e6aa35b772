//! Records of results: plain data, versioned, the same in memory and as JSON.
//!
//! Field names are the JSON keys. All times are whole nanoseconds and say so (`_ns`), unless
//! the key names another unit; keys inside [`LatencySummary`] are nanoseconds throughout.
//! A number that cannot be told is `null`. A change that breaks a reader raises
//! [`BENCH_SCHEMA`]. Start at [`BenchRecord`].

mod bench;

mod load;

mod latency;

mod followers;

mod machine;

pub use bench::{
    BENCH_SCHEMA, BenchRecord, BodyRecord, BytesRecord, ConnectionsRecord, LatencyRecord, Limit,
    RequestRecord, Summary, TargetRecord, WarmUpRecord, WindowRecord,
};
pub use followers::{DeliveryRecord, FollowersRecord};
pub use latency::LatencySummary;
pub use load::{LoadRecord, LoopKind};
pub use machine::{GeneratorRecord, ServerRecord};
