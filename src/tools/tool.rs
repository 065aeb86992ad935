//! What a tool is: one definition from which everything about it is derived.

use std::future::Future;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::check::Check;
use super::context::Cx;
use super::schema;
use crate::accounts::{Actor, Feature};
use crate::base::{Code, Fault, NextAction};
use crate::store::Read;
use crate::words;

words! {
    /// A family of tools: how they are listed, and which dialect their failures speak over MCP.
    pub enum Family {
        /// Tickets.
        Tickets = "tickets",
        /// Projects.
        Projects = "projects",
        /// Background work.
        Jobs = "jobs",
        /// The quality tools.
        Quality = "quality",
        /// The accessibility tools.
        Accessibility = "accessibility",
    }
}

/// What a call does to what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// Adds or changes.
    Writes,
    /// Ends or removes something that was there.
    Destroys,
}

/// What a tool answers.
#[derive(Debug, Clone)]
pub struct Done<T> {
    /// The answer.
    pub data: T,
    /// One line for people and agents.
    pub summary: String,
    /// What is odd, though it did not stop the call.
    pub warnings: Vec<String>,
    /// What to call next.
    pub next: Vec<NextAction>,
}

impl<T> Done<T> {
    /// An answer with its one line.
    #[must_use]
    pub fn new(data: T, summary: impl Into<String>) -> Self {
        Self { data, summary: summary.into(), warnings: Vec::new(), next: Vec::new() }
    }

    /// The same answer with something to call next.
    #[must_use]
    pub fn next(mut self, label: impl Into<String>, tool: &str, args: Value) -> Self {
        self.next.push(NextAction::Call { label: label.into(), tool: tool.to_owned(), args });
        self
    }

    /// The same answer with a warning.
    #[must_use]
    pub fn warn(mut self, warning: impl Into<String>) -> Self {
        self.warnings.push(warning.into());
        self
    }
}

/// What a tool answers, with its types erased: as the doors get it.
#[derive(Debug, Clone)]
pub struct Reply {
    /// One line for people and agents.
    pub summary: String,
    /// The answer, written out; always an object.
    pub data: Box<RawValue>,
    /// What is odd, though it did not stop the call.
    pub warnings: Vec<String>,
    /// What to call next.
    pub next: Vec<NextAction>,
}

impl Reply {
    /// The answer as a value, for who looks into it.
    #[must_use]
    pub fn value(&self) -> Value {
        serde_json::from_str(self.data.get()).unwrap_or_default()
    }
}

/// A tool.
pub trait Tool: 'static {
    /// Its name on every door.
    const NAME: &'static str;
    /// Its name for people.
    const TITLE: &'static str;
    /// What it does, when to use it, what it answers. Markdown.
    const ABOUT: &'static str;
    /// Its family.
    const FAMILY: Family;
    /// What it does to what is stored.
    const EFFECT: Effect;
    /// Whether the same call again changes nothing more.
    const IDEMPOTENT: bool;
    /// What a tenant's plan must include.
    const FEATURE: Option<Feature> = None;
    /// Whether the call must say `confirm: true`: the rule of the quality family's write tools.
    const CONFIRM: bool = false;
    /// Whether it starts work that goes on after the answer.
    const BACKGROUND: bool = false;
    /// Arguments whose refusal has a code of its own.
    const ARGUMENT_CODES: &'static [(&'static str, Code)] = &[];
    /// Arguments of the contract that this server does not serve, with what to do instead.
    const UNSERVED: &'static [(&'static str, &'static str)] = &[];
    /// Example arguments, as one JSON object.
    const EXAMPLE: &'static str;

    /// Refuses a call with arguments of [`Tool::UNSERVED`] where the contract has a code of its
    /// own for what is wrong with them. `sent` is what the caller sent, unchecked.
    fn refuse_unserved(
        _read: &Read<'_>,
        _actor: &Actor,
        _sent: &Map<String, Value>,
    ) -> Result<(), Fault> {
        Ok(())
    }

    /// The arguments.
    type Input: DeserializeOwned + JsonSchema + Send;
    /// The answer.
    type Output: Serialize + JsonSchema;

    /// Runs it.
    fn run(
        cx: &Cx,
        input: Self::Input,
    ) -> impl Future<Output = Result<Done<Self::Output>, Fault>> + Send;
}

