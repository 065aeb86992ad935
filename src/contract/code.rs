//! The one table: how each failure code is said in each dialect, and what it means.

use crate::base::Code;

/// Everything that is said of one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wire {
    /// `error.code` in the envelope.
    pub envelope: &'static str,
    /// HTTP status of an envelope.
    pub http: u16,
    /// `recoverable` in the envelope: whether another call of the same tool may succeed.
    pub recoverable: bool,
    /// `data.code` in a JSON-RPC error.
    pub rpc: &'static str,
    /// `data.statusCode` in a JSON-RPC error.
    pub status: u16,
    /// `code` in an error object, and the anchor in the error reference.
    pub object: &'static str,
    /// Its heading in the error reference.
    pub title: &'static str,
    /// What it means, in one or two sentences.
    pub meaning: &'static str,
    /// What to do about it, in one line.
    pub hint: &'static str,
}

/// Writes the table as one match without a wildcard: a code that is not in it does not compile.
macro_rules! table {
    ($(
        $code:ident
            envelope $envelope:literal $http:literal $recoverable:literal
            rpc $rpc:literal $status:literal
            object $object:literal
            $title:literal
            $meaning:literal
            $hint:literal
    )+) => {
        /// How a code is spoken.
        #[must_use]
        pub const fn wire(code: Code) -> Wire {
            match code {
                $( Code::$code => Wire {
                    envelope: $envelope,
                    http: $http,
                    recoverable: $recoverable,
                    rpc: $rpc,
                    status: $status,
                    object: $object,
                    title: $title,
                    meaning: $meaning,
                    hint: $hint,
                }, )+
            }
        }
    };
}

