//! The addresses that CI programs and the public `VisualQ` client use beside invoke. They answer in
//! shapes of their own, and failures are `{"error": "…"}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::json;

use super::key;
use crate::base::{Code, Fault, ProjectId};
use crate::contract::code::wire;
use crate::projects::{self, LIST_MAX};
use crate::store::Db;
use crate::tools::Gate;

/// What these addresses work with.
#[derive(Clone)]
pub struct Ci {
    /// Who calls.
    pub gate: Arc<Gate>,
    /// What is there.
    pub db: Db,
}

#[derive(Serialize)]
struct Projects {
    projects: Vec<ProjectRow>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProjectRow {
    id: ProjectId,
    name: String,
    slug: String,
    base_url: String,
    /// Pages under visual test. This version tests none.
    scenario_count: u32,
}

/// `GET /api/ci/projects`: the projects that a key reaches, whatever its scope.
pub async fn list_projects(State(ci): State<Ci>, headers: HeaderMap) -> Response {
    match find(&ci, &headers).await {
        Ok(projects) => Json(projects).into_response(),
        Err(fault) => refuse(&fault),
    }
}

/// Whatever else is asked for under `/api`: a program reads the answer, so it is no page.
pub async fn unknown() -> Response {
    let said = "There is nothing at this address. The catalog of tools is at GET /api/mcp.";
    (StatusCode::NOT_FOUND, Json(json!({ "error": said }))).into_response()
}

async fn find(ci: &Ci, headers: &HeaderMap) -> Result<Projects, Fault> {
    let caller = ci.gate.caller(key::sent(headers).as_ref()).await?;
    let found = ci.db.read(move |read| projects::list(read, &caller.actor, LIST_MAX, None));
    let row = |project: projects::Project| ProjectRow {
        id: project.id,
        name: project.name,
        slug: project.slug,
        base_url: project.base_url.unwrap_or_default(),
        scenario_count: 0,
    };
    Ok(Projects { projects: found.await?.into_iter().map(row).collect() })
}

fn refuse(fault: &Fault) -> Response {
    let status =
        StatusCode::from_u16(wire(fault.code).status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if status.is_server_error() {
        tracing::error!(?fault, "A CI call failed");
    }
    let mut response = (status, Json(json!({ "error": fault.message }))).into_response();
    if fault.code == Code::Unauthenticated {
        let challenge = HeaderValue::from_static("Bearer realm=\"assay\"");
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}
