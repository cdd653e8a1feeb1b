// The playground: its controls, and loading a rule into it.

import { changed } from "./answer.js";
import { complete, completion, completionKey, showCompletions } from "./completion.js";
import { $, h } from "./elements.js";
import { linkCursor, linkRule, linkView, openView } from "./linking.js";
import { EXAMPLES, state, toFragment } from "./state.js";
import { VIEWS } from "./views.js";

export function load(values) {
  Object.assign(state, values);
  $("rule").value = state.rule;
  $("input").value = state.input;
  $("client").value = state.client;
  for (const radio of document.getElementsByName("language")) radio.checked = radio.value === state.language;
  openView(state.view);
  changed();
}

export function listen() {
  const rule = $("rule");
  rule.addEventListener("input", () => {
    changed();
    complete(false);
  });
  rule.addEventListener("keydown", completionKey);
  rule.addEventListener("blur", () => {
    completion.open = false;
    showCompletions();
  });
  $("input").addEventListener("input", changed);
  $("client").addEventListener("input", changed);
  for (const radio of document.getElementsByName("language")) radio.onchange = () => {
    state.language = radio.value;
    changed();
  };
  $("examples").append(...EXAMPLES.map(([name], number) => h("option", { value: String(number) }, name)));
  $("examples").onchange = () => {
    const [, language, text, input] = EXAMPLES[Number($("examples").value)] ?? [];
    if (text) load({ language, rule: text, input, client: state.client, view: state.view });
    $("examples").value = "";
  };
  $("link").onclick = async () => {
    history.replaceState(null, "", toFragment());
    try {
      await navigator.clipboard.writeText(location.href);
      $("link").textContent = "Copied";
    } catch {
      $("link").textContent = "It is in the address bar";
    }
    setTimeout(() => ($("link").textContent = "Copy link"), 1800);
  };
  $("tabs").addEventListener("click", (event) => event.target.id && openView(event.target.id.slice(4)));
  $("tabs").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const all = Object.keys(VIEWS);
    openView(all[(all.indexOf(state.view) + step + all.length) % all.length]);
    $(`tab-${state.view}`).focus();
  });
  document.addEventListener("keydown", (event) => {
    const view = event.altKey && !event.ctrlKey && Object.keys(VIEWS)[Number(event.key) - 1];
    if (!view) return;
    event.preventDefault();
    openView(view);
    $(`view-${view}`).focus();
  });
  linkRule(rule);
  linkCursor(rule);
  linkRule($("echo"));
  for (const view of Object.keys(VIEWS)) linkView($(`view-${view}`));
}
