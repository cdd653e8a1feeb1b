// The page of `celero serve`. Text from rules, requests and answers becomes text nodes, never markup.

const $ = (id) => document.getElementById(id);

/** Makes an element: `h("p", {className: "x"}, "text", child)`. */
function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// ---- requests

const running = new Map();

/** Calls the API. An older call of the same name is given up: its result is null. */
async function call(name, path, body) {
  running.get(name)?.abort();
  const controller = new AbortController();
  running.set(name, controller);
  const options = { signal: controller.signal };
  if (body) Object.assign(options, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  try {
    const response = await fetch(path, options);
    const answer = await response.json();
    notice(response.ok || response.status === 404 ? "" : answer.error);
    return { ok: response.ok, answer };
  } catch (error) {
    if (error.name === "AbortError") return null;
    notice("The server does not answer. Is celero serve still running?");
    return null;
  }
}

function notice(text) {
  $("offline").hidden = !text;
  $("offline").textContent = text;
}

// ---- places: the API counts bytes of UTF-8, the page counts UTF-16

/** The positions in a text of byte offsets. */
function positions(text) {
  if (/^[\x00-\x7f]*$/.test(text)) return (byte) => Math.min(byte, text.length);
  const at = [];
  for (let i = 0; i < text.length; ) {
    const code = text.codePointAt(i);
    const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (let byte = 0; byte < bytes; byte++) at.push(i);
    i += code < 0x10000 ? 1 : 2;
  }
  return (byte) => (byte < at.length ? at[byte] : text.length);
}

function lineAndColumn(text, position) {
  const before = text.slice(0, position).split("\n");
  return `${before.length}:${before.at(-1).length + 1}`;
}

// ---- tokens, for colours

const WORDS = {
  cel: /^(?:true|false|null|in)$/,
  filter: /^(?:and|or|xor|not|eq|ne|lt|le|gt|ge|contains|matches|wildcard|strict|in|any|all|true|false)$/,
};
const TOKEN = /(\/\/[^\n]*)|((?:[rRbB]{0,2})(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?))|((?:\d+\.\d+|\.\d+|0x[0-9a-fA-F]+|\d+)(?:[eE][+-]?\d+)?u?)|([A-Za-z_][\w]*)|([^\sA-Za-z_0-9"']+)/g;

function ruleTokens(text, language) {
  const tokens = [];
  for (const match of text.matchAll(TOKEN)) {
    const [whole, comment, string, number, name] = match;
    const end = match.index + whole.length;
    let kind = comment ? "comment" : string ? "string" : number ? "number" : name ? "" : "operator";
    if (comment && language === "filter") kind = "operator";
    if (name && WORDS[language].test(name) && text[match.index - 1] !== ".") kind = "word";
    else if (name && /^\s*\(/.test(text.slice(end, end + 20))) kind = "call";
    if (kind) tokens.push([match.index, end, `t-${kind}`]);
  }
  return tokens;
}

function inputTokens(text) {
  const tokens = [];
  const add = (pattern, kinds) => {
    for (const match of text.matchAll(pattern)) {
      let at = match.index;
      kinds.forEach((kind, number) => {
        const part = match[number + 1] ?? "";
        if (kind && part) tokens.push([at, at + part.length, kind]);
        at += part.length;
      });
    }
  };
  const start = text.trimStart();
  if (start.startsWith("{")) {
    add(/("(?:\\.|[^"\\])*")(\s*:)?/g, ["t-string", "t-operator"]);
    add(/(?<![\w"])(-?\d+(?:\.\d+)?|true|false|null)(?![\w"])/g, ["t-number"]);
  } else if (/^curl\s/.test(start)) {
    add(/('[^']*'|"(?:\\.|[^"\\])*")/g, ["t-string"]);
    add(/(?<=\s)(--?[A-Za-z][\w-]*)/g, ["t-word"]);
  } else {
    const head = text.slice(0, text.search(/\n\r?\n/) < 0 ? text.length : text.search(/\n\r?\n/));
    add(/^(\s*[A-Z]+)( +)(\S+)( +)(HTTP\/\S+)/g, ["t-word", "", "t-string", "", "t-operator"]);
    for (const match of head.matchAll(/^([\w-]+)(:)/gm)) tokens.push([match.index, match.index + match[1].length, "t-key"]);
  }
  return tokens.sort((a, b) => a[0] - b[0]);
}

/** Fills an element with a text, cut where a mark `[start, end, class]` begins or ends. */
function paint(element, text, marks) {
  const cuts = new Set([0, text.length]);
  for (const [start, end] of marks) cuts.add(start).add(end);
  const ordered = [...cuts].filter((cut) => cut <= text.length).sort((a, b) => a - b);
  const starting = new Map();
  for (const mark of marks) if (mark[1] > mark[0]) starting.set(mark[0], [...(starting.get(mark[0]) ?? []), mark]);
  let open = [];
  const pieces = [];
  for (let i = 0; i + 1 < ordered.length; i++) {
    const [from, to] = [ordered[i], ordered[i + 1]];
    open = open.filter((mark) => mark[1] > from).concat(starting.get(from) ?? []);
    const piece = h("span", { className: open.map((mark) => mark[2]).join(" ") }, text.slice(from, to));
    piece.dataset.at = from;
    pieces.push(piece);
  }
  element.replaceChildren(...pieces, "\n");
}

// ---- the state

const EXAMPLES = [
  ["Admin area", "cel", 'request.path.startsWith("/admin/")\n  && request.headers["x-team"] != "ops"\n  && !(request.method in ["GET", "HEAD"])',
    'POST /admin/keys?force=1 HTTP/1.1\nHost: shop.example\nX-Team: sales\nContent-Type: application/json\n\n{"name": "deploy"}'],
  ["Scanner", "filter", 'http.user_agent contains "nikto"\n  or (http.request.uri.path matches "\\.(env|git|bak)$" and not ip.src in {10.0.0.0/8})',
    'GET /.env HTTP/1.1\nHost: shop.example\nUser-Agent: curl/8.5'],
  ["Networks", "cel", 'cidr("192.0.2.0/24").containsIP(source.address)\n  || request.headers.exists(name, name.startsWith("x-debug"))',
    "curl 'https://shop.example/cart?item=7' \\\n  -H 'X-Debug-Level: 3' \\\n  --data-raw '{\"n\": 1}'"],
  ["JSON body", "cel", 'json.unmarshal(request.body).items.all(item, item.price * item.count < 1000)',
    'POST /orders HTTP/1.1\nHost: shop.example\nContent-Type: application/json\n\n{"items": [{"price": 20, "count": 3}, {"price": 400, "count": 2}]}'],
  ["Variables", "cel", 'user.age >= 18 && "beta" in user.groups',
    '{\n  "user.age": 41,\n  "user.groups": ["staff", "beta"]\n}'],
];

const state = { language: "cel", rule: "", input: "", client: "", view: "why" };
/** The last answer, and the text and language that it is about. */
let shown = { answer: {}, rule: "", at: (byte) => byte };
/** The marked span of the rule, in bytes. */
let lit = null;
let names = { variables: [], functions: [], words: [] };

function toFragment() {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return `#s=${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

function fromFragment() {
  const found = /^#s=([\w-]+)$/.exec(location.hash);
  if (!found) return false;
  try {
    const bytes = Uint8Array.from(atob(found[1].replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const read = JSON.parse(new TextDecoder().decode(bytes));
    for (const key of Object.keys(state)) if (typeof read[key] === "string") state[key] = read[key];
    if (!(state.language in WORDS)) state.language = "cel";
    return true;
  } catch {
    return false;
  }
}

// ---- editors

function paintRule() {
  const text = $("rule").value;
  const marks = ruleTokens(text, state.language);
  if (text === shown.rule) {
    for (const { span, severity } of shown.answer.diagnostics ?? []) {
      const [start, end] = span.map(shown.at);
      marks.push([Math.min(start, Math.max(0, text.length - 1)), Math.max(end, start + 1), severity === "error" ? "wrong" : "doubt"]);
    }
    const error = shown.answer.result?.error;
    if (error) marks.push([...error.span.map(shown.at), "wrong"]);
    if (lit) marks.push([...lit.map(shown.at), "lit"]);
  }
  paint($("rule-editor").querySelector("pre"), text, marks);
  paint($("echo"), ["code", "graph", "clif", "tree"].includes(state.view) ? text : "", marks);
  if (!["code", "graph", "clif", "tree"].includes(state.view)) $("echo").replaceChildren();
}

function paintInput() {
  const text = $("input").value;
  const marks = inputTokens(text);
  const line = shown.answer.input?.error?.line;
  if (line !== null && line !== undefined) {
    const lines = text.split("\n");
    const start = lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0);
    marks.push([start, start + (lines[line]?.length ?? 0), "wrong"]);
  }
  paint($("input-editor").querySelector("pre"), text, marks);
}

let soon, later;
function changed() {
  Object.assign(state, { rule: $("rule").value, input: $("input").value, client: $("client").value });
  lit = null;
  paintRule();
  paintInput();
  clearTimeout(soon);
  clearTimeout(later);
  soon = setTimeout(() => ask(false), 120);
  later = setTimeout(() => {
    history.replaceState(null, "", toFragment());
    ask(true);
  }, 900);
}

const question = () => ({ rule: state.rule, language: state.language, input: state.input, source: state.client });

async function ask(measure) {
  const asked = question();
  const result = await call("rule", "/api/rule", { ...asked, measure });
  if (!result) return;
  if (!result.ok) {
    shown = { answer: { refused: result.answer.error }, rule: asked.rule, at: positions(asked.rule) };
  } else {
    shown = { answer: result.answer, rule: asked.rule, at: positions(asked.rule) };
  }
  showAnswer();
}

let namesFor = "";
async function askNames() {
  const key = state.language + (state.input.trimStart().startsWith("{") ? state.input : "");
  if (key === namesFor) return;
  namesFor = key;
  const result = await call("names", "/api/names", { language: state.language, input: state.input });
  if (result?.ok) names = result.answer;
}

// ---- the answer

function showAnswer() {
  const { answer } = shown;
  paintRule();
  paintInput();
  showDiagnostics(answer.diagnostics ?? []);
  showInput(answer.input);
  showVerdict(answer);
  for (const [view, make] of Object.entries(VIEWS)) $(`view-${view}`).replaceChildren(...make(answer));
  askNames();
}

function showDiagnostics(diagnostics) {
  const items = diagnostics.map((found) => {
    const [start, end] = found.span.map(shown.at);
    const place = h("button", { className: "place", type: "button", title: "Selects the place in the rule" }, lineAndColumn(shown.rule, start));
    place.onclick = () => {
      $("rule").focus();
      $("rule").setSelectionRange(start, end);
    };
    const help = found.help.map((text) => h("span", { className: "help" }, text));
    return h("li", { className: found.severity }, place, `${found.severity}: ${found.message}`, ...help);
  });
  $("diagnostics").replaceChildren(...items);
}

function showInput(input) {
  const problem = input?.error?.message;
  $("input-problem").hidden = !problem;
  $("input-problem").textContent = problem ?? "";
  $("input-kind").textContent = input?.kind && input.kind !== "nothing" ? `read as ${input.kind}` : "";
}

const time = (ns) => (ns < 1e3 ? `${ns < 10 ? ns.toFixed(1) : Math.round(ns)} ns` : ns < 1e6 ? `${(ns / 1e3).toFixed(1)} µs` : `${(ns / 1e6).toFixed(1)} ms`);
const bytes = (count) => (count < 1024 ? `${count} bytes` : `${(count / 1024).toFixed(1)} KiB`);

function showVerdict(answer) {
  let [kind, mark, value, why] = ["", "·", "Write a rule", ""];
  const error = answer.result?.error;
  if (answer.refused) [kind, mark, value] = ["error", "!", answer.refused];
  else if (answer.result?.disagree) {
    [kind, mark, value, why] = ["error", "!", "The tiers disagree: a defect of celero, please report it", JSON.stringify(answer.result.disagree)];
  } else if (error) [kind, mark, value, why] = ["error", "!", error.message, error.help ?? `the rule has no value: ${error.kind}`];
  else if (answer.result) {
    const text = answer.result.value.text;
    if (text === "true") [kind, mark, value, why] = ["true", "✓", "true", "the rule matches"];
    else if (text === "false") [kind, mark, value, why] = ["false", "✕", "false", "the rule does not match"];
    else [kind, mark, value, why] = ["", "=", text, "the value of the expression"];
    if (answer.input?.kind !== "nothing" && answer.input?.text) why += `: ${answer.input.text}`;
  } else if ((answer.diagnostics ?? []).some((found) => found.severity === "error")) {
    [kind, mark, value, why] = ["error", "!", "The rule is not valid", "see the marked place"];
  } else if (answer.type && answer.input?.error) [value, why] = ["The rule is valid", "the request is not"];
  else if (answer.type) [value, why] = ["The rule is valid", "give a request for a verdict"];
  $("verdict").className = `verdict ${kind}`;
  $("verdict-mark").textContent = mark;
  $("verdict-value").textContent = value;
  $("verdict-why").textContent = why;
  const facts = [];
  if (answer.type) facts.push(["type", answer.type]);
  if (answer.cost) facts.push(["code", answer.cost.native ? bytes(answer.cost.code_bytes) : "interpreted"]);
  if (answer.cost?.instructions) facts.push(["instructions", answer.cost.instructions]);
  const measured = answer.measured;
  // Without optimisation, the library that rules call is slow: the view of the cost says so.
  if (measured && !$("build").dataset.slow) facts.push(["one evaluation", time(measured.native ?? measured.interpreted)]);
  $("facts").replaceChildren(...facts.map(([name, fact]) => h("div", {}, h("dt", {}, name), h("dd", {}, String(fact)))));
}

// ---- views. A line that is about a part of the rule has `span`, in bytes.

const sourceOf = (span) => shown.rule.slice(...span.map(shown.at));
const oneLine = (text) => text.split(/\s+/).join(" ").trim();

function line(className, span, ...children) {
  const element = h("div", { className }, ...children);
  if (span) element.span = span;
  return element;
}

const empty = (text) => [h("p", { className: "empty" }, text)];

function whyView(answer) {
  if (!answer.parts) return empty(answer.type ? "With a request, this shows the value of each part of the rule." : "A valid rule shows the value of each of its parts here.");
  return answer.parts.map((part) => {
    const values = part.results.slice(0, 6).map((result) => {
      if (result.missing) return h("span", { className: "value none" }, "missing");
      if (result.error) return h("span", { className: "value error" }, result.error);
      const kind = result.text === "true" || result.text === "false" ? result.text : "";
      return h("span", { className: `value ${kind}` }, result.text);
    });
    if (part.evaluations === 0) values.push(h("span", { className: "value none" }, "not evaluated"));
    else if (part.evaluations > values.length) values.push(h("span", { className: "value none" }, `${part.evaluations} evaluations`));
    const source = oneLine(sourceOf(part.span));
    // A list of literals explains itself.
    if (part.results.length === 1 && part.results[0].text === source) return null;
    const text = h("span", { className: "text" });
    paint(text, source, ruleTokens(source, state.language));
    text.lastChild.remove();
    text.style.paddingLeft = `${Math.min(part.depth, 12) * 1.1}rem`;
    return line(`part d${Math.min(part.depth, 1)}`, part.span, text, h("span", { className: "values" }, ...values));
  }).filter(Boolean);
}

function codeView(answer) {
  if (!answer.type) return empty("A valid rule shows its machine code here.");
  if (!answer.code) return empty("There is no native code for this rule: the interpreter evaluates it.");
  const rows = [];
  let current = null;
  for (const one of answer.code) {
    const key = String(one.span);
    if (key !== current) {
      current = key;
      rows.push(line("row group", one.span, one.span ? oneLine(sourceOf(one.span)) : "entry, exits"));
    }
    const [op, ...rest] = one.text.split(" ");
    const note = one.name ? `  ; ${one.calls ? "" : "= "}${one.name}` : "";
    rows.push(line("row", one.span,
      h("span", { className: "offset" }, one.offset.toString(16).padStart(4, "0")),
      h("span", { className: "bytes" }, one.bytes),
      h("span", { className: "op" }, op),
      h("span", {}, rest.join(" "), h("span", { className: "note" }, note))));
  }
  return rows;
}

const stage = (answer, title) => (answer.stages ?? []).find((one) => one.title === title)?.text ?? "";

function graphLines(text) {
  return text.trimEnd().split("\n").map((one) => {
    const place = /@(\d+)\.\.(\d+)/.exec(one);
    return line("row", place && [Number(place[1]), Number(place[2])], one);
  });
}

function graphView(answer) {
  const [before, after] = [stage(answer, "graph"), stage(answer, "optimized graph")];
  if (!before) return empty("A valid rule shows its graph before and after the passes here.");
  const column = (title, text) => h("div", { className: "stage" }, h("h3", {}, title), ...graphLines(text));
  return [h("div", { className: "columns" }, column("as lowered", before), column("after the passes", after))];
}

function clifView(answer) {
  const text = stage(answer, "cranelift ir");
  if (!text) return empty("A valid rule shows Cranelift's intermediate form here.");
  // `@0007` is the node v7 of the optimised graph.
  const spans = new Map();
  for (const one of stage(answer, "optimized graph").split("\n")) {
    const node = /^v(\d+):.*@(\d+)\.\.(\d+)/.exec(one);
    if (node) spans.set(Number(node[1]), [Number(node[2]), Number(node[3])]);
  }
  return text.trimEnd().split("\n").map((one) => {
    const node = /^@([0-9a-f]+)/.exec(one);
    return line("row", node && spans.get(parseInt(node[1], 16)), one || " ");
  });
}

function treeView(answer) {
  const text = stage(answer, "tree");
  if (!text) return empty("A valid rule shows its tree with types here.");
  return text.trimEnd().split("\n").map((one) => {
    const place = /(?:^| )(\d+)\.\.(\d+)(?: :|$)/.exec(one);
    return line("row", place && [Number(place[1]), Number(place[2])], one);
  });
}

function table(caption, head, rows) {
  const cell = (tag) => (content) => {
    const isNumber = typeof content === "number" || /^[\d.,]+( |$)/.test(content);
    return h(tag, { className: isNumber ? "number" : "" }, content instanceof Node ? content : String(content));
  };
  return h("table", {}, h("caption", {}, caption),
    head ? h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))) : null,
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map(cell("td"))))));
}

function costView(answer) {
  const { cost, measured } = answer;
  if (!cost) return empty("A valid rule shows its cost here.");
  const counted = [
    ["machine code", cost.native ? bytes(cost.code_bytes) : "none: interpreted"],
    ["instructions", cost.instructions ?? "unknown"],
    ["nodes of the graph, before and after the passes", cost.nodes_before ? `${cost.nodes_before} → ${cost.nodes_after}` : "none"],
    ["calls", cost.calls?.length ? cost.calls.join(", ") : "nothing"],
  ];
  const parts = [h("div", {}, table("Counted in the code", null, counted))];
  if (measured) {
    const rows = [["native code", measured.native], ["interpreter", measured.interpreted]].filter(([, ns]) => ns);
    const most = Math.max(...rows.map(([, ns]) => ns));
    const bar = (ns) => {
      const element = h("div", { className: "bar" });
      element.style.width = `${(100 * ns) / most}%`;
      return element;
    };
    parts.push(h("div", {}, table("Measured here, for this request", null, [
      ...rows.map(([name, ns]) => [h("div", {}, `one evaluation, ${name}`, bar(ns)), time(ns)]),
      ["checking", time(measured.check)],
      ["compiling, checking included", time(measured.compile)],
    ]), h("p", { className: "muted" }, "The fastest of several rounds.", $("build").dataset.slow ? " This celero was built without optimisation: only native code has its usual speed." : "")));
  } else parts.push(h("div", { className: "muted" }, answer.result ? "measuring …" : "With a request, the evaluation is measured here."));
  const parted = new Map();
  for (const range of answer.ranges ?? []) parted.set(String(range.span), (parted.get(String(range.span)) ?? 0) + range.to - range.from);
  const largest = [...parted].sort((a, b) => b[1] - a[1]).slice(0, 8);
  if (largest.length) {
    const rows = largest.map(([span, count]) => [h("code", {}, oneLine(sourceOf(span.split(",").map(Number)))), `${count} bytes`]);
    parts.push(h("div", {}, table("Code by part of the rule", null, rows)));
  }
  return [h("div", { className: "cost" }, ...parts)];
}

const VIEWS = { why: whyView, code: codeView, graph: graphView, clif: clifView, tree: treeView, cost: costView };

function openView(view) {
  if (!(view in VIEWS)) view = "why";
  state.view = view;
  for (const name of Object.keys(VIEWS)) {
    const tab = $(`tab-${name}`);
    tab.setAttribute("aria-selected", String(name === view));
    tab.tabIndex = name === view ? 0 : -1;
    $(`view-${name}`).hidden = name !== view;
  }
  light(null);
}

// ---- linking: a line lights its part of the rule, a part of the rule lights its lines

const sameSpan = (a, b) => a && b && a[0] === b[0] && a[1] === b[1];

/** Marks a span of the rule, and the lines that are about it. */
function light(span, source = null) {
  lit = span;
  paintRule();
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

function scrollWithin(view, element) {
  const [outer, inner] = [view.getBoundingClientRect(), element.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) view.scrollTop += inner.top - outer.top - outer.height / 3;
}

/** The smallest span that lines of the open view are about and that holds a position of the rule. */
function spanAt(position) {
  let best = null;
  for (const one of $(`view-${state.view}`).querySelectorAll(".row, .part")) {
    if (!one.span) continue;
    const [start, end] = one.span.map(shown.at);
    if (start <= position && position < end && (!best || end - start < best.length)) best = { span: one.span, length: end - start };
  }
  return best?.span ?? null;
}

function positionUnder(event) {
  const under = document.elementsFromPoint(event.clientX, event.clientY).find((element) => element.dataset?.at && element.closest("#rule-editor, #echo"));
  return under && under.textContent.trim() ? Number(under.dataset.at) : null;
}

function linkRule(element) {
  element.addEventListener("pointermove", (event) => {
    if (shown.rule !== state.rule) return;
    const position = positionUnder(event);
    const span = position === null ? null : spanAt(position);
    if (!sameSpan(span, lit)) light(span, "rule");
  });
  element.addEventListener("pointerleave", () => light(null));
}

/** Lights the part of the rule that the cursor is in: for keys, and for fingers, which do not hover. */
function linkCursor(rule) {
  const follow = () => {
    if (shown.rule === state.rule) light(spanAt(rule.selectionStart), "rule");
  };
  rule.addEventListener("click", follow);
  rule.addEventListener("keyup", (event) => event.key.startsWith("Arrow") && !completion.open && follow());
}

function linkView(view) {
  const lineOf = (event) => event.target.closest(".row, .part");
  view.addEventListener("pointermove", (event) => {
    const span = lineOf(event)?.span ?? null;
    if (!sameSpan(span, lit)) light(span);
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

// ---- completion

const completion = { open: false, start: 0, items: [], at: 0 };

function candidates(word) {
  const [all, low] = [[], word.toLowerCase()];
  const dot = word.lastIndexOf(".") + 1;
  const method = low.slice(dot);
  for (const { name, type } of names.variables) if (name.toLowerCase().startsWith(low)) all.push({ name, type, doc: "", from: 0 });
  for (const { name, signatures, doc } of names.functions) {
    const item = { name, type: signatures[0] ?? "", doc: [doc, ...signatures.slice(1, 5)].filter(Boolean).join("\n"), call: true };
    if (name.toLowerCase().startsWith(low)) all.push({ ...item, from: 0 });
    else if (dot && method && name.toLowerCase().startsWith(method)) all.push({ ...item, from: dot });
  }
  for (const name of names.words) if (name.startsWith(low)) all.push({ name, type: "", doc: "", from: 0 });
  return all.filter((item) => item.name !== word).slice(0, 60);
}

function complete(forced) {
  const rule = $("rule");
  const word = /[\w.]*$/.exec(rule.value.slice(0, rule.selectionStart))[0];
  completion.items = forced || word.length > 1 ? candidates(word) : [];
  completion.start = rule.selectionStart - word.length;
  completion.at = 0;
  completion.open = completion.items.length > 0;
  showCompletions();
}

function showCompletions() {
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

function completionKey(event) {
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

// ---- the policy

const tag = (text, kind) => h("span", { className: `tag ${kind}` }, text);
const card = (title, ...children) => h("section", { className: "card" }, h("div", { className: "head" }, h("h2", {}, title)), ...children);
const failures = (diagnostics) => h("ul", { className: "diagnostics" }, ...(diagnostics ?? []).map((found) =>
  h("li", { className: found.severity }, `${found.severity}: ${found.message}`, ...found.help.map((text) => h("span", { className: "help" }, text)))));

async function showPolicy() {
  const result = await call("policy", "/api/policy");
  if (!result?.ok) return;
  const { answer } = result;
  const cases = (answer.cases ?? []).map((file) => {
    const failed = file.cases.filter((one) => !one.passed).length;
    const rows = file.cases.map((one) => [h("span", {}, one.name), tag(one.passed ? "passed" : "failed", one.passed ? "good" : "bad")]);
    return card(`Cases: ${file.file}`, h("div", { className: "wide" },
      h("p", {}, tag(failed ? `${failed} of ${rows.length} failed` : `all ${rows.length} passed`, failed ? "bad" : "good")),
      table("", null, rows), file.text && failed ? h("pre", {}, file.text) : null));
  });
  const matched = (answer.rules ?? []).map((rule) => [rule.phase, h("code", {}, rule.name), rule.matched, rule.failed]);
  $("policy").replaceChildren(
    h("div", { className: "two" },
      card(answer.name, failures(answer.diagnostics), h("div", { className: "wide" }, h("pre", {}, answer.text))),
      tryRequest("/api/policy", policyOutcome)),
    ...cases,
    card("Rules", h("div", { className: "wide" }, table("", ["phase", "rule", "matched in the cases", "failed"], matched),
      answer.unmatched?.length ? h("p", {}, "No case matches: ", ...answer.unmatched.flatMap((name) => [tag(name, "warn"), " "])) : null)),
    h("section", { className: "card" }, h("details", {}, h("summary", {}, "How the rules are found"), h("div", { className: "wide" }, h("pre", {}, answer.explanation ?? "")))));
}

/** A card with a request, and what the server says about it. */
function tryRequest(path, show) {
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

function policyOutcome(answer) {
  const end = answer.answer;
  const verdict = h("div", { className: `verdict inner ${end ? "error" : "true"}` }, h("span", { className: "mark" }, end ? "✕" : "✓"),
    h("div", { className: "verdict-text" }, h("strong", {}, end ? `${end.status} by rule ${end.rule}` : "the request reaches the server"),
      h("span", {}, end ? end.body || "without a body" : `${answer.request.method} ${answer.request.target}`)));
  const steps = answer.phases.map((phase) => h("li", {}, h("strong", {}, phase.phase), phase.answered_by ? ` answered by ${phase.answered_by}` : "",
    phase.edits.length ? h("ul", {}, ...phase.edits.map((edit) => h("li", {}, `${edit.edit} `, h("code", {}, edit.value === undefined ? edit.name : `${edit.name}: ${edit.value}`)))) : phase.answered_by ? "" : " no edits"));
  const acted = answer.matched.filter((rule) => rule.matched || rule.failed);
  return [verdict, h("ol", { className: "steps" }, ...steps,
    h("li", {}, h("strong", {}, "rules that matched"), ...(acted.length ? acted.flatMap((rule) => [" ", tag(`${rule.phase}: ${rule.name}${rule.failed ? " failed" : ""}`, rule.failed ? "bad" : "good")]) : [" none"])),
    Object.keys(answer.log).length ? h("li", {}, h("strong", {}, "log "), h("code", {}, JSON.stringify(answer.log))) : null)];
}

// ---- the rule set

async function showRules() {
  const result = await call("rules", "/api/rules");
  if (!result) return;
  const { ok, answer } = result;
  if (!ok) return $("rules").replaceChildren(h("p", { className: "notice" }, answer.error));
  const diagnostics = answer.diagnostics.map((found) => ({ ...found, message: `${answer.texts[found.rule]?.name ?? "rule"}: ${found.message}` }));
  const open = (text) => {
    const link = h("a", { href: "#play" }, text.name);
    link.onclick = () => {
      load({ language: text.language, rule: text.text, input: state.input, client: state.client, view: "why" });
    };
    return link;
  };
  const named = new Map(answer.texts.map((text) => [text.name, text]));
  const warned = new Set(answer.diagnostics.map((found) => answer.texts[found.rule]?.name));
  const rows = (answer.rules ?? []).map((rule) => {
    const keys = rule.entries.slice(0, 4).map((entry) => h("div", {}, h("code", {}, entry.keys.join(" and ")),
      entry.residual.length ? h("span", { className: "muted" }, " then ", h("code", {}, oneLine(entry.residual.join(" && ")))) : ""));
    if (rule.entries.length > 4) keys.push(h("div", { className: "muted" }, `and ${rule.entries.length - 4} more entries`));
    const how = rule.unindexed ? h("span", {}, tag("every request", "bad"), ` ${rule.unindexed}`) : h("div", {}, ...keys);
    const name = h("span", {}, open(named.get(rule.name) ?? { name: rule.name, text: "", language: "cel" }), " ", warned.has(rule.name) ? tag("warning", "warn") : "", rule.interpreted ? tag("interpreted", "warn") : "");
    return { chance: rule.chance, cells: [name, how, `${rule.chance > 0.9995 ? 100 : (rule.chance * 100).toPrecision(2)} %`] };
  });
  rows.sort((a, b) => b.chance - a.chance);
  const outcome = (found) => {
    const name = (number) => answer.texts[number]?.name ?? number;
    const why = new Map(found.failed.map((one) => [one.rule, one.message]));
    const rows = found.timed.sort((a, b) => (b.ns ?? 0) - (a.ns ?? 0)).map(({ rule, ns }) => [
      open(answer.texts[rule] ?? { name: name(rule) }),
      why.has(rule) ? h("span", {}, tag("failed", "bad"), ` ${why.get(rule) ?? ""}`) : found.matched.includes(rule) ? tag("matches", "good") : tag("no match", ""),
      ns ? time(ns) : "",
    ]);
    return [h("div", { className: "wide" },
      h("p", {}, `${found.evaluated.length} of ${answer.texts.length} rules are evaluated, ${found.matched.length} match. All of them take ${time(found.ns)}; each by itself:`),
      table("", ["rule", "result", "time"], rows))];
  };
  $("rules").replaceChildren(
    h("div", { className: "two" },
      card(`${answer.texts.length} rules`, failures(diagnostics), answer.summary ? h("div", { className: "wide" }, h("pre", {}, answer.summary)) : null),
      answer.ok ? tryRequest("/api/rules", outcome) : ""),
    card("How each rule is found, most often evaluated first", h("div", { className: "wide" }, table("", ["rule", "found by, and what is then evaluated", "expected"], rows.map((row) => row.cells)))));
}

// ---- pages and start

function load(values) {
  Object.assign(state, values);
  $("rule").value = state.rule;
  $("input").value = state.input;
  $("client").value = state.client;
  for (const radio of document.getElementsByName("language")) radio.checked = radio.value === state.language;
  openView(state.view);
  changed();
}

function openPage() {
  const page = ["policy", "rules"].find((name) => location.hash === `#${name}` && !document.querySelector(`[data-page=${name}]`).hidden) ?? "play";
  for (const link of document.querySelectorAll("[data-page]")) {
    if (link.dataset.page === page) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    $(link.dataset.page).hidden = link.dataset.page !== page;
  }
  if (page === "policy") showPolicy();
  if (page === "rules") showRules();
}

function listen() {
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
  window.addEventListener("hashchange", () => {
    if (location.hash !== toFragment() && fromFragment()) load({});
    openPage();
  });
}

async function start() {
  listen();
  const given = fromFragment();
  const result = await call("start", "/api/start");
  const known = result?.answer ?? {};
  $("build").textContent = known.version ? `${known.version} · ${known.architecture}` : "";
  if (known.optimized === false) $("build").dataset.slow = "1";
  for (const page of ["policy", "rules"]) document.querySelector(`[data-page=${page}]`).hidden = !known[page];
  if (given) load({});
  else {
    const [, language, rule, input] = EXAMPLES[0];
    if (known.rule) load({ language: known.rule.language, rule: known.rule.text, input });
    else load({ language, rule, input });
  }
  if (!given && !location.hash && !known.rule && (known.policy || known.rules)) location.hash = known.policy ? "#policy" : "#rules";
  openPage();
}

start();
