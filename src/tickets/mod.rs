//! Tickets: units of work that agents do on their own branches and that land once proved.

pub mod runner;
