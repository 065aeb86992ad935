//! Runs that are cut short: by a stop of the server, by its death, by silence.

use std::sync::Arc;

use assay::base::{Code, Fault};
use assay::jobs::{Ctx, Ending, Progress, Registry, State, Stop, lease};
use serde_json::json;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::{ACME, MINUTE, Note, Shop, fault, note};

#[tokio::test]
async fn a_job_that_ends_well_before_it_hears_of_its_cancelling_is_done() {
    let shop = Shop::open();
    let id = shop.enqueue(note("x")).await;
    let claimed = shop.claim(shop.boot(), "note").await.remove(0);

    shop.cancel(ACME, id).await;
    let finished = shop.db.write(move |tx| lease::finish(tx, &claimed.claim, None)).await;

    assert_eq!(finished.unwrap(), Some(State::Done));
    assert_eq!(shop.job(id).await.state, State::Done);
}

#[tokio::test]
async fn what_runs_when_the_server_stops_is_handed_back_and_done_by_the_next_start() {
    let shop = Shop::open();
    let polite = shop.enqueue(note("polite")).await;
    let deaf = shop.enqueue(note("deaf")).await;
    let (started, mut has_started) = mpsc::unbounded_channel();
    let worker = shop.worker(Registry::new().on(move |ctx: Ctx, job: Note| {
        started.send(()).unwrap();
        async move {
            if job.text == "deaf" {
                std::future::pending::<()>().await;
            }
            ctx.cancel.cancelled().await;
            assert_eq!(ctx.stop(), Some(Stop::HandBack));
            Err(fault(Code::Unavailable))
        }
    }));
    let shutdown = CancellationToken::new();
    let running = tokio::spawn({
        let shutdown = shutdown.clone();
        async move { worker.run(shutdown).await }
    });
    has_started.recv().await.unwrap();
    has_started.recv().await.unwrap();

    shutdown.cancel();
    shop.pass_until(running).await.unwrap();

    for id in [polite, deaf] {
        let job = shop.job(id).await;
        assert_eq!((job.state, job.attempt, job.failures.len()), (State::Ready, 0, 0), "{job:?}");
    }
    let next = shop.worker(
        Registry::new()
            .on(|ctx: Ctx, _: Note| async move { Ok(Some(json!([ctx.attempt, ctx.recovered]))) }),
    );
    next.drain().await.unwrap();
    assert_eq!(shop.job(polite).await.result, Some(json!([1, false])));
    assert_eq!(shop.job(deaf).await.result, Some(json!([1, true])));
}

#[tokio::test]
async fn a_dead_process_s_jobs_are_recovered_at_the_next_start() {
    let shop = Shop::open();
    let again = shop.enqueue(note("again")).await;
    let used_up = shop.enqueue(note("used up")).await;
    let unwanted = shop.enqueue(note("unwanted")).await;
    shop.db.raw("UPDATE jobs SET max_attempts = 1 WHERE payload LIKE '%used%'").unwrap();
    assert_eq!(shop.claim(shop.boot(), "note").await.len(), 3);
    shop.cancel(ACME, unwanted).await;
    let (told, mut endings) = mpsc::unbounded_channel();
    let registry = Registry::new()
        .on(|ctx: Ctx, _: Note| async move { Ok(Some(json!([ctx.attempt, ctx.recovered]))) })
        .at_end(move |_, job: Note, ending| {
            told.send((job.text, matches!(ending, Ending::Failed { .. }))).unwrap();
            Ok(())
        });

    shop.worker(registry).drain().await.unwrap();

    assert_eq!(shop.job(again).await.result, Some(json!([2, true])));
    assert_eq!(shop.job(used_up).await.state, State::Failed);
    assert_eq!(shop.job(unwanted).await.state, State::Cancelled);
    let mut told = [endings.try_recv().unwrap(), endings.try_recv().unwrap()];
    told.sort();
    assert_eq!(told, [("unwanted".to_owned(), false), ("used up".to_owned(), true)]);
}

#[tokio::test]
async fn a_domain_that_cannot_be_told_keeps_no_job_running() {
    let shop = Shop::open();
    let failing = shop.enqueue(note("failing")).await;
    let registry = Registry::new()
        .on(|_, _: Note| async { Err(fault(Code::Conflict)) })
        .at_end(|_, _: Note, _| Err(Fault::new(Code::NotFound, "the ticket is gone")));

    shop.worker(registry).drain().await.unwrap();

    let job = shop.job(failing).await;
    assert_eq!((job.state, job.failures.len()), (State::Failed, 1));
}

