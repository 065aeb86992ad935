//! The store through its own door: what a call may rely on.

use std::fs;
use std::path::Path;

use assay::base::{Clock, Code, Entropy, Fault, Id, Millis};
use assay::events::{Bus, Event};
use assay::params;
use assay::store::{Db, Sql};

/// A statement of this test alone.
const fn statement(text: &'static str) -> Sql {
    Sql { name: "test", text }
}

const ADD: Sql = statement(
    "INSERT INTO tenants (id, slug, name, plan, created_at)
     VALUES (:id, :slug, :slug, 'all', :now)",
);
const SLUGS: Sql = statement("SELECT slug FROM tenants ORDER BY slug LIMIT 100");

enum Tenant {}

fn open(dir: &Path) -> Result<Db, Fault> {
    Db::open(dir, Clock::fake(Millis(1_000)), Entropy::seeded(1), Bus::default())
}

async fn add(db: &Db, slug: &'static str) -> Result<(), Fault> {
    db.write(move |tx| {
        let id: Id<Tenant> = tx.new_id();
        let now = tx.now();
        tx.run_one(ADD, params! { ":id": id, ":slug": slug, ":now": now })
    })
    .await
}

async fn slugs(db: &Db) -> Vec<String> {
    db.read(|read| read.list(SLUGS, params! {}, |row| row.get("slug"))).await.unwrap()
}

#[tokio::test]
async fn a_write_is_there_after_the_database_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    add(&open(dir.path()).unwrap(), "acme").await.unwrap();

    assert_eq!(slugs(&open(dir.path()).unwrap()).await, ["acme"]);
}

#[tokio::test]
async fn a_failed_call_undoes_itself_and_none_of_its_neighbours() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(dir.path()).unwrap();

    let failing = db.write(|tx| {
        let id: Id<Tenant> = tx.new_id();
        let now = tx.now();
        tx.run_one(ADD, params! { ":id": id, ":slug": "lost", ":now": now })?;
        Err::<(), _>(Fault::new(Code::Conflict, "no"))
    });
    let panicking = db.write(|_| -> Result<(), Fault> { panic!("on purpose") });
    let (one, failed, panicked, two) =
        tokio::join!(add(&db, "one"), failing, panicking, add(&db, "two"));

    one.unwrap();
    two.unwrap();
    assert_eq!(failed.unwrap_err().code, Code::Conflict);
    assert_eq!(panicked.unwrap_err().code, Code::Internal);
    assert_eq!(slugs(&db).await, ["one", "two"]);
}

#[tokio::test]
async fn an_event_is_published_only_if_its_change_was_kept() {
    let dir = tempfile::tempdir().unwrap();
    let bus = Bus::default();
    let db = Db::open(dir.path(), Clock::fake(Millis(1)), Entropy::seeded(1), bus.clone()).unwrap();
    let mut watch = bus.watch();

    let refused = db.write(|tx| {
        tx.emit(Event::JobReady);
        Err::<(), _>(Fault::new(Code::Conflict, "no"))
    });
    refused.await.unwrap_err();
    assert!(watch.try_recv().is_err());

    db.write(|tx| {
        tx.emit(Event::JobReady);
        Ok(())
    })
    .await
    .unwrap();
    assert!(watch.try_recv().is_ok());
}

#[tokio::test]
async fn a_clash_of_unique_keys_is_an_answer_and_not_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(dir.path()).unwrap();
    let insert = || {
        db.write(|tx| {
            let id: Id<Tenant> = tx.new_id();
            let now = tx.now();
            tx.insert_new(ADD, params! { ":id": id, ":slug": "acme", ":now": now })
        })
    };

    assert!(insert().await.unwrap());
    assert!(!insert().await.unwrap());
}

#[tokio::test]
async fn a_reader_cannot_write() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(dir.path()).unwrap();

    let wrote = db.read(|read| {
        let id: Id<Tenant> = Id::from_uuid(uuid::Uuid::nil());
        read.find(ADD, params! { ":id": id, ":slug": "x", ":now": 1 }, |_| Ok(()))
    });

    wrote.await.unwrap_err();
    assert!(slugs(&db).await.is_empty());
}

