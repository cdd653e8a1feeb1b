// Links: a line marks its part of the rule, a part of the rule marks its lines.

import { completion } from "./completion.js";
import { $ } from "./elements.js";
import { light, sameSpan, scrollWithin } from "./marks.js";
import { now, state } from "./state.js";
import { VIEWS } from "./views.js";

export function openView(view) {
  if (!Object.hasOwn(VIEWS, view)) view = "why";
  state.view = view;
  for (const name of Object.keys(VIEWS)) {
    const tab = $(`tab-${name}`);
    tab.setAttribute("aria-selected", String(name === view));
    tab.tabIndex = name === view ? 0 : -1;
    $(`view-${name}`).hidden = name !== view;
  }
  light(null);
}

/** The smallest span that lines of the open view are about and that holds a position of the rule. */
function spanAt(position) {
  let best = null;
  for (const one of $(`view-${state.view}`).querySelectorAll(".row, .part")) {
    if (!one.span) continue;
    const [start, end] = one.span.map(now.shown.at);
    if (start <= position && position < end && (!best || end - start < best.length)) best = { span: one.span, length: end - start };
  }
  return best?.span ?? null;
}

function positionUnder(event) {
  const under = document.elementsFromPoint(event.clientX, event.clientY).find((element) => element.dataset?.at && element.closest("#rule-editor, #echo"));
  return under && under.textContent.trim() ? Number(under.dataset.at) : null;
}

export function linkRule(element) {
  element.addEventListener("pointermove", (event) => {
    if (now.shown.rule !== state.rule) return;
    const position = positionUnder(event);
    const span = position === null ? null : spanAt(position);
    if (!sameSpan(span, now.lit)) light(span, "rule");
  });
  element.addEventListener("pointerleave", () => light(null));
}

/** Lights the part of the rule that the cursor is in: for keys, and for fingers, which do not hover. */
export function linkCursor(rule) {
  const follow = () => {
    if (now.shown.rule === state.rule) light(spanAt(rule.selectionStart), "rule");
  };
  rule.addEventListener("click", follow);
  rule.addEventListener("keyup", (event) => event.key.startsWith("Arrow") && !completion.open && follow());
}

export function linkView(view) {
  const lineOf = (event) => event.target.closest(".row, .part");
  view.addEventListener("pointermove", (event) => {
    const span = lineOf(event)?.span ?? null;
    if (!sameSpan(span, now.lit)) light(span);
  });
  view.addEventListener("pointerleave", () => light(null));
  // After the finger has left.
  view.addEventListener("click", (event) => light(lineOf(event)?.span ?? null));
  view.addEventListener("keydown", (event) => {
    const lines = [...view.querySelectorAll(".row, .part")].filter((one) => one.span);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !lines.length) return;
    event.preventDefault();
    const now = lines.findIndex((one) => one.classList.contains("at"));
    const next = lines[now < 0 ? 0 : Math.max(0, Math.min(lines.length - 1, now + step))];
    lines[now]?.classList.remove("at");
    next.classList.add("at");
    light(next.span);
    scrollWithin(view, next);
  });
}
