//! `/tickets/{ref}/changes`: what the ticket's branch changes, or its landed commit has changed,
//! file by file. Git is asked each time: the branch is the truth.

use askama::Template;
use axum::extract::{Path, Query, State};
use serde::Deserialize;

use super::super::marks::Mark;
use super::super::parts::ticket_href;
use super::super::shell::Shell;
use super::patch::{self, Bounds, Patch};
use crate::base::redact::redact;
use crate::base::{Code, Fault, text};
use crate::projects::git::diff::{self, FileChange, Summary};
use crate::projects::git::{BranchName, CommitId, Repository};
use crate::projects::{self, Project};
use crate::tickets::Ticket;
use crate::tools::tickets;
use crate::web::auth::Visitor;
use crate::web::humane;
use crate::web::page::{Page, in_query};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// What is said where there is nothing to compare any more.
const GONE: &str = "The branch is not in the repository any more.";
/// How much of git's text is read, in bytes.
const TEXT_MAX: usize = 256 << 10;
/// Files that a page names.
const FILES_SHOWN: usize = 100;
/// Files whose lines a page shows.
const PATCHES_SHOWN: usize = 40;
/// Characters that all shown lines have at most, so that a page stays light.
const CHARS_MAX: usize = 40_000;

/// The changes of a ticket's branch.
#[derive(Template)]
#[template(path = "ticket_changes.html")]
pub(in crate::web::dashboard) struct ChangesPage {
    shell: Shell,
    reference: String,
    title: String,
    /// The ticket's page.
    href: String,
    mark: Mark,
    /// Which two commits are compared, in words.
    compared: String,
    /// `3 files`.
    said: String,
    added: String,
    deleted: String,
    files: Vec<FileLine>,
    /// Files that are not named.
    more_files: usize,
    patches: Vec<FilePatch>,
    /// The one file that is shown, where one is chosen.
    only: Option<String>,
    /// Why there is nothing to show; empty where there is.
    nothing: String,
}

/// A changed file in the list.
pub(super) struct FileLine {
    href: String,
    path: String,
    added: String,
    deleted: String,
}

/// A changed file with its lines.
pub(super) struct FilePatch {
    anchor: String,
    path: String,
    renamed_from: String,
    added: String,
    deleted: String,
    patch: Patch,
    /// The page of this file alone.
    href: String,
}

/// Which file, where one is chosen.
#[derive(Deserialize)]
pub(in crate::web::dashboard) struct Asked {
    #[serde(default)]
    file: String,
}

/// Two commits and what lies between them.
struct Compared {
    /// As git takes it.
    base: String,
    tip: CommitId,
    said: String,
}

