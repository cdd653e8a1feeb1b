//! Files of lines, written by a thread of their own: the access log and recorded requests.
//!
//! Requests put lines into a queue that is bounded in lines and in bytes. If the queue is full, lines are dropped and
//! counted.
//!
//! Invariant: no request waits for the access log or for recorded requests. Test:
//! `runtime/adapters/proxy/src/logs/line_log.rs::the_queue_is_bounded_in_bytes`.

use crate::config::{LogOutput, older};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
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
pub(crate) struct LineLog {
    sender: SyncSender<Message>,
    counts: Arc<Counts>,
}

/// What both sides of the queue count.
#[derive(Default)]
struct Counts {
    /// Bytes of the lines in the queue.
    queued: AtomicUsize,
    /// Lines that the file has.
    written: AtomicU64,
    /// Lines that did not fit into the queue, or could not be written.
    dropped: AtomicU64,
}

/// The thread that writes. End it before the process ends, or lines in the queue are lost.
pub(crate) struct Writer {
    sender: SyncSender<Message>,
    thread: JoinHandle<()>,
}

impl LineLog {
    /// Opens the access log and starts its thread.
    pub(crate) fn open(output: &LogOutput) -> std::io::Result<(Self, Writer)> {
        Self::start(Sink::open(output)?, "access log")
    }

    /// Opens a file that only its owner can read, and starts its thread. A file beyond `most` bytes
    /// is renamed to one with `.1` at the end of its name, which it replaces, and begun anew.
    /// `what` is its name in messages.
    pub(crate) fn open_bounded(path: &Path, most: u64, what: &'static str) -> std::io::Result<(Self, Writer)> {
        Self::start(Sink::Bounded(BoundedFile::open(path, most)?), what)
    }

    fn start(sink: Sink, what: &'static str) -> std::io::Result<(Self, Writer)> {
        let (log, receiver) = Self::new();
        let lines = LineWriter::new(sink, what, Arc::clone(&log.counts));
        let thread = std::thread::Builder::new().name(what.into()).spawn(move || lines.run(&receiver))?;
        let writer = Writer { sender: log.sender.clone(), thread };
        Ok((log, writer))
    }

    fn new() -> (Self, Receiver<Message>) {
        let (sender, receiver) = sync_channel(QUEUE_CAPACITY);
        (Self { sender, counts: Arc::default() }, receiver)
    }

