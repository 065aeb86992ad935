//! The agents of a project as a form: who does what, and each profile.

use serde_json::{Value, json};

use super::form::{Field, Group, Reads, Sent};
use super::sections::Known;
use crate::base::{Fault, text};
use crate::projects::agents::{Builtin, OutputFormat, Permissions, Profile, PromptBy, Protocol};
use crate::projects::settings::{AGENT_NODES, EDITOR, PRESETS};
use crate::web::dashboard::parts::{Choice, plain_word};

/// The name of the field that takes the name of a new profile, and of the one that says what the
/// profile starts from.
const NEW_NAME: &str = "newProfile";
const NEW_FROM: &str = "newFrom";

/// What the name of a field that removes a profile starts with.
const REMOVE: &str = "remove.";

pub(super) fn groups(known: &Known, _: usize) -> Vec<Group> {
    let agents = &known.project.settings.agents;
    let names: Vec<&str> = agents.profiles.keys().map(String::as_str).collect();
    let choice = |empty: &str| {
        let mut all = vec![Choice::new("", empty)];
        all.extend(names.iter().map(|name| Choice::new(*name, *name)));
        all.push(Choice::new(EDITOR, "editor: claimed by an agent in an editor"));
        all
    };
    let chosen = |what: &str, key: &str, value: Option<&String>| {
        Field::new(&["settings", "agents", what, key], plain_word(key), Reads::Given)
            .given(value)
            .choices(choice("As usual"))
    };
    let mut groups = vec![
        Group::new(
            "Usually",
            "",
            vec![
            Field::new(&["settings", "agents", "default"], "Default agent", Reads::Given)
                .hint("Does everything that nothing below gives to another. One alone needs none.")
                .given(agents.default.as_ref())
                .choices(choice("None named")),
            permissions(agents.permissions),
        ],
        ),
        Group::new(
            "By kind of node",
            "Wins over the preset of a ticket.",
            AGENT_NODES.iter().map(|node| chosen("nodes", node, agents.nodes.get(*node))).collect(),
        )
        .look("grid"),
        Group::new(
            "By preset of the ticket",
            "Who files a ticket may ask for one of these.",
            PRESETS.iter().map(|one| chosen("presets", one, agents.presets.get(*one))).collect(),
        )
        .look("grid"),
    ];
    groups.extend(agents.profiles.iter().map(|(name, profile)| of_profile(name, profile)));
    groups.push(new_profile());
    groups
}

/// What an agent may do that asks, as those over the protocol do.
fn permissions(given: Permissions) -> Field {
    let all: Vec<&str> = Permissions::ALL.iter().map(|one| one.word()).collect();
    let path = ["settings", "agents", "permissions"];
    Field::new(&path, "An agent that asks may do", Reads::Text)
        .hint("Agents over the Agent Client Protocol ask; worktree allows what stays there.")
        .value(given.word())
        .choices(words(&all))
}

fn words(all: &[&str]) -> Vec<Choice> {
    all.iter().map(|word| Choice::new(*word, plain_word(word))).collect()
}

fn of_profile(name: &str, profile: &Profile) -> Group {
    let field = |of: &str, label: &str, reads| {
        Field::new(&["settings", "agents", "profiles", name, of], label, reads)
    };
    let set: Vec<String> =
        profile.set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let prompts: Vec<&str> = PromptBy::ALL.iter().map(|one| one.word()).collect();
    let outputs: Vec<&str> = OutputFormat::ALL.iter().map(|one| one.word()).collect();
    let protocols: Vec<&str> = Protocol::ALL.iter().map(|one| one.word()).collect();
    let fields = vec![
        field("command", "Command", Reads::Lines)
            .hint("The program and its arguments, one a line; no shell reads them.")
            .value(profile.command.join("\n")),
        field("protocol", "It is talked with as", Reads::Text)
            .hint("Acp is the Agent Client Protocol.")
            .value(profile.protocol.word())
            .choices(words(&protocols)),
        field("authenticate", "Way to log in", Reads::Given)
            .hint("For agents over the protocol that want to be told one.")
            .given(profile.authenticate.as_ref()),
        field("prompt", "The prompt comes as", Reads::Text)
            .value(profile.prompt.word())
            .choices(words(&prompts)),
        field("output", "It prints", Reads::Text)
            .hint("Turns and tokens are read from what it prints.")
            .value(profile.output.word())
            .choices(words(&outputs)),
        field("model", "Model", Reads::Given)
            .hint("Stands for {model} in the command; without it such arguments are left out.")
            .given(profile.model.as_ref()),
        field("env", "Variables of the server that it sees", Reads::Lines)
            .hint("Their names, one a line.")
            .value(profile.env.join("\n")),
        field("set", "Variables with fixed values", Reads::Pairs)
            .hint("NAME=VALUE, one a line. Who manages the team can read them here.")
            .value(set.join("\n")),
        field("timeoutSecs", "Seconds at most", Reads::Whole).value(profile.timeout_secs),
        field("idleTimeoutSecs", "Seconds without output at most", Reads::Whole)
            .value(profile.idle_timeout_secs),
        field("maxOutputBytes", "Bytes of output at most", Reads::Whole)
            .value(profile.max_output_bytes),
        field("maxConcurrent", "Nodes at once at most", Reads::GivenWhole)
            .hint("Empty for as many as the project runs at once.")
            .given(profile.max_concurrent.as_ref()),
        Field::new(&[&format!("{REMOVE}{name}")], "Remove this profile", Reads::Apart)
            .kind("check"),
    ];
    let title = format!("{name}: {}", text::cut(&profile.command.join(" "), 80));
    Group::new(title, "", fields).look("fold")
}

fn new_profile() -> Group {
    let builtins: Vec<Choice> =
        Builtin::ALL.iter().map(|one| Choice::new(one.word(), one.word())).collect();
    Group::new(
        "One more profile",
        "It starts as one that ships with Assay; once saved, all of it can be changed.",
        vec![
            Field::new(&[NEW_NAME], "Name of the new profile", Reads::Apart)
                .hint("Empty for none."),
            Field::new(&[NEW_FROM], "It starts as", Reads::Apart)
                .value(Builtin::Claude.word())
                .choices(builtins),
        ],
    )
}

/// Removes and adds profiles as the form says.
pub(super) fn finish(document: &mut Value, sent: &Sent) -> Result<(), Fault> {
    let Some(agents) = document.pointer_mut("/settings/agents") else { return Ok(()) };
    if let Some(Value::Object(profiles)) = agents.get_mut("profiles") {
        profiles.retain(|name, _| !sent.is_set(&format!("{REMOVE}{name}")));
    }
    let name = sent.first(NEW_NAME).unwrap_or_default().trim();
    if name.is_empty() {
        return Ok(());
    }
    if agents["profiles"].get(name).is_some() {
        return Err(Fault::argument(NEW_NAME, "is the name of another profile."));
    }
    let from = Profile::builtin(sent.first(NEW_FROM).unwrap_or_default());
    let from = from.ok_or_else(|| Fault::argument(NEW_FROM, "choose one that is listed."))?;
    agents["profiles"][name] = json!(from);
    Ok(())
}
