// Elements and texts that several views show. Text from rules, requests and answers becomes text nodes, never markup.

export const $ = (id) => document.getElementById(id);

/** Makes an element: `h("p", {className: "x"}, "text", child)`. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function table(caption, head, rows) {
  const cell = (tag) => (content) => {
    const isNumber = typeof content === "number" || /^[\d.,]+( |$)/.test(content);
    return h(tag, { className: isNumber ? "number" : "" }, content instanceof Node ? content : String(content));
  };
  return h("table", {}, h("caption", {}, caption),
    head ? h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))) : null,
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map(cell("td"))))));
}

/** A message: what stands between backticks is code. */
export const withCode = (text) => String(text).split(/`([^`\n]+)`/).map((part, number) => (number % 2 ? h("code", {}, part) : part)).filter((part) => part !== "");

export const tag = (text, kind) => h("span", { className: `tag ${kind}` }, text);
export const card = (title, ...children) => h("section", { className: "card" }, h("div", { className: "head" }, h("h2", {}, title)), ...children);
export const failures = (diagnostics) => h("ul", { className: "diagnostics" }, ...(diagnostics ?? []).map((found) =>
  h("li", { className: found.severity }, `${found.severity}: `, ...withCode(found.message), ...found.help.map((text) => h("span", { className: "help" }, ...withCode(text))))));

export const time = (ns) => (ns < 1e3 ? `${ns < 10 ? ns.toFixed(1) : Math.round(ns)} ns` : ns < 1e6 ? `${(ns / 1e3).toFixed(1)} µs` : `${(ns / 1e6).toFixed(1)} ms`);
export const bytes = (count) => (count < 1024 ? `${count} bytes` : `${(count / 1024).toFixed(1)} KiB`);

export const oneLine = (text) => text.split(/\s+/).join(" ").trim();