    /// Puts a line, without its line break, into the queue.
    pub(crate) fn line(&self, mut line: String) {
        line.push('\n');
        let (bytes, counts) = (line.len(), &self.counts);
        let fits = counts.queued.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= QUEUE_BYTES;
        if !fits || self.sender.try_send(Message::Line(line)).is_err() {
            counts.queued.fetch_sub(bytes, Ordering::Relaxed);
            counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Opens the file again, after log rotation moved it away.
    pub(crate) fn reopen(&self) {
        if self.sender.send(Message::Reopen).is_err() {
            log::error!("the thread that writes lines is gone");
        }
    }

    /// Returns how many lines the file has got.
    pub(crate) fn written(&self) -> u64 {
        self.counts.written.load(Ordering::Relaxed)
    }

    /// Returns how many lines were dropped: the queue was full, or they could not be written.
    pub(crate) fn dropped(&self) -> u64 {
        self.counts.dropped.load(Ordering::Relaxed)
    }
}

impl Writer {
    /// Waits until all lines of the queue are written.
    pub(crate) fn end(self) {
        if self.sender.send(Message::End).is_ok() && self.thread.join().is_err() {
            log::error!("the thread that writes lines failed");
        }
    }
}

enum Sink {
    Stdout(BufWriter<std::io::Stdout>),
    File(BufWriter<File>, PathBuf),
    Bounded(BoundedFile),
}

/// A file that is begun anew when it is too large.
struct BoundedFile {
    file: BufWriter<File>,
    path: PathBuf,
    most: u64,
    bytes: u64,
}

impl BoundedFile {
    fn open(path: &Path, most: u64) -> std::io::Result<Self> {
        let file = open_file(OpenOptions::new().create(true).append(true).mode(0o600), path)?;
        let about = file.get_ref().metadata().map_err(|error| named(path, &error))?;
        if about.is_file() {
            // It may have been there before, open to others.
            file.get_ref().set_permissions(Permissions::from_mode(0o600)).map_err(|error| named(path, &error))?;
        }
        Ok(Self { file, path: path.to_owned(), most, bytes: about.len() })
    }

    fn line(&mut self, line: &[u8]) -> std::io::Result<()> {
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if self.bytes > 0 && self.bytes.saturating_add(length) > self.most {
            self.file.flush()?;
            std::fs::rename(&self.path, older(&self.path))?;
            *self = Self::open(&self.path, self.most)?;
        }
        self.bytes = self.bytes.saturating_add(length);
        self.file.write_all(line)
    }
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

    fn line(&mut self, line: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Stdout(out) => out.write_all(line),
            Self::File(file, _) => file.write_all(line),
            Self::Bounded(bounded) => bounded.line(line),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(file, _) => file.flush(),
            Self::Bounded(bounded) => bounded.file.flush(),
        }
    }
}

fn append(path: &Path) -> std::io::Result<BufWriter<File>> {
    open_file(OpenOptions::new().create(true).append(true), path)
}

fn open_file(options: &OpenOptions, path: &Path) -> std::io::Result<BufWriter<File>> {
    options.open(path).map(BufWriter::new).map_err(|error| named(path, &error))
}

/// Returns an error with the name of its file.
fn named(path: &Path, error: &std::io::Error) -> std::io::Error {
    std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Writes the lines of the queue.
struct LineWriter {
    sink: Sink,
    /// Its name in messages.
    what: &'static str,
    counts: Arc<Counts>,
    /// Lines that the file may not have yet.
    buffered: u64,
    /// Whether the last line may have been written in part.
    is_torn: bool,
    reported: bool,
}

impl LineWriter {
    fn new(sink: Sink, what: &'static str, counts: Arc<Counts>) -> Self {
        Self { sink, what, counts, buffered: 0, is_torn: false, reported: false }
    }

    fn run(mut self, messages: &Receiver<Message>) {
        loop {
            let message = match messages.try_recv() {
                Ok(message) => Ok(message),
                // The queue is empty: make the lines so far visible.
                Err(TryRecvError::Empty) => {
                    self.flush();
                    messages.recv().map_err(drop)
                }
                Err(TryRecvError::Disconnected) => Err(()),
            };
            match message {
                Ok(Message::Line(line)) => {
                    self.line(&line);
                    self.counts.queued.fetch_sub(line.len(), Ordering::Relaxed);
                }
                Ok(Message::Reopen) => {
                    let reopened = self.sink.reopen();
                    self.succeeds(reopened);
                }
                Ok(Message::End) | Err(()) => return self.end(),
            }
        }
    }

    fn line(&mut self, line: &str) {
        let written =
            if self.is_torn { self.sink.line(format!("\n{line}").as_bytes()) } else { self.sink.line(line.as_bytes()) };
        self.is_torn = !self.succeeds(written);
        if self.is_torn {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        } else {
            self.buffered = self.buffered.saturating_add(1);
        }
    }

    /// Makes lines visible. Those for which that fails stay in the buffer.
    fn flush(&mut self) {
        let flushed = self.sink.flush();
        if self.succeeds(flushed) {
            self.counts.written.fetch_add(std::mem::take(&mut self.buffered), Ordering::Relaxed);
        }
    }

    fn end(mut self) {
        self.flush();
        self.counts.dropped.fetch_add(self.buffered, Ordering::Relaxed);
    }

    /// Returns whether a step succeeded, and reports the first that did not.
    fn succeeds(&mut self, result: std::io::Result<()>) -> bool {
        if let Err(error) = &result
            && !self.reported
        {
            self.reported = true;
            log::error!("{}: lines can't be written: {error}", self.what);
        }
        result.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_file_and_the_one_before_it_hold_the_last_lines() {
        let folder = std::env::temp_dir().join(format!("celero-lines-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (path, older) = (folder.join("lines"), folder.join("lines.1"));
        let (log, writer) = LineLog::open_bounded(&path, 30, "lines").unwrap();
        (0..10).for_each(|number| log.line(format!("line {number}")));
        // Longer than the file may be: it has a file for itself.
        log.line("x".repeat(40));
        log.line("last".to_owned());
        writer.end();
        let read = |path| std::fs::read_to_string(path).unwrap();
        assert_eq!((read(&path), read(&older)), ("last\n".to_owned(), "x".repeat(40) + "\n"));
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        // It goes on where it ended.
        let (log, writer) = LineLog::open_bounded(&path, 30, "lines").unwrap();
        log.line("more".to_owned());
        writer.end();
        assert_eq!(read(&path), "last\nmore\n");
        let _ = std::fs::remove_dir_all(&folder);
    }

    #[test]
    fn the_queue_is_bounded_in_bytes() {
        let (log, messages) = LineLog::new();
        let line = "x".repeat((1 << 20) - 1);
        (0..20).for_each(|_| log.line(line.clone()));
        assert_eq!(log.dropped(), 4);
        let written = |message| if let Message::Line(line) = message { line.len() } else { 0 };
        assert_eq!(messages.try_iter().map(written).sum::<usize>(), QUEUE_BYTES);
        // One that is larger than the queue.
        log.counts.queued.store(0, Ordering::Relaxed);
        log.line("x".repeat(QUEUE_BYTES));
        assert_eq!((log.dropped(), log.counts.queued.load(Ordering::Relaxed)), (5, 0));
    }

    #[test]
    fn lines_that_cannot_be_written_count_as_dropped() {
        // Short lines stay in the buffer until the end; one that is longer than the buffer fails at once.
        for length in [1, 1 << 15] {
            let (log, writer) = LineLog::open_bounded(Path::new("/dev/full"), u64::MAX, "lines").unwrap();
            (0..3).for_each(|_| log.line("x".repeat(length)));
            writer.end();
            assert_eq!((log.written(), log.dropped()), (0, 3), "{length}");
        }
    }

    #[test]
    fn a_line_after_one_that_was_written_in_part_begins_anew() {
        let path = std::env::temp_dir().join(format!("celero-torn-{}", std::process::id()));
        let full = Sink::open(&LogOutput::File("/dev/full".into())).unwrap();
        let mut lines = LineWriter::new(full, "lines", Arc::default());
        lines.line(&("x".repeat(1 << 15) + "\n"));
        lines.sink = Sink::open(&LogOutput::File(path.clone())).unwrap();
        lines.line("a\n");
        lines.line("b\n");
        lines.flush();
        let counts = &lines.counts;
        assert_eq!((counts.written.load(Ordering::Relaxed), counts.dropped.load(Ordering::Relaxed)), (2, 1));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "\na\nb\n");
        let _ = std::fs::remove_file(&path);
    }

    #[test]
    fn a_bounded_file_that_was_there_is_for_its_owner_only() {
        let path = std::env::temp_dir().join(format!("celero-lines-open-{}", std::process::id()));
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        LineLog::open_bounded(&path, 30, "lines").unwrap().1.end();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let _ = std::fs::remove_file(&path);
    }
}
