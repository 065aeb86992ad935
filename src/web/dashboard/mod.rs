//! The dashboard: one file a page. A page's view holds finished strings and numbers; its template
//! branches and loops, and computes nothing.

mod attachment;
mod docs_connect;
mod docs_design;
mod docs_errors;
mod docs_schemas;
mod docs_security;
mod docs_tool;
mod docs_tools;
pub(super) mod error;
mod find;
mod first_steps;
mod graph;
mod home;
mod house;
mod keys;
mod login;
mod marks;
pub(super) mod new_ticket;
mod node_log;
mod parts;
mod project;
mod projects;
mod secret;
mod setup;
mod sheets;
mod shell;
mod ticket;
mod tickets;
mod webhooks;

pub use self::docs_connect::{Configuration, client_configurations};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tower_http::compression::CompressionLayer;

use super::site::Site;
use super::{assets, sse, trouble};

/// Every page, its forms, its stream of changes, and the files it loads.
pub fn routes(site: Site) -> Router {
    Router::new()
        .route("/", get(home::show))
        .route("/setup/{token}", get(setup::show).post(setup::submit))
        .route("/login", get(login::show).post(login::submit))
        .route("/logout", post(login::leave))
        .route("/tickets", get(tickets::show))
        .route("/tickets/new", get(new_ticket::show).post(new_ticket::submit))
        .route("/tickets/new/files", post(new_ticket::announce_file))
        .route("/tickets/suggest", get(new_ticket::suggest))
        .route("/tickets/bulk", post(tickets::submit_bulk))
        .route("/tickets/views", post(tickets::save_view))
        .route("/tickets/views/change", post(tickets::change_view))
        .route("/tickets/{ticket}", get(ticket::show))
        .route("/tickets/{ticket}/cancel", post(ticket::cancel))
        .route("/tickets/{ticket}/retry", post(ticket::retry))
        .route("/tickets/{ticket}/answer", post(ticket::answer))
        .route("/tickets/{ticket}/changes", get(ticket::show_changes))
        .route("/tickets/{ticket}/replace", post(ticket::replace))
        .route("/tickets/{ticket}/attachments/{file}", get(attachment::show))
        .route("/tickets/{ticket}/decide", post(ticket::decide))
        .route("/tickets/{ticket}/nodes/{node}/log", get(node_log::show))
        .route("/tickets/{ticket}/proofs/{proof}/log", get(node_log::show_proof))
        .route("/tickets/{ticket}/secret-link", post(ticket::secret_link))
        .route("/secrets/{token}", get(secret::show).post(secret::submit))
        .route("/projects", get(projects::show))
        .route("/projects/new", get(project::new::show).post(project::new::make))
        .route("/projects/{project}", get(project::show))
        .route("/projects/{project}/webhooks", post(webhooks::add))
        .route("/projects/{project}/webhooks/change", post(webhooks::change))
        .route(
            "/projects/{project}/settings/{section}",
            get(project::settings::show).post(project::settings::save),
        )
        .route("/projects/{project}/categories", post(project::settings::change_category))
        .route("/projects/{project}/tries", post(project::tries::begin))
        .route("/projects/{project}/tries/{job}", get(project::tries::show))
        .route("/keys", get(keys::show).post(keys::create))
        .route("/keys/revoke", post(keys::revoke))
        .merge(house::routes())
        .merge(packed())
        .route("/find", get(find::show))
        .route("/events", get(sse::show))
        .fallback(trouble::not_found)
        .layer(from_fn_with_state(site.clone(), trouble::layer))
        .with_state(site)
}

/// What goes over the wire compressed: files, and pages on which nobody has written. The others
/// show what callers chose beside a form's token, and the length of such a page, compressed, would
/// tell the token to whoever sees the traffic and can have it asked for again and again (BREACH).
fn packed() -> Router<Site> {
    Router::new()
        .route("/docs", get(docs_connect::lead_here))
        .route("/docs/", get(docs_connect::lead_here))
        .route("/docs/connect", get(docs_connect::show))
        .route("/docs/tools", get(docs_tools::show))
        .route("/docs/tools/{tool}", get(docs_tool::show))
        .route("/docs/errors", get(docs_errors::show))
        .route("/docs/schemas", get(docs_schemas::show))
        .route("/docs/security", get(docs_security::show))
        .route("/docs/design", get(docs_design::show))
        .route("/assets/{name}", get(assets::show))
        .layer(CompressionLayer::new())
}

#[cfg(test)]
mod tests {
    use askama::Template;

    use super::*;

