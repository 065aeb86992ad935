//! A client: it files its share of the tickets, each once whatever happens to the server, and then
//! asks for them until each has ended.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::graph::{Chance, Planned};
use super::{Filed, Yard};
use crate::storm::client::Client;

/// How long to wait for a server that is down, and between two looks at tickets.
const AGAIN: Duration = Duration::from_millis(100);

/// How long to wait for news of a ticket that another client files.
const NEWS: Duration = Duration::from_secs(1);

/// What is answered where a parent has ended badly.
const DEAD_PARENT: &str = "so nothing can wait for it";

/// Files every `clients`th ticket from `number` on, and follows them.
pub(super) fn client(yard: &Yard<'_>, number: usize, clients: usize) {
    let mut caller = Caller { yard, client: None };
    let mut open = Vec::new();
    for place in (number..yard.planned.len()).step_by(clients) {
        let Some(filed) = caller.file(place) else { return };
        if let Filed::As(named) = &filed {
            open.push((place, named.clone()));
        } else {
            yard.ended.fetch_add(1, Ordering::Relaxed);
        }
        yard.filed.lock().unwrap()[place] = Some(filed);
        yard.news.notify_all();
    }
    let mut chance = Chance::new(number as u64 + 1);
    while !open.is_empty() && !yard.is_late() {
        let at = chance.roll(open.len());
        if caller.has_ended(&open[at].1) {
            open.swap_remove(at);
            yard.ended.fetch_add(1, Ordering::Relaxed);
        }
        std::thread::sleep(AGAIN);
    }
    for (place, named) in open {
        yard.problem(format!("{named} (No {place}) never ended"));
    }
}

/// One client's line to whichever server is up.
struct Caller<'a> {
    yard: &'a Yard<'a>,
    client: Option<Client>,
}

impl Caller<'_> {
    /// Calls a tool until a server answers. `None` where the time is over.
    fn call(&mut self, tool: &str, args: &Value) -> Option<(u16, Value)> {
        while !self.yard.is_late() {
            if self.client.is_none() {
                let address = self.yard.house.address();
                let connect = |address| Client::connect(address, &self.yard.house.key).ok();
                self.client = address.and_then(connect);
            }
            if let Some(client) = &mut self.client {
                match client.call(tool, args) {
                    Ok(answer) => return Some((answer.status, answer.json())),
                    Err(_) => self.client = None,
                }
            }
            std::thread::sleep(AGAIN);
        }
        None
    }

    /// Files a ticket once those that it waits for are filed.
    fn file(&mut self, place: usize) -> Option<Filed> {
        let planned = &self.yard.planned[place];
        let parents = self.parents(planned)?;
        if parents.iter().any(|parent| matches!(parent, Filed::Refused)) {
            return Some(Filed::Refused);
        }
        let list: Vec<String> = planned.parents.iter().map(usize::to_string).collect();
        let mut args = json!({ "title": planned.title(place), "kind": "feature",
            "preset": "trivial", "pass_profile": "minimal",
            "operation_key": format!("key-{place}") });
        if !parents.is_empty() {
            args["description"] = json!(format!("Builds on: {}", list.join(" ")));
            args["depends_on"] = parents.iter().filter_map(Filed::named).collect();
            args["depends_on_reason"] = json!("Their files must be there.");
        }
        let (status, said) = self.call("dispatch_ticket", &args)?;
        if let Some(named) = said["data"]["ticket"]["ticketRef"].as_str() {
            return Some(Filed::As(named.to_owned()));
        }
        if status == 422 && said.to_string().contains(DEAD_PARENT) {
            return Some(Filed::Refused);
        }
        self.yard.problem(format!("No {place} is not filed: {status} {said}"));
        None
    }

    /// What became of a ticket's parents. `None` where the time is over.
    fn parents(&self, planned: &Planned) -> Option<Vec<Filed>> {
        let mut filed = self.yard.filed.lock().unwrap();
        while !self.yard.is_late() {
            let known: Option<Vec<Filed>> =
                planned.parents.iter().map(|parent| filed[*parent].clone()).collect();
            if known.is_some() {
                return known;
            }
            filed = self.yard.news.wait_timeout(filed, NEWS).unwrap().0;
        }
        None
    }

    /// Whether a ticket has ended. One that waits for a person is a problem, as nobody is there.
    fn has_ended(&mut self, named: &str) -> bool {
        let Some((status, said)) = self.call("get_ticket", &json!({ "ticket": named })) else {
            return false;
        };
        let ticket = &said["data"]["ticket"];
        if status != 200 || ticket["ticketRef"] != named {
            self.yard.problem(format!("{named} is not there: {status} {said}"));
            return true;
        }
        if ticket["status"] == "awaiting_input" {
            let asks = &said["data"]["humanActions"];
            self.yard.problem(format!("{named} waits for a person: {asks}"));
            return true;
        }
        !ticket["completedAt"].is_null()
    }
}
