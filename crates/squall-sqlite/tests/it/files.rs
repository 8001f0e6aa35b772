//! What is on the disk, whose it is, and who may open it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use squall_sqlite::{OpenError, SCHEMA_VERSION, SqliteConfig, SqliteStore};

use crate::support::{Place, Watcher};

fn open(config: SqliteConfig) -> Result<(), OpenError> {
    SqliteStore::open(config, std::sync::Arc::new(Watcher::default())).map(drop)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn files_are_for_their_owner_alone() {
    let place = Place::new();
    let mut config = place.config();
    config.data_dir = place.directory.path().join("deep/data");
    let data_dir = config.data_dir.clone();
    let store = SqliteStore::open(config, std::sync::Arc::new(Watcher::default())).unwrap();
    assert_eq!(mode(&data_dir), 0o700);
    for file in ["squall.db", "squall.db-wal", "squall.db-shm", "lock"] {
        assert_eq!(mode(&data_dir.join(file)), 0o600, "{file}");
    }
    drop(store);
}

#[tokio::test]
async fn a_second_server_is_refused_until_the_first_has_gone() {
    let place = Place::new();
    let first = place.open();
    assert!(matches!(open(place.config()), Err(OpenError::Locked { .. })));
    first.shut_down().await;
    open(place.config()).unwrap();
}

#[test]
fn a_newer_schema_is_refused_by_its_number() {
    let place = Place::new();
    open(place.config()).unwrap();
    place.outside().pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
    match open(place.config()) {
        Err(OpenError::NewerSchema { found, supported }) => {
            assert_eq!((found, supported), (SCHEMA_VERSION + 1, SCHEMA_VERSION));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_database_of_another_program_is_left_alone() {
    let place = Place::new();
    let path = place.directory.path().join("squall.db");
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch("CREATE TABLE theirs (x); PRAGMA application_id = 7").unwrap();
    drop(theirs);
    let before = fs::read(&path).unwrap();
    match open(place.config()) {
        Err(OpenError::NotOurs { application_id, .. }) => assert_eq!(application_id, 7),
        other => panic!("{other:?}"),
    }
    fs::write(&path, b"not a database at all, but some text that is long enough").unwrap();
    assert!(matches!(open(place.config()), Err(OpenError::Sqlite(_))));
    assert!(before.starts_with(b"SQLite format 3"));
}

/// Not even the log of a database that is refused is copied into it.
#[test]
fn a_refused_database_keeps_its_log() {
    let place = Place::new();
    let path = place.directory.path().join("squall.db");
    let theirs = Connection::open(&path).unwrap();
    theirs.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    let mode: String = theirs.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    theirs.execute_batch("CREATE TABLE theirs (x); PRAGMA application_id = 7").unwrap();
    drop(theirs);
    let files = || ["squall.db", "squall.db-wal"].map(|file| place.directory.path().join(file));
    let before = files().map(|file| fs::read(file).unwrap());
    assert!(matches!(open(place.config()), Err(OpenError::NotOurs { .. })));
    assert!(files().map(|file| fs::read(file).unwrap()) == before, "left as it was");
}

/// What a backup has to copy after a clean stop is one file.
#[tokio::test]
async fn a_clean_stop_leaves_one_file_and_everything_in_it() {
    let place = Place::new();
    let opened = place.open();
    opened.append("s", "kept").await;
    opened.shut_down().await;
    let mut files: Vec<_> = fs::read_dir(place.directory.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["lock", "squall.db"]);
    assert_eq!(place.open().payloads("s").await, ["kept"]);
}

/// The user's data is readable without squall.
#[tokio::test]
async fn events_can_be_read_as_text_from_outside() {
    let place = Place::new();
    let opened = place.open();
    opened.append("orders", "first").await;
    opened.append("orders", "second").await;
    let outside = place.outside();
    let mut rows = outside.prepare("SELECT stream || ' ' || payload FROM readable_events").unwrap();
    let rows: Vec<String> =
        rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows, ["orders first", "orders second"]);
}

#[tokio::test]
async fn settings_are_what_durability_needs() {
    let place = Place::new();
    let opened = place.open();
    opened.append("s", "x").await;
    let outside = place.outside();
    let text = |name: &str| -> String {
        outside.pragma_query_value(None, name, |row| row.get(0)).unwrap()
    };
    assert_eq!(text("journal_mode"), "wal");
    assert_eq!(place.ask("PRAGMA auto_vacuum"), 2);
    assert_eq!(place.ask("PRAGMA application_id"), 0x7371_6c6c);
    assert_eq!(place.ask("PRAGMA user_version"), SCHEMA_VERSION);
    assert_eq!(
        place.ask("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"),
        1
    );
}
