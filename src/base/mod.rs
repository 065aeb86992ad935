//! Words that know nothing of Assay: faults, ids, time, text. Everything else may import it.

mod endpoint;
pub mod fault;
pub mod field;
pub mod id;
pub mod ids;
pub mod mail_server;
pub mod network;
mod rate_limit;
pub mod redact;
pub mod sealed;
pub mod secret;
pub mod stops;
pub mod text;
pub mod time;
mod words;

pub use endpoint::Endpoint;
pub use fault::{Code, Fault, Issue, NextAction};
pub use id::{Entropy, Id};
pub use ids::{
    AssertionId, AttachmentId, BootId, CategoryId, ClaimId, EnvironmentId, JobId, KeyId, LandingId,
    MailId, MessageId, NodeId, ProjectId, ProofId, QuestionId, RequestId, RunId, SavedViewId,
    ScopeId, TenantId, TicketId, UserId, WebhookId,
};
pub use mail_server::MailServer;
pub use network::Network;
pub use rate_limit::RateLimit;
pub use secret::Secret;
pub use time::{Clock, Millis};
