//! The closed words of tickets and their graphs, spelled as the tickets contract spells them.

use crate::words;

words! {
    /// Where a ticket stands.
    pub enum Status {
        /// Filed, and free to start.
        Queued = "queued",
        /// Waits for its parents to land.
        Blocked = "blocked",
        /// A node of it runs, or is about to.
        Running = "running",
        /// Landed.
        Succeeded = "succeeded",
        /// Ended without landing.
        Failed = "failed",
        /// Ended because its time was up.
        Timeout = "timeout",
        /// Ended because somebody said so, or because a parent failed.
        Cancelled = "cancelled",
        /// Waits for a person's answer.
        AwaitingInput = "awaiting_input",
    }
}

impl Status {
    /// Whether the ticket has ended.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Timeout | Self::Cancelled)
    }
}

words! {
    /// What sort of work a ticket asks for.
    pub enum Kind {
        /// Something new.
        Feature = "feature",
        /// Something broken.
        Fix = "fix",
        /// The same behaviour in a better shape.
        Refactor = "refactor",
        /// A change of live data by a script.
        DataOperation = "data_operation",
        /// Building or changing an agent of the organisation.
        OrgAgentConstruction = "org_agent_construction",
    }
}

words! {
    /// Which agent profile of the project does the work.
    pub enum Preset {
        /// The project's default.
        Auto = "auto",
        /// The strongest.
        Max = "max",
        /// Stronger than the default.
        High = "high",
        /// The quickest.
        Fast = "fast",
        /// Cheaper than the default.
        Economy = "economy",
        /// For a change of a line or two.
        Trivial = "trivial",
        /// The cheapest.
        Cheap = "cheap",
    }
}

words! {
    /// Whether the security and docs passes run.
    pub enum PassProfile {
        /// Decided by what the ticket is about.
        Auto = "auto",
        /// Both run.
        Full = "full",
        /// Neither runs.
        Minimal = "minimal",
    }
}

words! {
    /// How a ticket's graph was planned.
    pub enum Origin {
        /// For this ticket, at dispatch.
        Dynamic = "dynamic",
        /// The fixed five passes.
        FivePassV1 = "five_pass_v1",
    }
}

words! {
    /// How a graph stands as a whole.
    pub enum GraphStatus {
        /// Nothing of it has started.
        Ready = "ready",
        /// Started and not ended; also while it waits for a person.
        Running = "running",
        /// Its ticket landed.
        Succeeded = "succeeded",
        /// Its ticket failed or ran out of time.
        Failed = "failed",
        /// Its ticket was cancelled.
        Cancelled = "cancelled",
    }
}

words! {
    /// What a node does.
    pub enum NodeKind {
        /// Says how the work will be done.
        Plan = "plan",
        /// Writes the assertions that the result must meet.
        Contract = "contract",
        /// Reads up on something outside the repository.
        Research = "research",
        /// Finds out why something is as it is.
        Investigate = "investigate",
        /// Does the work.
        Implement = "implement",
        /// Brings the documentation along.
        Docs = "docs",
        /// Joins the work of several parents.
        Integration = "integration",
        /// Reads the change and asks for another round where it is not right.
        Review = "review",
        /// Reads the change for security.
        Security = "security",
        /// Runs the checks and answers every assertion.
        Verification = "verification",
        /// Writes the tests that a ticket asks for.
        QaAuthoring = "qa_authoring",
        /// Brings the branch up to a base that moved.
        Reconcile = "reconcile",
        /// Resolves a conflict with the base.
        MergeRepair = "merge_repair",
        /// Puts the work on the base branch.
        Land = "land",
        /// Looks at what was deployed.
        DeployVerify = "deploy_verify",
    }
}

impl NodeKind {
    /// Whether an agent does it; the others are checks that the server runs itself.
    #[must_use]
    pub const fn is_agent_work(self) -> bool {
        !matches!(self, Self::Verification | Self::Land | Self::DeployVerify)
    }

    /// Whether its changes to the work tree are kept as a commit. The others only read.
    #[must_use]
    pub const fn writes_code(self) -> bool {
        matches!(
            self,
            Self::Implement
                | Self::Docs
                | Self::Integration
                | Self::Security
                | Self::QaAuthoring
                | Self::Reconcile
                | Self::MergeRepair
        )
    }
}

