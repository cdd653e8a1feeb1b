// Starts `celero lsp` and connects the editor to it.
"use strict";

const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** @type {LanguageClient | undefined} */
let client;

async function start() {
  const settings = workspace.getConfiguration("celero");
  const command = settings.get("command", "celero");
  const args = ["lsp", ...settings.get("arguments", [])];
  client = new LanguageClient(
    "celero",
    "celero",
    { command, args },
    {
      documentSelector: [
        { language: "cel" },
        { language: "celero-filter" },
        { language: "celero-rules" },
        // The server leaves YAML alone that is no policy.
        { language: "yaml" },
      ],
    },
  );
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(`celero: \`${command} ${args.join(" ")}\` does not start: ${error}`);
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running?.isRunning()) await running.stop();
}

async function restart() {
  await stop();
  await start();
}

exports.activate = async (context) => {
  context.subscriptions.push(
    commands.registerCommand("celero.restart", restart),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("celero")) restart();
    }),
  );
  await start();
};

exports.deactivate = stop;
