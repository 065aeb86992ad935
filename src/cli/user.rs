//! `assay user`: people with a login.

use clap::{Args, Subcommand};
use serde::Serialize;

use super::Done;
use super::output::{self, moment};
use super::password::{Password, PasswordArgs};
use super::workspace::{Flags, Workspace, record};
use crate::accounts::users::{self, NewUser};
use crate::accounts::{Role, User};
use crate::base::{Code, Fault, Secret, TenantId};
use crate::store::Read;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Add a person
    Create(Create),
    /// List the people
    List {
        #[command(flatten)]
        flags: Flags,
    },
    /// Give a person another password, which ends their logins
    Passwd {
        /// Their e-mail address
        email: String,
        #[command(flatten)]
        password: PasswordArgs,
        #[command(flatten)]
        flags: Flags,
    },
    /// Stop a person from logging in, at once
    Disable {
        /// Their e-mail address
        email: String,
        #[command(flatten)]
        flags: Flags,
    },
    /// Let a person log in again
    Enable {
        /// Their e-mail address
        email: String,
        #[command(flatten)]
        flags: Flags,
    },
}

#[derive(Args)]
pub(super) struct Create {
    /// Their e-mail address
    #[arg(
        value_name = "EMAIL",
        required_unless_present = "email_flag",
        conflicts_with = "email_flag"
    )]
    email: Option<String>,
    /// Their e-mail address, as a flag
    #[arg(id = "email_flag", long = "email", value_name = "EMAIL")]
    email_flag: Option<String>,
    /// Their name
    #[arg(long, default_value = "")]
    name: String,
    /// owner, admin, member or viewer; the first person of a tenant is its owner, others members
    #[arg(long, value_parser = role)]
    role: Option<Role>,
    #[command(flatten)]
    password: PasswordArgs,
    #[command(flatten)]
    flags: Flags,
}

fn role(text: &str) -> Result<Role, String> {
    Role::parse(text).ok_or_else(|| format!("expected {}", Role::choices()))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    id: String,
    email: String,
    name: String,
    role: Role,
    created_at: String,
    disabled_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    password: Option<String>,
}

impl Shown {
    fn new(user: &User, password: Option<&Secret>) -> Self {
        Self {
            id: user.id.to_string(),
            email: user.email.clone(),
            name: user.name.clone(),
            role: user.role,
            created_at: user.created_at.iso(),
            disabled_at: user.disabled_at.map(crate::base::Millis::iso),
            password: password.map(|secret| secret.reveal().to_owned()),
        }
    }
}

pub(super) fn run(command: Command) -> Done {
    match command {
        Command::Create(args) => create(args),
        Command::List { flags } => list(&flags),
        Command::Passwd { email, password, flags } => passwd(email, &password, &flags),
        Command::Disable { email, flags } => set_disabled(email, true, &flags),
        Command::Enable { email, flags } => set_disabled(email, false, &flags),
    }
}

fn create(args: Create) -> Done {
    let email = args.email.or(args.email_flag).unwrap_or_default();
    users::normal_email(&email)?;
    let Password { hash, made_up } = args.password.get()?;
    let workspace = Workspace::open_or_make(&args.flags)?;
    let actor = workspace.actor_or_new()?;
    let (name, role) = (args.name, args.role);
    let user = workspace.write(move |tx| {
        let first = users::list(tx, actor.tenant)?.is_empty();
        let role = role.unwrap_or(if first { Role::Owner } else { Role::Member });
        let new = NewUser { email: &email, name: &name, role, password: &hash };
        let user = users::create(tx, actor.tenant, &new)?;
        record(tx, &actor, "create_user", &user.email)?;
        Ok(user)
    })?;
    if args.flags.json {
        return output::json(&Shown::new(&user, made_up.as_ref()));
    }
    output::note(&format!("Added {} as {}.", user.email, user.role));
    tell(made_up.as_ref())
}

/// Prints a password that was made up, alone on its line; nobody can print it again.
fn tell(made_up: Option<&Secret>) -> Done {
    if let Some(secret) = made_up {
        output::note("The password is shown only this once:");
        output::line(secret.reveal())?;
    }
    Ok(())
}

fn list(flags: &Flags) -> Done {
    let workspace = Workspace::open(flags)?;
    let tenant = workspace.actor()?.tenant;
    let all = workspace.read(|read| users::list(read, tenant))?;
    if flags.json {
        let shown: Vec<Shown> = all.iter().map(|user| Shown::new(user, None)).collect();
        return output::json(&shown);
    }
    let row = |user: &User| {
        let state = if user.disabled_at.is_some() { "disabled" } else { "active" };
        let (email, name, role) = (user.email.clone(), user.name.clone(), user.role.to_string());
        [email, name, role, state.to_owned(), moment(Some(user.created_at))]
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    Ok(output::table(["email", "name", "role", "state", "created"], &rows)?)
}

fn passwd(email: String, password: &PasswordArgs, flags: &Flags) -> Done {
    let workspace = Workspace::open(flags)?;
    let actor = workspace.actor()?;
    workspace.read(|read| known(read, actor.tenant, &email))?;
    let Password { hash, made_up } = password.get()?;
    let user = workspace.write(move |tx| {
        let user = known(tx, actor.tenant, &email)?;
        users::set_password(tx, &user, &hash)?;
        record(tx, &actor, "set_password", &user.email)?;
        Ok(user)
    })?;
    if flags.json {
        return output::json(&Shown::new(&user, made_up.as_ref()));
    }
    output::note(&format!("{} has another password; their logins have ended.", user.email));
    tell(made_up.as_ref())
}

fn set_disabled(email: String, disabled: bool, flags: &Flags) -> Done {
    let workspace = Workspace::open(flags)?;
    let actor = workspace.actor()?;
    let tenant = actor.tenant;
    let user = workspace.write(move |tx| {
        let user = known(tx, tenant, &email)?;
        users::set_disabled(tx, &user, disabled)?;
        let action = if disabled { "disable_user" } else { "enable_user" };
        record(tx, &actor, action, &user.email)?;
        known(tx, tenant, &user.email)
    })?;
    if flags.json {
        return output::json(&Shown::new(&user, None));
    }
    let said = if disabled { "can no longer log in." } else { "can log in." };
    output::note(&format!("{} {said}", user.email));
    Ok(())
}

fn known(read: &Read<'_>, tenant: TenantId, email: &str) -> Result<User, Fault> {
    users::find_by_email(read, tenant, email)?
        .ok_or_else(|| Fault::new(Code::NotFound, format!("Nobody has the address {email:?}.")))
}
