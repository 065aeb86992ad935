//! A secret that an agent needs: asked for by its name, given through a link that works once, in
//! the agent's environment and nowhere else, and gone with the ticket's end.

use std::fs;

use assay::base::{Code, Secret};
use serde_json::json;

use super::stage::{Digest, Stage};

/// What the tests give.
pub(crate) const VALUE: &str = "not~a/real+value 4711";

/// An agent that asks for a secret where it has none, and keeps its SHA-256 where it has.
pub(crate) const NEEDS_SECRET: &str = r#"if is implement; then
    if [ -z "$WEBHOOK_SECRET" ]; then
        report '{"outcome":"needs_input","summary":"The endpoint stands.",
            "question":{"text":"What signs the webhooks?","secret":"WEBHOOK_SECRET"}}'; exit 0
    fi
    printf %s "$WEBHOOK_SECRET" | sha256sum | cut -d ' ' -f 1 >digest.txt
fi"#;

/// The SHA-256 of the value as [`NEEDS_SECRET`] writes it.
pub(crate) fn digest_of(value: &str) -> String {
    hex(&Secret::new(value).digest()) + "\n"
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// Somebody with a link and a browser.
pub(crate) struct Holder {
    client: reqwest::Client,
    url: String,
    cookie: String,
    csrf: String,
}

impl Holder {
    /// Opens the form of a link: the holder, and the page with its status.
    pub(crate) async fn open(url: &str) -> (Self, u16, String) {
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let said = client.get(url).send().await.unwrap();
        let header = |name: &str| {
            said.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned()
        };
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("cache-control"), "no-store");
        assert!(header("content-security-policy").starts_with("default-src 'none'"));
        let cookie = header("set-cookie").split(';').next().unwrap().to_owned();
        let (status, page) = (said.status().as_u16(), said.text().await.unwrap());
        let csrf = page.split("name=\"csrf\" value=\"").nth(1).unwrap_or_default();
        let csrf = csrf.split('"').next().unwrap().to_owned();
        (Self { client, url: url.to_owned(), cookie, csrf }, status, page)
    }

    /// Sends the form, as a browser does from a page that tells nobody its address.
    pub(crate) async fn give(&self, value: &str) -> (u16, String) {
        let field = assay::web::page::in_query;
        let sent = self.client.post(&self.url).header("cookie", &self.cookie);
        let sent = sent.header("origin", "null");
        let sent = sent.header("content-type", "application/x-www-form-urlencoded");
        let form = format!("csrf={}&value={}", field(&self.csrf), field(value));
        let said = sent.body(form).send().await.unwrap();
        (said.status().as_u16(), said.text().await.unwrap())
    }
}

async fn link(stage: &Stage, ticket: &str) -> String {
    let made = stage.call("create_secret_link", json!({ "ticket": ticket })).await;
    made["url"].as_str().unwrap().to_owned()
}

async fn give(stage: &Stage, ticket: &str) {
    let (holder, ..) = Holder::open(&link(stage, ticket).await).await;
    let (status, said) = holder.give(VALUE).await;
    assert_eq!(status, 200, "{said}");
}

/// What is kept of secrets and of links that can be used.
fn kept(stage: &Stage) -> [String; 2] {
    let secrets = stage.column("SELECT count(*) || '' FROM ticket_secrets").remove(0);
    let links = "SELECT count(*) || '' FROM secret_links WHERE used_at IS NULL";
    [secrets, stage.column(links).remove(0)]
}

#[tokio::test]
async fn a_secret_goes_through_its_link_to_the_agent_and_is_gone_at_the_end() {
    let stage = Stage::new(NEEDS_SECRET).await;
    let asked = stage.ends("awaiting_input").await;
    let ticket = asked.name();
    let graph = stage.call("get_ticket_graph", json!({ "ticket": ticket })).await;
    assert_eq!(graph["question"]["secret"], "WEBHOOK_SECRET");
    let said = json!({ "ticket": ticket, "message": VALUE });
    let refused = stage.try_call("reply_ticket", said).await.unwrap_err();
    assert_eq!(refused.code, Code::SecretThroughLink);
    assert!(refused.message.contains("/tickets/ACME-1"), "{refused}");
    let made = stage.call("create_secret_link", json!({ "ticket": ticket })).await;
    assert_eq!((&made["name"], &made["ticket_ref"]), (&json!("WEBHOOK_SECRET"), &json!(ticket)));

    let (holder, status, page) = Holder::open(made["url"].as_str().unwrap()).await;
    for part in ["WEBHOOK_SECRET", "ACME-1", "Say hello", "project Acme", "What signs"] {
        assert!(status == 200 && page.contains(part), "{part}: {page}");
    }
    let (short, said) = holder.give("abc123").await;
    assert!(short == 422 && !said.contains("abc123"), "{said}");
    let (taken, said) = holder.give(&format!("{VALUE}\r\n")).await;
    assert!(taken == 200 && said.contains("ACME-1 goes on") && !said.contains(VALUE), "{said}");

    let done = stage.until(ticket, "succeeded").await;
    assert_eq!(stage.read("digest.txt"), digest_of(VALUE));
    assert_eq!(done.branch(), asked.branch());
    assert_eq!(kept(&stage), ["0", "0"]);
    let noted = "SELECT text || ' ' || actor FROM ticket_events WHERE kind = 'answered'";
    let expected = "WEBHOOK_SECRET was given through its link. holder of a link";
    assert_eq!(stage.column(noted), [expected]);
    let audit = "SELECT subject || ' ' || outcome FROM audit WHERE action = 'give_secret'";
    assert_eq!(stage.column(audit), ["ACME-1 WEBHOOK_SECRET ok"]);
    stage.close().await;
}

