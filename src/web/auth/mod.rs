//! Who a browser is: the cookie of its login, and the tokens that its forms carry.

mod cookie;
mod guest;
mod visitor;

pub use cookie::Cookies;
pub use guest::Guest;
pub(super) use visitor::is_signed_in;
pub use visitor::{Anyone, Visitor};
