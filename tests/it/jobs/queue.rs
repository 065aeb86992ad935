//! The queue by itself: what is asked for, looked at, stopped, claimed and swept.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use assay::base::{Code, Fault, Id, ProjectId, TenantId};
use assay::jobs::lease::{self, Claimed};
use assay::jobs::{self, Cancelled, Enqueue, Enqueued, Priority, Registry, State};
use uuid::Uuid;

use super::{ACME, Keyed, MINUTE, Note, OTHER, Shop, keyed, note};

#[tokio::test]
async fn a_job_of_a_transaction_that_failed_was_never_there() {
    let shop = Shop::open();

    let refused = shop.db.write(|tx| {
        jobs::enqueue(tx, &note("lost"), Enqueue::of(ACME))?;
        Err::<(), _>(Fault::new(Code::Conflict, "no"))
    });
    refused.await.unwrap_err();

    assert!(shop.claim(shop.boot(), "note").await.is_empty());
}

#[tokio::test]
async fn a_payload_over_the_limit_is_refused() {
    let shop = Shop::open();

    let refused = shop.enqueue_with(note(&"x".repeat(256 << 10)), Enqueue::of(ACME)).await;

    let fault = refused.unwrap_err();
    assert_eq!(fault.code, Code::PayloadTooLarge);
    assert!(fault.message.contains("262144"), "{fault:?}");
}

#[tokio::test]
async fn a_unique_key_holds_until_its_job_ends_and_for_its_tenant_alone() {
    let shop = Shop::open();
    let first = shop.enqueue_with(keyed("a"), Enqueue::of(ACME)).await.unwrap();

    let again = shop.enqueue_with(keyed("a"), Enqueue::of(ACME)).await.unwrap();
    let other_key = shop.enqueue_with(keyed("b"), Enqueue::of(ACME)).await.unwrap();
    let other_tenant = shop.enqueue_with(keyed("a"), Enqueue::of(OTHER)).await.unwrap();
    let server = shop.enqueue_with(keyed("a"), Enqueue::default()).await.unwrap();
    let server_again = shop.enqueue_with(keyed("a"), Enqueue::default()).await.unwrap();

    assert_eq!(again, Enqueued::Existing(first.id()));
    assert!(matches!(other_key, Enqueued::New(_)) && matches!(other_tenant, Enqueued::New(_)));
    assert_eq!(server_again, Enqueued::Existing(server.id()));
    let boot = shop.boot();
    assert_eq!(shop.claim(boot, "keyed").await.len(), 4);
    let while_running = shop.enqueue_with(keyed("a"), Enqueue::of(ACME)).await.unwrap();
    assert_eq!(while_running, Enqueued::Existing(first.id()));

    shop.worker(Registry::new().on(|_, _: Keyed| async { Ok(None) })).drain().await.unwrap();
    let after = shop.enqueue_with(keyed("a"), Enqueue::of(ACME)).await.unwrap();
    assert!(matches!(after, Enqueued::New(_)));
}

#[tokio::test]
async fn work_that_is_asked_for_while_it_runs_is_done_once_more_after_that() {
    let shop = Shop::open();
    let id = shop.enqueue(keyed("a")).await;
    let first = shop.claim(shop.boot(), "keyed").await.remove(0).claim;
    for _ in 0..3 {
        shop.enqueue_with(keyed("a"), Enqueue::of(ACME)).await.unwrap();
    }

    let ended = shop.db.write(move |tx| lease::finish(tx, &first, None)).await.unwrap();
    let second = shop.claim(shop.boot(), "keyed").await.remove(0).claim;
    let ended_again = shop.db.write(move |tx| lease::finish(tx, &second, None)).await.unwrap();

    assert_eq!((ended, ended_again), (Some(State::Ready), Some(State::Done)));
    assert_eq!((second.job, shop.job(id).await.attempt), (id, 1));
}

#[tokio::test]
async fn a_cancelled_run_leaves_its_key_to_what_was_asked_for_after_the_cancelling() {
    for asks_again in [false, true] {
        let shop = Shop::open();
        let id = shop.enqueue(keyed("a")).await;
        let claim = shop.claim(shop.boot(), "keyed").await.remove(0).claim;
        shop.enqueue(keyed("a")).await;
        shop.cancel(ACME, id).await;
        if asks_again {
            shop.enqueue(keyed("a")).await;
        }

        shop.db.write(move |tx| lease::fail(tx, &claim, "stopped")).await.unwrap();

        let job = shop.job(id).await;
        let expected = if asks_again { State::Ready } else { State::Cancelled };
        assert_eq!((job.state, job.cancel_asked), (expected, !asks_again));
    }
}

#[tokio::test]
async fn a_job_that_has_not_started_is_cancelled_at_once() {
    let shop = Shop::open();
    let id = shop.enqueue(note("x")).await;

    assert_eq!(shop.cancel(OTHER, id).await, None);
    assert_eq!(shop.cancel(ACME, id).await, Some(Cancelled::AtOnce));
    assert_eq!(shop.cancel(ACME, id).await, Some(Cancelled::TooLate(State::Cancelled)));

    assert!(shop.claim(shop.boot(), "note").await.is_empty());
}

