//! Wakes webhooks that have something due to be told, and forgets what they and those who asked for
//! tickets were told long ago.

use super::env::Env;
use crate::base::Fault;
use crate::notices::{deliveries, mails};

pub(super) async fn run(env: &Env) -> Result<(), Fault> {
    env.db.write(deliveries::wake_waiting).await?;
    while env.db.write(deliveries::sweep).await? {}
    while env.db.write(mails::sweep).await? {}
    Ok(())
}
