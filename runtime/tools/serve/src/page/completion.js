// The completion of names.

import { changed } from "./answer.js";
import { $, h } from "./elements.js";
import { now } from "./state.js";

export const completion = { open: false, start: 0, items: [], at: 0 };

function candidates(word) {
  const [all, low] = [[], word.toLowerCase()];
  const dot = word.lastIndexOf(".") + 1;
  const method = low.slice(dot);
  for (const { name, type } of now.names.variables) if (name.toLowerCase().startsWith(low)) all.push({ name, type, doc: "", from: 0 });
  for (const { name, signatures, doc } of now.names.functions) {
    const item = { name, type: signatures[0] ?? "", doc: [doc, ...signatures.slice(1, 5)].filter(Boolean).join("\n"), call: true };
    if (name.toLowerCase().startsWith(low)) all.push({ ...item, from: 0 });
    else if (dot && method && name.toLowerCase().startsWith(method)) all.push({ ...item, from: dot });
  }
  for (const name of now.names.words) if (name.startsWith(low)) all.push({ name, type: "", doc: "", from: 0 });
  return all.filter((item) => item.name !== word).slice(0, 60);
}

export function complete(forced) {
  const rule = $("rule");
  const word = /[\w.]*$/.exec(rule.value.slice(0, rule.selectionStart))[0];
  completion.items = forced || word.length > 1 ? candidates(word) : [];
  completion.start = rule.selectionStart - word.length;
  completion.at = 0;
  completion.open = completion.items.length > 0;
  showCompletions();
}

export function showCompletions() {
  const list = $("completions");
  list.hidden = !completion.open;
  $("rule").setAttribute("aria-expanded", String(completion.open));
  $("rule").removeAttribute("aria-activedescendant");
  if (!completion.open) return;
  list.replaceChildren(...completion.items.map((item, number) => {
    const element = h("li", { id: `completion-${number}`, role: "option", "aria-selected": String(number === completion.at) },
      h("span", { className: "name" }, item.name), h("span", { className: "type" }, item.type), item.doc ? h("span", { className: "doc" }, item.doc) : null);
    element.onpointerdown = (event) => {
      event.preventDefault();
      accept(number);
    };
    return element;
  }));
  $("rule").setAttribute("aria-activedescendant", `completion-${completion.at}`);
  list.children[completion.at]?.scrollIntoView({ block: "nearest" });
  const piece = [...$("rule-editor").querySelectorAll("pre span")].findLast((one) => Number(one.dataset.at) <= completion.start);
  const [box, outer] = [piece?.getClientRects(), $("rule-editor").getBoundingClientRect()];
  const last = box?.[box.length - 1];
  list.style.top = `${(last ? last.bottom - outer.top : 30) + 4}px`;
  list.style.left = `${Math.max(8, Math.min((last ? last.left - outer.left : 8), outer.width - list.offsetWidth - 8))}px`;
}

function accept(number) {
  const [item, rule] = [completion.items[number], $("rule")];
  const from = completion.start + item.from;
  const after = rule.value.slice(rule.selectionStart);
  const call = item.call && !after.startsWith("(") ? "()" : "";
  rule.setRangeText(item.name + call, from, rule.selectionStart, "end");
  if (call) rule.selectionStart = rule.selectionEnd -= 1;
  completion.open = false;
  showCompletions();
  changed();
}

export function completionKey(event) {
  if (event.key === " " && event.ctrlKey) {
    event.preventDefault();
    complete(true);
  } else if (completion.open && ["ArrowDown", "ArrowUp"].includes(event.key)) {
    event.preventDefault();
    const count = completion.items.length;
    completion.at = (completion.at + (event.key === "ArrowDown" ? 1 : count - 1)) % count;
    showCompletions();
  } else if (completion.open && ["Enter", "Tab"].includes(event.key)) {
    event.preventDefault();
    accept(completion.at);
  } else if (completion.open && event.key === "Escape") {
    event.stopPropagation();
    completion.open = false;
    showCompletions();
  }
}
