//! Keys: what opens something, for how long, and how far.

use std::time::Duration;

use assay::accounts::keys::{self, NewKey, Prefix};
use assay::accounts::{KeyScope, Plan, Reach, Tenant, Who};
use assay::base::{Code, ProjectId, Secret, TicketId};

use super::{FULL, Fixture};

#[test]
fn a_key_is_shown_once_and_known_again() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");

    let secret = at.key(&acme, FULL).unwrap();
    let shown = at.read(|read| keys::list(read, acme.id)).unwrap().pop().unwrap();

    assert!(secret.reveal().starts_with("alch_") && secret.reveal().len() == 48);
    assert_eq!(shown.shown, format!("alch_…{}", &secret.reveal()[44..]));
    let caller = at.caller(&secret).unwrap();
    assert_eq!((caller.tenant, caller.label()), (acme.id, "key ci-bot".to_owned()));
    assert_eq!(caller.plan, Plan::All);
    let stored = at.db.raw_column("SELECT hex(hash) || shown || name FROM api_keys").unwrap();
    assert!(!stored[0].contains(&secret.reveal()[5..]));
}

#[test]
fn what_is_no_working_key_opens_nothing() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    let key = at.key(&acme, FULL).unwrap();
    let soon = at.clock.now().plus(Duration::from_mins(1));
    let short = at.key(&acme, NewKey { expires_at: Some(soon), ..FULL }).unwrap();
    for text in ["", "alch_", &format!("{}x", key.reveal()), &"x".repeat(10_000)] {
        assert_eq!(at.caller(&Secret::new(text)), None, "{text}");
    }
    assert!(at.caller(&short).is_some());

    at.clock.advance(Duration::from_mins(1));

    assert_eq!(at.caller(&short), None);
    assert!(at.caller(&key).is_some());
}

#[test]
fn a_revoked_key_opens_nothing_from_then_on() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    let secret = at.key(&acme, FULL).unwrap();
    let id = at.read(|read| keys::choose(read, acme.id, "ci-bot")).unwrap().id;

    assert!(at.write(move |tx| keys::revoke(tx, acme.id, id)).unwrap());

    assert_eq!(at.caller(&secret), None);
    assert!(!at.write(move |tx| keys::revoke(tx, acme.id, id)).unwrap());
}

#[test]
fn the_last_use_of_a_key_is_noted_once_a_minute() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    let secret = at.key(&acme, FULL).unwrap();
    let due = || at.read(|read| keys::authenticate(read, &secret)).unwrap().unwrap().use_due;
    let note = || {
        let key = at.read(|read| keys::list(read, acme.id)).unwrap()[0].id;
        at.write(move |tx| keys::note_use(tx, acme.id, key)).unwrap();
        at.read(|read| keys::list(read, acme.id)).unwrap()[0].last_used_at
    };
    let first = at.clock.now();

    assert!(due());
    assert_eq!(note(), Some(first));
    at.clock.advance(Duration::from_secs(59));
    assert!(!due());
    assert_eq!(note(), Some(first));
    at.clock.advance(Duration::from_secs(1));
    assert!(due());
    assert_eq!(note(), Some(first.plus(Duration::from_mins(1))));
}

#[test]
fn a_limited_key_reaches_its_projects_and_starts_from_its_default() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    let (near, far) = (at.project(&acme, "Near"), at.project(&acme, "Far"));
    let limited = NewKey {
        prefix: Prefix::VqLive,
        default_project: Some(near),
        reach: Reach::Only(vec![near]),
        ..FULL
    };

    let caller = at.caller(&at.key(&acme, limited.clone()).unwrap()).unwrap();

    assert!(caller.may_reach(near) && !caller.may_reach(far));
    assert_eq!(caller.default_project, Some(near));
    let outside = NewKey { default_project: Some(far), ..limited };
    assert_eq!(at.key(&acme, outside).unwrap_err().code, Code::InvalidArgument);
}

#[test]
fn prefixes_keep_the_promises_of_their_contract() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");

    let organisation = NewKey { prefix: Prefix::VqOrgLive, scope: KeyScope::Ci, ..FULL };
    let project = NewKey { prefix: Prefix::VqLive, ..FULL };

    assert_eq!(at.key(&acme, organisation).unwrap_err().issues[0].path, "scope");
    assert_eq!(at.key(&acme, project).unwrap_err().issues[0].path, "project");
}

#[test]
fn an_agents_key_ends_with_its_ticket() {
    let at = Fixture::new();
    let acme = at.tenant("Acme");
    let project = at.project(&acme, "Widgets");
    let ticket = ticket(&at, &acme, project);
    let new = NewKey { ticket: Some(ticket), reach: Reach::Only(vec![project]), ..FULL };
    let secret = at.key(&acme, new).unwrap();
    let caller = at.caller(&secret).unwrap();
    assert!(matches!(caller.who, Who::Agent { ticket: of, .. } if of == ticket));
    assert!(at.read(|read| keys::list(read, acme.id)).unwrap().is_empty());

    at.db.raw("UPDATE tickets SET status = 'cancelled', completed_at = 2").unwrap();

    assert_eq!(at.caller(&secret), None);
}

/// A ticket's row, as far as keys need one.
fn ticket(at: &Fixture, tenant: &Tenant, project: ProjectId) -> TicketId {
    let hex = |uuid: uuid::Uuid| uuid.simple().to_string();
    let id = uuid::Uuid::from_u128(77);
    at.db
        .raw(&format!(
            "INSERT INTO tickets (id, tenant_id, project_id, seq, title, description, status, kind,
                 preset, pass_profile, origin, graph_status, filed_by, created_at)
             VALUES (x'{}', x'{}', x'{}', 1, 't', '', 'running', 'fix', 'auto', 'auto',
                 'dynamic', 'running', 'test', 1)",
            hex(id),
            hex(tenant.id.uuid()),
            hex(project.uuid()),
        ))
        .unwrap();
    TicketId::from_uuid(id)
}
