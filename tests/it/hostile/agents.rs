//! What agents hand back: reports of any shape and size, and output of any bytes.

use assay::tickets::runner::report;
use proptest::prelude::*;
use serde_json::json;

use super::{Dice, House, TEXTS};

/// Reports that are whole, to be bent.
const SOUND: &[&str] = &[
    r#"{"outcome":"done","summary":"Did it.","followUps":["x"],"humanActions":["y"]}"#,
    r#"{"outcome":"needs_input","question":{"text":"Which?","choices":["a","b"]}}"#,
    r#"{"outcome":"done","assertions":[{"text":"It holds","check":{"command":"true"}}]}"#,
    r#"{"outcome":"done","assertions":[{"text":"It is","check":{"file":"a","contains":"b"}}]}"#,
    r#"{"outcome":"done","verdict":"changes_requested",
        "findings":[{"text":"No","severity":"blocking","file":"../x"}]}"#,
];

fn bent(seed: u64, times: usize) -> Vec<u8> {
    let mut dice = Dice(seed);
    let mut body = dice.pick(SOUND).as_bytes().to_vec();
    for _ in 0..times {
        let at = dice.roll(body.len() + 1);
        match dice.roll(5) {
            0 => body.truncate(at),
            1 => drop(body.splice(at..at, b"\xff\0\x1b[".iter().copied())),
            2 => {
                let text = serde_json::to_string(dice.pick(TEXTS)).unwrap();
                drop(body.splice(at..at, text.bytes()));
            }
            3 => drop(body.splice(at..at, "[{\"a\":".repeat(dice.roll(40)).bytes())),
            _ => {
                let half = body[at..].to_vec();
                body.extend(half);
            }
        }
    }
    body
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_report_of_any_shape_is_read_or_refused(seed in any::<u64>(), times in 0..6_usize) {
        let handed = report::parse(&bent(seed, times), &str::to_owned);
        drop(handed.settle(seed % 2 == 0));
    }
}

/// A script whose implementing agent does something and changes a file.
fn implements(what: &str) -> String {
    format!("if is implement; then echo x >x.txt\n{what}\nfi")
}

async fn dispatched(house: &House) {
    let args = json!({
        "title": "T", "project": "ACME", "preset": "trivial", "pass_profile": "minimal",
        "override_duplicate": true
    });
    let said = house.invoke("dispatch_ticket", &args).await;
    assert_eq!(said["ok"], true, "{said}");
}

#[tokio::test]
async fn output_of_any_bytes_is_a_log_that_people_can_read() {
    let noise = r"printf 'red \033[31mred\033[0m \033]0;title\007'
        printf '\033]8;;http://x\033\\link\033]8;;\033\\ \033[2J\033[1;1H'
        printf '\377\376 \303\050 \355\240\200 \000nul\010\010\177 \302\233 \342\200\256rtl\n'
        printf 'progress 1%%\rprogress 2%%\n\033P bad dcs \n\033[999999999999m\033[;;;;;m\n'
        head -c 20000 /dev/zero | tr '\0' 'a'; echo
        head -c 3000 /dev/urandom; echo; echo end-of-noise >&2";
    let house = House::at_work(&implements(noise)).await;
    dispatched(&house).await;

    house.until("ACME-1", &["succeeded"]).await;

    let mut seen = false;
    for (path, text) in house.pages_of("ACME-1").await {
        let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{1b}');
        assert!(!text.contains(odd), "{path} has a control character");
        assert!(!text.contains('\u{202e}'), "{path} turns the text around");
        assert!(!text.contains("]0;title") && !text.contains("[2J"), "{path}");
        assert!(path.ends_with("raw=1") || !text.contains('\u{1b}'), "{path} has an escape");
        seen |= text.contains("end-of-noise");
    }
    assert!(seen, "the log is there");
}

#[tokio::test]
async fn a_report_that_is_none_is_said_and_nothing_hangs() {
    let script = implements(
        r#"case "$ASSAY_TICKET" in
        ACME-1) head -c 2000000 /dev/zero >"$ASSAY_REPORT";;
        ACME-2) mkfifo "$ASSAY_REPORT";;
        ACME-3) ln -s /etc/passwd "$ASSAY_REPORT";;
        *) awk 'BEGIN { while (i++ < 100000) printf "[" }' >"$ASSAY_REPORT";;
        esac"#,
    );
    let house = House::at_work(&script).await;
    for _ in 0..4 {
        dispatched(&house).await;
    }

    for ticket in ["ACME-1", "ACME-2", "ACME-3", "ACME-4"] {
        house.until(ticket, &["failed", "succeeded"]).await;
        let text = house.read(&format!("/tickets/{ticket}")).await.text();
        assert!(!text.contains("root:x:0:0"), "{ticket}");
    }
}

#[tokio::test]
async fn an_agent_that_plants_a_program_in_the_repository_fails_and_it_never_runs() {
    let plant = r#"echo '* filter=x' >.gitattributes
        git config filter.x.clean "touch '$STAGE/sprung'; cat""#;
    let house = House::at_work(&implements(plant)).await;
    dispatched(&house).await;

    house.until("ACME-1", &["failed"]).await;

    let reason = house.column("SELECT failure_reason FROM tickets").remove(0);
    assert!(reason.contains("filter.x.clean"), "{reason}");
    assert!(!house.dir.path().join("sprung").exists());
    let project = house.invoke("get_project", &json!({ "project": "ACME" })).await;
    assert!(project.to_string().contains("filter.x.clean"), "{project}");
}
