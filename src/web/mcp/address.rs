//! What a client may say in the query of the MCP address.

use crate::base::text::{cut, printable};
use crate::base::{Code, Fault};
use crate::tools::{Entry, Family, Registry};

crate::words! {
    /// How a failure of a tool is said to an MCP client.
    pub enum Dialect {
        /// The envelope of the invoke door: as structured content on success, as text on failure.
        Envelope = "envelope",
        /// A JSON-RPC error whose data holds the code and the status.
        Jsonrpc = "jsonrpc",
        /// A result marked as an error with one text block that holds the error object.
        Object = "object",
    }
}

impl Dialect {
    /// How the tools of a family say it unless the client chose otherwise.
    #[must_use]
    pub const fn of(family: Family) -> Self {
        match family {
            Family::Quality => Self::Envelope,
            Family::Accessibility => Self::Object,
            Family::Tickets | Family::Projects | Family::Jobs => Self::Jsonrpc,
        }
    }
}

/// The choices of one client, read from its address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Address {
    /// The dialect for all tools; none where each family keeps its own.
    pub errors: Option<Dialect>,
    /// The families and tools that are listed; none where all are.
    shown: Option<Vec<String>>,
}

impl Address {
    /// Reads the query. Other parameters are not ours and are passed over.
    pub fn parse(query: Option<&str>, registry: &Registry) -> Result<Self, Fault> {
        let mut address = Self::default();
        for (name, value) in pairs(query.unwrap_or_default()) {
            match name.as_str() {
                "errors" => address.errors = Some(dialect(&value)?),
                "tools" => address.show(&value, registry)?,
                _ => {}
            }
        }
        Ok(address)
    }

    fn show(&mut self, list: &str, registry: &Registry) -> Result<(), Fault> {
        let shown = self.shown.get_or_insert_default();
        for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            if Family::parse(word).is_none() && registry.find(word).is_none() {
                let choices = Family::choices();
                return Err(wrong("tools", word, &format!("{choices}, or the name of a tool")));
            }
            shown.push(word.to_owned());
        }
        Ok(())
    }

    /// Whether the list that this client gets has the tool.
    #[must_use]
    pub fn shows(&self, tool: &Entry) -> bool {
        let named = |word: &String| word == tool.family.word() || word == tool.name;
        self.shown.as_ref().is_none_or(|shown| shown.iter().any(named))
    }

    /// The dialect in which this client hears of a tool's failure.
    #[must_use]
    pub fn dialect(&self, tool: Option<&Entry>) -> Dialect {
        let own = tool.map_or(Dialect::Jsonrpc, |tool| Dialect::of(tool.family));
        self.errors.unwrap_or(own)
    }
}

fn dialect(word: &str) -> Result<Dialect, Fault> {
    Dialect::parse(word).ok_or_else(|| wrong("errors", word, &Dialect::choices()))
}

fn wrong(name: &str, word: &str, choices: &str) -> Fault {
    let word = cut(&printable(word), 60);
    let said = format!("The address of the MCP server has {name}={word}; it takes {choices}.");
    Fault::new(Code::BadRequest, said)
}

fn pairs(query: &str) -> Vec<(String, String)> {
    let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&uri(query));
    pairs.map(|found| found.0).unwrap_or_default()
}

fn uri(query: &str) -> http::Uri {
    format!("/?{query}").parse().unwrap_or_else(|_| http::Uri::from_static("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(query: &str) -> Result<Vec<&'static str>, String> {
        let registry = Registry::new();
        let address = Address::parse(Some(query), &registry).map_err(|fault| fault.message)?;
        Ok(registry.all().iter().filter(|tool| address.shows(tool)).map(|tool| tool.name).collect())
    }

    #[test]
    fn the_list_is_narrowed_by_family_and_by_name() {
        let all: Vec<&str> = Registry::new().all().iter().map(|tool| tool.name).collect();
        let jobs = vec!["get_job_status"];
        let two = Ok(vec!["get_ticket", "get_job_status"]);

        assert_eq!(shown("x=1"), Ok(all));
        assert_eq!(shown("tools=jobs"), Ok(jobs));
        assert_eq!(shown("tools=jobs,%20get_ticket"), two);
        assert_eq!(shown("tools=jobs&tools=get_ticket"), two);
        assert_eq!(shown("tools="), Ok(vec![]));
        assert!(shown("tools=nothing").is_err_and(|said| said.contains("tickets")));
    }

    #[test]
    fn a_chosen_dialect_is_everyones_and_a_wrong_one_is_refused() {
        let registry = Registry::new();
        let own = Address::default();
        let chosen = Address::parse(Some("errors=object"), &registry).expect("a good address");

        assert_eq!(own.dialect(registry.find("get_ticket")), Dialect::Jsonrpc);
        assert_eq!(own.dialect(None), Dialect::Jsonrpc);
        assert_eq!(Dialect::of(Family::Quality), Dialect::Envelope);
        assert_eq!(Dialect::of(Family::Accessibility), Dialect::Object);
        assert_eq!(chosen.dialect(registry.find("get_ticket")), Dialect::Object);
        assert_eq!(chosen.dialect(None), Dialect::Object);
        assert!(Address::parse(Some("errors=xml"), &registry).is_err());
    }
}