#[tokio::test]
async fn urgent_jobs_go_first_and_equal_ones_in_the_order_they_are_due() {
    let shop = Shop::open();
    let now = shop.clock.now();
    for (text, priority, before) in [
        ("idle", Priority::Idle, 50),
        ("second", Priority::Normal, 10),
        ("first", Priority::Normal, 20),
        ("third", Priority::Normal, 10),
        ("urgent", Priority::Urgent, 0),
    ] {
        let run_at = Some(now.minus(Duration::from_millis(before)));
        let options = Enqueue { priority, run_at, ..Enqueue::of(ACME) };
        shop.enqueue_with(note(text), options).await.unwrap();
    }

    let taken = shop.claim(shop.boot(), "note").await;

    let texts: Vec<String> =
        taken.iter().map(|one| serde_json::from_str::<Note>(&one.payload).unwrap().text).collect();
    assert_eq!(texts, ["urgent", "first", "second", "third", "idle"]);
}

#[tokio::test]
async fn projects_take_turns_whoever_asked_first() {
    let shop = Shop::open();
    let [large, small, late] = [1, 2, 3].map(|n| Id::from_uuid(Uuid::from_u128(n)));
    let ask = async |text: &str, project: ProjectId| {
        let options = Enqueue { project: Some(project), ..Enqueue::of(ACME) };
        shop.enqueue_with(note(text), options).await.unwrap();
    };
    let take = async |limit| {
        let boot = shop.boot();
        let taken = shop.db.write(move |tx| lease::claim_in_turn(tx, boot, "note", limit)).await;
        let text = |one: Claimed| serde_json::from_str::<Note>(&one.payload).unwrap().text;
        taken.unwrap().into_iter().map(text).collect::<Vec<String>>()
    };
    for text in ["a1", "a2", "a3", "a4", "a5"] {
        ask(text, large).await;
    }
    for text in ["b1", "b2"] {
        ask(text, small).await;
    }

    let first = take(3).await;
    ask("c1", late).await;
    let second = take(2).await;

    assert_eq!(first, ["a1", "a2", "b1"]);
    assert_eq!(second, ["b2", "c1"], "who has least under way is next");
    assert_eq!(
        take(9).await,
        ["a3", "a4", "a5"],
        "a place that nobody else wants is not kept free"
    );
}

#[tokio::test]
async fn a_tenant_lists_its_own_jobs_of_one_state_the_newest_first() {
    let shop = Shop::open();
    let first = shop.enqueue(note("1")).await;
    let second = shop.enqueue(note("2")).await;
    let stopped = shop.enqueue(note("3")).await;
    shop.enqueue_with(note("4"), Enqueue::of(OTHER)).await.unwrap();
    shop.enqueue_with(note("5"), Enqueue::default()).await.unwrap();
    shop.cancel(ACME, stopped).await;

    let list = |tenant: Option<TenantId>, state, limit| {
        let listing = shop.db.read(move |read| jobs::list(read, tenant, state, limit));
        async move { listing.await.unwrap().iter().map(|job| job.id).collect::<Vec<_>>() }
    };

    assert_eq!(list(Some(ACME), State::Ready, 10).await, [second, first]);
    assert_eq!(list(Some(ACME), State::Ready, 1).await, [second]);
    assert_eq!(list(Some(ACME), State::Cancelled, 10).await, [stopped]);
    assert_eq!(list(None, State::Ready, 10).await.len(), 1);
}

#[tokio::test]
async fn ended_jobs_are_swept_after_a_while_and_others_never() {
    let shop = Shop::open();
    for text in ["ready", "running", "done"] {
        let id = shop.enqueue(note(text)).await;
        let claimed = shop.claim(shop.boot(), "note").await.remove(0);
        shop.db
            .write(move |tx| match text {
                "ready" => lease::put_back(tx, &claimed.claim, MINUTE * 60 * 24 * 365).map(drop),
                "done" => lease::finish(tx, &claimed.claim, None).map(drop),
                _ => lease::renew(tx, &claimed.claim).map(drop),
            })
            .await
            .unwrap();
        assert_eq!(shop.job(id).await.state.word(), text);
    }
    let purge = |before| shop.db.write(move |tx| lease::purge(tx, before, 10));
    let now = shop.clock.now();

    assert_eq!(purge(now).await.unwrap(), 0);
    assert_eq!(purge(now.plus(MINUTE)).await.unwrap(), 1);
    assert_eq!(shop.db.raw_column("SELECT count(*) || '' FROM jobs").unwrap(), ["2"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_claimers_at_once_never_get_the_same_job_and_never_find_the_database_locked() {
    let shop = Shop::open();
    let total = 200;
    let writers = (0..8).map(|writer| {
        let db = shop.db.clone();
        tokio::spawn(async move {
            for n in 0..total / 8 {
                let job = note(&format!("{writer}/{n}"));
                db.write(move |tx| jobs::enqueue(tx, &job, Enqueue::of(ACME))).await.unwrap();
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let taken = Arc::new(AtomicUsize::new(0));
    let claimers = (0..16).map(|_| {
        let (db, boot, taken) = (shop.db.clone(), shop.boot(), taken.clone());
        tokio::spawn(async move {
            let mut mine = Vec::new();
            while taken.load(Ordering::SeqCst) < total {
                let got = db.write(move |tx| lease::claim(tx, boot, "note", 3)).await.unwrap();
                taken.fetch_add(got.len(), Ordering::SeqCst);
                for one in got {
                    let claim = one.claim;
                    let ended = db.write(move |tx| lease::finish(tx, &claim, None)).await;
                    assert_eq!(ended.unwrap(), Some(State::Done));
                    mine.push(claim.job);
                }
            }
            mine
        })
    });
    let claimers: Vec<_> = claimers.collect();

    let mut all = Vec::new();
    for writer in writers {
        writer.await.unwrap();
    }
    for claimer in claimers {
        all.extend(claimer.await.unwrap());
    }

    assert_eq!(all.len(), total);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), total);
}
