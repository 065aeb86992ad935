//! `SQLite`, and the only folder that opens it: one writer thread with grouped, durable commits, a
//! pool of readers, named statements, migrations, blobs beside the database, and copies of it all.

mod arriving;
mod backup;
mod blob;
mod db;
mod memory;
mod migrate;
mod open;
mod row;
mod sql;
mod tx;
mod uploads;
mod vault;
mod writer;

pub use arriving::Arriving;
pub use backup::{Backup, Wanted, damaged_blobs, last_backup, note_backup, restore, take};
pub use blob::{Blobs, Hash, Stock};
pub use db::Db;
pub use memory::Digest;
pub use migrate::{MIGRATIONS, Migration, hash_of};
pub use row::{Row, to_int, to_json};
pub use sql::Sql;
pub use tx::{Params, Read, Tx, Value};
pub use uploads::Uploads;
pub use vault::Vault;
pub use writer::Written;
