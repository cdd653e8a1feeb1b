//! The check of a configuration with everything that it names, and its description.
//!
//! Invariant: a file with a mistake changes nothing. Test:
//! `runtime/adapters/proxy/tests/proxy/reload.rs::a_bad_file_changes_nothing`.

use crate::config::settings::settings;
use crate::config::{Balance, Config, LogOutput, Route, counted, first_names};
use crate::error::Error;
use crate::generation::file_stamps::check_end_markers;
use crate::lists::control::AdminToken;
use crate::rate_limits;
use crate::tls::{ClientTls, ServerTrust, describe_certificate};
use celero_policy::{Phase, Policy};
use std::fmt::Write;
use std::path::{Path, PathBuf};

impl Config {
    /// Checks a configuration file, its policy, and the files of certificates and keys.
    ///
    /// # Errors
    /// Returns all errors in these files, each with its position.
    pub fn check(file: &Path) -> Result<(), Error> {
        Self::summary(file).map(drop)
    }

    /// Checks the same, and returns what is configured, as a text for people: listeners,
    /// certificates with names and ends, upstreams, routes in the order in which they are tried,
    /// rules by phase, lists, all other settings with their defaults, and warnings. Nothing secret
    /// is shown.
    ///
    /// # Errors
    /// Returns all errors in these files, each with its position.
    pub fn summary(file: &Path) -> Result<String, Error> {
        let config = Self::load(file)?;
        let policy = config.load_policy()?;
        rate_limits::check(&config, &policy)?;
        let mut text = String::new();
        config.describe_listeners(&mut text)?;
        config.describe_upstreams(&mut text)?;
        text.push_str("routes\n");
        for route in &config.routes {
            let _ = writeln!(text, "  {} -> {}", route.name(), config.describe_target(route));
        }
        if let Some(compression) = &config.compression {
            let _ = writeln!(text, "compression\n  {}", compression.settings());
        }
        describe_policy(&config.policy, &policy, &mut text);
        config.check_folders()?;
        text.push_str(&settings(&config));
        for warning in delays_warning(&config, &policy).into_iter().chain(routes_warning(&config.routes)) {
            let _ = writeln!(text, "warning: {warning}");
        }
        if config.reload.end_marker {
            let files = policy.files().iter().chain(config.included_files());
            check_end_markers(files.map(PathBuf::as_path).chain([file]))?;
        }
        Ok(text)
    }

    fn describe_listeners(&self, text: &mut String) -> Result<(), Error> {
        text.push_str("listeners\n");
        for listener in &self.listeners {
            let kind = match &listener.tls {
                Some(tls) => match (tls.only_tls13, tls.http2) {
                    (true, true) => "TLS 1.3, HTTP/1.1 and HTTP/2",
                    (true, false) => "TLS 1.3, HTTP/1.1",
                    (false, true) => "TLS 1.2 and 1.3, HTTP/1.1 and HTTP/2",
                    (false, false) => "TLS 1.2 and 1.3, HTTP/1.1",
                },
                None if listener.h2c => "HTTP/1.1 and HTTP/2 without TLS",
                None => "HTTP/1.1 without TLS",
            };
            let _ = writeln!(text, "  {}  {kind}", listener.address);
            let Some(tls) = &listener.tls else { continue };
            ClientTls::of(listener)?;
            for certificate in &tls.certificates {
                let _ = writeln!(text, "    {}", describe_certificate(&certificate.chain)?);
            }
            if let Some(clients) = &tls.clients {
                let required = if clients.required { "required" } else { "asked for" };
                let _ = writeln!(text, "    certificates of clients are {required}");
            }
        }
        if let Some(address) = self.metrics {
            let _ = writeln!(text, "  {address}  metrics, probes and the page for operators");
        }
        if let Some(admin) = &self.admin {
            AdminToken::load(&admin.token)?;
            let kept = admin.list_changes.as_ref().map(|file| format!("kept in {}", file.display()));
            let kept = kept.unwrap_or_else(|| "lost when the proxy stops".to_owned());
            let _ = writeln!(
                text,
                "    lists can be changed with the token of {}; changes are {kept}",
                admin.token.display()
            );
        }
        Ok(())
    }

