//! All tools at once: what is published of them, and what the gate holds every one of them to.

mod gate;
mod isolation;
mod projects;
mod registry;
mod samples;