table! {
    Unauthenticated
        envelope "unauthenticated" 401 false
        rpc "UNAUTHENTICATED" 401
        object "auth.unauthenticated"
        "No valid key"
        "The call came without a key or login, or with one that is unknown, expired or revoked."
        "Send a valid API key in the Authorization header as a bearer token, or in X-API-Key."
    Forbidden
        envelope "scope_denied" 403 false
        rpc "FORBIDDEN" 403
        object "auth.forbidden"
        "Project out of reach"
        "The key is valid, but it is limited to other projects than the one that was named."
        "Use a key that includes this project, or name a project that the key includes."
    ScopeDenied
        envelope "scope_denied" 403 false
        rpc "SCOPE_DENIED" 403
        object "auth.scope-denied"
        "Scope too small"
        "The key may not do what the tool does. A key of scope mcp_read reads; one of scope \
         mcp_full also writes."
        "Ask an administrator for a key of scope mcp_full."
    PlanGate
        envelope "plan_gate" 403 false
        rpc "PLAN_GATE" 403
        object "plan.feature-not-included"
        "Not in the plan"
        "The tool belongs to a feature that the tenant's plan does not include."
        "Ask an administrator to add the feature to the plan."
    RateLimited
        envelope "rate_limit" 429 true
        rpc "RATE_LIMITED" 429
        object "mcp.rate-limited"
        "Too many calls"
        "The key has made more calls in the last minute than the server allows."
        "Wait as long as the error says, then make the same call again."
    ConfirmRequired
        envelope "confirm_required" 400 true
        rpc "CONFIRM_REQUIRED" 400
        object "mcp.confirm-required"
        "Not confirmed"
        "The tool changes something and runs only when the call says that this is meant."
        "Make the same call with confirm: true, once the change is wanted."
    ToolNotFound
        envelope "not_found" 404 false
        rpc "TOOL_NOT_FOUND" 404
        object "mcp.tool-not-found"
        "Unknown tool"
        "The server has no tool of this name, or the address of the connection leaves it out."
        "List the tools and call one of them by its exact name."
    InvalidArgument
        envelope "validation_error" 400 true
        rpc "INVALID_ARGUMENT" 400
        object "mcp.invalid-argument"
        "Invalid arguments"
        "One or more arguments are missing, unknown or of the wrong shape. The error lists every \
         problem with its path."
        "Correct each argument that the error lists and call again."
    UnsupportedArgument
        envelope "validation_error" 400 true
        rpc "UNSUPPORTED_ARGUMENT" 400
        object "mcp.unsupported-argument"
        "Argument not served"
        "The argument is part of the published contract, but this server does not act on it. It \
         refuses the call rather than ignore what was asked."
        "Leave the argument out and call again."
    NotFound
        envelope "tool_error" 422 true
        rpc "NOT_FOUND" 404
        object "record.not-found"
        "Not found"
        "No ticket, job or record of this id exists for the caller. One that belongs to somebody \
         else gives the same answer."
        "Check the id or reference against the matching list."
    ProjectNotFound
        envelope "project_resolution_error" 422 true
        rpc "NOT_FOUND" 404
        object "project.not-found"
        "Project not found"
        "No project or environment of this id or name exists for the caller. One that belongs to \
         somebody else gives the same answer."
        "List the projects and name one of them by its id or exact name."
    MissingProject
        envelope "project_resolution_error" 422 true
        rpc "MISSING_PROJECT" 400
        object "project.missing"
        "No project named"
        "Neither the arguments nor the key say which project is meant."
        "Name the project, or use a key that has a default project."
    AmbiguousProject
        envelope "project_resolution_error" 422 true
        rpc "AMBIGUOUS_PROJECT" 400
        object "project.ambiguous"
        "Several projects of that name"
        "More than one project has the name that was given, and the server does not guess."
        "Name the project by its id."
    AmbiguousTicketRef
        envelope "tool_error" 422 true
        rpc "AMBIGUOUS_TICKET_REF" 400
        object "ticket.ambiguous-ref"
        "Several tickets of that number"
        "More than one ticket has the number that was given, and the server does not guess."
        "Name the ticket with its project key, such as ACME-42, or by its id."
    MissingJobId
        envelope "validation_error" 400 true
        rpc "MISSING_JOB_ID" 400
        object "ticket.missing-job-id"
        "Attachments without their job id"
        "Attachments were given without the job id under which they were uploaded."
        "Pass the job_id that was used to upload the attachments."
    AttachmentReferenceWithoutAttachments
        envelope "validation_error" 400 true
        rpc "ATTACHMENT_REFERENCE_WITHOUT_ATTACHMENTS" 400
        object "ticket.attachment-reference-without-attachments"
        "A file is named, but none attached"
        "The ticket's text names a file that looks like an upload, and nothing is attached."
        "Attach the file, or set confirm_no_attachments where it is a path in the repository."
    DependsOnReasonRequired
        envelope "validation_error" 400 true
        rpc "DEPENDS_ON_REASON_REQUIRED" 400
        object "ticket.depends-on-reason-required"
        "Dependency without a reason"
        "depends_on needs a sentence of at least 10 characters in depends_on_reason that names \
         what the ticket takes from its parents."
        "Add depends_on_reason, or leave depends_on out where nothing is taken."
    InvalidDependsOn
        envelope "tool_error" 422 true
        rpc "INVALID_DEPENDS_ON" 400
        object "ticket.invalid-depends-on"
        "Parent cannot be depended on"
        "A parent that was named cannot be waited for, because of where it is or how it ended."
        "Name parents that are open or succeeded, and that the ticket can follow."
    DependencyCycle
        envelope "tool_error" 422 true
        rpc "DEPENDENCY_CYCLE" 400
        object "ticket.dependency-cycle"
        "Dependencies form a circle"
        "With this dependency a ticket would wait for itself, so none of them could ever start."
        "Leave out one of the dependencies that close the circle."
    ReplacesNotCancelled
        envelope "tool_error" 422 true
        rpc "REPLACES_NOT_CANCELLED" 400
        object "ticket.replaces-not-cancelled"
        "Replaced ticket is not cancelled"
        "replaces names a ticket that is not cancelled; only a cancelled one can be filed anew."
        "Cancel that ticket first, or leave replaces out."
    InvalidSeedFromRef
        envelope "validation_error" 400 true
        rpc "INVALID_SEED_FROM_REF" 400
        object "ticket.invalid-seed-from-ref"
        "Not a branch name"
        "seed_from_ref holds characters that a branch name cannot have."
        "Pass the plain name of an existing branch."
    InvalidKind
        envelope "validation_error" 400 true
        rpc "INVALID_KIND" 400
        object "ticket.invalid-kind"
        "Unknown kind"
        "kind is not one of the ticket kinds."
        "Use one of the kinds in the tool's schema, or leave kind out to have it chosen."
    InvalidPreset
        envelope "validation_error" 400 true
        rpc "INVALID_PRESET" 400
        object "ticket.invalid-preset"
        "Unknown preset"
        "preset is not one of the pipeline presets."
        "Use one of the presets in the tool's schema, or leave preset out."
    InvalidPassProfile
        envelope "validation_error" 400 true
        rpc "INVALID_PASS_PROFILE" 400
        object "ticket.invalid-pass-profile"
        "Unknown pass profile"
        "pass_profile is not one of the profiles."
        "Use auto, full or minimal, or leave pass_profile out."
    CategoryFilterRequiresProject
        envelope "validation_error" 400 true
        rpc "CATEGORY_FILTER_REQUIRES_PROJECT" 400
        object "ticket.category-filter-requires-project"
        "Category without its project"
        "Category names belong to a project, so a list cannot be filtered by name alone."
        "Add project_id, or filter by category_id."
    NotCancellable
        envelope "tool_error" 422 false
        rpc "NOT_CANCELLABLE" 409
        object "ticket.not-cancellable"
        "Already ended"
        "The ticket has ended, so there is nothing left to cancel."
        "Read the ticket to see how it ended."
    NotRetryable
        envelope "tool_error" 422 false
        rpc "NOT_RETRYABLE" 409
        object "ticket.not-retryable"
        "Cannot be tried again"
        "Only a ticket that failed, timed out or was cancelled can be tried again."
        "Read the ticket's status; wait for it, or dispatch a new ticket."
    NotAwaitingInput
        envelope "tool_error" 422 false
        rpc "NOT_AWAITING_INPUT" 409
        object "ticket.not-awaiting-input"
        "No open question"
        "The ticket asks nothing at the moment, so there is nothing to reply to."
        "Read the ticket; reply only while its status is awaiting_input."
    SecretThroughLink
        envelope "tool_error" 422 false
        rpc "SECRET_THROUGH_LINK" 409
        object "ticket.secret-through-link"
        "A secret is asked for"
        "The ticket waits for a secret, which no message may hold: it would be kept, and agents \
         read it. A form that works once takes it."
        "Open the secure form on the ticket's page, or call create_secret_link and give a person \
         the address."
    Conflict
        envelope "tool_error" 422 true
        rpc "CONFLICT" 409
        object "record.conflict"
        "Conflict"
        "Another change came first, or the name is already taken."
        "Read the current state, then repeat the change or choose another name."
    ProjectNotReady
        envelope "tool_error" 422 false
        rpc "PROJECT_NOT_READY" 409
        object "project.not-ready"
        "Project not set up"
        "The project lacks something that the call needs, such as a usable repository or an agent."
        "Complete what the message names in the project's settings."
    PipelineBlocked
        envelope "pipeline_blocked" 422 true
        rpc "PIPELINE_BLOCKED" 422
        object "scenario.pipeline-blocked"
        "Scenario not completed"
        "A functional scenario could not be made, for example because its goal is empty or its \
         start path is missing."
        "Supply what the message names and call again."
    SaveFailed
        envelope "save_failed" 422 true
        rpc "SAVE_FAILED" 422
        object "scenario.save-failed"
        "Scenario not saved"
        "A functional scenario was made, but could not be compiled or saved."
        "Correct what the message names in the scenario and save it again."
    ProofFailed
        envelope "proof_failed" 422 true
        rpc "PROOF_FAILED" 422
        object "proof.failed"
        "Not proved"
        "The proof was made, and its verdict is negative. It is kept, and the answer holds it."
        "Read the proof's reasons, correct what they name and prove again."
    Upstream
        envelope "tool_error" 422 true
        rpc "UPSTREAM_FAILED" 502
        object "upstream.failed"
        "Something outside failed"
        "Something that the server relies on failed: git, an agent or a site."
        "Read the message, see to what it names and call again."
    PayloadTooLarge
        envelope "validation_error" 413 true
        rpc "PAYLOAD_TOO_LARGE" 413
        object "request.too-large"
        "Request too large"
        "The request's body is larger than the server takes."
        "Send less at once; the message says how much is taken."
    BadRequest
        envelope "validation_error" 400 false
        rpc "BAD_REQUEST" 400
        object "request.unreadable"
        "Request refused"
        "The request cannot be read, or it was addressed to a host or sent from an origin that \
         the server does not serve."
        "Check the request's body, its content type and the address it was sent to."
    StorageFull
        envelope "tool_error" 507 false
        rpc "STORAGE_FULL" 507
        object "server.storage-full"
        "No room left"
        "The server's data directory is full, so nothing was changed. Reading still works."
        "Ask an administrator to free disk space; no restart is needed."
    Unavailable
        envelope "tool_error" 503 true
        rpc "UNAVAILABLE" 503
        object "server.unavailable"
        "Not available now"
        "The server is starting, stopping or busier than it allows itself to be."
        "Make the same call again in a few seconds."
    Timeout
        envelope "tool_error" 422 true
        rpc "TIMEOUT" 504
        object "server.timeout"
        "Out of time"
        "The work did not end within the time it was given."
        "Call again; where the message names a limit, ask for less or raise it."
    Internal
        envelope "tool_error" 500 false
        rpc "INTERNAL" 500
        object "server.internal"
        "Fault of the server"
        "Something went wrong inside the server. The cause is in its log under the request id."
        "Try once more; if it stays, give the request id to an administrator."
}
