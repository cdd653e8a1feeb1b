//! The access log: one JSON object a line, written by a thread of its own.
//!
//! Requests hand their lines over and never wait: when the writer does not keep up, lines are dropped and counted.

use crate::config::Output;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;

/// How many lines may wait to be written.
const WAITING: usize = 1 << 14;

enum Message {
    Line(String),
    Reopen,
    End,
}

/// Where requests hand in their lines.
pub(crate) struct AccessLog {
    sender: SyncSender<Message>,
    dropped: AtomicU64,
}

/// The thread that writes, to be ended before the process is.
pub(crate) struct Writer {
    sender: SyncSender<Message>,
    thread: JoinHandle<()>,
}

impl AccessLog {
    /// Opens the log and starts its thread.
    pub(crate) fn open(output: &Output) -> std::io::Result<(Self, Writer)> {
        let (sender, receiver) = sync_channel(WAITING);
        let sink = Sink::open(output)?;
        let thread = std::thread::Builder::new().name("access log".into()).spawn(move || write(sink, &receiver))?;
        Ok((Self { sender: sender.clone(), dropped: AtomicU64::new(0) }, Writer { sender, thread }))
    }

    /// Hands in a line, without its end.
    pub(crate) fn line(&self, mut line: String) {
        line.push('\n');
        if self.sender.try_send(Message::Line(line)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Opens the file again, after it was moved away.
    pub(crate) fn reopen(&self) {
        if self.sender.send(Message::Reopen).is_err() {
            log::error!("the thread of the access log is gone");
        }
    }

    /// How many lines were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Writer {
    /// Waits until all lines that were handed in are written.
    pub(crate) fn end(self) {
        if self.sender.send(Message::End).is_ok() && self.thread.join().is_err() {
            log::error!("the thread of the access log failed");
        }
    }
}

enum Sink {
    Stdout(BufWriter<std::io::Stdout>),
    File(BufWriter<File>, std::path::PathBuf),
}

impl Sink {
    fn open(output: &Output) -> std::io::Result<Self> {
        Ok(match output {
            Output::Stdout => Self::Stdout(BufWriter::new(std::io::stdout())),
            Output::File(path) => Self::File(append(path)?, path.clone()),
        })
    }

    fn reopen(&mut self) -> std::io::Result<()> {
        if let Self::File(file, path) = self {
            file.flush()?;
            *file = append(path)?;
        }
        Ok(())
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Stdout(out) => out,
            Self::File(file, _) => file,
        }
    }
}

fn append(path: &Path) -> std::io::Result<BufWriter<File>> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let file = file.map_err(|error| std::io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    Ok(BufWriter::new(file))
}

fn write(mut sink: Sink, messages: &Receiver<Message>) {
    let mut complained = false;
    loop {
        let message = match messages.try_recv() {
            Ok(message) => Ok(message),
            // Nothing waits: what was written so far should be seen.
            Err(TryRecvError::Empty) => {
                complain(sink.writer().flush(), &mut complained);
                messages.recv().map_err(drop)
            }
            Err(TryRecvError::Disconnected) => Err(()),
        };
        match message {
            Ok(Message::Line(line)) => complain(sink.writer().write_all(line.as_bytes()), &mut complained),
            Ok(Message::Reopen) => complain(sink.reopen(), &mut complained),
            Ok(Message::End) | Err(()) => return complain(sink.writer().flush(), &mut complained),
        }
    }
}

/// Says once that the log can't be written.
fn complain(result: std::io::Result<()>, complained: &mut bool) {
    match result {
        Err(error) if !*complained => {
            *complained = true;
            log::error!("the access log can't be written: {error}");
        }
        Err(_) => {}
        Ok(()) => {}
    }
}