/// [`Tool::refuse_unserved`] of a tool.
pub(super) type RefuseUnserved = fn(&Read<'_>, &Actor, &Map<String, Value>) -> Result<(), Fault>;

/// A tool's running, with its types erased.
pub(super) type Call = fn(Cx, Map<String, Value>) -> BoxFuture<'static, Result<Reply, Fault>>;

/// A tool with its types erased.
pub struct Entry {
    /// Its name on every door.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does. Markdown.
    pub about: &'static str,
    /// Its family.
    pub family: Family,
    /// What it does to what is stored.
    pub effect: Effect,
    /// Whether the same call again changes nothing more.
    pub idempotent: bool,
    /// What a tenant's plan must include.
    pub feature: Option<Feature>,
    /// Whether the call must say `confirm: true`.
    pub confirm: bool,
    /// Whether it starts work that goes on after the answer.
    pub background: bool,
    /// Arguments whose refusal has a code of its own.
    pub argument_codes: &'static [(&'static str, Code)],
    /// Arguments of the contract that this server does not serve.
    pub unserved: &'static [(&'static str, &'static str)],
    /// Example arguments, as one JSON object.
    pub example: &'static str,
    /// The schema of the arguments, as every client takes it.
    pub input_schema: Arc<Map<String, Value>>,
    /// The schema of the answer, as every client takes it.
    pub output_schema: Arc<Map<String, Value>>,
    /// The same without words for people, as it is listed to clients.
    pub listed_output: Arc<Map<String, Value>>,
    pub(super) check: Check,
    pub(super) refuse_unserved: RefuseUnserved,
    pub(super) call: Call,
}

impl Entry {
    /// The entry of a tool.
    ///
    /// # Panics
    /// If the schema of its arguments has a rule that the check does not know; a test builds every
    /// entry.
    #[must_use]
    pub fn of<T: Tool>() -> Self {
        let reads = SchemaSettings::draft2020_12;
        let mut input = schema::input(derived::<T::Input>(reads()));
        if T::CONFIRM {
            add_confirm(&mut input);
        }
        let check = Check::of(&schema::checked(derived::<T::Input>(reads())))
            .unwrap_or_else(|unknown| panic!("the arguments of {} have {unknown}", T::NAME));
        // What is left out where it says nothing must not be promised.
        let output = schema::output(derived::<T::Output>(reads().for_serialize()));
        Self {
            name: T::NAME,
            title: T::TITLE,
            about: T::ABOUT,
            family: T::FAMILY,
            effect: T::EFFECT,
            idempotent: T::IDEMPOTENT,
            feature: T::FEATURE,
            confirm: T::CONFIRM,
            background: T::BACKGROUND,
            argument_codes: T::ARGUMENT_CODES,
            unserved: T::UNSERVED,
            example: T::EXAMPLE,
            input_schema: Arc::new(input),
            listed_output: Arc::new(schema::bare(&output)),
            output_schema: Arc::new(output),
            check,
            refuse_unserved: T::refuse_unserved,
            call: call::<T>,
        }
    }
}

/// Lists the argument that the gate reads for every tool that wants it. It is not required by the
/// schema, so that its absence gets the answer that the contract has for it.
fn add_confirm(input: &mut Map<String, Value>) {
    let about = "Must be true: say it once the person who asks agrees to the change.";
    if let Some(Value::Object(properties)) = input.get_mut("properties") {
        let schema = serde_json::json!({ "type": "boolean", "description": about });
        properties.insert("confirm".to_owned(), schema);
    }
}

fn derived<T: JsonSchema>(settings: SchemaSettings) -> Value {
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

fn call<T: Tool>(
    cx: Cx,
    arguments: Map<String, Value>,
) -> BoxFuture<'static, Result<Reply, Fault>> {
    async move {
        let input = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
            Fault::new(Code::InvalidArgument, format!("The arguments are not usable: {error}."))
        })?;
        let done = T::run(&cx, input).await?;
        let data = serde_json::value::to_raw_value(&done.data).map_err(Fault::internal)?;
        Ok(Reply { summary: done.summary, data, warnings: done.warnings, next: done.next })
    }
    .boxed()
}
