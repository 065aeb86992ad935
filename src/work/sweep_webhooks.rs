//! Wakes webhooks that have something due to be told, and forgets what they were told long ago.

use super::env::Env;
use crate::base::Fault;
use crate::notices::deliveries;

pub(super) async fn run(env: &Env) -> Result<(), Fault> {
    env.db.write(deliveries::wake_waiting).await?;
    while env.db.write(deliveries::sweep).await? {}
    Ok(())
}
