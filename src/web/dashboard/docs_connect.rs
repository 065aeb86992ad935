//! `/docs/connect`: ready-to-paste configuration of the clients people use.

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use super::parts::Code;
use super::shell::Shell;
use crate::projects;
use crate::web::auth::Anyone;
use crate::web::page::{Page, go_to};
use crate::web::site::Site;
use crate::web::trouble::Trouble;

/// What stands in a snippet where a key belongs.
pub(super) const KEY_PLACE: &str = "YOUR_KEY";

/// How to connect each client.
#[derive(Template)]
#[template(path = "docs_connect.html")]
pub(super) struct ConnectPage {
    shell: Shell,
    /// The MCP address of this server.
    url: String,
    key_place: &'static str,
    clients: Vec<Client>,
    /// What to say to the agent for a first ticket.
    prompt: Code,
}

/// One client with its configuration.
pub(super) struct Client {
    pub(super) anchor: &'static str,
    pub(super) name: &'static str,
    /// Where the snippet goes.
    pub(super) where_to: &'static str,
    pub(super) snippet: Code,
}

/// `GET /docs`: the first page of the reference.
pub(super) async fn lead_here() -> Response {
    go_to("/docs/connect")
}

/// `GET /docs/connect`. Everybody may read it; who is signed in reads their own project's name.
pub(super) async fn show(
    State(site): State<Site>,
    Anyone(visitor): Anyone,
) -> Result<Page<ConnectPage>, Trouble> {
    let (shell, project) = match visitor {
        None => (Shell::public("/docs/connect"), None),
        Some(visitor) => {
            let found = visitor.read(&site, |read, visitor| {
                let mut own = projects::list(read, visitor.actor(), 1, None)?;
                Ok((Shell::load(read, visitor, "/docs/connect")?.still(), own.pop()))
            });
            found.await?
        }
    };
    let project = project.map_or_else(|| "my project".to_owned(), |project| project.name);
    Ok(Page(ConnectPage::new(shell, site.origin(), &project)))
}

impl ConnectPage {
    /// The page for a server reached at `origin`, such as `https://assay.example.com`.
    pub(super) fn new(shell: Shell, origin: &str, project: &str) -> Self {
        let ask = format!(
            "Dispatch an Assay ticket for {project}: add a dark-mode toggle to the page header. \
             Then tell me when it has landed."
        );
        Self {
            shell,
            url: format!("{origin}/mcp"),
            key_place: KEY_PLACE,
            clients: clients(origin, KEY_PLACE),
            prompt: Code::new("ask", ask),
        }
    }
}

/// How to connect one client, as plain text for a terminal.
pub struct Configuration {
    /// The client.
    pub name: &'static str,
    /// Where the text goes.
    pub where_to: &'static str,
    /// The text.
    pub text: String,
}

/// How to connect each client to the server at `origin` with a key.
#[must_use]
pub fn client_configurations(origin: &str, key: &str) -> Vec<Configuration> {
    let plain = |client: Client| Configuration {
        name: client.name,
        where_to: client.where_to,
        text: client.snippet.text,
    };
    clients(origin, key).into_iter().map(plain).collect()
}

/// The configuration of each client for the server at `origin` with a key.
pub(super) fn clients(origin: &str, key: &str) -> Vec<Client> {
    let url = format!("{origin}/mcp");
    let client = |anchor, name, where_to, text: String| Client {
        anchor,
        name,
        where_to,
        snippet: Code::new(format!("code-{anchor}"), text),
    };
    vec![
        client(
            "claude-code",
            "Claude Code",
            "Run once, in any directory.",
            format!(
                "claude mcp add --transport http --scope user assay {url} \\\n  \
                 --header \"Authorization: Bearer {key}\""
            ),
        ),
        client(
            "cursor",
            "Cursor",
            "In ~/.cursor/mcp.json, or .cursor/mcp.json of a project.",
            cursor(&url, key),
        ),
        client(
            "vs-code",
            "VS Code",
            "In .vscode/mcp.json. It asks for the key once and keeps it.",
            vs_code(&url),
        ),
        client(
            "codex",
            "Codex",
            "In ~/.codex/config.toml; the key comes from the environment.",
            format!(
                "[mcp_servers.assay]\nurl = \"{url}\"\nbearer_token_env_var = \"ASSAY_KEY\"\n\n\
                 # and in the shell: export ASSAY_KEY={key}"
            ),
        ),
        client(
            "visualq",
            "VisualQ",
            "The VisualQ client takes the address and the key from the environment.",
            format!("VISUALQ_BASE_URL={origin}\nVISUALQ_API_KEY={key}"),
        ),
        client(
            "stdio",
            "Clients that only speak stdio",
            "Give the client this command; it speaks MCP on its standard streams.",
            format!("assay mcp --url {origin} --key {key}"),
        ),
        client(
            "http",
            "Anything that speaks HTTP",
            "One call, one JSON answer.",
            format!(
                "curl -s {origin}/api/mcp/v1/invoke \\\n  -H 'X-API-Key: {key}' \\\n  \
                 -H 'Content-Type: application/json' \\\n  \
                 -d '{{\"tool\": \"list_tickets\", \"args\": {{}}}}'"
            ),
        ),
    ]
}

fn cursor(url: &str, key: &str) -> String {
    format!(
        r#"{{
  "mcpServers": {{
    "assay": {{
      "url": "{url}",
      "headers": {{ "Authorization": "Bearer {key}" }}
    }}
  }}
}}"#
    )
}

fn vs_code(url: &str) -> String {
    format!(
        r#"{{
  "inputs": [
    {{ "id": "assay-key", "type": "promptString", "description": "Assay key", "password": true }}
  ],
  "servers": {{
    "assay": {{
      "type": "http",
      "url": "{url}",
      "headers": {{ "Authorization": "Bearer ${{input:assay-key}}" }}
    }}
  }}
}}"#
    )
}

#[cfg(test)]
impl ConnectPage {
    pub(super) fn sample() -> Self {
        Self::new(Shell::sample("/docs/connect"), "http://127.0.0.1:7171", "Acme Widgets")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_files_are_json_and_name_the_server() {
        for client in clients("https://assay.example.com", "alch_x") {
            let text = &client.snippet.text;
            if text.starts_with('{') {
                assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
            }
            assert!(text.contains("https://assay.example.com"), "{}", client.name);
        }
    }
}
