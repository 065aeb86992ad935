//! `attach_evidence`: what the agent of a node shows for what it says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::work::working_on;
use crate::accounts::Feature;
use crate::base::{Code, Fault, ProofId, TenantId, text};
use crate::proofs::{self, NewProof, Verdict};
use crate::store::Read;
use crate::tickets::Ticket;
use crate::tickets::editors::Exhibit;
use crate::tickets::node::Node;
use crate::tickets::secrets;
use crate::tools::{Cx, Done, Effect, Family, Tool};

/// What sort of proof it makes: one that nobody has checked.
const KIND: &str = "exhibit";

/// Exhibits of one node at most.
const EXHIBITS_MAX: usize = 20;

/// Keeps what the agent of a node shows.
pub struct AttachEvidence;

/// What `attach_evidence` takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Input {
    /// What it shows, in a sentence.
    #[schemars(length(min = 1, max = 1000))]
    claim: String,
    /// What it is, such as `test output`.
    #[schemars(length(min = 1, max = 100))]
    label: String,
    /// The text to keep. Either this or `path`.
    #[schemars(length(max = 200_000))]
    text: Option<String>,
    /// A file of the work tree to keep, by its path from the top; 8 MiB at most.
    #[schemars(length(max = 1000))]
    path: Option<String>,
    /// The claim that you work under, in an editor. An agent that Assay started leaves it out.
    claim_id: Option<String>,
}

/// What `attach_evidence` answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The proof that it was kept as.
    proof_id: ProofId,
    /// The node that it belongs to.
    node_ref: String,
    /// Its size in bytes, once credentials were taken out.
    size_bytes: u64,
}

impl Tool for AttachEvidence {
    const NAME: &'static str = "attach_evidence";
    const TITLE: &'static str = "Attach evidence";
    const ABOUT: &'static str = "For the agent of a node: keeps a text or a file of the work tree \
        as evidence for something that you say. It is shown with the ticket's proofs as \
        inconclusive: nobody has checked it, and it confirms no assertion. A node keeps 20 at \
        most.";
    const FAMILY: Family = Family::Tickets;
    const EFFECT: Effect = Effect::Writes;
    const IDEMPOTENT: bool = false;
    const FEATURE: Option<Feature> = Some(Feature::Tickets);
    const EXAMPLE: &'static str = r#"{ "claim": "All 42 tests pass.", "label": "test output",
        "text": "42 passed" }"#;

    type Input = Input;
    type Output = Output;

    async fn run(cx: &Cx, input: Input) -> Result<Done<Output>, Fault> {
        let exhibit = match (input.text, input.path) {
            (Some(text), None) => Exhibit::Text(text),
            (None, Some(path)) => Exhibit::File(path),
            _ => return Err(Fault::argument("text", "give either a text or the path of a file")),
        };
        let claim_id = input.claim_id;
        let ((ticket, node), redactor) = cx.glance(|read, actor| {
            let found = working_on(read, actor, claim_id.as_deref())?;
            check_room(read, actor.tenant, &found)?;
            let redactor = secrets::redactor(read, actor.tenant, found.0.id, &[])?;
            Ok((found, redactor))
        })?;
        let clean = |said: &str| redactor.redact(&text::printable(said)).trim().to_owned();
        let (claim, label) = (clean(&input.claim), clean(&input.label));
        let evidence = cx.editors()?.keep(ticket.id, label, exhibit, redactor).await?;
        let size_bytes = evidence.size_bytes;
        let (proof_id, node_ref) = cx
            .write(move |tx, actor| {
                let found = working_on(tx, actor, claim_id.as_deref())?;
                check_room(tx, actor.tenant, &found)?;
                let (ticket, node) = found;
                let detail = json!({ "by": actor.label() }).to_string();
                let new = NewProof {
                    project: ticket.project,
                    ticket: Some(ticket.id),
                    node: Some(node.id),
                    kind: KIND,
                    claim: &claim,
                    verdict: Verdict::Inconclusive,
                    detail: &detail,
                    evidence: &[evidence],
                };
                let proof = proofs::record(tx, actor.tenant, &new)?;
                Ok(((proof, node.name), ticket.reference()))
            })
            .await?;
        let summary = format!("Kept with {} of {}.", node.name, ticket.reference());
        Ok(Done::new(Output { proof_id, node_ref, size_bytes }, summary))
    }
}

fn check_room(
    read: &Read<'_>,
    tenant: TenantId,
    (ticket, node): &(Ticket, Node),
) -> Result<(), Fault> {
    let all = proofs::list_of_ticket(read, tenant, ticket.id)?;
    let own = |proof: &&proofs::Proof| proof.kind == KIND && proof.node == Some(node.id);
    if all.iter().filter(own).count() < EXHIBITS_MAX {
        return Ok(());
    }
    let message = format!("{} keeps {EXHIBITS_MAX} pieces of evidence, which is all.", node.name);
    Err(Fault::new(Code::Conflict, message))
}
