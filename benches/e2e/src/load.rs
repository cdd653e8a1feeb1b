//! Loads a proxy with `wrk` and reads what it measured.

use crate::Failure;
use crate::jobs::Job;
use crate::requests::{TARGET, wrk_script};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

/// A job's `wrk` script in a temporary file, removed on drop.
pub(crate) struct LoadScript {
    file: PathBuf,
}

/// What `wrk` measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadResult {
    pub(crate) requests: u64,
    pub(crate) per_second: f64,
    pub(crate) p50_us: f64,
    pub(crate) p95_us: f64,
    pub(crate) p99_us: f64,
}

impl LoadScript {
    /// Writes the script of a job.
    pub(crate) fn of(job: &Job) -> Result<Self, Failure> {
        let file = std::env::temp_dir().join(format!("celero-e2e-{}-{}.lua", std::process::id(), job.name));
        std::fs::write(&file, wrk_script(job))?;
        Ok(Self { file })
    }

    /// Loads a server for some seconds.
    ///
    /// # Errors
    /// Also when a request failed: figures of a proxy that fails mean nothing.
    pub(crate) fn load(&self, address: SocketAddr, seconds: u64, connections: usize) -> Result<LoadResult, Failure> {
        let output = Command::new("wrk")
            .args(["-t1", &format!("-c{connections}"), &format!("-d{seconds}s"), "-s"])
            .arg(&self.file)
            .arg(format!("http://{address}{}", TARGET))
            .output()
            .map_err(|error| format!("wrk: {error} (Debian has it as the package wrk)"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find_map(|line| line.strip_prefix("RESULT "));
        let numbers: Option<Vec<f64>> = line.map(|line| line.split(' ').filter_map(|n| n.parse().ok()).collect());
        let Some([requests, micros, errors, p50_us, p95_us, p99_us]) = numbers.as_deref() else {
            return Err(format!("wrk says {text}{}", String::from_utf8_lossy(&output.stderr)).into());
        };
        if *errors > 0.0 || *requests < 1.0 {
            return Err(format!("{errors} of {requests} requests failed").into());
        }
        let per_second = requests / (micros / 1e6);
        Ok(LoadResult { requests: *requests as u64, per_second, p50_us: *p50_us, p95_us: *p95_us, p99_us: *p99_us })
    }
}

impl Drop for LoadScript {
    fn drop(&mut self) {
        // A file left behind in the temporary directory does no harm.
        let _ = std::fs::remove_file(&self.file);
    }
}
