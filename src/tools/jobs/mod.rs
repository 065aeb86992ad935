//! The jobs family.

mod get_job_status;

pub use get_job_status::GetJobStatus;
