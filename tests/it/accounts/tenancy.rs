//! What belongs to another tenant is not there.

use assay::accounts::keys::{self, NewKey};
use assay::accounts::users;
use assay::accounts::{Actor, Plan, Reach, Role, Tenant, audit};
use assay::base::{Code, Fault, KeyId, ProjectId};
use assay::projects;

use super::{FULL, Fixture};

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
