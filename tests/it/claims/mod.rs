//! Claims by a clock that a test moves, and by many at once.

mod crowd;
mod leases;
mod limits;