#[tokio::test]
async fn the_rescue_leaves_alone_what_ended_or_was_renewed_since_it_looked() {
    let shop = Shop::open();
    for text in ["ended", "renewed", "silent"] {
        shop.enqueue(note(text)).await;
    }
    let boot = shop.boot();
    let held = shop.claim(boot, "note").await;
    shop.clock.advance(lease::LEASE);
    let stale = shop.db.read(move |read| lease::stale(read, boot, 10)).await.unwrap();
    assert_eq!(stale.len(), 3);

    let (ended, renewed) = (held[0].claim, held[1].claim);
    let recovered = shop.db.write(move |tx| {
        lease::finish(tx, &ended, None)?;
        lease::renew(tx, &renewed)?;
        stale.iter().map(|claim| lease::recover(tx, claim, boot)).collect::<Result<Vec<_>, _>>()
    });

    let recovered: Vec<_> = recovered.await.unwrap().into_iter().flatten().collect();
    assert_eq!(recovered.len(), 1);
    assert!(recovered[0].payload.contains("silent"));
}

#[tokio::test]
async fn a_run_that_lost_its_claim_changes_nothing() {
    let shop = Shop::open();
    let id = shop.enqueue(note("x")).await;
    let (dead, alive) = (shop.boot(), shop.boot());
    let late = shop.claim(dead, "note").await.remove(0).claim;
    shop.db.write(move |tx| lease::recover(tx, &late, alive)).await.unwrap().unwrap();
    let now = shop.claim(alive, "note").await.remove(0).claim;

    let told = shop.db.write(move |tx| {
        lease::save_progress(tx, &late, &Progress { done: 9, total: None, text: "late".into() })?;
        let heard = [
            lease::finish(tx, &late, Some(&json!("late")))?.is_some(),
            lease::renew(tx, &late)?.is_some(),
            lease::fail(tx, &late, "late")?.is_some(),
            lease::retry(tx, &late, 1, "late", MINUTE)?.is_some(),
            lease::put_back(tx, &late, MINUTE)?.is_some(),
            lease::hand_back(tx, &late, true)?.is_some(),
            lease::recover(tx, &late, dead)?.is_some(),
        ];
        Ok(heard)
    });

    assert_eq!(told.await.unwrap(), [false; 7]);
    let job = shop.job(id).await;
    assert_eq!((job.state, job.attempt, job.progress), (State::Running, 2, None));
    let ended = shop.db.write(move |tx| lease::finish(tx, &now, None)).await;
    assert_eq!(ended.unwrap(), Some(State::Done));
}

#[tokio::test]
async fn a_long_job_outlives_its_lease_and_a_jump_of_the_clock() {
    let shop = Shop::open();
    let id = shop.enqueue(note("long")).await;
    let (started, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let registry = Registry::new().on({
        let (started, go_on) = (started.clone(), go_on.clone());
        move |ctx: Ctx, _: Note| {
            let (started, go_on) = (started.clone(), go_on.clone());
            async move {
                for done in 1..=3 {
                    ctx.progress(Progress { done, total: Some(3), text: format!("step {done}") });
                }
                started.notify_one();
                go_on.notified().await;
                Ok(Some(json!(ctx.stop().is_none())))
            }
        }
    });
    let worker = shop.worker(registry);
    let shutdown = CancellationToken::new();
    let running = tokio::spawn({
        let shutdown = shutdown.clone();
        async move { worker.run(shutdown).await }
    });
    started.notified().await;

    for _ in 0..3 {
        shop.clock.advance(lease::LEASE * 10);
        shop.until("SELECT lease_until FROM jobs", |until| until > shop.clock.now().0).await;
    }

    let job = shop.job(id).await;
    assert_eq!((job.state, job.attempt), (State::Running, 1));
    let said = Progress { done: 3, total: Some(3), text: "step 3".to_owned() };
    assert_eq!(job.progress, Some(said));
    go_on.notify_one();
    shop.until("SELECT finished_at FROM jobs", |at| at > 0).await;
    assert_eq!(shop.job(id).await.result, Some(json!(true)));
    shutdown.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn a_run_that_does_not_stop_in_time_is_handed_back_and_its_domain_told() {
    let shop = Shop::open();
    let id = shop.enqueue(note("x")).await;
    let started = Arc::new(Notify::new());
    let (told, endings) = std::sync::mpsc::channel();
    let registry = Registry::new()
        .on({
            let started = started.clone();
            move |_, _: Note| {
                let started = started.clone();
                async move {
                    started.notify_one();
                    std::future::pending().await
                }
            }
        })
        .at_end(move |_, job: Note, ending| {
            told.send((job.text, ending.clone())).unwrap();
            Ok(())
        });
    let (worker, shutdown) = (shop.worker(registry), CancellationToken::new());
    let running = tokio::spawn({
        let shutdown = shutdown.clone();
        async move { worker.run(shutdown).await }
    });
    started.notified().await;

    shutdown.cancel();
    while !running.is_finished() {
        shop.clock.advance(MINUTE);
        tokio::task::yield_now().await;
    }

    assert_eq!(endings.try_recv().unwrap(), ("x".to_owned(), Ending::HandedBack));
    let job = shop.job(id).await;
    assert_eq!((job.state, job.attempt), (State::Ready, 0));
}
