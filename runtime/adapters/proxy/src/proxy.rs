//! A whole proxy: creates its services and runs them.

use crate::admin::Admin;
use crate::background::file_watcher::WatchService;
use crate::background::generation_tasks::GenerationTasks;
use crate::background::health;
use crate::background::key_service;
use crate::background::list_fetch;
use crate::background::metric_export::{MetricExport, MetricService};
use crate::config::{Config, Listener as ListenerConfig};
use crate::demo::DemoService;
use crate::error::Error;
use crate::generation::Generation;
use crate::generation::file_stamps::check_end_markers;
use crate::listener::{Listener, Protocol};
use crate::lists::control::ListControl;
use crate::logs::line_log::{LineLog, Writer};
use crate::process::bound_service::{BoundService, bind, prepare};
use crate::process::file_limit;
use crate::process::hand_over::Program;
use crate::process::service_manager::InheritedSockets;
use crate::request::service::Service;
use crate::shutdown::{LoggedSignal, Replaceable};
use crate::state::State;
use pingora::proxy::http_proxy;
use pingora::server::configuration::ServerConf;
use pingora::server::{ExecutionPhase, RunArgs, Server, ShutdownSignalWatch};
use pingora::services::background::background_service;
use pingora::services::listening::Service as Listening;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

/// A proxy that is ready to run: its files are loaded and its sockets bound.
pub struct Proxy {
    server: Server,
    state: Arc<State>,
    writer: Option<Writer>,
    addresses: Vec<SocketAddr>,
    metrics: Option<SocketAddr>,
    metric_export: Arc<MetricExport>,
    replaceable: Option<Arc<Replaceable>>,
}

impl Proxy {
    /// Loads a configuration and its policy, and binds the sockets. From now on SIGHUP and SIGUSR1
    /// don't end the process; the proxy does what they ask for as soon as it runs.
    ///
    /// # Errors
    /// Returns all errors in the files, the address that can't be bound, or that the system refuses
    /// to let the process await these signals.
    pub fn bind(file: &Path) -> Result<Self, Error> {
        let loading = SystemTime::now();
        let config = Config::load(file)?;
        let demo = bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let first = Generation::new(config.clone(), demo.local_addr()?, None)?;
        if config.reload.end_marker {
            let files = first.policy.files().iter().chain(config.included_files());
            check_end_markers(files.map(PathBuf::as_path).chain([file]))?;
        }
        let lists = ListControl::open(config.list_changes())?;
        lists.replace_policy(&first.policy, || {})?;
        let log = config.access_log.as_ref().map(LineLog::open).transpose();
        let (log, writer) = log.map_err(|error| Error::from(error).within("`accessLog`"))?.unzip();
        let state = Arc::new(State::new(file.to_owned(), demo.local_addr()?, first, lists, log));
        file_limit::raise(&config);
        let mut server = Server::new_with_opt_and_conf(None, server_conf(&config));

        let mut inherited = InheritedSockets::take()?;
        let mut sockets = Vec::new();
        let mut open = |address| -> Result<_, Error> {
            let socket = inherited.of(address).map_or_else(|| bind(address), prepare)?;
            sockets.push((address, socket.try_clone()?));
            Ok(socket)
        };
        let mut addresses = Vec::with_capacity(config.listeners.len());
        // One for all listeners: it has the connections to servers.
        let app = Arc::new(http_proxy(&server.configuration, Service { state: Arc::clone(&state) }));
        for (number, listener) in config.listeners.iter().enumerate() {
            let socket = open(listener.address)?;
            addresses.push(socket.local_addr()?);
            let protocol = match listener {
                ListenerConfig { tls: Some(_), .. } => Protocol::Tls,
                ListenerConfig { h2c: true, .. } => Protocol::Plain,
                _ => Protocol::Http1,
            };
            let app = Listener::new(Arc::clone(&app), Arc::clone(&state), protocol, Some(number));
            let mut service = Listening::new("proxy".into(), app);
            service.threads = Some(config.threads);
            server.add_service(BoundService::new(service, socket)?);
        }
        let mut metrics = None;
        if let Some(address) = config.metrics {
            let socket = open(address)?;
            metrics = Some(socket.local_addr()?);
            let admin = Admin { state: Arc::clone(&state), is_local: address.ip().to_canonical().is_loopback() };
            let admin = Listener::new(Arc::new(admin), Arc::clone(&state), Protocol::Http1, None);
            let admin = Listening::new("metrics".into(), admin);
            server.add_service(BoundService::new(admin, socket)?);
        }
        state.opened(sockets, inherited.all_used()?);
        server.add_service(background_service("health", GenerationTasks::new(Arc::clone(&state), health::start)));
        server.add_service(background_service("keys", GenerationTasks::new(Arc::clone(&state), key_service::start)));
        let metric_export = Arc::new(MetricExport::new(Arc::clone(&state)));
        server.add_service(background_service("metrics export", MetricService(Arc::clone(&metric_export))));
        server
            .add_service(background_service("lists", GenerationTasks::new(Arc::clone(&state), list_fetch::starter())));
        let files = WatchService::new(Arc::clone(&state), loading)
            .map_err(|error| Error::from(error).within("SIGHUP and SIGUSR1 can't be awaited"))?;
        server.add_service(background_service("files", files));
        server.add_service(background_service("demo", DemoService::new(demo)));
        Ok(Self { server, state, writer, addresses, metrics, metric_export, replaceable: None })
    }

