//! Prompts that a person picks in their client to start the two things people do here most.

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::{Map, Value, json};

/// The prompts, in the order they are listed.
pub(super) fn list() -> Vec<Prompt> {
    let dispatch = Prompt::new(
        "dispatch_ticket",
        Some("Turn a goal into a ticket that an agent can do without asking back, and file it."),
        Some(vec![
            argument("goal", "What should be different afterwards, in your words.", true),
            argument("project", "The project's name or id; left out, the one that fits.", false),
        ]),
    );
    let review = Prompt::new(
        "review_ticket",
        Some("Judge whether a ticket did what it promised, from its records."),
        Some(vec![argument("ticket", "Its reference, such as ACME-42, or its id.", true)]),
    );
    vec![dispatch.with_title("Dispatch a ticket"), review.with_title("Review a ticket")]
}

fn argument(name: &str, description: &str, required: bool) -> PromptArgument {
    PromptArgument::new(name).with_description(description).with_required(required)
}

/// The prompt of that name, with the arguments in their places.
pub(super) fn get(name: &str, given: &Map<String, Value>) -> Result<GetPromptResult, ErrorData> {
    let all = list();
    let Some(prompt) = all.iter().find(|prompt| prompt.name == name) else {
        let said = format!("There is no prompt {name:?}.");
        return Err(ErrorData::invalid_params(said, Some(json!({ "name": name }))));
    };
    let text = match name {
        "dispatch_ticket" => dispatch(&value(given, "goal")?, optional(given, "project")),
        _ => review(&value(given, "ticket")?),
    };
    let message = PromptMessage::new_text(Role::User, text);
    let mut result = GetPromptResult::new(vec![message]);
    result.description.clone_from(&prompt.description);
    Ok(result)
}

fn value(given: &Map<String, Value>, name: &str) -> Result<String, ErrorData> {
    optional(given, name).ok_or_else(|| {
        let said = format!("The prompt needs the argument {name:?}, a text.");
        ErrorData::invalid_params(said, Some(json!({ "argument": name })))
    })
}

fn optional(given: &Map<String, Value>, name: &str) -> Option<String> {
    let text = given.get(name)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn dispatch(goal: &str, project: Option<String>) -> String {
    let place = project.map_or_else(
        || "Call list_projects and choose the project that fits; ask me if several do.".to_owned(),
        |project| format!("The project is {project:?}."),
    );
    format!(
        "File a ticket for this goal:\n\n{goal}\n\n{place}\n\nBefore you file it:\n\
         1. Look at the code concerned, if you can, and name the files and the present behaviour.\n\
         2. Write a title of one line that says the outcome.\n\
         3. Write a description that stands alone: why, what changes, what must not change, and \
         acceptance criteria that a command or a look at the page can check.\n\
         4. Look through list_tickets for one that already asks for it, and for one that this \
         must wait for (depends_on, with the reason).\n\n\
         Show me title and description, then call dispatch_ticket with predrafted true and an \
         operation_key. Tell me the reference, and follow it with get_ticket."
    )
}

fn review(ticket: &str) -> String {
    format!(
        "Review the ticket {ticket:?}.\n\n\
         1. Read get_ticket: what was asked, its outcome, gaps and partial items.\n\
         2. Read get_ticket_graph and get_ticket_reports: what each node did and what the checks \
         recorded.\n\
         3. Compare the commit with the acceptance criteria one by one. For each say confirmed, \
         partial or not, and the record that shows it; a claim without a record is not confirmed.\n\
         4. Say what a person must do, and what deserves a follow-up ticket.\n\n\
         Answer with a verdict in one sentence, then the list."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(result: &GetPromptResult) -> String {
        serde_json::to_value(result).expect("plain data")["messages"][0]["content"]["text"]
            .as_str()
            .expect("a text")
            .to_owned()
    }

    #[test]
    fn every_prompt_that_is_listed_can_be_had_with_its_arguments() {
        for prompt in list() {
            let arguments = prompt.arguments.expect("each has arguments");
            let given: Map<String, Value> =
                arguments.iter().map(|one| (one.name.clone(), json!("<here>"))).collect();

            let result = get(&prompt.name, &given).expect("a prompt");

            assert!(text(&result).contains("<here>"), "{}", prompt.name);
            assert!(get(&prompt.name, &Map::new()).is_err());
        }
        assert!(get("nothing", &Map::new()).is_err());
    }
}