    fn describe_upstreams(&self, text: &mut String) -> Result<(), Error> {
        text.push_str("upstreams\n");
        for upstream in &self.upstreams {
            let balance = match &upstream.balance {
                Balance::RoundRobin => "roundRobin".to_owned(),
                Balance::Random => "random".to_owned(),
                Balance::LeastRequests => "leastRequests".to_owned(),
                Balance::Consistent(key) => format!("consistent by {}", key.name()),
            };
            let _ = write!(text, "  {}: {balance}", upstream.name);
            if let Some(health) = &upstream.health {
                let _ = write!(text, ", checked every {:?}", health.interval);
            }
            if let Some(ejection) = &upstream.ejection {
                let failures = counted(usize::try_from(ejection.failures).unwrap_or(usize::MAX), "failure");
                let _ = write!(text, ", out for {:?} after {failures}", ejection.time);
            }
            if let Some(connections) = upstream.pool.connections {
                let _ = write!(
                    text,
                    ", {} to each server, waited for {:?}",
                    counted(connections, "connection"),
                    upstream.pool.wait
                );
            }
            if let Some(tls) = &upstream.tls {
                ServerTrust::of(upstream)?;
                let _ = write!(text, ", TLS as {}", tls.server_name);
            }
            text.push('\n');
            if let Some(time) = upstream.resolve {
                let _ = writeln!(text, "    names are resolved again every {time:?}");
            }
            if upstream.servers.is_empty() {
                text.push_str("    the built-in demo server\n");
            }
            for server in &upstream.servers {
                let _ = writeln!(text, "    {} (weight {})", server.address, server.weight);
            }
            let own = upstream.tls.as_ref().and_then(|tls| tls.certificate.as_ref());
            if let Some(certificate) = own {
                let _ = writeln!(text, "    shows {}", describe_certificate(&certificate.chain)?);
            }
        }
        Ok(())
    }

    /// Refuses files and folders that can't be created because the folders above them are missing.
    fn check_folders(&self) -> Result<(), Error> {
        if let Some(LogOutput::File(file)) = &self.access_log {
            check_file("accessLog", file)?;
        }
        if let Some(record) = &self.record {
            check_file("record.file", &record.file)?;
        }
        if let Some(folder) = &self.list_copies {
            if folder.exists() && !folder.is_dir() {
                return Err(Error::new(format!("error: `listCopies`: {} is not a folder", folder.display())));
            }
            check_folder("listCopies", folder)?;
        }
        self.list_changes().map_or(Ok(()), |file| check_file("listChanges", file))
    }
}

/// Returns the warning for a policy whose delayed requests can use up the bound of open requests.
pub(crate) fn delays_warning(config: &Config, policy: &Policy) -> Option<String> {
    let (waiting, requests) = (policy.delays().limit, config.limits.requests);
    (policy.has_delays() && waiting >= requests).then(|| {
        format!(
            "`waiting` of `delays` is {waiting} and `limits.requests` is {requests}: requests that wait are open requests, so they alone can \
             use the bound up, and all others are then answered with 503. Set `waiting` below `limits.requests`"
        )
    })
}

/// Returns the warning for routes behind one that fits every request.
fn routes_warning(routes: &[Route]) -> Option<String> {
    let fits_all = |route: &Route| route.host.is_none() && route.prefix.is_none() && route.label.is_none();
    let (_, behind) = routes.split_at(routes.iter().position(fits_all)?);
    let first = behind.get(1)?;
    let never = counted(behind.len().saturating_sub(1), "route");
    Some(format!("{never} from `{}` on: never tried, because the route before fits every request", first.name()))
}

/// Refuses a file that can't be written because it is a folder, or because the folder above it is missing.
fn check_file(key: &str, file: &Path) -> Result<(), Error> {
    if file.is_dir() {
        return Err(Error::new(format!("error: `{key}`: {} is a folder", file.display())));
    }
    check_folder(key, file)
}

/// Refuses a file or a folder that can't be created because the folder above it is missing.
fn check_folder(key: &str, path: &Path) -> Result<(), Error> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => Err(Error::new(format!(
            "error: `{key}`: {} can't be created: there is no folder {}",
            path.display(),
            folder.display()
        ))),
        _ => Ok(()),
    }
}

fn describe_policy(file: &Path, policy: &Policy, text: &mut String) {
    let _ = writeln!(text, "policy {}", file.display());
    for phase in Phase::ALL {
        let names: Vec<_> = policy.rules().filter(|rule| rule.phase == phase).map(|rule| rule.name).collect();
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        if !names.is_empty() {
            let (count, shown) = (counted(names.len(), "rule"), first_names(&names, SHOWN));
            let _ = writeln!(text, "  {}: {count}: {shown}", phase.name());
        }
    }
    for list in policy.lists().iter().flat_map(|lists| lists.load().infos().collect::<Vec<_>>()) {
        let entries = if list.entries == 1 { "entry" } else { "entries" };
        let _ = writeln!(text, "  list {}: {}, {} {entries}", list.name, list.kind, list.entries);
    }
}

/// How many names of rules of a phase are shown at most.
const SHOWN: usize = 20;
