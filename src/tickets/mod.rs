//! Tickets: what is asked for, how it is done, and what it came to. Everything here is facts in
//! rows and rules over them; agents run in [`runner`], and what the server does by itself is in
//! `work/`.

pub mod attachments;
pub mod batch;
pub mod browse;
pub mod chain;
pub mod children;
pub mod claims;
pub mod classify;
pub mod contract;
pub mod conversations;
pub mod data_operation;
pub mod dependencies;
pub mod digest;
pub mod dispatch;
pub mod draft;
pub mod duplicates;
pub mod editors;
pub mod estimate;
pub mod forgotten;
mod glimpses;
pub mod indexing;
pub mod jobs;
pub mod landing;
mod lexicon;
pub mod limits;
pub mod node;
pub mod pending;
pub mod pipeline;
pub mod processes;
pub mod prompt;
pub mod questions;
pub mod reference;
pub mod runner;
pub mod scope;
pub mod search;
pub mod secrets;
pub mod similarity;
pub mod states;
pub mod ticket;
pub mod timeline;

pub use ticket::Ticket;
