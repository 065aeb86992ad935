//! People: their logins, their passwords, and how the first of them comes in.

use std::time::Duration;

use assay::accounts::setup::{self, FirstOwner};
use assay::accounts::users::{self, NewUser};
use assay::accounts::{Role, User, passwords, sessions};
use assay::base::{Code, Entropy, Secret};

use super::Fixture;

#[test]
fn a_login_lives_while_it_is_used_and_ends_by_the_clock() {
    let at = Fixture::new();
    let ada = at.user(&at.tenant("Acme"), "ada@example.org", Role::Viewer);
    let user = ada.clone();
    let (session, token) =
        at.write(move |tx| sessions::start(tx, &user, "Firefox\u{7}", "127.0.0.1")).unwrap();
    let found = || at.read(|read| sessions::authenticate(read, &token)).unwrap();
    let first = found().unwrap();
    assert_eq!((first.user.id, first.session.user_agent.as_str()), (ada.id, "Firefox"));
    assert!(first.actor.can_read() && !first.actor.can_write() && !first.use_due);
    assert!(session.csrf_matches(&first.session.csrf) && !session.csrf_matches(token.reveal()));

    for _ in 0..6 {
        at.clock.advance(Duration::from_hours(13 * 24));
        let (session, token) = (found().unwrap().session, token.clone());
        at.write(move |tx| sessions::note_use(tx, &session, &token)).unwrap();
    }
    at.clock.advance(Duration::from_hours(13 * 24));

    assert!(found().is_none(), "ninety days are the most");
    assert_eq!(at.write(sessions::sweep).unwrap(), 1);
}

#[test]
fn a_changed_password_and_a_disabled_person_end_every_login() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    at.user(&acme, "owner@example.org", Role::Owner);
    let ada = at.user(&acme, "ada@example.org", Role::Member);
    let login = |user: &User| {
        let user = user.clone();
        at.write(move |tx| sessions::start(tx, &user, "", "")).unwrap().1
    };
    let lives =
        |token: &Secret| at.read(|read| sessions::authenticate(read, token)).unwrap().is_some();
    let (one, two) = (login(&ada), login(&ada));
    assert_eq!(at.read(|read| sessions::list(read, acme.id, ada.id)).unwrap().len(), 2);

    let id = at.read(|read| sessions::authenticate(read, &one)).unwrap().unwrap().session.id;
    at.write(move |tx| sessions::end(tx, ada.tenant, ada.id, &id)).unwrap();
    assert!(!lives(&one) && lives(&two));

    let new = passwords::hash(&Secret::new("another horse"), &Entropy::seeded(3)).unwrap();
    let user = ada.clone();
    at.write(move |tx| users::set_password(tx, &user, &new)).unwrap();
    assert!(!lives(&two));

    let three = login(&ada);
    at.write(move |tx| users::set_disabled(tx, &ada, true)).unwrap();
    assert!(!lives(&three));
    assert_eq!(at.read(|read| users::login(read, "Ada@Example.org")).unwrap(), None);
}

#[test]
fn a_tenant_keeps_an_owner() {
    let at = Fixture::new();
    let owner = at.user(&at.tenant("Acme"), "ada@example.org", Role::Owner);

    let user = owner.clone();
    let disabled = at.write(move |tx| users::set_disabled(tx, &user, true));
    let user = owner.clone();
    let demoted = at.write(move |tx| users::set_role(tx, &user, Role::Member));

    assert_eq!(disabled.unwrap_err().code, Code::Conflict);
    assert_eq!(demoted.unwrap_err().code, Code::Conflict);
    let found = at.read(|read| users::find(read, owner.tenant, owner.id)).unwrap();
    assert_eq!(found, Some(owner));
}

#[test]
fn one_address_has_one_login_whatever_its_case() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    at.user(&acme, "ada@example.org", Role::Owner);

    let again = at.write(move |tx| {
        let password = passwords::hash(&Secret::new("correct horse"), tx.entropy())?;
        let new =
            NewUser { email: "ADA@example.org", name: "", role: Role::Viewer, password: &password };
        users::create(tx, acme.id, &new)
    });

    assert_eq!(again.unwrap_err().code, Code::Conflict);
}

#[test]
fn a_set_up_link_makes_one_owner_once() {
    let at = Fixture::new();
    let stale = at.write(setup::mint).unwrap().unwrap();
    let token = at.write(setup::mint).unwrap().unwrap();
    let password = passwords::hash(&Secret::new("correct horse"), &Entropy::seeded(2)).unwrap();
    let consume = |token: &Secret, email: &'static str| {
        let (token, password) = (token.clone(), password.clone());
        at.write(move |tx| {
            let owner = FirstOwner { tenant: "Acme", email, name: "Ada", password: &password };
            setup::consume(tx, &token, &owner)
        })
    };
    assert_eq!(consume(&stale, "eve@example.org").unwrap_err().code, Code::NotFound);

    let (tenant, user) = consume(&token, "ada@example.org").unwrap();

    assert_eq!((tenant.slug.as_str(), user.role), ("acme", Role::Owner));
    assert_eq!(consume(&token, "eve@example.org").unwrap_err().code, Code::NotFound);
    assert_eq!(at.write(setup::mint).unwrap(), None);
}

#[test]
fn a_set_up_link_gives_the_tenant_that_is_there_its_owner_and_name() {
    let at = Fixture::new();
    let there = at.tenant("default");
    let token = at.write(setup::mint).unwrap().unwrap();
    at.clock.advance(Duration::from_hours(23));
    let password = passwords::hash(&Secret::new("correct horse"), &Entropy::seeded(2)).unwrap();

    let (tenant, user) = at
        .write(move |tx| {
            let owner = FirstOwner {
                tenant: "Acme",
                email: "ada@example.org",
                name: "Ada",
                password: &password,
            };
            setup::consume(tx, &token, &owner)
        })
        .unwrap();

    assert_eq!((tenant.id, tenant.name.as_str()), (there.id, "Acme"));
    assert_eq!(user.tenant, there.id);
}

#[test]
fn a_set_up_link_gives_the_one_of_several_tenants_that_is_named_its_owner() {
    let at = Fixture::new();
    at.tenant("Acme");
    let globex = at.tenant("Globex Works");
    let token = at.write(setup::mint).unwrap().unwrap();
    let password = passwords::hash(&Secret::new("correct horse"), &Entropy::seeded(2)).unwrap();
    let consume = |tenant: &'static str| {
        let (token, password) = (token.clone(), password.clone());
        at.write(move |tx| {
            let email = "ada@example.org";
            let owner = FirstOwner { tenant, email, name: "Ada", password: &password };
            setup::consume(tx, &token, &owner)
        })
    };

    let unknown = consume("Initech").unwrap_err();
    let (tenant, user) = consume(" globex works").unwrap();

    assert_eq!(unknown.issues[0].path, "team");
    assert!(unknown.message.contains("acme or globex-works"), "{unknown:?}");
    assert_eq!((tenant.name.as_str(), user.tenant), ("Globex Works", globex.id));
}

#[test]
fn an_old_set_up_link_is_useless() {
    let at = Fixture::new();
    let token = at.write(setup::mint).unwrap().unwrap();
    assert!(at.read(|read| setup::is_open(read, &token)).unwrap());

    at.clock.advance(setup::LINK_LIFE);

    assert!(!at.read(|read| setup::is_open(read, &token)).unwrap());
}