#[tokio::test]
async fn of_two_that_give_it_at_once_one_is_taken_and_every_dead_link_says_what_to_do() {
    let stage = Stage::new(NEEDS_SECRET).await;
    let asked = stage.ends("awaiting_input").await;
    let url = link(&stage, asked.name()).await;
    let other = link(&stage, asked.name()).await;
    let (one, two, three) =
        (Holder::open(&url).await.0, Holder::open(&url).await.0, Holder::open(&other).await.0);

    let said = tokio::join!(one.give(VALUE), two.give(VALUE), three.give(VALUE));

    let mut statuses = [said.0.0, said.1.0, said.2.0];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 410, 410]);
    stage.until(asked.name(), "succeeded").await;
    let given = "SELECT count(*) || '' FROM audit WHERE action = 'give_secret'";
    assert_eq!(stage.column(given), ["1"]);
    let unknown = format!("{}x", &url[..url.len() - 1]);
    let dead = [Holder::open(&url).await, Holder::open(&other).await, Holder::open(&unknown).await];
    for (holder, status, page) in dead {
        assert!(matches!(status, 404 | 410) && page.contains("make a fresh link"), "{page}");
        assert_ne!(holder.give(VALUE).await.0, 200);
    }
    stage.close().await;
}

#[tokio::test]
async fn cancelling_erases_what_was_given_and_ends_the_links() {
    let script = format!("{NEEDS_SECRET}\nif is review; then tell given; await never; fi");
    let stage = Stage::with(&script, |_, _| ()).await;
    let filed = json!({ "title": "Say hello", "pass_profile": "minimal" });
    let filed = stage.call("dispatch_ticket", filed).await;
    let ticket = filed["ticket"]["ticketRef"].as_str().unwrap();
    stage.until(ticket, "awaiting_input").await;
    let unused = link(&stage, ticket).await;
    give(&stage, ticket).await;
    stage.told("given").await;
    assert_eq!(kept(&stage), ["1", "1"]);
    assert_eq!(Holder::open(&unused).await.1, 410, "it is no longer asked for");

    stage.call("cancel_ticket", json!({ "ticket": ticket })).await;

    assert_eq!(kept(&stage), ["0", "0"]);
    assert_eq!(Holder::open(&unused).await.1, 404);
    let late = stage.try_call("create_secret_link", json!({ "ticket": ticket })).await;
    assert_eq!(late.unwrap_err().code, Code::NotAwaitingInput);
    stage.close().await;
}

#[tokio::test]
async fn a_retry_asks_again_for_what_was_erased() {
    let fails = "if [ -n \"$WEBHOOK_SECRET\" ] && once failed; then exit 3; fi";
    let stage = Stage::new(&format!("{fails}\n{NEEDS_SECRET}")).await;
    let asked = stage.ends("awaiting_input").await;
    give(&stage, asked.name()).await;
    stage.until(asked.name(), "failed").await;
    assert_eq!(kept(&stage), ["0", "0"]);

    stage.call("retry_ticket", json!({ "ticket": asked.name() })).await;

    let again = stage.until(asked.name(), "awaiting_input").await;
    let said = again.human_actions();
    assert!(said.contains("WEBHOOK_SECRET was erased when the ticket ended"), "{said}");
    assert!(said.contains("What signs the webhooks?"), "{said}");
    give(&stage, asked.name()).await;
    stage.until(asked.name(), "succeeded").await;
    assert_eq!(stage.read("digest.txt"), digest_of(VALUE));
    stage.close().await;
}

/// The same agent, which asks something else once it has the secret.
async fn between_two_questions() -> (Stage, Digest) {
    let asks = r#"if is implement && once asked; then report '{"outcome":"needs_input",
        "question":{"text":"And the colour?"}}'; fi"#;
    let stage = Stage::new(&format!("{NEEDS_SECRET}\n{asks}")).await;
    let asked = stage.ends("awaiting_input").await;
    give(&stage, asked.name()).await;
    stage.told("asked").await;
    let asked = stage.until(asked.name(), "awaiting_input").await;
    (stage, asked)
}

