//! Accounts through the store: keys, logins, set-up, and who may see what.

use std::time::Duration;

use assay::accounts::keys::{self, NewKey, Prefix};
use assay::accounts::setup::{self, FirstOwner};
use assay::accounts::users::{self, NewUser};
use assay::accounts::{
    Actor, KeyScope, Plan, Reach, Role, Tenant, User, Who, audit, passwords, sessions, tenants,
};
use assay::base::{Clock, Code, Entropy, Fault, KeyId, Millis, ProjectId, Secret, TicketId};
use assay::events::Bus;
use assay::projects::{self, NewProject};
use assay::store::{Db, Read, Tx};

/// A database of its own and the clock it goes by.
pub(crate) struct Fixture {
    pub(crate) db: Db,
    pub(crate) clock: Clock,
    _dir: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::fake(Millis(1_785_333_600_000));
        let db = Db::open(dir.path(), clock.clone(), Entropy::seeded(1), Bus::default()).unwrap();
        Self { db, clock, _dir: dir }
    }

    pub(crate) fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        self.db.write_blocking(change)
    }

    pub(crate) fn read<T>(
        &self,
        view: impl FnOnce(&Read<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.db.read_blocking(view)
    }

    pub(crate) fn tenant(&self, name: &'static str) -> Tenant {
        self.write(move |tx| tenants::create(tx, name, Plan::default())).unwrap()
    }

    pub(crate) fn project(&self, tenant: &Tenant, name: &'static str) -> ProjectId {
        let tenant = tenant.id;
        let new = NewProject { name, ..NewProject::default() };
        self.write(move |tx| projects::create(tx, tenant, new)).unwrap().id
    }

    pub(crate) fn key(&self, tenant: &Tenant, new: NewKey<'static>) -> Result<Secret, Fault> {
        let tenant = tenant.id;
        self.write(move |tx| keys::create(tx, tenant, &new)).map(|(_, secret)| secret)
    }

    fn caller(&self, secret: &Secret) -> Option<Actor> {
        self.read(|read| keys::authenticate(read, secret)).unwrap().map(|found| found.actor)
    }

    fn user(&self, tenant: &Tenant, email: &'static str, role: Role) -> User {
        let tenant = tenant.id;
        let password = passwords::hash(&Secret::new("correct horse"), &Entropy::seeded(2)).unwrap();
        self.write(move |tx| {
            users::create(tx, tenant, &NewUser { email, name: "", role, password: &password })
        })
        .unwrap()
    }
}

/// A key with every power and no limit.
pub(crate) const FULL: NewKey<'static> = NewKey {
    name: "ci-bot",
    scope: KeyScope::McpFull,
    prefix: Prefix::Alch,
    default_project: None,
    reach: Reach::All,
    ticket: None,
    expires_at: None,
    created_by: "test",
};

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

#[test]
fn another_tenants_thing_and_an_absent_one_give_the_same_answer() {
    type Ask = fn(&Fixture, &Tenant, uuid::Uuid) -> Result<(), Fault>;
    let at = Fixture::new();
    let (acme, other) = (at.tenant("Acme"), at.tenant("Other"));
    let theirs = at.project(&other, "Theirs").uuid();
    let their_user = at.user(&other, "eve@example.org", Role::Owner).id.uuid();
    at.key(&other, FULL).unwrap();
    let their_key = at.read(|read| keys::list(read, other.id)).unwrap()[0].id.uuid();
    let absent = uuid::Uuid::from_u128(99);

    let cases: [(&str, uuid::Uuid, Ask); 7] = [
        ("a key's default project", theirs, |at, acme, id| {
            let default_project = Some(ProjectId::from_uuid(id));
            at.key(acme, NewKey { default_project, ..FULL }).map(drop)
        }),
        ("a key's projects", theirs, |at, acme, id| {
            let reach = Reach::Only(vec![ProjectId::from_uuid(id)]);
            at.key(acme, NewKey { reach, ..FULL }).map(drop)
        }),
        ("revoking a key", their_key, |at, acme, id| {
            let tenant = acme.id;
            at.write(move |tx| keys::revoke(tx, tenant, KeyId::from_uuid(id))).map(drop)
        }),
        ("finding a key", their_key, |at, acme, id| {
            at.read(|read| keys::choose(read, acme.id, &id.to_string())).map(drop)
        }),
        ("a person", their_user, |at, acme, id| {
            let found = at.read(|read| users::find(read, acme.id, id_of(id)))?;
            found.map(drop).ok_or_else(|| Fault::new(Code::NotFound, "none"))
        }),
        ("a project by id", theirs, |at, acme, id| {
            let actor = Actor::local(acme.id, Plan::All);
            at.read(|read| projects::resolve(read, &actor, Some(id_of(id)), None)).map(drop)
        }),
        ("a project by the text of its id", theirs, |at, acme, id| {
            let actor = Actor::local(acme.id, Plan::All);
            at.read(|read| projects::named(read, &actor, &id.to_string())).map(drop)
        }),
    ];
    for (what, existing, ask) in cases {
        let foreign = ask(&at, &acme, existing).expect_err(what);
        let none = ask(&at, &acme, absent).expect_err(what);

        let neutral = |fault: &Fault, id: uuid::Uuid| {
            (fault.code, fault.message.replace(&id.to_string(), "ID"), fault.issues.clone())
        };
        assert_eq!(neutral(&foreign, existing), neutral(&none, absent), "{what}");
    }
}

fn id_of<K>(uuid: uuid::Uuid) -> assay::base::Id<K> {
    assay::base::Id::from_uuid(uuid)
}

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
fn an_old_set_up_link_is_useless() {
    let at = Fixture::new();
    let token = at.write(setup::mint).unwrap().unwrap();
    assert!(at.read(|read| setup::is_open(read, &token)).unwrap());

    at.clock.advance(setup::LINK_LIFE);

    assert!(!at.read(|read| setup::is_open(read, &token)).unwrap());
}

#[test]
fn the_log_of_a_tenant_is_read_from_its_newest_row_in_pages() {
    let at = Fixture::new();
    let actor = Actor::local(at.tenant("Acme").id, Plan::All);
    let other = Actor::local(at.tenant("Other").id, Plan::All);
    for action in ["one", "two", "three"] {
        for actor in [actor.clone(), other.clone()] {
            let entry =
                audit::Entry { via: "cli", action, subject: "s", outcome: "ok", request: "" };
            at.write(move |tx| audit::record(tx, &actor, entry)).unwrap();
        }
    }
    let page = |before| at.read(|read| audit::list(read, &actor, 2, before)).unwrap();
    let actions = |page: &[audit::Record]| -> Vec<String> {
        page.iter().map(|row| format!("{} by {}", row.action, row.actor)).collect()
    };

    let first = page(None);
    let second = page(Some(first[1].n));

    assert_eq!(actions(&first), ["three by command line", "two by command line"]);
    assert_eq!(actions(&second), ["one by command line"]);
}
