//! The dashboard: one file a page. A page's view holds finished strings and numbers; its template
//! branches and loops, and computes nothing.

mod docs_connect;
mod docs_errors;
mod docs_tools;
mod error;
mod graph;
mod home;
mod keys;
mod login;
mod marks;
mod node_log;
mod parts;
mod project;
mod projects;
mod setup;
mod shell;
mod ticket;
mod tickets;

#[cfg(test)]
mod tests {
    use askama::Template;

    use super::*;

    /// Every page with its sample, by the name of its file.
    fn pages() -> Vec<(&'static str, String)> {
        let render = |page: &dyn askama::DynTemplate| page.dyn_render().unwrap();
        let mut pages = vec![
            ("docs_connect", render(&docs_connect::ConnectPage::sample())),
            ("docs_errors", render(&docs_errors::ErrorsPage::sample())),
            ("docs_tools", render(&docs_tools::ToolsPage::sample())),
            ("error", render(&error::ErrorPage::sample())),
            ("home", render(&home::HomePage::sample())),
            ("home_empty", render(&home::HomePage::sample_empty())),
            ("keys", render(&keys::KeysPage::sample())),
            ("keys_fresh", render(&keys::KeysPage::sample_fresh())),
            ("login", render(&login::LoginPage::sample())),
            ("node_log", render(&node_log::NodeLogPage::sample())),
            ("project", render(&project::ProjectPage::sample())),
            ("projects", render(&projects::ProjectsPage::sample())),
            ("setup", render(&setup::SetupPage::sample())),
            ("setup_used", setup::SetupPage::sample_used().render().unwrap()),
            ("tickets", render(&tickets::TicketsPage::sample())),
            ("tickets_empty", render(&tickets::TicketsPage::sample_empty())),
        ];
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
