//! The server: its life cycle, and which feature answers which request.
//!
//! One thread reads, one works. Requests are answered in their order. Diagnostics are computed when
//! no message waits, so that somebody who types fast does not wait for the diagnostics of every
//! key.
//!
//! Invariant: nothing that a client sends ends the server, except `exit` and the end of the input. Test:
//! `runtime/tools/cli/tests/it/language_server/life_cycle.rs::hostile_messages_do_not_end_the_server`.

use crate::checks::checker::{self, Finding, OtherFiles};
use crate::checks::environment::{Checks, Environment};
use crate::documents::document::Document;
use crate::features::actions::{Fix, fixes};
use crate::features::completion::completion;
use crate::features::definition::definition;
use crate::features::hover::hover;
use crate::features::layout;
use crate::features::semantic_tokens::{self, semantic_tokens};
use crate::features::signature::signature_help;
use crate::features::symbols::symbols;
use crate::transport::{self, INVALID_REQUEST, Incoming};
use celero_policy::Loader;
use lsp_types::*;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{TryRecvError, sync_channel};

const NOT_INITIALIZED: i32 = -32002;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const INTERNAL_ERROR: i32 = -32603;
const REQUEST_FAILED: i32 = -32803;

/// Most documents that are open at once. More are not opened.
const MAX_OPEN: usize = 1000;
/// Most messages that wait between the threads.
const MAX_WAITING: usize = 64;

/// Most diagnostics of a range for which code actions are looked for: each takes several checks of its expression.
const MAX_FIXED: usize = 100;

/// An error of a request: its code and its message.
type Failure = (i32, String);

/// Serves a client until it says `exit` or the input ends. Returns the exit code that the protocol
/// asks for: 0 if the client said `shutdown` before, else 1.
///
/// # Errors
/// Those of the output. Errors of the input end the service as its end does.
pub fn run(environment: &Environment, mut input: impl BufRead + Send + 'static, output: impl Write) -> io::Result<u8> {
    let (sender, receiver) = sync_channel(MAX_WAITING);
    // The thread ends with its input, or with the process: a read can't be interrupted.
    std::thread::spawn(move || {
        while let Ok(Some(incoming)) = transport::read(&mut input) {
            if sender.send(incoming).is_err() {
                break;
            }
        }
    });
    let mut server = Server {
        checks: environment.checks(),
        policies: environment.policies(),
        output,
        phase: LifePhase::Started,
        documents: BTreeMap::new(),
        unchecked: BTreeSet::new(),
        findings: HashMap::new(),
    };
    loop {
        let next = if server.unchecked.is_empty() {
            receiver.recv().map_err(|_| TryRecvError::Disconnected)
        } else {
            receiver.try_recv()
        };
        match next {
            Ok(incoming) => {
                if let Some(code) = server.message(incoming)? {
                    return Ok(code);
                }
            }
            Err(TryRecvError::Empty) => server.publish_next()?,
            Err(TryRecvError::Disconnected) => return Ok(1),
        }
    }
}

/// Where the server is in its life.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LifePhase {
    Started,
    Initialized,
    ShutDown,
}

struct Server<'e, W> {
    checks: &'e dyn Checks,
    /// What policies may use of their host.
    policies: &'e Loader,
    output: W,
    phase: LifePhase,
    documents: BTreeMap<Uri, Document>,
    /// The documents whose diagnostics are not those of their text.
    unchecked: BTreeSet<Uri>,
    /// The diagnostics of each document, as far as they are computed.
    findings: HashMap<Uri, Vec<Finding>>,
}

