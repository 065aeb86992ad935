//! The one failure value of the whole program. Domains make it, doors speak it. How a code is said
//! on the wire is not known here: that is the table in `contract/code.rs`.

use std::error::Error;
use std::fmt;
use std::io;
use std::ops::Deref;
use std::path::Path;

use serde_json::Value;

/// Why a call could not be done. Closed: a code exists only where a client would act differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// No key or login came with the call, or it is unknown, expired or revoked.
    Unauthenticated,
    /// The caller is known but may not reach the project it named.
    Forbidden,
    /// The key's scope does not include what the tool does.
    ScopeDenied,
    /// The tenant's plan does not include the feature.
    PlanGate,
    /// Too many calls in the last minute; the fault carries when to try again.
    RateLimited,
    /// A write tool of the quality family was called without `confirm: true`.
    ConfirmRequired,
    /// No tool has the name that was called.
    ToolNotFound,
    /// One or more arguments are missing, unknown or of the wrong shape.
    InvalidArgument,
    /// The argument exists in the contract, but this server does not serve it.
    UnsupportedArgument,
    /// The ticket, job or record does not exist for this caller.
    NotFound,
    /// The project or environment that was named does not exist for this caller.
    ProjectNotFound,
    /// Neither the arguments nor the key say which project is meant.
    MissingProject,
    /// Several projects have the name that was given.
    AmbiguousProject,
    /// Several tickets have the number that was given.
    AmbiguousTicketRef,
    /// Attachments were given without the job id they were uploaded under.
    MissingJobId,
    /// The text names a file, but nothing is attached.
    AttachmentReferenceWithoutAttachments,
    /// `depends_on` came without a sentence saying what is consumed.
    DependsOnReasonRequired,
    /// A named parent cannot be depended on.
    InvalidDependsOn,
    /// The dependency would close a cycle.
    DependencyCycle,
    /// `replaces` names a ticket that is not cancelled.
    ReplacesNotCancelled,
    /// `seed_from_ref` is not a branch name.
    InvalidSeedFromRef,
    /// `kind` is not one of the ticket kinds.
    InvalidKind,
    /// `preset` is not one of the presets.
    InvalidPreset,
    /// `pass_profile` is not one of the profiles.
    InvalidPassProfile,
    /// A category name was given without its project.
    CategoryFilterRequiresProject,
    /// The ticket has already ended.
    NotCancellable,
    /// The ticket is not in a state from which it can be tried again.
    NotRetryable,
    /// The ticket has no open question.
    NotAwaitingInput,
    /// What is asked for is a secret, which is given through its link and in no message.
    SecretThroughLink,
    /// The change lost against another one, or a name is taken.
    Conflict,
    /// The project lacks what the call needs, such as a usable repository or an agent.
    ProjectNotReady,
    /// A functional scenario could not be completed.
    PipelineBlocked,
    /// A functional scenario could not be saved or compiled.
    SaveFailed,
    /// The proof was made and its verdict is negative.
    ProofFailed,
    /// Something outside this process failed: git, an agent, a site.
    Upstream,
    /// The body is larger than the door takes.
    PayloadTooLarge,
    /// The request itself cannot be read, or was addressed to another host or origin.
    BadRequest,
    /// The data directory has no room left.
    StorageFull,
    /// The server is starting, draining or over its limits.
    Unavailable,
    /// The work did not end within its time.
    Timeout,
    /// A fault of ours. The cause is in the log under the request id.
    Internal,
}

impl Code {
    /// Every code, in the order of the error reference.
    pub const ALL: [Self; 41] = [
        Self::Unauthenticated,
        Self::Forbidden,
        Self::ScopeDenied,
        Self::PlanGate,
        Self::RateLimited,
        Self::ConfirmRequired,
        Self::ToolNotFound,
        Self::InvalidArgument,
        Self::UnsupportedArgument,
        Self::NotFound,
        Self::ProjectNotFound,
        Self::MissingProject,
        Self::AmbiguousProject,
        Self::AmbiguousTicketRef,
        Self::MissingJobId,
        Self::AttachmentReferenceWithoutAttachments,
        Self::DependsOnReasonRequired,
        Self::InvalidDependsOn,
        Self::DependencyCycle,
        Self::ReplacesNotCancelled,
        Self::InvalidSeedFromRef,
        Self::InvalidKind,
        Self::InvalidPreset,
        Self::InvalidPassProfile,
        Self::CategoryFilterRequiresProject,
        Self::NotCancellable,
        Self::NotRetryable,
        Self::NotAwaitingInput,
        Self::SecretThroughLink,
        Self::Conflict,
        Self::ProjectNotReady,
        Self::PipelineBlocked,
        Self::SaveFailed,
        Self::ProofFailed,
        Self::Upstream,
        Self::PayloadTooLarge,
        Self::BadRequest,
        Self::StorageFull,
        Self::Unavailable,
        Self::Timeout,
        Self::Internal,
    ];
}

