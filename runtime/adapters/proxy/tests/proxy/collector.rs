//! A collector of OpenTelemetry in a thread, which decodes what it gets.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

/// Starts a collector that passes each request to `take`, and answers with this status, or never if that is 0.
pub(crate) fn collector<T: Default + Send + 'static>(
    status: u16,
    take: impl Fn(&mut T, String, &[u8]) + Send + 'static,
) -> (SocketAddr, Arc<Mutex<T>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, collected) = (listener.local_addr().unwrap(), Arc::<Mutex<T>>::default());
    let found = Arc::clone(&collected);
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for socket in listener.incoming().map_while(Result::ok) {
            let mut socket = BufReader::new(socket);
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if socket.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            socket.read_exact(&mut body).unwrap();
            take(&mut *found.lock().unwrap(), head, &body);
            if status == 0 {
                open.push(socket);
                continue;
            }
            let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let _ = socket.get_mut().write_all(answer.as_bytes());
        }
    });
    (address, collected)
}

pub(crate) fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        other => format!("{other:?}"),
    }
}

/// The value of an attribute, or `-`.
pub(crate) fn attribute(attributes: &[KeyValue], name: &str) -> String {
    attributes.iter().find(|entry| entry.key == name).map_or("-".to_owned(), |entry| text(entry.value.as_ref()))
}