#[test]
fn a_database_that_cannot_be_used_is_left_alone_and_explained() {
    type Spoil = fn(&Path);
    let cases: [(&str, Spoil); 4] = [
        ("newer Assay", |file| {
            let db = open(file.parent().unwrap()).unwrap();
            db.raw("PRAGMA user_version = 9999").unwrap();
        }),
        ("another text of migration", |file| {
            let db = open(file.parent().unwrap()).unwrap();
            db.raw("UPDATE migrations SET hash = 'x'").unwrap();
        }),
        ("damaged", |file| fs::write(file, [7_u8; 8192]).unwrap()),
        ("another program", |file| {
            let db = open(file.parent().unwrap()).unwrap();
            db.raw("PRAGMA user_version = 0").unwrap();
        }),
    ];
    for (says, spoil) in cases {
        let dir = tempfile::tempdir().unwrap();
        spoil(&dir.path().join("assay.db"));

        let fault = open(dir.path()).err().unwrap();

        assert!(fault.message.contains(says), "{says}: {fault:?}");
    }
}

#[test]
fn a_data_directory_that_is_not_there_is_explained() {
    let fault = open(Path::new("/nowhere/at/all")).err().unwrap();

    assert!(fault.message.contains("cannot be opened for writing"), "{fault:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_writers_and_readers_at_once_never_find_the_database_locked() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(dir.path()).unwrap();
    let writes = (0..40).map(|n| {
        let db = db.clone();
        tokio::spawn(async move {
            db.write(move |tx| {
                let id: Id<Tenant> = tx.new_id();
                let (slug, now) = (format!("t{n}"), tx.now());
                tx.run_one(ADD, params! { ":id": id, ":slug": slug, ":now": now })
            })
            .await
        })
    });
    let writes: Vec<_> = writes.collect();
    let reads: Vec<_> = (0..40)
        .map(|_| {
            let db = db.clone();
            tokio::spawn(async move { slugs(&db).await.len() })
        })
        .collect();

    for write in writes {
        write.await.unwrap().unwrap();
    }
    for read in reads {
        read.await.unwrap();
    }
    assert_eq!(slugs(&db).await.len(), 40);
}

#[tokio::test]
async fn a_full_disk_refuses_calls_whole_and_is_forgotten_once_there_is_room() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(dir.path()).unwrap();
    add(&db, "before").await.unwrap();
    db.write(|tx| tx.pragma("PRAGMA max_page_count = 1")).await.unwrap();
    let large = |name: &'static str| {
        db.write(move |tx| {
            let now = tx.now();
            for part in 0..200 {
                let id: Id<Tenant> = tx.new_id();
                let slug = format!("{name}-{part}-{}", "x".repeat(3_000));
                tx.run_one(ADD, params! { ":id": id, ":slug": slug, ":now": now })?;
            }
            Ok(())
        })
    };

    let refused = large("full").await.unwrap_err();
    assert_eq!(refused.code, Code::StorageFull, "{refused:?}");
    assert_eq!(slugs(&db).await, ["before"]);

    db.write(|tx| tx.pragma("PRAGMA max_page_count = 1000000")).await.unwrap();
    large("room").await.unwrap();
    assert_eq!(slugs(&db).await.len(), 100);
    db.check().await.unwrap();
}

#[tokio::test]
async fn an_answer_is_remembered_until_somebody_writes_whoever_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(dir.path()).unwrap();
    add(&db, "one").await.unwrap();
    let read = std::cell::Cell::new(0);
    let ask = |digest: [u8; 32]| {
        db.glance(|view| {
            view.again("slugs", digest, || {
                read.set(read.get() + 1);
                view.list(SLUGS, params! {}, |row| row.get::<String>("slug")).map(Some)
            })
        })
        .unwrap()
        .unwrap()
    };

    assert_eq!((ask([1; 32]), ask([1; 32])), (vec!["one".to_owned()], vec!["one".to_owned()]));
    assert_eq!(read.get(), 1);
    ask([2; 32]);
    assert_eq!(read.get(), 2, "another question is another answer");

    add(&db, "two").await.unwrap();
    assert_eq!((ask([1; 32]), read.get()), (vec!["one".to_owned(), "two".to_owned()], 3));

    // Another program on the same file.
    db.raw("DELETE FROM tenants WHERE slug = 'one'").unwrap();
    assert_eq!((ask([1; 32]), read.get()), (vec!["two".to_owned()], 4));
}

#[tokio::test]
async fn that_there_is_no_answer_is_not_remembered() {
    let dir = tempfile::tempdir().unwrap();
    let db = open(dir.path()).unwrap();
    let ask =
        |answer: Option<u8>| db.glance(|view| view.again("none", [0; 32], || Ok(answer))).unwrap();

    assert_eq!((ask(None), ask(Some(1)), ask(Some(2))), (None, Some(1), Some(1)));
}
