//! `/metrics` in the protobuf format of Prometheus, and native histograms as Prometheus reads them.

use crate::client::{get, get_with};
use crate::running::{Folder, Running, eventually, free_port, say};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

const ACCEPT: &str = "accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,text/plain;q=0.3,*/*;q=0.2";

#[test]
fn protobuf_has_what_the_text_has() {
    let proxy = Running::demo("request: [{ name: a, count: seen }]\n");
    get(proxy.address, "/");
    proxy.reaches("celero_requests_open", 0.0);
    let text = get(proxy.metrics, "/metrics");
    assert_eq!(text.header("vary"), "accept");
    assert_eq!(text.header("content-type"), "text/plain; version=0.0.4");
    let reply = get_with(proxy.metrics, "/metrics", &[ACCEPT]);
    assert_eq!(
        reply.header("content-type"),
        "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
    );
    // A family: its length, then field 1, the name.
    let (mut rest, mut names) = (&*reply.body, Vec::new());
    while !rest.is_empty() {
        let length = prost::decode_length_delimiter(&mut rest).unwrap();
        let (family, after) = rest.split_at(length);
        assert_eq!(family[0], 0x0a);
        names.push(String::from_utf8(family[2..2 + usize::from(family[1])].to_vec()).unwrap());
        rest = after;
    }
    let text = text.text();
    let families = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    // Families without metrics are in the text only.
    let has_metric = |name: &&str| text.lines().any(|line| line.starts_with(name) && !line.starts_with('#'));
    assert_eq!(names, families.filter(has_metric).collect::<Vec<_>>());
    assert!(names.iter().any(|name| name == "celero_request_duration_seconds"));
}

struct Prometheus(Child);

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Prometheus itself reads native histograms, and their quantiles fit the duration of the requests.
#[test]
fn prometheus_reads_native_histograms() {
    if Command::new("prometheus").arg("--version").output().is_err() {
        say("left out: there is no prometheus");
        return;
    }
    let (proxy, folder) = (Running::demo("empty: allowed\n"), Folder::new());
    let target = format!(
        "global: {{ scrape_interval: 1s }}\nscrape_configs:\n  - job_name: celero\n    static_configs: [{{ targets: [\"{}\"] }}]\n",
        proxy.metrics
    );
    let file = folder.write("prometheus.yml", &target);
    let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let prometheus = Command::new("prometheus")
        .arg("--enable-feature=native-histograms")
        .arg(format!("--config.file={}", file.display()))
        .arg(format!("--storage.tsdb.path={}", folder.0.join("data").display()))
        .arg(format!("--web.listen-address={address}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _prometheus = Prometheus(prometheus);
    let ready = || std::net::TcpStream::connect(address).is_ok();
    eventually(ready, || "Prometheus to answer".into());
    let value = |query: &str| -> Option<f64> {
        let reply = get(address, &format!("/api/v1/query?query={query}"));
        let found: serde_json::Value = serde_json::from_str(&reply.text()).ok()?;
        found["data"]["result"][0]["value"][1].as_str()?.parse().ok()
    };
    // Requests all the time: the rate of a counter needs two values that differ.
    let quantile = "histogram_quantile(0.99,sum(rate(celero_request_duration_seconds%7Bstatus=%222xx%22%7D%5B1m%5D)))";
    let found = || {
        get(proxy.address, "/");
        value(quantile).filter(|seconds| seconds.is_finite())
    };
    eventually(|| found().is_some(), || "a quantile".into());
    let seconds = found().unwrap();
    let counted = value("histogram_count(celero_request_duration_seconds%7Bstatus=%222xx%22%7D)").unwrap();
    assert!(counted >= 1.0 && 1e-6 < seconds && seconds < 10.0, "{counted} {seconds}");
    // The classic buckets are in the text only.
    assert_eq!(value("celero_request_duration_seconds_bucket"), None);
    assert!(value("process_resident_memory_bytes").unwrap() > 1e6);
}
