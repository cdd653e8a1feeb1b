// Marks: the part of the rule that is pointed at, and the lines about it.

import { paintRule, showPartCost } from "./editors.js";
import { $ } from "./elements.js";
import { now, state } from "./state.js";

export const sameSpan = (a, b) => a && b && a[0] === b[0] && a[1] === b[1];

/** Marks a span of the rule, and the lines that are about it. */
export function light(span, source = null) {
  now.lit = span;
  paintRule();
  showPartCost();
  const view = $(`view-${state.view}`);
  const lines = [...view.querySelectorAll(".row, .part")];
  const exact = lines.some((one) => sameSpan(one.span, span));
  let first = null;
  for (const one of lines) {
    const inside = one.span && span && one.span[0] >= span[0] && one.span[1] <= span[1];
    const on = exact ? sameSpan(one.span, span) : inside;
    one.classList.toggle("on", Boolean(on));
    if (on && !first) first = one;
  }
  if (first && source === "rule") scrollWithin(view, first);
}

export function scrollWithin(view, element) {
  const [outer, inner] = [view.getBoundingClientRect(), element.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) view.scrollTop += inner.top - outer.top - outer.height / 3;
}
