//! A proxy that runs while a test does.

use async_trait::async_trait;
use celero_proxy::{Handle, Proxy, ShutdownSignal, ShutdownSignalWatch};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// A folder of its own for a test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("celero-proxy-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        // As careful writers do: the file is whole whenever it is looked at.
        let (path, new) = (self.0.join(name), self.0.join(format!(".{name}.new")));
        std::fs::write(&new, text).unwrap();
        std::fs::rename(&new, &path).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Stop(Arc<Notify>);

#[async_trait]
impl ShutdownSignalWatch for Stop {
    async fn recv(&self) -> ShutdownSignal {
        self.0.notified().await;
        ShutdownSignal::FastShutdown
    }
}

/// A proxy in a thread, stopped when dropped.
pub(crate) struct Running {
    /// That of the first listener.
    pub(crate) address: SocketAddr,
    /// Those of all listeners.
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) metrics: SocketAddr,
    pub(crate) handle: Handle,
    pub(crate) folder: Folder,
    stop: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// With the demo server behind it.
    pub(crate) fn demo(policy: &str) -> Self {
        Self::with("upstreams: [{ name: demo, demo: true }]\nroutes: [{ upstream: demo }]\n", policy)
    }

    /// `rest` is the configuration but for listeners, metrics, policy and access log.
    pub(crate) fn with(rest: &str, policy: &str) -> Self {
        Self::with_listener("h2c: true", rest, policy, |_| {})
    }

    /// The same with these keys of the listener, and files that `prepare` writes.
    pub(crate) fn with_listener(listener: &str, rest: &str, policy: &str, prepare: impl FnOnce(&Folder)) -> Self {
        Self::start(&config_with(listener, rest), policy, prepare)
    }

    /// With a whole configuration, which has the address of `metrics`.
    pub(crate) fn with_config(config: &str, policy: &str) -> Self {
        Self::start(config, policy, |_| {})
    }

    /// The same with files that `prepare` writes.
    pub(crate) fn with_files(config: &str, policy: &str, prepare: impl FnOnce(&Folder)) -> Self {
        Self::start(config, policy, prepare)
    }

    fn start(config: &str, policy: &str, prepare: impl FnOnce(&Folder)) -> Self {
        let folder = Folder::new();
        folder.write("policy.yaml", if policy.is_empty() { NO_RULES } else { policy });
        prepare(&folder);
        let file = folder.write("proxy.yaml", config);
        let proxy = Proxy::bind(&file).unwrap_or_else(|error| panic!("{error}"));
        let (addresses, metrics, handle) = (proxy.addresses().to_vec(), proxy.metrics().unwrap(), proxy.handle());
        let stop = Arc::new(Notify::new());
        let signal = Stop(Arc::clone(&stop));
        let run = move || proxy.run(Box::new(signal));
        let thread = Some(std::thread::spawn(run));
        Self { address: addresses[0], addresses, metrics, handle, folder, stop, thread }
    }

    /// The value of a metric, written as on its page.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let page = crate::client::get(self.metrics, "/metrics").text();
        let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in\n{page}")).parse().unwrap()
    }

    /// Waits until a metric has a value: an event may be counted after its connection ended.
    pub(crate) fn reaches(&self, name: &str, value: f64) {
        eventually(|| self.metric(name) == value, || format!("{name} {value}, but it is {}", self.metric(name)));
    }

    /// The lines of the access log, once there are as many.
    pub(crate) fn log(&self, lines: usize) -> Vec<serde_json::Value> {
        let file = self.folder.0.join("access.log");
        let read = || std::fs::read_to_string(&file).unwrap_or_default();
        eventually(|| read().lines().count() >= lines, || format!("{lines} lines, but there are:\n{}", read()));
        read().lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }
}

/// A policy without rules.
pub(crate) const NO_RULES: &str = "empty: allowed\n";

/// A whole configuration.
pub(crate) fn config(rest: &str) -> String {
    config_with("h2c: true", rest)
}

pub(crate) fn config_with(listener: &str, rest: &str) -> String {
    format!(
        "listeners: [{{ address: 127.0.0.1:0, {listener} }}]\nmetrics: 127.0.0.1:0\npolicy: policy.yaml\n\
         accessLog: access.log\nthreads: 1\n{rest}"
    )
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the proxy panicked");
        }
    }
}

/// The longest time that a test waits for what is to happen soon: machines that run tests are busy.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// Waits for something that is to happen soon.
pub(crate) fn eventually(mut happened: impl FnMut() -> bool, otherwise: impl Fn() -> String) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < LONG, "expected {}", otherwise());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Prints a line that is shown even if the test passes: what it leaves out, or what a long run
/// counted. `eprintln!` is shown only if it fails.
pub(crate) fn say(text: &str) {
    std::io::Write::write_all(&mut std::io::stderr(), format!("{text}\n").as_bytes()).unwrap();
}

/// A port of this machine for a program that binds it itself. It is below those that the system
/// usually gives for port 0 and for connections, so nobody gets it meanwhile.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = u16::try_from(std::process::id() % 10_000).unwrap();
    let next = || 20_000 + (first + NEXT.fetch_add(1, Ordering::Relaxed)) % 10_000;
    std::iter::repeat_with(next).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}

/// The folder of the workspace.
pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap()
}
