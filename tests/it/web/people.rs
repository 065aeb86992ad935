//! People: invitations, roles, who may sign in; and each person's own account.

use assay::accounts::users::{self, NewUser};
use assay::accounts::{Role, Tenant, passwords};
use assay::base::{Entropy, Secret};
use http::StatusCode;

use super::{Browser, PASSWORD, Said, Server};

const NEW_PASSWORD: &str = "another horse entirely";

impl Server {
    /// One more person of a tenant; their id.
    async fn person(&self, tenant: &Tenant, email: &'static str, role: Role) -> String {
        let hash = passwords::hash(&Secret::new(PASSWORD), &Entropy::seeded(3)).unwrap();
        let tenant = tenant.id;
        self.write(move |tx| {
            let new = NewUser { email, name: "Ben", role, password: &hash };
            Ok(users::create(tx, tenant, &new)?.id.to_string())
        })
        .await
    }
}

/// The path of the link that was just made.
async fn invite(browser: &Browser, email: &str, role: &str) -> String {
    let made =
        browser.submit("/people", "/people/invite", &[("email", email), ("role", role)]).await;
    assert_eq!(made.location(), "/people?did=invited", "{}", made.body);
    let page = browser.get(made.location()).await.body;
    let (_, rest) = page.split_once("id=\"fresh-link\">http://127.0.0.1:7171").unwrap();
    rest.split('<').next().unwrap().to_owned()
}

async fn change(browser: &Browser, current: &str, new: &str) -> Said {
    let fields = [("current", current), ("password", new)];
    browser.submit("/account", "/account/password", &fields).await
}

#[tokio::test]
async fn an_invitation_is_shown_once_and_lets_one_person_in() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;

    let link = invite(&ada, "Ben@Example.com", "viewer").await;

    let list = ada.get("/people?did=invited").await.body;
    assert!(!list.contains(&link) && list.contains("ben@example.com"), "{list}");
    let ben = server.browser();
    let form = ben.get(&link).await.body;
    assert!(form.contains("Join Acme") && form.contains("Viewer"), "{form}");
    let short = ben.submit(&link, &link, &[("name", "Ben"), ("password", "short")]).await;
    assert_eq!(short.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(short.body.contains("too short") && short.body.contains("value=\"Ben\""));
    let forged = ben.post(&link, &[("csrf", "x"), ("name", "B"), ("password", PASSWORD)]).await;
    assert_eq!(forged.status, StatusCode::FORBIDDEN);
    let joined = ben.submit(&link, &link, &[("name", "Ben <b>"), ("password", PASSWORD)]).await;
    assert_eq!((joined.status, joined.location()), (StatusCode::SEE_OTHER, "/"));
    assert!(ben.get("/tickets").await.body.contains("Viewer · Acme"));
    for gone in [&*link, "/join/x"] {
        let again = server.browser().get(gone).await;
        assert_eq!(again.status, StatusCode::NOT_FOUND, "{gone}");
        assert!(again.body.contains("This link has been used"), "{}", again.body);
    }
    let audit = ada.get("/audit").await.body;
    assert!(audit.contains("invite_user") && audit.contains("accept_invitation"), "{audit}");
    assert!(!audit.contains(link.trim_start_matches("/join/")), "{audit}");
}

#[tokio::test]
async fn an_invitation_ends_by_another_by_withdrawal_and_by_time() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    let first = invite(&ada, "ben@example.com", "member").await;
    let second = invite(&ada, "ben@example.com", "admin").await;
    let open = async |path: &str| server.browser().get(path).await.status == StatusCode::OK;

    assert!(!open(&first).await && open(&second).await);
    let fields = [("email", "ben@example.com")];
    let withdrawn = ada.submit("/people", "/people/invite/withdraw", &fields).await;
    assert_eq!(withdrawn.location(), "/people?did=withdrawn");
    assert!(!open(&second).await);
    let again = ada.submit("/people", "/people/invite/withdraw", &fields).await;
    assert_eq!(again.status, StatusCode::NOT_FOUND);
    let third = invite(&ada, "cy@example.com", "member").await;
    server.clock.advance(std::time::Duration::from_hours(7 * 24 + 1));
    assert!(!open(&third).await);
}

