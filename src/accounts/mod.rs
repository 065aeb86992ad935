//! Who may do what: tenants, users and their logins, API keys and their scopes, plans, and the
//! log of who did what. Every door turns its caller into an [`Actor`] here.

pub mod actor;
pub mod audit;
pub mod invitations;
pub mod keys;
pub mod passwords;
pub mod plans;
pub mod saved_views;
pub mod scope;
pub mod sessions;
pub mod setup;
pub mod tenants;
pub mod throttle;
pub mod users;

pub use actor::{Actor, KeyScope, Reach, Who};
pub use keys::Key;
pub use plans::{Feature, Plan};
pub use saved_views::SavedView;
pub use sessions::Session;
pub use tenants::Tenant;
pub use throttle::Throttle;
pub use users::{Role, User};
