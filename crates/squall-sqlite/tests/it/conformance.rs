//! The suite that every engine passes.

use std::sync::Arc;

use squall_sqlite::{SqliteConfig, SqliteStore};
use squall_stream::StreamStore;
use squall_stream::conformance::{Engine, Setup, random_operations, run};
use tempfile::TempDir;

/// A data directory of its own, without syncs: what is tried is not the disk.
struct Sqlite {
    directory: TempDir,
}

impl Engine for Sqlite {
    fn open(&mut self, setup: Setup) -> Arc<dyn StreamStore> {
        let mut config = SqliteConfig::new(self.directory.path());
        config.durability = squall_sqlite::Durability::Normal;
        config.limits = setup.limits;
        config.clock = setup.clock;
        SqliteStore::open(config, setup.observer).expect("the store opens")
    }

    fn keeps_data(&self) -> bool {
        true
    }
}

fn engine() -> Box<dyn Engine> {
    let directory = tempfile::tempdir().expect("a directory");
    Box::new(Sqlite { directory })
}

#[test]
fn every_case_passes() {
    run(&engine);
}

#[test]
fn random_operations_agree_with_the_model() {
    random_operations(&engine, 40, 100);
}
