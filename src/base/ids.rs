//! The things that have ids. The markers carry no meaning beyond their names; they stand here so
//! that a row may name a thing whose domain it must not import.

use super::id::Id;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident => $id:ident;)+) => {
        $(
            /// Marks the ids of this kind of thing.
            #[derive(Debug)]
            pub enum $kind {}
            $(#[$doc])*
            pub type $id = Id<$kind>;
        )+
    };
}

kinds! {
    /// A tenant: whose everything is.
    Tenant => TenantId;
    /// A person with a login.
    User => UserId;
    /// A named filter of somebody's list of tickets.
    SavedView => SavedViewId;
    /// An API key.
    Key => KeyId;
    /// A project.
    Project => ProjectId;
    /// A named base URL of a project.
    Environment => EnvironmentId;
    /// A ticket. Also the job id of the tickets contract.
    Ticket => TicketId;
    /// A batch of tickets dispatched together.
    Scope => ScopeId;
    /// A ticket category.
    Category => CategoryId;
    /// A file that comes with a ticket.
    Attachment => AttachmentId;
    /// A unit of a ticket's graph.
    Node => NodeId;
    /// A node that somebody does from an editor.
    Claim => ClaimId;
    /// An assertion of a ticket's contract.
    Assertion => AssertionId;
    /// A question of an agent to a person.
    Question => QuestionId;
    /// A landing on a base branch.
    Landing => LandingId;
    /// A proof.
    Proof => ProofId;
    /// Somebody who is told of a project's events over HTTP.
    Webhook => WebhookId;
    /// Something that a webhook is told.
    Message => MessageId;
    /// A mail to whoever asked for a ticket.
    Mail => MailId;
    /// A unit of background work.
    Job => JobId;
    /// One start of the server.
    Boot => BootId;
    /// One start of an agent's process.
    Run => RunId;
    /// One request through a door.
    Request => RequestId;
}