#[tokio::test]
async fn an_admin_has_no_power_over_owners_and_the_last_owner_stays() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    let admin = server.person(&acme, "al@example.com", Role::Admin).await;
    let (al, ada) =
        (server.signed_in("al@example.com").await, server.signed_in("ada@example.com").await);
    let owner = server
        .app
        .env()
        .db
        .read(move |read| users::find_by_email(read, acme.id, "ada@example.com"))
        .await
        .unwrap()
        .unwrap()
        .id
        .to_string();
    let set = async |by: &Browser, user: &str, role: &str| {
        by.submit("/people", "/people/role", &[("user", user), ("role", role)]).await.status
    };
    let disable = async |by: &Browser, user: &str, disabled: &str| {
        let fields = [("user", user), ("disabled", disabled)];
        by.submit("/people", "/people/disabled", &fields).await.status
    };

    assert_eq!(set(&al, &owner, "member").await, StatusCode::FORBIDDEN);
    assert_eq!(set(&al, &admin, "owner").await, StatusCode::FORBIDDEN);
    assert_eq!(disable(&al, &owner, "true").await, StatusCode::FORBIDDEN);
    let fields = [("email", "x@example.com"), ("role", "owner")];
    let invited = al.submit("/people", "/people/invite", &fields).await;
    assert_eq!(invited.status, StatusCode::FORBIDDEN);
    assert_eq!(set(&ada, &owner, "viewer").await, StatusCode::CONFLICT);
    assert_eq!(disable(&ada, &owner, "true").await, StatusCode::CONFLICT);
    assert_eq!(set(&ada, &admin, "king").await, StatusCode::BAD_REQUEST);
    assert_eq!(set(&ada, "nobody", "member").await, StatusCode::NOT_FOUND);

    assert_eq!(disable(&ada, &admin, "true").await, StatusCode::SEE_OTHER);
    assert_eq!(al.get("/tickets").await.status, StatusCode::SEE_OTHER, "signed out at once");
    assert!(ada.get("/people").await.body.contains("Disabled"));
    assert_eq!(disable(&ada, &admin, "false").await, StatusCode::SEE_OTHER);
    server.signed_in("al@example.com").await;
    assert_eq!(set(&ada, &admin, "owner").await, StatusCode::SEE_OTHER);
    assert_eq!(set(&ada, &owner, "viewer").await, StatusCode::SEE_OTHER);
    assert_eq!(ada.get("/people").await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn nobody_manages_people_of_another_team_or_without_the_token() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Owner).await;
    server.team("Other", "eve@example.com", Role::Owner).await;
    let ben = server.person(&acme, "ben@example.com", Role::Member).await;
    let (ada, eve, mo) = (
        server.signed_in("ada@example.com").await,
        server.signed_in("eve@example.com").await,
        server.signed_in("ben@example.com").await,
    );
    invite(&ada, "cy@example.com", "member").await;

    for (path, fields) in [
        ("/people/role", vec![("user", &*ben), ("role", "viewer")]),
        ("/people/disabled", vec![("user", &*ben), ("disabled", "true")]),
        ("/people/invite/withdraw", vec![("email", "cy@example.com")]),
    ] {
        let foreign = eve.submit("/people", path, &fields).await;
        assert_eq!(foreign.status, StatusCode::NOT_FOUND, "{path}");
        let member = mo.submit("/account", path, &fields).await;
        assert_eq!(member.status, StatusCode::FORBIDDEN, "{path}");
        let forged = ada.post(path, &[&[("csrf", "x")], &*fields].concat()).await;
        assert_eq!(forged.status, StatusCode::FORBIDDEN, "{path}");
    }
    let page = eve.get("/people").await.body;
    assert!(!page.contains("ben@example.com") && !page.contains("cy@example.com"), "{page}");
    let known = [("email", "ada@example.com"), ("role", "member")];
    let taken = ada.submit("/people", "/people/invite", &known).await;
    assert_eq!(taken.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(taken.body.contains("is in the team already"), "{}", taken.body);
}

