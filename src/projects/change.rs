//! Changing a project: the one way of it, for the command line, the tool and the pages.

use serde_json::{Map, Value};

use super::environments::{self, Wanted};
use super::project::{Project, save};
use super::settings::Settings;
use crate::base::{Code, Fault, Millis};
use crate::store::Tx;

/// Changes a project and returns it as it then stands. Where `seen` is given, it must be the
/// project's `updated_at`: whoever changes what they have read is told if somebody was quicker.
pub fn change(
    tx: &mut Tx<'_>,
    project: Project,
    seen: Option<Millis>,
    edit: impl FnOnce(&mut Project) -> Result<(), Fault>,
) -> Result<Project, Fault> {
    if seen.is_some_and(|seen| seen != project.updated_at) {
        let said = format!(
            "{} was changed at {} by somebody else, after what you saw. Read it again and repeat \
             your change.",
            project.short_name(),
            project.updated_at.iso()
        );
        return Err(Fault::new(Code::Conflict, said).issue("seenUpdatedAt", "is out of date."));
    }
    let mut project = project;
    edit(&mut project)?;
    save(tx, project)
}

/// Gives a project these environments and no others. The default one serves its site.
pub fn set_environments(
    tx: &mut Tx<'_>,
    project: &mut Project,
    wanted: &[Wanted],
) -> Result<(), Fault> {
    project.base_url = environments::replace(tx, project.tenant, project.id, wanted)?;
    Ok(())
}

/// Settings with some parts of their document exchanged: `limits`, `verify` and so on. With
/// `whole`, the parts are the document, and what they leave out goes back to its default.
pub fn settings_with(
    present: &Settings,
    parts: Map<String, Value>,
    whole: bool,
) -> Result<Settings, Fault> {
    let mut document = match serde_json::to_value(present).map_err(Fault::internal)? {
        Value::Object(present) if !whole => present,
        _ => Map::new(),
    };
    document.extend(parts);
    Settings::parse(&Value::Object(document))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parts(document: &Value) -> Map<String, Value> {
        document.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn a_part_replaces_a_part_and_a_whole_document_the_rest_as_well() {
        let present = Settings::parse(&json!({
            "limits": { "concurrency": 5 }, "approvals": { "plan": true }
        }));
        let present = present.expect("it is right");
        let limits = || parts(&json!({ "limits": { "implementRounds": 7 } }));

        let some = settings_with(&present, limits(), false).expect("it is right");
        let all = settings_with(&present, limits(), true).expect("it is right");

        assert_eq!((some.limits.implement_rounds, some.limits.concurrency), (7, 2));
        assert!(some.approvals.plan && !all.approvals.plan);
        let wrong = settings_with(&present, parts(&json!({ "limit": {} })), false);
        assert_eq!(wrong.expect_err("there is no such part").issues[0].path, "settings.limit");
    }
}