    /// Every page with its sample, by the name of its file.
    fn pages() -> Vec<(&'static str, String)> {
        let render = |page: &dyn askama::DynTemplate| page.dyn_render().unwrap();
        let mut pages = vec![
            ("docs_connect", render(&docs_connect::ConnectPage::sample())),
            ("changes", render(&ticket::ChangesPage::sample())),
            ("changes_none", render(&ticket::ChangesPage::sample_empty())),
            ("docs_design", render(&docs_design::DesignPage::sample())),
            ("docs_tool", render(&docs_tool::ToolPage::sample())),
            ("docs_schemas", render(&docs_schemas::SchemasPage::sample())),
            ("docs_security", render(&docs_security::SecurityPage::sample())),
            ("docs_errors", render(&docs_errors::ErrorsPage::sample())),
            ("docs_tools", render(&docs_tools::ToolsPage::sample())),
            ("error", render(&error::ErrorPage::sample())),
            ("home", render(&home::HomePage::sample())),
            ("home_empty", render(&home::HomePage::sample_empty())),
            ("keys", render(&keys::KeysPage::sample())),
            ("keys_fresh", render(&keys::KeysPage::sample_fresh())),
            ("login", render(&login::LoginPage::sample())),
            ("new_ticket", render(&new_ticket::NewTicketPage::sample())),
            ("node_log", render(&node_log::NodeLogPage::sample())),
            ("project", render(&project::ProjectPage::sample())),
            ("project_new", render(&project::new::NewProjectPage::sample())),
            ("project_try", render(&project::tries::TryPage::sample())),
            ("projects", render(&projects::ProjectsPage::sample())),
            ("secret", render(&secret::SecretPage::sample())),
            ("secret_wrong", render(&secret::SecretPage::sample_wrong())),
            ("secret_taken", render(&secret::SecretPage::sample_taken())),
            ("secret_over", render(&secret::SecretPage::sample_over())),
            ("setup", render(&setup::SetupPage::sample())),
            ("setup_used", setup::SetupPage::sample_used().render().unwrap()),
            ("tickets", render(&tickets::TicketsPage::sample())),
            ("tickets_board", render(&tickets::TicketsPage::sample_board())),
            ("tickets_bulk", render(&tickets::BulkPage::sample())),
            ("tickets_empty", render(&tickets::TicketsPage::sample_empty())),
        ];
        pages.extend(house::samples());
        for (name, page) in ticket::TicketPage::samples() {
            pages.push((name, render(&page)));
        }
        pages
    }

    #[test]
    fn every_page_renders_and_keeps_the_policy() {
        for (name, page) in pages() {
            assert!(page.starts_with("<!doctype html>"), "{name}");
            assert_eq!(page.matches("<h1").count(), 1, "{name} has one heading of its own");
            assert_eq!(page.matches("<main ").count(), 1, "{name}");
            for inline in [" style=", "<style", " onclick=", "javascript:", "<script>"] {
                assert!(!page.contains(inline), "{name} has {inline}");
            }
            for outside in ["src=\"http", "href=\"//", "src=\"//"] {
                assert!(!page.contains(outside), "{name} reaches outside by {outside}");
            }
        }
    }

    #[test]
    fn every_form_that_changes_something_carries_its_token() {
        for (name, page) in pages() {
            for form in page.split("<form ").skip(1) {
                let form = form.split("</form>").next().unwrap_or_default();
                let changes = form.contains("method=\"post\"");
                let guarded = form.contains("name=\"csrf\" value=\"sample-token\"");
                assert!(!changes || guarded, "{name}: {form}");
            }
        }
    }

    #[test]
    fn ids_are_unique_and_what_is_named_by_one_exists() {
        for (name, page) in pages() {
            let values = |attribute: &str| -> Vec<String> {
                let mark = format!(" {attribute}=\"");
                let parts = page.split(&mark).skip(1);
                parts.map(|part| part.split('"').next().unwrap_or_default().to_owned()).collect()
            };
            let ids = values("id");
            for (at, id) in ids.iter().enumerate() {
                assert!(!ids[..at].contains(id), "{name} has two elements named {id}");
            }
            let named = ["for", "aria-labelledby", "aria-describedby", "data-copy"];
            for id in named.iter().flat_map(|attribute| values(attribute)) {
                assert!(ids.contains(&id), "{name} names {id}, which it does not have");
            }
            for target in values("href").iter().filter_map(|href| href.strip_prefix('#')) {
                assert!(ids.iter().any(|id| id == target), "{name} points to #{target}");
            }
            assert!(page.matches("data-live").count() == page.matches("\" data-live").count());
        }
    }
}
