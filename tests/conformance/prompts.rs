//! The prompts.

use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt};
use serde_json::{Map, Value, json};

use super::asked::elicitation;
use super::content::{image, resource, typed};
use super::rounds::{Given, Round, form, one};

/// All of them.
pub(crate) fn list() -> Result<Vec<Prompt>, ErrorData> {
    let argument = |name: &str| json!({ "name": name, "description": "A text.", "required": true });
    typed(json!([
        { "name": "test_simple_prompt", "description": "Says one thing." },
        {
            "name": "test_prompt_with_arguments",
            "description": "Repeats two texts.",
            "arguments": [argument("arg1"), argument("arg2")],
        },
        {
            "name": "test_prompt_with_embedded_resource",
            "description": "Shows a resource.",
            "arguments": [argument("resourceUri")],
        },
        { "name": "test_prompt_with_image", "description": "Shows a picture." },
        {
            "name": "test_input_required_result_prompt",
            "description": "Needs to know what it is about.",
        },
    ]))
}

/// A prompt with the arguments in their places, or what it needs.
pub(crate) fn get(
    request: &GetPromptRequestParams,
    given: &Given<'_>,
) -> Result<GetPromptResponse, ErrorData> {
    let nothing = Map::new();
    let arguments = request.arguments.as_ref().unwrap_or(&nothing);
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let said = |words: &str| json!({ "type": "text", "text": words });
    let blocks = match request.name.as_str() {
        "test_simple_prompt" => vec![said("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => vec![said(&format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            argument("arg1"),
            argument("arg2")
        ))],
        "test_prompt_with_embedded_resource" => vec![
            resource(argument("resourceUri"), "text/plain", "Embedded resource content."),
            said("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![image(), said("Please analyze the image above.")],
        "test_input_required_result_prompt" => {
            let ask = elicitation("What is it about?", form("context"));
            match one(given, "user_context", ask)? {
                Round::Needs(needs) => return Ok((*needs).into()),
                Round::Done(done) => vec![done["content"][0].clone()],
            }
        }
        name => {
            return Err(ErrorData::invalid_params(format!("There is no prompt {name:?}."), None));
        }
    };
    let messages: Vec<Value> =
        blocks.iter().map(|block| json!({ "role": "user", "content": block })).collect();
    Ok(GetPromptResult::new(typed(json!(messages))?).into())
}
