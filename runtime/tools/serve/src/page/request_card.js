// A card with a request, and what the server says about it.

import { call, notice } from "./calls.js";
import { card, h } from "./elements.js";
import { EXAMPLES, state } from "./state.js";
import { inputTokens, paint } from "./tokens.js";

/** Makes the card. `show` makes elements of an answer. */
export function tryRequest(path, show) {
  const text = state.input.trimStart().startsWith("{") ? "" : state.input;
  const input = h("textarea", { spellcheck: false, rows: 9, value: text || EXAMPLES[0][3], "aria-label": "Request" });
  const outcome = h("div", { "aria-live": "polite" });
  const pre = h("pre", { "aria-hidden": "true" });
  const repaint = () => paint(pre, input.value, inputTokens(input.value));
  const run = async () => {
    const result = await call(`try ${path}`, path, { input: input.value, source: state.client });
    if (!result) return;
    notice("");
    outcome.replaceChildren(...(result.ok ? show(result.answer) : [h("p", { className: "problem" }, result.answer.error)]));
  };
  let wait;
  input.oninput = () => {
    repaint();
    clearTimeout(wait);
    wait = setTimeout(run, 300);
  };
  repaint();
  run();
  return card("Try a request", h("div", { className: "editor" }, pre, input), outcome);
}
