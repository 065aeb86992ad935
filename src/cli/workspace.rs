//! What a command works on: the database of a data directory, and one tenant in it.

use std::fs::{DirBuilder, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use clap::Args;

use super::output;
use crate::accounts::{Actor, Plan, Tenant, audit, tenants};
use crate::base::{Clock, Code, Entropy, Fault, NextAction};
use crate::config::{DataArgs, data_flag};
use crate::events::Bus;
use crate::store::{Db, Read, Tx};

/// The flags that every command has.
#[derive(Debug, Clone, Args)]
pub(super) struct Flags {
    #[command(flatten)]
    data: DataArgs,
    /// The tenant; not needed where there is one
    #[arg(long, value_name = "TENANT", env = "ASSAY_TENANT")]
    tenant: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// An opened data directory and the tenant that is meant.
pub(super) struct Workspace {
    dir: PathBuf,
    db: Db,
    tenant: Option<String>,
}

impl Workspace {
    /// Opens the data directory for a command that only works on what is there. Makes nothing.
    pub(super) fn open(flags: &Flags) -> Result<Self, Fault> {
        let tenant = flags.tenant.clone();
        Ok(Self { tenant, ..Self::open_at(&flags.data.data)? })
    }

    /// The same for a command that is about no tenant.
    pub(super) fn open_at(dir: &Path) -> Result<Self, Fault> {
        if !Db::is_in(dir) {
            let said = format!("There is no Assay data in {}; is --data right?", dir.display());
            let data = data_flag(dir);
            return Err(Fault::new(Code::NotFound, said)
                .next(NextAction::Run(format!("assay tenant create NAME{data}"))));
        }
        Self::of(dir)
    }

    /// Opens the data directory, and makes it and its database where there is none, which is said.
    pub(super) fn open_or_make(flags: &Flags) -> Result<Self, Fault> {
        let dir = &flags.data.data;
        let made = !Db::is_in(dir);
        make_directory(dir)?;
        let workspace = Self { tenant: flags.tenant.clone(), ..Self::of(dir)? };
        if made {
            output::note(&format!("Made the data directory {}.", workspace.dir().display()));
        }
        Ok(workspace)
    }

    fn of(dir: &Path) -> Result<Self, Fault> {
        let db = Db::open(dir, Clock::system(), Entropy::system(), Bus::default())?;
        Ok(Self { dir: dir.to_owned(), db, tenant: None })
    }

    /// The data directory, as an absolute path where that can be found out.
    pub(super) fn dir(&self) -> PathBuf {
        self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone())
    }

    /// Whether no server works on the data directory. Where that cannot be found out, one does.
    pub(super) fn is_idle(&self) -> bool {
        match File::open(self.dir.join("lock")) {
            Ok(file) => match file.try_lock_shared() {
                Ok(()) => true,
                Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
            },
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }

    /// The database.
    pub(super) const fn db(&self) -> &Db {
        &self.db
    }

    /// Runs a reading function.
    pub(super) fn read<T>(
        &self,
        view: impl FnOnce(&Read<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.db.read_blocking(view)
    }

    /// Runs a change, which is on disk when this returns.
    pub(super) fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Tx<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        self.db.write_blocking(change)
    }

    /// The person at the terminal, acting for the tenant that is meant.
    pub(super) fn actor(&self) -> Result<Actor, Fault> {
        match self.read(|read| tenants::choose(read, self.tenant.as_deref()))? {
            Some(tenant) => Ok(Actor::local(tenant.id, tenant.plan)),
            None => Err(Fault::new(Code::NotFound, "There is no tenant yet.").next(
                NextAction::Run(format!("assay tenant create NAME{}", data_flag(&self.dir))),
            )),
        }
    }

    /// As [`Workspace::actor`]; where there is no tenant at all, one called Default is made, so
    /// that a sandbox takes one command.
    pub(super) fn actor_or_new(&self) -> Result<Actor, Fault> {
        let slug = self.tenant.clone();
        let (tenant, made): (Tenant, bool) = self.write(move |tx| {
            if let Some(tenant) = tenants::choose(tx, slug.as_deref())? {
                return Ok((tenant, false));
            }
            let tenant = tenants::create(tx, "Default", Plan::default())?;
            record(tx, &Actor::local(tenant.id, tenant.plan), "create_tenant", &tenant.slug)?;
            Ok((tenant, true))
        })?;
        if made {
            output::note(&format!("Made the tenant {}.", tenant.slug));
        }
        Ok(Actor::local(tenant.id, tenant.plan))
    }
}

/// Notes a change in the audit log, in the change's own transaction.
pub(super) fn record(
    tx: &mut Tx<'_>,
    actor: &Actor,
    action: &str,
    subject: &str,
) -> Result<(), Fault> {
    let entry = audit::Entry { via: "cli", action, subject, outcome: "ok", request: "" };
    audit::record(tx, actor, entry)
}

/// The directory holds keys and logins, so it is for its owner alone.
fn make_directory(dir: &Path) -> Result<(), Fault> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|error| {
        let message = format!(
            "The data directory {} cannot be made: {error}. Choose another with --data, or give \
             this user the right to write there.",
            dir.display()
        );
        Fault::new(Code::Unavailable, message)
    })
}
