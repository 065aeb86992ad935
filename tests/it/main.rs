//! The integration tests: one binary, a file or folder a subject.
#![expect(clippy::unwrap_used, reason = "a test that unwraps says where it broke")]

mod jobs;
mod sim;
mod store;