/// `GET /tickets/{ref}/changes`.
pub(in crate::web::dashboard) async fn show(
    State(site): State<Site>,
    visitor: Visitor,
    Path(named): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Page<ChangesPage>, Trouble> {
    let (shell, ticket, project) = visitor
        .read(&site, move |read, visitor| {
            let ticket = tickets::find(read, visitor.actor(), &named)?;
            let project = projects::get(read, visitor.actor(), ticket.project)?;
            Ok((Shell::load(read, visitor, "/tickets")?.still(), ticket, project))
        })
        .await?;
    let mut page = ChangesPage::bare(shell, &ticket);
    match fill(&mut page, &site, &ticket, &project, &asked.file).await {
        // The page says what is in the way of the repository; it is no fault of the page.
        Err(fault) if matches!(fault.code, Code::ProjectNotReady | Code::Upstream) => {
            page.nothing = redact(&fault.message).into_owned();
        }
        other => other?,
    }
    Ok(Page(page))
}

/// Whether there is anything to compare, as far as the record says.
pub(super) fn has_changes(ticket: &Ticket) -> bool {
    ticket.branch.is_some() || ticket.commit_sha.is_some()
}

async fn fill(
    page: &mut ChangesPage,
    site: &Site,
    ticket: &Ticket,
    project: &Project,
    file: &str,
) -> Result<(), Fault> {
    if !has_changes(ticket) {
        "Nothing was changed yet: the branch is made when the work begins."
            .clone_into(&mut page.nothing);
        return Ok(());
    }
    let Some(location) = project.location() else {
        "The project names no repository.".clone_into(&mut page.nothing);
        return Ok(());
    };
    let id = project.id.to_string();
    let repository = Repository::open(site.git(), &location, site.mirrors(), &id).await?;
    let Some(compared) = compare(&repository, ticket).await? else {
        GONE.clone_into(&mut page.nothing);
        return Ok(());
    };
    let (base, tip) = (&compared.base, &compared.tip);
    let asked = match file {
        "" => diff::whole(&repository, base, tip, TEXT_MAX).await,
        _ => diff::summary(&repository, base, tip).await.map(|summary| (summary, String::new())),
    };
    // Whether a landed commit and the one below it are there is asked only if git missed one.
    let may_be_gone = asked.is_err() && ticket.commit_sha.is_some();
    if may_be_gone && diff::parent(&repository, tip).await?.is_none() {
        GONE.clone_into(&mut page.nothing);
        return Ok(());
    }
    let (summary, mut text) = asked?;
    let chosen = summary.files.iter().find(|one| one.path == file);
    if chosen.is_none() && !file.is_empty() {
        return Err(Fault::new(Code::NotFound, "The ticket changes no file of that name."));
    }
    if let Some(chosen) = chosen {
        let paths = paths_of(chosen);
        (text, _) = diff::text(&repository, base, tip, &paths, TEXT_MAX).await?;
    }
    page.take(&compared, &summary, chosen, &text::printable(&redact(&text)));
    Ok(())
}

/// The path of a file now and, where it was renamed, before.
fn paths_of(change: &FileChange) -> Vec<&str> {
    let before = change.renamed_from.as_deref();
    before.into_iter().chain([change.path.as_str()]).collect()
}

/// The landed commit and the one below it; before that, the branch and where it left its base.
async fn compare(repository: &Repository, ticket: &Ticket) -> Result<Option<Compared>, Fault> {
    let base_name = ticket.base_branch.as_deref().unwrap_or("the base branch");
    if let Some(commit) = ticket.commit_sha.as_deref().and_then(CommitId::parse) {
        let said = format!("Landed on {base_name} as {}.", commit.short());
        return Ok(Some(Compared { base: diff::parent_of(&commit), tip: commit, said }));
    }
    let Some(branch) = ticket.branch.as_deref().and_then(|name| BranchName::parse(name).ok())
    else {
        return Ok(None);
    };
    let Some(tip) = repository.branch(&branch).await? else { return Ok(None) };
    let begun = ticket.base_commit.as_deref().and_then(CommitId::parse);
    // What came in with the base branch meanwhile is not the ticket's own.
    let named = ticket.base_branch.as_deref().and_then(|name| BranchName::parse(name).ok());
    let base = match named {
        Some(name) => repository.any_branch(&name).await?.or(begun),
        None => begun,
    };
    let said = format!("{branch} at {}, beside {base_name}.", tip.short());
    Ok(base.map(|base| Compared { base: base.to_string(), tip, said }))
}

impl ChangesPage {
    fn bare(shell: Shell, ticket: &Ticket) -> Self {
        Self {
            shell,
            reference: ticket.reference(),
            title: ticket.title.clone(),
            href: ticket_href(ticket),
            mark: Mark::status(ticket.status.word()),
            compared: String::new(),
            said: String::new(),
            added: String::new(),
            deleted: String::new(),
            files: Vec::new(),
            more_files: 0,
            patches: Vec::new(),
            only: None,
            nothing: String::new(),
        }
    }

    fn take(
        &mut self,
        compared: &Compared,
        summary: &Summary,
        chosen: Option<&FileChange>,
        text: &str,
    ) {
        let base = format!("{}/changes", self.href);
        self.compared.clone_from(&compared.said);
        self.said = humane::counted(summary.file_count as u64, "file", "files");
        (self.added, self.deleted) = (humane::count(summary.added), humane::count(summary.deleted));
        self.only = chosen.map(|change| change.path.clone());
        if summary.files.is_empty() {
            "The branch has the same files as its base.".clone_into(&mut self.nothing);
        }
        let (bounds, of): (Bounds, Vec<&FileChange>) = match chosen {
            Some(one) => (Bounds::ONE, vec![one]),
            None => (Bounds::ALL, summary.files.iter().collect()),
        };
        let patches = patch::read(text, bounds);
        let shown = patches.len().min(PATCHES_SHOWN);
        let line = |(at, change): (usize, &FileChange)| {
            let is_below = chosen.is_none() && at < shown;
            FileLine::of(
                change,
                if is_below { format!("#file-{at}") } else { alone(&base, change) },
            )
        };
        self.files = summary.files.iter().take(FILES_SHOWN).enumerate().map(line).collect();
        self.more_files = summary.file_count.saturating_sub(self.files.len());
        let patch = |(at, (change, patch)): (usize, (&&FileChange, Patch))| {
            FilePatch::of(at, change, patch, alone(&base, change))
        };
        self.patches = of.iter().zip(patches).take(PATCHES_SHOWN).enumerate().map(patch).collect();
        lighten(&mut self.patches);
    }
}

/// The page of one file alone.
fn alone(base: &str, change: &FileChange) -> String {
    format!("{base}?file={}", in_query(&change.path))
}

/// Takes lines from the end until the page is light.
fn lighten(patches: &mut [FilePatch]) {
    let mut room = CHARS_MAX;
    for file in patches {
        let fits = |line: &patch::PatchLine| {
            // A line has its own markup besides.
            let escaped = line.text.bytes().filter(|byte| b"<>&\"'".contains(byte)).count();
            let size = line.text.len() + 4 * escaped + 32;
            let does_fit = size <= room;
            room = room.saturating_sub(size);
            does_fit
        };
        let kept = file.patch.lines.iter().map(fits).take_while(|fits| *fits).count();
        file.patch.left_out += file.patch.lines.len() - kept;
        file.patch.lines.truncate(kept);
    }
}

/// `+12`; nothing for a file that is not text.
fn counted(lines: Option<u64>) -> String {
    lines.map(humane::count).unwrap_or_default()
}

impl FileLine {
    fn of(change: &FileChange, href: String) -> Self {
        Self {
            href,
            path: text::printable(&change.path),
            added: counted(change.added),
            deleted: counted(change.deleted),
        }
    }
}

impl FilePatch {
    fn of(at: usize, change: &FileChange, patch: Patch, href: String) -> Self {
        Self {
            anchor: format!("file-{at}"),
            path: text::printable(&change.path),
            renamed_from: change.renamed_from.as_deref().map(text::printable).unwrap_or_default(),
            added: counted(change.added),
            deleted: counted(change.deleted),
            patch,
            href,
        }
    }
}

#[cfg(test)]
impl ChangesPage {
    pub(in crate::web::dashboard) fn sample() -> Self {
        let text = "diff --git a/index.html b/index.html\n--- a/index.html\n+++ b/index.html\n\
            @@ -1,2 +1,2 @@\n <header>\n-  <h1>Widget</h1>\n+  <h1>Widgets</h1>\n";
        let changed = |path: &str| FileChange {
            path: path.to_owned(),
            renamed_from: None,
            added: Some(1),
            deleted: Some(1),
        };
        let files = vec![changed("index.html"), changed("a \"b\" <c>.html")];
        let summary = Summary { file_count: 2, files, added: 2, deleted: 2 };
        let mut page = Self::sample_empty();
        page.nothing = String::new();
        let id = |digit: &str| CommitId::parse(&digit.repeat(40)).unwrap();
        let said = "assay/acme-42 at 1111111, beside main.".to_owned();
        let compared = Compared { base: "0".repeat(40), tip: id("1"), said };
        page.take(&compared, &summary, None, text);
        page
    }

    pub(in crate::web::dashboard) fn sample_empty() -> Self {
        Self {
            shell: Shell::sample("/tickets").still(),
            reference: "ACME-42".to_owned(),
            title: "Add dark-mode toggle".to_owned(),
            href: "/tickets/ACME-42".to_owned(),
            mark: Mark::status("running"),
            compared: String::new(),
            said: String::new(),
            added: String::new(),
            deleted: String::new(),
            files: Vec::new(),
            more_files: 0,
            patches: Vec::new(),
            only: None,
            nothing: "Nothing was changed yet.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_changes_stays_light_and_says_what_it_leaves_out() {
        let line = || patch::PatchLine { class: "came", text: "x".repeat(400) };
        let file = |at: usize| FilePatch {
            anchor: format!("file-{at}"),
            path: String::new(),
            renamed_from: String::new(),
            added: String::new(),
            deleted: String::new(),
            patch: Patch { lines: (0..80).map(|_| line()).collect(), ..Patch::default() },
            href: String::new(),
        };
        let mut files: Vec<FilePatch> = (0..3).map(file).collect();

        lighten(&mut files);

        let kept: Vec<usize> = files.iter().map(|file| file.patch.lines.len()).collect();
        assert_eq!(kept, [80, 12, 0]);
        assert_eq!(files[1].patch.left_out + kept[1], 80);
    }

    #[test]
    fn changes_are_linked_from_the_list() {
        let page = ChangesPage::sample().render().unwrap();

        assert!(page.contains("href=\"#file-0\"") && page.contains("id=\"file-0\""), "{page}");
        assert!(page.contains("changes?file=a%20%22b%22%20%3Cc%3E.html"), "{page}");
    }
}
