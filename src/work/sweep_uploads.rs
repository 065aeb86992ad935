//! Removes uploaded files that no ticket has.

use super::env::Env;
use crate::base::Fault;
use crate::tickets::attachments;

pub(super) async fn run(env: &Env) -> Result<(), Fault> {
    env.uploads.remove(env.db.write(attachments::sweep)).await
}