#[tokio::test]
async fn with_another_key_file_or_damaged_bytes_the_ticket_asks_again_and_says_why() {
    let (stage, asked) = between_two_questions().await;
    let ticket = asked.name();
    let key = stage.path("data/secrets.key");

    for (damage, said) in [("other key", "another key file"), ("damaged", "is damaged")] {
        stage
            .until_so("the ticket asks", || {
                stage.column("SELECT status FROM tickets") == ["awaiting_input"]
            })
            .await;
        if damage == "other key" {
            fs::write(&key, [7; 32]).unwrap();
        } else {
            stage.raw("UPDATE ticket_secrets SET sealed = substr(sealed, 1, length(sealed) - 1)");
        }
        let answer = json!({ "ticket": ticket, "message": "Blue" });
        stage.call("reply_ticket", answer).await;
        stage
            .until_so("it asks for the secret", || {
                let open = "SELECT secret FROM questions WHERE closed_at IS NULL";
                stage.column(open) == ["WEBHOOK_SECRET"]
            })
            .await;
        let actions = stage.digest(ticket).await.human_actions();
        assert!(actions.contains(said) && actions.contains("Give it once more"), "{actions}");
        if damage == "other key" {
            fs::remove_file(stage.path("asked")).unwrap();
        }
        give(&stage, ticket).await;
        if damage == "other key" {
            stage.told("asked").await;
        }
    }

    stage.until(ticket, "succeeded").await;
    assert_eq!(stage.read("digest.txt"), digest_of(VALUE));
    stage.close().await;
}

#[tokio::test]
async fn an_agent_that_asks_by_its_tool_names_a_secret_too_and_only_a_fit_one() {
    let script = r#"if is implement; then
        if [ -n "$API_TOKEN_OF_IT" ]; then echo there >there.txt; exit 0; fi
        echo "$ASSAY_KEY" >"$STAGE/key.part"; mv "$STAGE/key.part" "$STAGE/key"; await go; fi"#;
    let stage = Stage::new(script).await;
    let ticket = stage.dispatch("Say hello").await;
    stage.told("key").await;
    let key = Secret::new(fs::read_to_string(stage.path("key")).unwrap().trim());
    let asks = |secret: &str| json!({ "question": "The token?", "secret": secret });

    for bad in ["PATH", "LD_PRELOAD", "ASSAY_KEY", "GIT_DIR", "sk-live-1"] {
        let fault = stage.call_with(&key, "ask_person", asks(bad)).await.unwrap_err();
        assert_eq!(
            (fault.code, &*fault.issues[0].path),
            (Code::InvalidArgument, "secret"),
            "{bad}"
        );
        assert!(!fault.message.contains("sk-live"), "{fault}");
    }
    let link = stage.call_with(&key, "create_secret_link", json!({ "ticket": ticket })).await;
    assert_eq!(link.unwrap_err().code, Code::ScopeDenied, "no agent gives itself a secret");
    stage.call_with(&key, "ask_person", asks("API_TOKEN_OF_IT")).await.unwrap();
    stage.tell("go");

    stage.until(&ticket, "awaiting_input").await;
    give(&stage, &ticket).await;
    stage.until(&ticket, "succeeded").await;
    assert_eq!(stage.read("there.txt"), "there\n");
    stage.close().await;
}

#[tokio::test]
async fn a_branch_with_a_secret_in_any_of_its_commits_waits_for_a_person() {
    let commits = r#"if is implement && [ -n "$WEBHOOK_SECRET" ]; then
        printf %s "$WEBHOOK_SECRET" | base64 >config.bin
        git add config.bin; git -c user.name=A -c user.email=a@b.c commit -qm Config
        git rm -q config.bin; git -c user.name=A -c user.email=a@b.c commit -qm "Not so"; fi"#;
    let stage = Stage::new(&format!("{NEEDS_SECRET}\n{commits}")).await;
    let asked = stage.ends("awaiting_input").await;
    let ticket = asked.name();
    let tip = stage.git(&["rev-parse", "main"]);
    give(&stage, ticket).await;

    let open = "SELECT text FROM questions WHERE closed_at IS NULL AND secret IS NULL";
    stage.until_so("it is held", || !stage.column(open).is_empty()).await;
    let held = stage.column(open).remove(0);

    assert!(held.contains("hold the value of WEBHOOK_SECRET, so they do not land"), "{held}");
    assert!(!held.contains(VALUE), "{held}");
    assert_eq!(stage.git(&["rev-parse", "main"]), tip);
    let tree = stage.path("data/worktrees").join(asked.id());
    let fork = crate::git::run_in(&tree, &["merge-base", "HEAD", "main"]);
    crate::git::run_in(&tree, &["reset", "--quiet", "--soft", &fork]);
    crate::git::run_in(&tree, &["commit", "--quiet", "-m", "All of it at once"]);
    stage.call("reply_ticket", json!({ "ticket": ticket, "message": "Go on" })).await;
    stage.until(ticket, "succeeded").await;
    assert_eq!(stage.read("digest.txt"), digest_of(VALUE));
    let all = stage.git(&["log", "--patch", "--text", "main"]);
    assert!(!all.contains("config.bin"), "{all}");
    stage.close().await;
}
