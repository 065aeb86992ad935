//! The worker: when jobs start, how they end, how many run at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use assay::base::{Code, Fault};
use assay::jobs::{Cancelled, Ctx, Ending, Enqueue, JobError, Options, Registry, State, Stop};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{ACME, MINUTE, Note, Shop, failing, fault, keyed, note};

#[tokio::test]
async fn a_job_is_done_with_its_payload_and_leaves_its_result() {
    let shop = Shop::open();
    let id = shop.enqueue(note("hello")).await;
    let worker = shop.worker(Registry::new().on(|ctx: Ctx, job: Note| async move {
        let told = json!({ "text": job.text, "attempt": ctx.attempt, "tenant": ctx.tenant });
        Ok(Some(told))
    }));

    worker.drain().await.unwrap();

    let job = shop.job(id).await;
    let told = json!({ "text": "hello", "attempt": 1, "tenant": ACME });
    assert_eq!((job.state, job.result, job.attempt), (State::Done, Some(told), 1));
    assert_eq!(job.finished_at, Some(shop.clock.now()));
    assert!(job.failures.is_empty());
}

#[tokio::test]
async fn an_immediate_job_starts_by_notification_while_the_clock_stands_still() {
    let shop = Shop::open();
    let (told, mut heard) = mpsc::unbounded_channel();
    let worker = shop.worker(Registry::new().on(move |_, job: Note| {
        told.send(job.text).unwrap();
        async { Ok(None) }
    }));
    let shutdown = CancellationToken::new();
    let running = tokio::spawn({
        let (worker, shutdown) = (worker.clone(), shutdown.clone());
        async move { worker.run(shutdown).await }
    });

    for text in ["first", "second", "third"] {
        shop.enqueue(note(text)).await;
        assert_eq!(heard.recv().await.as_deref(), Some(text));
    }

    assert!(worker.health().await.unwrap().serving);
    shutdown.cancel();
    running.await.unwrap();
    assert!(!worker.health().await.unwrap().serving);
}

#[tokio::test]
async fn a_job_for_later_waits_for_its_time_and_wakes_the_worker_itself() {
    let shop = Shop::open();
    let (told, mut heard) = mpsc::unbounded_channel();
    let clock = shop.clock.clone();
    let worker = shop.worker(Registry::new().on(move |_, _: Note| {
        told.send(clock.now()).unwrap();
        async { Ok(None) }
    }));
    let run_at = shop.clock.now().plus(MINUTE);
    let later = Enqueue { run_at: Some(run_at), ..Enqueue::of(ACME) };
    shop.enqueue_with(note("later"), later).await.unwrap();

    worker.drain().await.unwrap();
    heard.try_recv().unwrap_err();

    let shutdown = CancellationToken::new();
    tokio::spawn(async move { worker.run(shutdown).await });
    let started_at = shop.pass_until(heard.recv()).await.unwrap();
    assert!(started_at >= run_at);
}

#[tokio::test]
async fn a_failing_job_is_tried_again_after_longer_and_longer_waits_and_then_fails() {
    let shop = Shop::open();
    let id = shop.enqueue(note("x")).await;
    let worker = shop.worker(failing(|| fault(Code::Unavailable)));

    let mut waits = Vec::new();
    for attempt in 1..=2 {
        worker.drain().await.unwrap();
        let job = shop.job(id).await;
        assert_eq!((job.state, job.attempt), (State::Ready, attempt));
        waits.push(job.run_at.since(shop.clock.now()));
        shop.clock.advance(job.run_at.since(shop.clock.now()));
    }
    worker.drain().await.unwrap();

    let job = shop.job(id).await;
    assert_eq!((job.state, job.attempt), (State::Failed, 3));
    let told: Vec<(u32, &str)> =
        job.failures.iter().map(|f| (f.attempt, f.message.as_str())).collect();
    assert_eq!(told, [(1, "it broke"), (2, "it broke"), (3, "it broke")]);
    let within = |wait: Duration, s| {
        (Duration::from_millis(s * 500)..=Duration::from_secs(s)).contains(&wait)
    };
    assert!(within(waits[0], 1) && within(waits[1], 2), "{waits:?}");
}

#[tokio::test]
async fn a_job_waits_as_long_as_the_other_side_asked_for() {
    let shop = Shop::open();
    let id = shop.enqueue(note("x")).await;
    let worker = shop.worker(failing(|| {
        JobError::from(Fault::new(Code::RateLimited, "too fast").retry_after_ms(90_000))
    }));

    worker.drain().await.unwrap();

    assert_eq!(shop.job(id).await.run_at, shop.clock.now().plus(Duration::from_secs(90)));
}

#[tokio::test]
async fn a_fault_that_time_does_not_heal_is_not_tried_again() {
    let shop = Shop::open();
    let id = shop.enqueue(note("x")).await;

    shop.worker(failing(|| fault(Code::InvalidArgument))).drain().await.unwrap();

    let job = shop.job(id).await;
    assert_eq!((job.state, job.attempt, job.failures.len()), (State::Failed, 1, 1));
}

#[tokio::test]
async fn a_payload_that_cannot_be_read_fails_once_and_says_why() {
    let shop = Shop::open();
    let id = shop.enqueue(note("x")).await;
    shop.db.raw("UPDATE jobs SET payload = '{\"words\": 1}'").unwrap();

    shop.worker(Registry::new().on(|_, _: Note| async { Ok(None) })).drain().await.unwrap();

    let job = shop.job(id).await;
    assert_eq!((job.state, job.attempt), (State::Failed, 1));
    assert!(job.failures[0].message.contains("another version"), "{job:?}");
}

