//! Every tool there is, in the order in which it is listed.

use super::tool::{Entry, Family};
use super::{jobs, projects, tickets};

/// Every tool.
pub struct Registry(Vec<Entry>);

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// Builds the entries of all tools.
    #[must_use]
    pub fn new() -> Self {
        Self(vec![
            Entry::of::<tickets::DispatchTicket>(),
            Entry::of::<tickets::DispatchTicketGraph>(),
            Entry::of::<tickets::MintAttachmentUploadUrl>(),
            Entry::of::<tickets::ListTickets>(),
            Entry::of::<tickets::SearchTickets>(),
            Entry::of::<tickets::GetTicket>(),
            Entry::of::<tickets::GetTicketGraph>(),
            Entry::of::<tickets::GetTicketReports>(),
            Entry::of::<tickets::ReplyTicket>(),
            Entry::of::<tickets::CreateSecretLink>(),
            Entry::of::<tickets::ApproveTicket>(),
            Entry::of::<tickets::CancelTicket>(),
            Entry::of::<tickets::RetryTicket>(),
            Entry::of::<tickets::ListCategories>(),
            Entry::of::<tickets::RenameCategory>(),
            Entry::of::<tickets::DeleteCategory>(),
            Entry::of::<tickets::ClaimTicketNode>(),
            Entry::of::<tickets::ReportNodeProgress>(),
            Entry::of::<tickets::SubmitNodeReport>(),
            Entry::of::<tickets::ReleaseNode>(),
            Entry::of::<tickets::FileChildTicket>(),
            Entry::of::<tickets::AskPerson>(),
            Entry::of::<tickets::AttachEvidence>(),
            Entry::of::<jobs::GetJobStatus>(),
            Entry::of::<projects::ListProjects>(),
            Entry::of::<projects::GetProject>(),
            Entry::of::<projects::CreateProject>(),
            Entry::of::<projects::UpdateProject>(),
            Entry::of::<projects::TryAgent>(),
        ])
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Entry] {
        &self.0
    }

    /// Those of a family.
    pub fn of(&self, family: Family) -> impl Iterator<Item = &Entry> {
        self.0.iter().filter(move |entry| entry.family == family)
    }

    /// The one of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.name == name)
    }

    /// The name that is nearest to one that no tool has.
    pub(super) fn nearest(&self, name: &str) -> Option<&'static str> {
        super::arguments::nearest(name, self.0.iter().map(|entry| entry.name))
    }
}