words! {
    /// Where a node stands.
    pub enum NodeStatus {
        /// Not started.
        Queued = "queued",
        /// A job does it now.
        Running = "running",
        /// Done.
        Succeeded = "succeeded",
        /// Done, and not well.
        Failed = "failed",
        /// Its ticket ended before it could.
        Cancelled = "cancelled",
        /// Not needed.
        Skipped = "skipped",
        /// Waits for a person's answer.
        AwaitingInput = "awaiting_input",
        /// Waits for something outside the graph.
        Blocked = "blocked",
    }
}

impl NodeStatus {
    /// Whether nothing more will happen to the node.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled | Self::Skipped)
    }
}

words! {
    /// What a ticket came to, by the record of its checks and nothing else.
    pub enum Outcome {
        /// Landed, and every assertion and check was confirmed.
        FullyVerified = "fully_verified",
        /// Landed, and there was nothing to check it by.
        ImplementationSucceeded = "implementation_succeeded",
        /// Landed, with assertions that could not be confirmed.
        PartiallyVerified = "partially_verified",
        /// Did not land.
        Failed = "failed",
        /// Ran out of time.
        Timeout = "timeout",
        /// Has not ended.
        InProgress = "in_progress",
    }
}

words! {
    /// How an assertion can be checked.
    pub enum CheckKind {
        /// A shell line that must exit with 0.
        Command = "command",
        /// A file that must be there, and may have to contain a text.
        File = "file",
        /// A person has to look.
        Person = "person",
        /// Nobody said how.
        None = "none",
    }
}

words! {
    /// What verification found of an assertion.
    pub enum AssertionState {
        /// Not looked at yet.
        Open = "open",
        /// Holds.
        Confirmed = "confirmed",
        /// Holds in part.
        Partial = "partial",
        /// Does not hold, or could not be checked.
        Unconfirmed = "unconfirmed",
    }
}

words! {
    /// What is left of a ticket for people or for later.
    pub enum ItemKind {
        /// Put off on purpose.
        Deferred = "deferred",
        /// An idea for another ticket.
        FollowUp = "follow_up",
        /// A step that only a person can do.
        HumanAction = "human_action",
    }
}

words! {
    /// What a ticket waits for a person to say, where it is no agent that asks.
    pub enum Pause {
        /// Whether its plan is to be done.
        Plan = "plan",
        /// Whether its verified work may land.
        Land = "land",
        /// Whether its script may change live data.
        Apply = "apply",
        /// That what stood in its way is gone.
        Hold = "hold",
        /// Whether its script ran to its end when the server went away.
        Unclear = "unclear",
    }
}

impl Pause {
    /// Whether it is an approval: said by a person with a reason, and not by an answer.
    #[must_use]
    pub const fn is_approval(self) -> bool {
        matches!(self, Self::Plan | Self::Land | Self::Apply)
    }
}

words! {
    /// A step that waits for an approval.
    pub enum Approval {
        /// The plan, before it is done.
        Plan = "plan",
        /// The verified work, before it lands.
        Land = "land",
        /// The script of a data operation, before it changes live data.
        Apply = "apply",
    }
}

impl Approval {
    /// What a ticket waits for that needs it.
    #[must_use]
    pub const fn pause(self) -> Pause {
        match self {
            Self::Plan => Pause::Plan,
            Self::Land => Pause::Land,
            Self::Apply => Pause::Apply,
        }
    }
}

words! {
    /// What a person says to a step that waits for an approval.
    pub enum Decision {
        /// It may go on.
        Approve = "approve",
        /// It goes back, with the reason.
        Reject = "reject",
    }
}

words! {
    /// Where a request to dispatch came from.
    pub enum Channel {
        /// A chat agent.
        ChippChat = "chipp_chat",
        /// Slack.
        Slack = "slack",
        /// The dashboard.
        Dashboard = "dashboard",
        /// An MCP client.
        Mcp = "mcp",
        /// The JSON endpoint.
        Api = "api",
        /// A schedule.
        Cron = "cron",
        /// A webhook.
        Webhook = "webhook",
    }
}