/// One problem of a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Where: `attachments[1].key`; empty for the whole of it.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

/// One thing that a person or an agent can do about a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextAction {
    /// Run this command. Never built from a caller's text.
    Run(String),
    /// Open this page. An address of this server, or relative to it.
    Open(String),
    /// Edit this file.
    Edit(String),
    /// Call this tool; arguments as a JSON object.
    Call {
        /// What the call would do, in a few words.
        label: String,
        /// The tool's name.
        tool: String,
        /// The arguments to start from.
        args: Value,
    },
}

/// A failure: what was wrong, where, and what to do next. Small, because every result carries its
/// size; what comes along with it is boxed, and read as if it were fields: `fault.issues`.
pub struct Fault {
    /// Which of the closed list it is.
    pub code: Code,
    /// What went wrong, for the caller. Never holds a secret or another tenant's data.
    pub message: String,
    details: Box<Details>,
}

/// What comes along with a fault.
#[derive(Default)]
pub struct Details {
    /// The single problems, where there are several or where a path helps.
    pub issues: Vec<Issue>,
    /// What to do next, most useful first.
    pub next: Vec<NextAction>,
    /// What the contract sends along with the failure, such as a proof that did not hold.
    pub data: Option<Value>,
    /// Milliseconds after which the same call may go through.
    pub retry_after_ms: Option<u64>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl Deref for Fault {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.details
    }
}

impl Fault {
    /// A fault with a message and nothing else.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Box::default() }
    }

    /// A fault of ours: the caller reads a plain sentence, the log gets the cause.
    #[must_use]
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(Code::Internal, "Something went wrong on the server.").because(cause)
    }

    /// A file or folder of the server's own cannot be used: the disk is full, or refuses.
    #[must_use]
    pub fn of_folder(folder: &Path, error: io::Error) -> Self {
        let fault = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::new(
                Code::StorageFull,
                "The disk that holds the data directory is full. Free some space and try again.",
            ),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::new(
                Code::Unavailable,
                format!(
                    "The folder {} cannot be written to: {error}. Give the server's user the \
                     right to write there.",
                    folder.display()
                ),
            ),
            _ => Self::new(
                Code::Unavailable,
                format!("The folder {} cannot be used at the moment.", folder.display()),
            ),
        };
        fault.because(error)
    }

    /// One bad argument, named by its path.
    #[must_use]
    pub fn argument(path: impl Into<String>, message: impl Into<String>) -> Self {
        let (path, message) = (path.into(), message.into());
        let said = format!("The argument {path} is not usable: {message}");
        Self::new(Code::InvalidArgument, said).issue(path, message)
    }

    /// The same fault with the cause that only the log may see.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.details.source = Some(cause.into());
        self
    }

    /// The same fault with one more thing to do.
    #[must_use]
    pub fn next(mut self, action: NextAction) -> Self {
        self.details.next.push(action);
        self
    }

    /// The same fault with one more problem.
    #[must_use]
    pub fn issue(mut self, path: impl Into<String>, message: impl Into<String>) -> Self {
        self.details.issues.push(Issue { path: path.into(), message: message.into() });
        self
    }

    /// The same fault with what the contract sends along.
    #[must_use]
    pub fn data(mut self, data: Value) -> Self {
        self.details.data = Some(data);
        self
    }

    /// The same fault with the time after which to try again, in milliseconds.
    #[must_use]
    pub fn retry_after_ms(mut self, wait_ms: u64) -> Self {
        self.details.retry_after_ms = Some(wait_ms);
        self
    }

    /// The cause, for the log at the edge and for nobody else.
    #[must_use]
    pub fn cause(&self) -> Option<&(dyn Error + Send + Sync)> {
        self.details.source.as_deref()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.code, self.message)?;
        for issue in &self.details.issues {
            write!(f, " [{}: {}]", issue.path, issue.message)?;
        }
        match &self.details.source {
            Some(source) => write!(f, " because {source}"),
            None => Ok(()),
        }
    }
}

impl Error for Fault {}
