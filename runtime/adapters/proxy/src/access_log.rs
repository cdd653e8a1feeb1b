//! The access log: one JSON object per line, written by its own thread.
//!
//! Requests put lines into a queue that is bounded in lines and in bytes, and never wait. If the queue is full, lines are dropped and
//! counted.

use crate::config::LogOutput;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;

/// The capacity of the queue, in lines.
const QUEUE_CAPACITY: usize = 1 << 14;

/// The capacity of the queue, in bytes.
const QUEUE_BYTES: usize = 16 << 20;

enum Message {
    Line(String),
    Reopen,
    End,
}

/// The sending side of the queue.
pub(crate) struct AccessLog {
    sender: SyncSender<Message>,
    /// Bytes of the lines in the queue.
    queued: Arc<AtomicUsize>,
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
        let (log, receiver) = Self::new();
        let sink = Sink::open(output)?;
        let queued = Arc::clone(&log.queued);
        let write = move || write(sink, &receiver, &queued);
        let thread = std::thread::Builder::new().name("access log".into()).spawn(write)?;
        let writer = Writer { sender: log.sender.clone(), thread };
        Ok((log, writer))
    }

    fn new() -> (Self, Receiver<Message>) {
        let (sender, receiver) = sync_channel(QUEUE_CAPACITY);
        (Self { sender, queued: Arc::default(), dropped: AtomicU64::new(0) }, receiver)
    }

    /// Puts a line, without its line break, into the queue.
    pub(crate) fn line(&self, mut line: String) {
        line.push('\n');
        let bytes = line.len();
        let fits = self.queued.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= QUEUE_BYTES;
        if !fits || self.sender.try_send(Message::Line(line)).is_err() {
            self.queued.fetch_sub(bytes, Ordering::Relaxed);
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

fn write(mut sink: Sink, messages: &Receiver<Message>, queued: &AtomicUsize) {
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
            Ok(Message::Line(line)) => {
                report(sink.writer().write_all(line.as_bytes()), &mut reported);
                queued.fetch_sub(line.len(), Ordering::Relaxed);
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_is_bounded_in_bytes() {
        let (log, messages) = AccessLog::new();
        let line = "x".repeat((1 << 20) - 1);
        (0..20).for_each(|_| log.line(line.clone()));
        assert_eq!(log.dropped(), 4);
        let written = |message| if let Message::Line(line) = message { line.len() } else { 0 };
        assert_eq!(messages.try_iter().map(written).sum::<usize>(), QUEUE_BYTES);
        // One that is larger than the queue.
        log.queued.store(0, Ordering::Relaxed);
        log.line("x".repeat(QUEUE_BYTES));
        assert_eq!((log.dropped(), log.queued.load(Ordering::Relaxed)), (5, 0));
    }
}