#[tokio::test]
async fn a_changed_password_ends_the_other_logins_and_keeps_this_one() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Viewer).await;
    let (here, there) =
        (server.signed_in("ada@example.com").await, server.signed_in("ada@example.com").await);

    let wrong = change(&here, "not the password", NEW_PASSWORD).await;
    let short = change(&here, PASSWORD, "short").await;
    let forged = [("csrf", "x"), ("current", PASSWORD), ("password", NEW_PASSWORD)];
    let forged = here.post("/account/password", &forged).await;
    assert_eq!(there.get("/tickets").await.status, StatusCode::OK);
    let changed = change(&here, PASSWORD, NEW_PASSWORD).await;

    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(wrong.body.contains("The current password is another one."), "{}", wrong.body);
    assert_eq!(short.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(short.body.contains("too short"), "{}", short.body);
    assert_eq!(forged.status, StatusCode::FORBIDDEN);
    assert_eq!(changed.location(), "/account?did=password");
    assert!(here.get(changed.location()).await.body.contains("Your password is changed."));
    assert_eq!(there.get("/tickets").await.status, StatusCode::SEE_OTHER);
    let browser = server.browser();
    let old = browser.sign_in("ada@example.com", PASSWORD).await;
    let new = browser.sign_in("ada@example.com", NEW_PASSWORD).await;
    assert_eq!((old.status, new.status), (StatusCode::UNAUTHORIZED, StatusCode::SEE_OTHER));
}

#[tokio::test]
async fn who_guesses_the_current_password_is_slowed_down() {
    let server = Server::start();
    server.team("Acme", "ada@example.com", Role::Member).await;
    let ada = server.signed_in("ada@example.com").await;

    let mut last = StatusCode::OK;
    for _ in 0..11 {
        last = change(&ada, "guess", NEW_PASSWORD).await.status;
    }

    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn a_person_signs_out_their_own_devices_and_nobody_elses() {
    let server = Server::start();
    let acme = server.team("Acme", "ada@example.com", Role::Member).await;
    server.person(&acme, "ben@example.com", Role::Owner).await;
    let ada = server.signed_in("ada@example.com").await;
    let (second, third) =
        (server.signed_in("ada@example.com").await, server.signed_in("ada@example.com").await);
    let ben = server.signed_in("ben@example.com").await;
    let page = ada.get("/account").await.body;
    assert_eq!(page.matches("name=\"session\" value=\"").count(), 2, "{page}");
    let (_, rest) = page.split_once("name=\"session\" value=\"").unwrap();
    let other = rest.split('"').next().unwrap().to_owned();

    // A stranger who knows the name of a login cannot end it.
    ben.submit("/account", "/account/sessions/end", &[("session", &other)]).await;
    assert_eq!(ada.get("/account").await.body.matches("name=\"session\"").count(), 2);
    let ended = ada.submit("/account", "/account/sessions/end", &[("session", &other)]).await;
    assert_eq!(ended.location(), "/account?did=signed-out");
    let signed_out =
        async |browser: &Browser| browser.get("/tickets").await.status == StatusCode::SEE_OTHER;
    assert!(signed_out(&second).await != signed_out(&third).await, "one of them has ended");
    let all = ada.submit("/account", "/account/sessions/end-others", &[]).await;
    assert_eq!(all.location(), "/account?did=others-signed-out");
    assert!(signed_out(&second).await && signed_out(&third).await);
    assert!(!signed_out(&ada).await && !signed_out(&ben).await);
}