impl<W: Write> Server<'_, W> {
    /// Handles what was read. Returns an exit code if it ends the service.
    fn message(&mut self, incoming: Incoming) -> io::Result<Option<u8>> {
        let mut message = match incoming {
            Incoming::Message(message) => message,
            Incoming::Malformed(code, message) => return self.refuse(Json::Null, code, &message).map(|()| None),
        };
        let id = message.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
        let params = message.get_mut("params").map(Json::take).unwrap_or_default();
        let Some(method) = message.get("method").and_then(Json::as_str) else {
            // An answer of the client has no method. This server asks nothing.
            let is_answer = message.get("result").is_some() || message.get("error").is_some();
            if !is_answer {
                self.refuse(id.unwrap_or_default(), INVALID_REQUEST, "the message has no `method`")?;
            }
            return Ok(None);
        };
        if method == "exit" {
            return Ok(Some(u8::from(self.phase != LifePhase::ShutDown)));
        }
        let Some(id) = id else {
            if self.phase == LifePhase::Initialized {
                // A notification that is not understood has no answer.
                let _ = catch_unwind(AssertUnwindSafe(|| self.notification(method, params)));
            }
            return Ok(None);
        };
        let answer = match (self.phase, method) {
            (LifePhase::Started, "initialize") => {
                self.phase = LifePhase::Initialized;
                Ok(capabilities())
            }
            (LifePhase::Started, _) => Err((NOT_INITIALIZED, "the first request is `initialize`".to_owned())),
            (LifePhase::ShutDown, _) => Err((INVALID_REQUEST, "the server was shut down".to_owned())),
            (LifePhase::Initialized, "initialize") => Err((INVALID_REQUEST, "the server is initialized".to_owned())),
            (LifePhase::Initialized, "shutdown") => {
                self.phase = LifePhase::ShutDown;
                Ok(Json::Null)
            }
            (LifePhase::Initialized, _) => catch_unwind(AssertUnwindSafe(|| self.request(method, params)))
                .unwrap_or_else(|_| Err((INTERNAL_ERROR, format!("a defect of celero: `{method}` panicked")))),
        };
        match answer {
            Ok(result) => transport::write(&mut self.output, json!({ "id": id, "result": result }))?,
            Err((code, message)) => self.refuse(id, code, &message)?,
        }
        Ok(None)
    }

    fn refuse(&mut self, id: Json, code: i32, message: &str) -> io::Result<()> {
        transport::write(&mut self.output, json!({ "id": id, "error": { "code": code, "message": message } }))
    }

    fn notification(&mut self, method: &str, params: Json) -> Option<()> {
        match method {
            "textDocument/didOpen" => {
                let DidOpenTextDocumentParams { text_document } = parse(params).ok()?;
                let TextDocumentItem { uri, language_id, version, text } = text_document;
                if self.documents.len() < MAX_OPEN || self.documents.contains_key(&uri) {
                    self.documents.insert(
                        uri.clone(),
                        Document::new(&uri, language_id, version, text).with_policies_of(self.policies.clone()),
                    );
                    self.changed(uri);
                }
            }
            "textDocument/didChange" => {
                let DidChangeTextDocumentParams { text_document, content_changes } = parse(params).ok()?;
                let document = self.documents.get_mut(&text_document.uri)?;
                document.version = text_document.version;
                document.change(content_changes);
                self.changed(text_document.uri);
            }
            "textDocument/didClose" => {
                let DidCloseTextDocumentParams { text_document } = parse(params).ok()?;
                self.documents.remove(&text_document.uri)?;
                self.findings.remove(&text_document.uri);
                self.unchecked.insert(text_document.uri);
            }
            // Another document may include the saved one.
            "textDocument/didSave" => self.unchecked.extend(self.documents.keys().cloned()),
            _ => {}
        }
        Some(())
    }

    fn changed(&mut self, uri: Uri) {
        self.findings.remove(&uri);
        self.unchecked.insert(uri);
    }

    /// Publishes the diagnostics of one document that needs it; none of one that was closed.
    fn publish_next(&mut self) -> io::Result<()> {
        let Some(uri) = self.unchecked.pop_first() else { return Ok(()) };
        let params = match self.documents.get(&uri) {
            None => PublishDiagnosticsParams::new(uri, Vec::new(), None),
            Some(document) => {
                let found = catch_unwind(AssertUnwindSafe(|| checker::check(document, self.checks)));
                let found = found.unwrap_or_default();
                let mut others = OtherFiles::default();
                let shown = found.iter().map(|finding| checker::shown(finding, document, &uri, &mut others)).collect();
                let params = PublishDiagnosticsParams::new(uri.clone(), shown, Some(document.version));
                self.findings.insert(uri, found);
                params
            }
        };
        transport::write(&mut self.output, json!({ "method": "textDocument/publishDiagnostics", "params": params }))
    }

    fn request(&mut self, method: &str, params: Json) -> Result<Json, Failure> {
        match method {
            "textDocument/hover" => {
                let HoverParams { text_document_position_params, .. } = parse(params)?;
                self.at(&text_document_position_params, hover)
            }
            "textDocument/completion" => {
                let CompletionParams { text_document_position, .. } = parse(params)?;
                self.at(&text_document_position, completion)
            }
            "textDocument/signatureHelp" => {
                let SignatureHelpParams { text_document_position_params, .. } = parse(params)?;
                self.at(&text_document_position_params, signature_help)
            }
            "textDocument/definition" => {
                let GotoDefinitionParams { text_document_position_params, .. } = parse(params)?;
                let uri = &text_document_position_params.text_document.uri;
                self.at(&text_document_position_params, |document, at, checks| definition(document, uri, at, checks))
            }
            "textDocument/documentSymbol" => {
                let DocumentSymbolParams { text_document, .. } = parse(params)?;
                value(symbols(self.document(&text_document.uri)?))
            }
            "textDocument/formatting" => {
                let DocumentFormattingParams { text_document, .. } = parse(params)?;
                let edits = layout::edits(self.document(&text_document.uri)?, self.checks);
                value(edits.map_err(|why| (REQUEST_FAILED, format!("the file is not formatted: {why}")))?)
            }
            "textDocument/codeAction" => self.code_actions(parse(params)?),
            "textDocument/semanticTokens/full" => {
                let SemanticTokensParams { text_document, .. } = parse(params)?;
                let data = semantic_tokens(self.document(&text_document.uri)?);
                value(SemanticTokens { result_id: None, data })
            }
            _ => Err((METHOD_NOT_FOUND, format!("the server has no method `{method}`"))),
        }
    }

    fn document(&self, uri: &Uri) -> Result<&Document, Failure> {
        let document = self.documents.get(uri);
        document.ok_or_else(|| (INVALID_PARAMS, format!("the document `{}` is not open", uri.as_str())))
    }

    /// Asks a feature about a position.
    fn at<R: serde::Serialize>(
        &self,
        position: &TextDocumentPositionParams,
        feature: impl FnOnce(&Document, usize, &dyn Checks) -> R,
    ) -> Result<Json, Failure> {
        let document = self.document(&position.text_document.uri)?;
        let offset = document.lines.offset(&document.text, position.position);
        value(feature(document, offset, self.checks))
    }

    fn code_actions(&mut self, params: CodeActionParams) -> Result<Json, Failure> {
        let CodeActionParams { text_document: TextDocumentIdentifier { uri }, range, .. } = params;
        let checks = self.checks;
        let document = self.document(&uri)?;
        let asked =
            document.lines.offset(&document.text, range.start)..document.lines.offset(&document.text, range.end);
        // Diagnostics that are not published yet are computed now.
        let computed = if self.findings.contains_key(&uri) { Vec::new() } else { checker::check(document, checks) };
        let found = self.findings.get(&uri).unwrap_or(&computed);
        let overlaps = |finding: &&Finding| finding.range().start <= asked.end && asked.start <= finding.range().end;
        let (mut actions, regions, mut others) = (Vec::new(), OnceCell::new(), OtherFiles::default());
        for finding in found.iter().filter(overlaps).take(MAX_FIXED) {
            for Fix { title, range, text } in fixes(document, &regions, finding, checks) {
                let edit = TextEdit { range: document.lines.range(&document.text, range), new_text: text };
                actions.push(json!({
                    "title": title,
                    "kind": CodeActionKind::QUICKFIX,
                    "diagnostics": [checker::shown(finding, document, &uri, &mut others)],
                    "edit": { "changes": { uri.as_str(): [edit] } },
                }));
            }
        }
        Ok(Json::Array(actions))
    }
}

fn parse<T: DeserializeOwned>(params: Json) -> Result<T, Failure> {
    serde_json::from_value(params).map_err(|error| (INVALID_PARAMS, error.to_string()))
}

fn value(result: impl serde::Serialize) -> Result<Json, Failure> {
    serde_json::to_value(result).map_err(|error| (INTERNAL_ERROR, error.to_string()))
}

/// Returns the answer to `initialize`.
fn capabilities() -> Json {
    let legend = SemanticTokensLegend { token_types: semantic_tokens::TYPES.to_vec(), token_modifiers: Vec::new() };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let capabilities = ServerCapabilities {
        position_encoding: Some(PositionEncodingKind::UTF16),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::Supported(true)),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(words(&["."])),
            ..CompletionOptions::default()
        }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: Some(words(&["(", ","])),
            ..SignatureHelpOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        semantic_tokens_provider: Some(SemanticTokensServerCapabilities::SemanticTokensOptions(
            SemanticTokensOptions {
                legend,
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            },
        )),
        ..ServerCapabilities::default()
    };
    json!({ "capabilities": capabilities, "serverInfo": { "name": "celero", "version": env!("CARGO_PKG_VERSION") } })
}
