//! The access log: one JSON object per line, written by its own thread.
//!
//! Requests put lines into a bounded queue and never wait. If the queue is full, lines are dropped and counted.

use crate::config::LogOutput;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;

/// The capacity of the queue, in lines.
const QUEUE_CAPACITY: usize = 1 << 14;

enum Message {
    Line(String),
    Reopen,
    End,
}

/// The sending side of the queue.
pub(crate) struct AccessLog {
    sender: SyncSender<Message>,
    dropped: AtomicU64,
}

/// The thread that writes. End it before the process ends, or lines in the queue are lost.
pub(crate) struct Writer {
    sender: SyncSender<Message>,
    thread: JoinHandle<()>,
}

impl AccessLog {
    /// Opens the log and starts its thread.
    pub(crate) fn open(output: &LogOutput) -> std::io::Result<(Self, Writer)> {
        let (sender, receiver) = sync_channel(QUEUE_CAPACITY);
        let sink = Sink::open(output)?;
        let thread = std::thread::Builder::new().name("access log".into()).spawn(move || write(sink, &receiver))?;
        Ok((Self { sender: sender.clone(), dropped: AtomicU64::new(0) }, Writer { sender, thread }))
    }

    /// Puts a line, without its line break, into the queue.
    pub(crate) fn line(&self, mut line: String) {
        line.push('\n');
        if self.sender.try_send(Message::Line(line)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Opens the file again, after log rotation moved it away.
    pub(crate) fn reopen(&self) {
        if self.sender.send(Message::Reopen).is_err() {
            log::error!("the thread of the access log is gone");
        }
    }

    /// Returns how many lines were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Writer {
    /// Waits until all lines of the queue are written.
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
    fn open(output: &LogOutput) -> std::io::Result<Self> {
        Ok(match output {
            LogOutput::Stdout => Self::Stdout(BufWriter::new(std::io::stdout())),
            LogOutput::File(path) => Self::File(append(path)?, path.clone()),
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
    let mut reported = false;
    loop {
        let message = match messages.try_recv() {
            Ok(message) => Ok(message),
            // The queue is empty: make the lines so far visible.
            Err(TryRecvError::Empty) => {
                report(sink.writer().flush(), &mut reported);
                messages.recv().map_err(drop)
            }
            Err(TryRecvError::Disconnected) => Err(()),
        };
        match message {
            Ok(Message::Line(line)) => report(sink.writer().write_all(line.as_bytes()), &mut reported),
            Ok(Message::Reopen) => report(sink.reopen(), &mut reported),
            Ok(Message::End) | Err(()) => return report(sink.writer().flush(), &mut reported),
        }
    }
}

/// Reports the first error of writing the log.
fn report(result: std::io::Result<()>, reported: &mut bool) {
    if let Err(error) = result
        && !*reported
    {
        *reported = true;
        log::error!("the access log can't be written: {error}");
    }
}
