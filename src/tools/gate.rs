//! The one gate that every door calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::arguments;
use super::context::{CallContext, Cx, Premises};
use super::rate::Limiter;
use super::registry::Registry;
use super::tool::{Effect, Entry, Reply};
use crate::accounts::{Actor, audit, keys, scope};
use crate::base::stops::{self, Stop};
use crate::base::text::cut;
use crate::base::{Clock, Code, Fault, NextAction, RateLimit, Secret};
use crate::projects::git::Git;
use crate::store::Db;
use crate::tickets::draft::model::Drafter;
use crate::tickets::editors::Editors;

/// Characters of a tool's name that an answer repeats at most.
const NAME_MAX: usize = 60;

/// Whoever calls, recognised.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Who it is, and how far it reaches.
    pub actor: Arc<Actor>,
}

impl Caller {
    /// A caller that a door recognised by other means than a key: a login, or the machine itself.
    #[must_use]
    pub fn of(actor: Actor) -> Self {
        Self { actor: Arc::new(actor) }
    }
}

/// The gate.
pub struct Gate {
    db: Db,
    registry: Registry,
    limiter: Limiter,
    git: Git,
    premises: Arc<Premises>,
    editors: Option<Arc<dyn Editors>>,
    drafter: Option<Arc<dyn Drafter>>,
}

impl Gate {
    /// The gate to every tool.
    #[must_use]
    pub fn new(db: Db, clock: Clock, limit: RateLimit, git: Git, premises: Premises) -> Self {
        let limiter = Limiter::new(limit, clock);
        let (registry, premises) = (Registry::new(), Arc::new(premises));
        Self { db, registry, limiter, git, premises, editors: None, drafter: None }
    }

    /// The same with the server that has the work trees.
    #[must_use]
    pub fn with_editors(self, editors: Arc<dyn Editors>) -> Self {
        Self { editors: Some(editors), ..self }
    }

    /// The same with a language model that drafts.
    #[must_use]
    pub fn with_drafter(self, drafter: Arc<dyn Drafter>) -> Self {
        Self { drafter: Some(drafter), ..self }
    }

    /// Every tool.
    #[must_use]
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Who holds this key.
    pub async fn caller(&self, key: Option<&Secret>) -> Result<Caller, Fault> {
        let Some(key) = key else {
            return Err(unauthenticated("No key came with the call."));
        };
        let recognised = self.db.glance(|read| keys::authenticate(read, key))?;
        let Some(recognised) = recognised else {
            return Err(unauthenticated("The key is not known here, or it has been revoked."));
        };
        if recognised.use_due {
            let (tenant, key) = (recognised.actor.tenant, recognised.key);
            let noted = self.db.write(move |tx| keys::note_use(tx, tenant, key)).await;
            if let Err(fault) = noted {
                // When a key was last used is good to know, and no reason to refuse a call.
                tracing::warn!(?fault, "The use of a key was not noted");
            }
        }
        Ok(Caller { actor: Arc::new(recognised.actor) })
    }

    /// Calls a tool for a caller, with every check in its place.
    pub async fn call(
        &self,
        caller: &Caller,
        tool: &str,
        arguments: Value,
        context: CallContext,
    ) -> Result<Reply, Fault> {
        let entry = self.find(tool)?;
        scope::check(&caller.actor, entry.name, entry.effect == Effect::Reads)?;
        check_plan(&caller.actor, entry)?;
        if let Some(key) = caller.actor.key() {
            self.limiter.admit(key)?;
        }
        self.check_unserved(&caller.actor, entry, &arguments).await?;
        let arguments = arguments::read(entry, arguments)?;
        let cx = Cx {
            db: self.db.clone(),
            actor: caller.actor.clone(),
            tool: entry.name,
            via: context.via,
            request: context.request,
            progress: context.progress,
            audited: Arc::new(AtomicBool::new(false)),
            repositories: self.git.clone(),
            premises: self.premises.clone(),
            editors: self.editors.clone(),
            drafter: self.drafter.clone(),
        };
        let outcome = tokio::select! {
            outcome = (entry.call)(cx.clone(), arguments) => outcome,
            () = context.cancel.cancelled() => {
                Err(Fault::new(Code::Unavailable, "The caller no longer waits for the answer."))
            }
        };
        if entry.effect != Effect::Reads && !cx.audited.load(Ordering::Relaxed) {
            self.audit(&cx, entry, outcome.as_ref().err()).await;
        }
        if entry.effect != Effect::Reads {
            stops::reach(Stop::CallDone);
        }
        outcome
    }

    /// The tool of that name, or the answer that names the nearest.
    pub fn find(&self, name: &str) -> Result<&Entry, Fault> {
        self.registry.find(name).ok_or_else(|| {
            let near = self.registry.nearest(name);
            let hint = near.map_or_else(String::new, |near| format!(" Did you mean {near}?"));
            let message = format!("There is no tool {:?}.{hint}", cut(name, NAME_MAX));
            Fault::new(Code::ToolNotFound, message).next(NextAction::Open("/docs/tools".to_owned()))
        })
    }

    /// Arguments that are not served are refused with the others, unless the contract has a code
    /// for what is wrong with them.
    async fn check_unserved(
        &self,
        actor: &Arc<Actor>,
        entry: &Entry,
        sent: &Value,
    ) -> Result<(), Fault> {
        let Value::Object(sent) = sent else { return Ok(()) };
        if !entry.unserved.iter().any(|(name, _)| sent.contains_key(*name)) {
            return Ok(());
        }
        let (actor, sent, refuse) = (actor.clone(), sent.clone(), entry.refuse_unserved);
        self.db.read(move |read| refuse(read, &actor, &sent)).await
    }

    /// An audit row for a write that was refused, or that did not change a row of its own.
    async fn audit(&self, cx: &Cx, entry: &Entry, fault: Option<&Fault>) {
        let (actor, via, action) = (cx.actor.clone(), cx.via, entry.name);
        let (request, outcome) = (cx.request.to_string(), fault.map(|fault| fault.code));
        let written = self.db.write(move |tx| {
            let outcome = outcome.map_or_else(|| "ok".to_owned(), |code| format!("{code:?}"));
            let entry =
                audit::Entry { via, action, subject: "", outcome: &outcome, request: &request };
            audit::record(tx, &actor, entry)
        });
        if let Err(fault) = written.await {
            tracing::error!(?fault, tool = entry.name, "An audit row was not written");
        }
    }
}

fn unauthenticated(why: &str) -> Fault {
    let message = format!(
        "{why} Send one in the header X-API-Key, or as the bearer token of Authorization; `assay \
         key create` makes one."
    );
    Fault::new(Code::Unauthenticated, message)
        .next(NextAction::Run("assay key create --scope mcp_full --name my-agent".to_owned()))
}

fn check_plan(actor: &Actor, entry: &Entry) -> Result<(), Fault> {
    match entry.feature {
        Some(feature) if !actor.plan.allows(feature) => {
            let message = format!(
                "{} needs the feature {feature}, which the plan {} does not include.",
                entry.name, actor.plan
            );
            Err(Fault::new(Code::PlanGate, message))
        }
        _ => Ok(()),
    }
}
