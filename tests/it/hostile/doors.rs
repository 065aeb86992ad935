//! Getting in: guessing, planted cookies, and being led astray afterwards.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::ConnectInfo;
use http::{Method, header};

use super::{Answer, EMAIL, FORM, House, PASSWORD, request};

/// So long that nobody looks at it: an attempt that costs no time.
const TOO_LONG: usize = 2_000;

/// Somebody who tries to sign in, with the token of a form and whatever headers.
struct Stranger<'a> {
    house: &'a House,
    guest: String,
    peer: &'a str,
}

impl<'a> Stranger<'a> {
    async fn at(house: &'a House, peer: &'a str) -> Self {
        let request = request(Method::GET, "/login").body(Body::empty()).unwrap();
        let said = house.send(request).await;
        let guest = said.header(header::SET_COOKIE).split(';').next().unwrap().to_owned();
        Self { house, guest, peer }
    }

    async fn tries(&self, form: &[(&str, &str)], more: &[(&'static str, &str)]) -> Answer {
        let (_, token) = self.guest.split_once('=').unwrap();
        let mut body = format!("csrf={token}");
        for (name, value) in form {
            body.extend(["&", name, "=", &assay::web::page::in_query(value)]);
        }
        let mut request = request(Method::POST, "/login")
            .header(header::CONTENT_TYPE, FORM)
            .header(header::COOKIE, &self.guest);
        for (name, value) in more {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::from(body)).unwrap();
        let peer: SocketAddr = self.peer.parse().unwrap();
        request.extensions_mut().insert(ConnectInfo(peer));
        self.house.send(request).await
    }

    /// Tries different accounts until it is told to stop; how often.
    async fn until_stopped(&self, forwarded: impl Fn(usize) -> String) -> usize {
        let password = "x".repeat(TOO_LONG);
        for n in 0..120 {
            let (email, said_by) = (format!("{n}@example.com"), forwarded(n));
            let form = [("email", email.as_str()), ("password", &password)];
            let said = self.tries(&form, &[("x-forwarded-for", &said_by)]).await;
            if said.status == 429 {
                return n;
            }
            assert_eq!(said.status, 401, "{}", said.text());
        }
        120
    }
}

async fn public() -> House {
    House::with(|opening| {
        opening.public_url = Some("http://127.0.0.1:7171".to_owned());
    })
    .await
}

#[tokio::test]
async fn an_address_is_counted_by_its_connection_whatever_it_says_of_itself() {
    let house = public().await;

    let far = Stranger::at(&house, "203.0.113.9:4711").await;
    let other = Stranger::at(&house, "203.0.113.10:4711").await;

    assert_eq!(far.until_stopped(|n| format!("198.51.100.{n}")).await, 50);
    let form = [("email", EMAIL), ("password", PASSWORD)];
    let said = other.tries(&form, &[("x-forwarded-for", "203.0.113.9")]).await;
    assert_eq!(said.status, 303, "nobody else is locked out: {}", said.text());
}

#[tokio::test]
async fn behind_a_proxy_of_ours_callers_are_told_apart_and_cannot_choose() {
    let house = public().await;
    let proxy = Stranger::at(&house, "127.0.0.1:4711").await;

    let stopped = proxy.until_stopped(|n| format!("198.51.100.{n}, 203.0.113.9")).await;
    let form = [("email", EMAIL), ("password", PASSWORD)];
    let through = proxy.tries(&form, &[("x-forwarded-for", "203.0.113.9, 203.0.113.10")]).await;

    assert_eq!(stopped, 50);
    assert_eq!(through.status, 303, "{}", through.text());
}

#[tokio::test]
async fn without_a_public_address_nobodys_word_is_taken() {
    let house = House::start().await;
    let local = Stranger::at(&house, "127.0.0.1:4711").await;

    assert_eq!(local.until_stopped(|n| format!("198.51.100.{n}")).await, 50);
}

#[tokio::test]
async fn an_account_that_nobody_has_takes_as_long_as_one_with_a_wrong_password() {
    let house = House::start().await;
    let stranger = Stranger::at(&house, "127.0.0.1:4711").await;
    let fastest = async |email: &str| {
        let mut fastest = Duration::MAX;
        for _ in 0..4 {
            let began = Instant::now();
            let form = [("email", email), ("password", "wrong horse battery")];
            assert_eq!(stranger.tries(&form, &[]).await.status, 401);
            fastest = fastest.min(began.elapsed());
        }
        fastest
    };

    let (known, unknown) = (fastest(EMAIL).await, fastest("nobody@example.com").await);

    // Either costs the hash, which is by far the most of it.
    assert!(unknown > known / 3 && known > unknown / 3, "{known:?} and {unknown:?}");
}

#[tokio::test]
async fn a_login_is_a_new_cookie_whatever_the_browser_brought() {
    let house = House::start().await;
    let stranger = Stranger::at(&house, "127.0.0.1:4711").await;
    let form = [("email", EMAIL), ("password", PASSWORD)];
    let token = |said: &Answer| {
        let set = said.header(header::SET_COOKIE);
        set.split(';').next().unwrap().split_once('=').unwrap().1.to_owned()
    };

    let planted = "planted-by-somebody-who-knows-it";
    let first = stranger.tries(&form, &[("cookie", &format!("assay={planted}"))]).await;
    let second = stranger.tries(&form, &[("cookie", &format!("assay={}", token(&first)))]).await;

    assert_eq!((first.status.as_u16(), second.status.as_u16()), (303, 303));
    assert!(token(&first) != planted && token(&first) != token(&second));
    let asked = request(Method::GET, "/keys").header("cookie", format!("assay={planted}"));
    let said = house.send(asked.body(Body::empty()).unwrap()).await;
    assert_eq!(said.status, 303, "the planted cookie opens nothing");
}

#[tokio::test]
async fn signing_in_leads_nowhere_else() {
    let house = House::start().await;
    let stranger = Stranger::at(&house, "127.0.0.1:4711").await;

    for next in [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "\u{1}//evil.example",
        " //evil.example",
        "javascript:alert(1)",
        "http:evil.example",
        "/..//evil.example",
        "/x\r\nLocation: https://evil.example",
        "@evil.example",
        "evil.example",
        "%2f%2fevil.example",
    ] {
        let form = [("email", EMAIL), ("password", PASSWORD), ("next", next)];
        let posted = stranger.tries(&form, &[]).await;
        let asked = format!("/login?next={}", assay::web::page::in_query(next));
        let got = house.read(&asked).await;

        for said in [posted, got] {
            assert_eq!(said.status, 303, "{next:?}: {}", said.text());
            let base: reqwest::Url = "http://127.0.0.1:7171/login".parse().unwrap();
            let target = base.join(said.header(header::LOCATION)).unwrap();
            assert_eq!(target.host_str(), Some("127.0.0.1"), "{next:?} leads to {target}");
            assert_eq!(target.scheme(), "http", "{next:?}");
        }
    }
}
