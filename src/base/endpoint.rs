//! Where a language model is, and which.

use super::secret::Secret;

/// An endpoint of the form that `OpenAI` gave to chats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The address before `/chat/completions`: `https://api.example.com/v1`.
    pub url: String,
    /// The model's name.
    pub model: String,
    /// The key, where the endpoint wants one.
    pub key: Option<Secret>,
}