    /// Returns the addresses of the listeners, in the order of the configuration.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Returns the address of `/metrics`, `/health` and `/ready`, if it is configured.
    #[must_use]
    pub fn metrics(&self) -> Option<SocketAddr> {
        self.metrics
    }

    /// Lets SIGUSR2 replace this process: its program is started again by the name and with the
    /// arguments that it was started with, and gets the sockets. When it serves, this process stops
    /// as with SIGTERM. If it fails before, nothing changes. From this call on SIGUSR2 does not end
    /// the process; the proxy does what it asks for as soon as it runs. Without this call the proxy
    /// does not await it.
    ///
    /// # Errors
    /// The system refuses to let the process await the signal, which would end it.
    pub fn replace_on_signal(&mut self) -> std::io::Result<()> {
        let replaceable = Replaceable::new(Program::of_this_process()).map_err(|error| {
            let message = format!("SIGUSR2 can't be awaited: {error}");
            std::io::Error::new(error.kind(), message)
        })?;
        self.replaceable = Some(Arc::new(replaceable));
        Ok(())
    }

    /// Returns a handle to reload the files while the proxy runs.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle { state: Arc::clone(&self.state) }
    }

    /// Serves until `signal` asks to stop. A graceful shutdown waits up to `grace` for open
    /// requests and connections, and ends as soon as none is left.
    /// [`ShutdownSignal::GracefulUpgrade`](crate::ShutdownSignal::GracefulUpgrade) is a graceful
    /// shutdown like others. Threads of the server may run until `grace` has passed.
    ///
    /// # Panics
    /// Passes on a panic of the server's thread.
    pub fn run(self, signal: Box<dyn ShutdownSignalWatch + Send>) {
        let Self { server, state, writer, metric_export, replaceable, .. } = self;
        let grace = state.current().config.grace;
        let delay = state.current().config.drain_delay;
        let signal = LoggedSignal { signal, state: Arc::clone(&state), delay, grace, replaceable };
        let phases = server.watch_execution_phase();
        let server = std::thread::spawn(move || server.run(RunArgs { shutdown_signal: Box::new(signal) }));
        wait_for_grace(phases);
        // Pingora always waits for the whole grace period, so open requests are counted here.
        let (mut quiet, mut said) = (0_u32, Instant::now());
        while !server.is_finished() && quiet < 2 {
            std::thread::sleep(DRAIN);
            let (open, connections) = state.open();
            quiet = if open > 0 || connections > 0 { 0 } else { quiet.saturating_add(1) };
            if open > 0 && said.elapsed() >= PROGRESS {
                said = Instant::now();
                log::info!("{open} open requests are waited for");
            }
        }
        match state.metrics.cut_off() {
            ..=0 => log::info!("stopped"),
            open => log::warn!("stopped; {open} open requests were cut off"),
        }
        if let Some(spans) = &state.current().spans {
            spans.end();
        }
        if let Some(recorder) = &state.current().recorder {
            recorder.end();
        }
        // After the spans, so that what became of them is counted.
        metric_export.end();
        if server.is_finished()
            && let Err(panic) = server.join()
        {
            std::panic::resume_unwind(panic);
        }
        if let Some(writer) = writer {
            writer.end();
        }
    }
}

/// How often a graceful shutdown counts the open requests. It ends when there are none twice in a row.
const DRAIN: Duration = Duration::from_millis(50);

/// How often the log says for how many requests a graceful shutdown waits.
const PROGRESS: Duration = Duration::from_secs(5);

/// Waits until the grace period starts or the server has ended.
fn wait_for_grace(mut phases: Receiver<ExecutionPhase>) {
    loop {
        match phases.blocking_recv() {
            Ok(ExecutionPhase::ShutdownGracePeriod | ExecutionPhase::Terminated) | Err(RecvError::Closed) => return,
            Ok(_) | Err(RecvError::Lagged(_)) => {}
        }
    }
}

/// Controls a running proxy.
#[derive(Clone)]
pub struct Handle {
    state: Arc<State>,
}

impl Handle {
    /// Loads the files again, as SIGHUP does.
    ///
    /// # Errors
    /// Returns the errors in the files. Nothing changes then.
    pub fn reload(&self) -> Result<(), Error> {
        self.state.reload("reload")
    }
}

/// How often a request may be sent at most. `request/retry.rs` and `upstreams/connections.rs`
/// decide; this only has to be more than they can ask for: with pauses of 50 ms, 1200 tries in the
/// minute that a request may wait for a connection, and a few more after each of the 22 failures
/// that `retries`, `retry` and kept connections allow.
const MAX_TRIES: usize = 2048;

fn server_conf(config: &Config) -> ServerConf {
    ServerConf {
        threads: 1,
        // Pingora's second period serves no requests.
        grace_period_seconds: Some(config.grace.as_secs()),
        graceful_shutdown_timeout_seconds: Some(0),
        max_retries: MAX_TRIES,
        // For each thread, of which the configuration above has one.
        upstream_keepalive_pool_size: config.limits.idle_connections,
        ..ServerConf::default()
    }
}
