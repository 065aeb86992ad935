//! Accounts through the store: keys, logins, set-up, and who may see what.

mod keys;
mod logins;
mod tenancy;

use assay::accounts::keys::{NewKey, authenticate, create};
use assay::accounts::users::{self, NewUser};
use assay::accounts::{Actor, KeyScope, Plan, Role, Tenant, User, passwords, tenants};
use assay::base::{Clock, Entropy, Fault, Millis, ProjectId, Secret};
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

    fn key(&self, tenant: &Tenant, new: NewKey<'static>) -> Result<Secret, Fault> {
        let tenant = tenant.id;
        self.write(move |tx| create(tx, tenant, &new)).map(|(_, secret)| secret)
    }

    fn caller(&self, secret: &Secret) -> Option<Actor> {
        self.read(|read| authenticate(read, secret)).unwrap().map(|found| found.actor)
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
const FULL: NewKey<'static> = NewKey::plain("ci-bot", KeyScope::McpFull, "test");
