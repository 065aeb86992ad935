//! `assay tenant`: whose everything is.

use clap::Subcommand;
use serde::Serialize;

use super::Done;
use super::output::{self, moment};
use super::workspace::{Flags, Workspace, record};
use crate::accounts::{Actor, Plan, Tenant, tenants};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Make a tenant
    Create {
        /// Its name
        name: String,
        /// What it has: `all` or `read_only`
        #[arg(long, default_value = "all", value_parser = plan)]
        plan: Plan,
        #[command(flatten)]
        flags: Flags,
    },
    /// List the tenants
    List {
        #[command(flatten)]
        flags: Flags,
    },
}

fn plan(text: &str) -> Result<Plan, String> {
    Plan::parse(text).ok_or_else(|| format!("expected {}", Plan::choices()))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    id: String,
    slug: String,
    name: String,
    plan: Plan,
    created_at: String,
}

impl From<&Tenant> for Shown {
    fn from(tenant: &Tenant) -> Self {
        Self {
            id: tenant.id.to_string(),
            slug: tenant.slug.clone(),
            name: tenant.name.clone(),
            plan: tenant.plan,
            created_at: tenant.created_at.iso(),
        }
    }
}

pub(super) fn run(command: Command) -> Done {
    match command {
        Command::Create { name, plan, flags } => {
            let tenant = Workspace::open_or_make(&flags)?.write(move |tx| {
                let tenant = tenants::create(tx, &name, plan)?;
                record(tx, &Actor::local(tenant.id, plan), "create_tenant", &tenant.slug)?;
                Ok(tenant)
            })?;
            if flags.json {
                output::json(&Shown::from(&tenant))
            } else {
                Ok(output::line(&tenant.slug)?)
            }
        }
        Command::List { flags } => {
            let all = Workspace::open(&flags)?.read(tenants::list)?;
            if flags.json {
                return output::json(&all.iter().map(Shown::from).collect::<Vec<_>>());
            }
            let row = |tenant: &Tenant| {
                let plan = tenant.plan.to_string();
                let (slug, name) = (tenant.slug.clone(), tenant.name.clone());
                [slug, name, plan, moment(Some(tenant.created_at))]
            };
            let rows: Vec<_> = all.iter().map(row).collect();
            Ok(output::table(["tenant", "name", "plan", "created"], &rows)?)
        }
    }
}