#[tokio::test]
async fn a_panic_counts_as_an_attempt_and_harms_nobody_else() {
    let shop = Shop::open();
    let bad = shop.enqueue(note("bad")).await;
    let good = shop.enqueue(note("good")).await;
    let worker = shop.worker(Registry::new().on(|_, job: Note| {
        assert_ne!(job.text, "bad", "panics before there is a future");
        async { Ok(None) }
    }));

    worker.drain().await.unwrap();

    let (bad, good) = (shop.job(bad).await, shop.job(good).await);
    assert_eq!((bad.state, bad.attempt, good.state), (State::Ready, 1, State::Done));
    assert!(!bad.failures[0].message.contains("future"), "the text of a panic is for the log");
}

#[tokio::test]
async fn a_job_that_puts_itself_back_uses_up_no_attempt() {
    let shop = Shop::open();
    let id = shop.enqueue(note("x")).await;
    let worker = shop.worker(failing(|| JobError::Later(MINUTE)));

    for _ in 0..10 {
        worker.drain().await.unwrap();
        shop.clock.advance(MINUTE);
    }

    let job = shop.job(id).await;
    assert_eq!((job.state, job.attempt, job.failures.len()), (State::Ready, 0, 0));
}

#[tokio::test]
async fn a_result_that_is_too_large_fails_the_job_instead_of_running_it_for_ever() {
    let shop = Shop::open();
    let id = shop.enqueue(note("x")).await;
    let large = || Value::String("x".repeat(300 << 10));
    let worker =
        shop.worker(Registry::new().on(move |_, _: Note| async move { Ok(Some(large())) }));

    worker.drain().await.unwrap();

    assert_eq!(shop.job(id).await.state, State::Failed);
}

#[tokio::test]
async fn a_running_job_hears_that_it_is_cancelled_and_its_domain_is_told() {
    let shop = Shop::open();
    let id = shop.enqueue(note("x")).await;
    let (started, mut has_started) = mpsc::unbounded_channel();
    let (told, mut endings) = mpsc::unbounded_channel();
    let registry = Registry::new()
        .on(move |ctx: Ctx, _: Note| {
            started.send(()).unwrap();
            async move {
                ctx.cancel.cancelled().await;
                assert_eq!(ctx.stop(), Some(Stop::Cancelled));
                Err(JobError::Retry(Fault::new(Code::Upstream, "the agent was ended")))
            }
        })
        .at_end(move |_, job: Note, ending| {
            told.send((job.text, ending.clone())).unwrap();
            Ok(())
        });
    let worker = shop.worker(registry);

    let cancel = async {
        has_started.recv().await.unwrap();
        shop.cancel(ACME, id).await
    };
    let (drained, cancelled) = tokio::join!(worker.drain(), cancel);

    drained.unwrap();
    assert_eq!(cancelled, Some(Cancelled::Asked));
    assert_eq!(shop.job(id).await.state, State::Cancelled);
    assert_eq!(endings.try_recv().unwrap(), ("x".to_owned(), Ending::Cancelled));
}

#[tokio::test]
async fn a_kind_never_runs_more_at_once_than_it_may() {
    for (limits, most) in [(vec![], 2), (vec![("note".to_owned(), 5)], 5)] {
        let shop = Shop::open();
        for n in 0..12 {
            shop.enqueue(note(&n.to_string())).await;
        }
        let (now, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let registry = Registry::new().on({
            let peak = peak.clone();
            move |_, _: Note| {
                let (now, peak) = (now.clone(), peak.clone());
                async move {
                    peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    for _ in 0..20 {
                        tokio::task::yield_now().await;
                    }
                    now.fetch_sub(1, Ordering::SeqCst);
                    Ok(None)
                }
            }
        });
        let options = Options { limits: limits.into_iter().collect(), ..Options::default() };

        shop.worker_with(registry, options).drain().await.unwrap();

        assert_eq!(peak.load(Ordering::SeqCst), most);
    }
}

#[tokio::test]
async fn a_kind_that_nobody_does_is_kept_and_reported() {
    let shop = Shop::open();
    let id = shop.enqueue(keyed("from another version")).await;
    shop.enqueue(note("known")).await;
    let worker = shop.worker(Registry::new().on(|_, _: Note| async { Ok(None) }));
    shop.clock.advance(MINUTE);
    let waiting = worker.health().await.unwrap();
    assert_eq!(waiting.longest_wait, MINUTE);

    worker.drain().await.unwrap();

    assert_eq!(shop.job(id).await.state, State::Ready);
    let health = worker.health().await.unwrap();
    assert_eq!(health.longest_wait, Duration::ZERO);
    assert_eq!(health.unknown.into_iter().collect::<Vec<_>>(), [("keyed".to_owned(), 1)]);
}

#[tokio::test]
async fn a_recurring_job_keeps_its_rhythm_across_restarts_without_bursts() {
    let shop = Shop::open();
    let runs = Arc::new(AtomicUsize::new(0));
    let start = || {
        let runs = runs.clone();
        let registry = Registry::new().on(move |_, _: Note| {
            runs.fetch_add(1, Ordering::SeqCst);
            async { Ok(None) }
        });
        shop.worker(registry.every::<Note>(MINUTE))
    };
    let mut seen = Vec::new();

    for (wait_s, restarts) in [(0, 1), (59, 3), (1, 2), (60, 1), (3_600, 3), (59, 1), (1, 1)] {
        shop.clock.advance(Duration::from_secs(wait_s));
        for _ in 0..restarts {
            start().drain().await.unwrap();
        }
        seen.push(runs.load(Ordering::SeqCst));
    }

    assert_eq!(seen, [0, 0, 1, 2, 3, 3, 4]);
}
