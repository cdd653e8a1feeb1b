// A page about texts with rules, a policy or a rule set: the rules at the left, the source that is edited in memory,
// a request and recorded requests on which it is tried. What policies and rule sets have of their own is in
// `policy.js` and `rule_set.js`.

import { call, notice } from "./calls.js";
import { differences } from "./decisions.js";
import { $, h, tag, withCode } from "./elements.js";
import { scrollWithin } from "./marks.js";
import { lineAndColumn, positions } from "./places.js";
import { pack } from "./share.js";
import { sourceTokens } from "./source_tokens.js";
import { EXAMPLES, state } from "./state.js";
import { inputTokens, paint } from "./tokens.js";

/** Most rules that are listed. */
const MOST_LISTED = 2000;
/** From so many rules on there is a box to filter them. */
const MANY_RULES = 12;

const normal = (text) => text.replace(/\r\n?/g, "\n");
const isSame = (one, other) => one?.length === other?.length && one.every((file, number) => file.text === other[number].text);

/** Calls the API. What it refuses is shown where it belongs, and not above the page. */
async function ask(name, path, body) {
  const result = await call(name, path, body);
  if (result) notice("");
  return result;
}

/** Makes a page. `kind` has what is different between policies and rule sets. */
export function workbench(kind) {
  const bench = {
    /** The texts of the files, of the editor, and of a link; null or empty if there are none. */
    file: null, files: [], linked: null,
    /** Whether the server's text of the file is another one than an editor has: it has other line ends. */
    hasOtherEnds: false,
    shown: 0, cases: null, input: "", client: "", requests: null, recordedFile: "",
    /** The last answer, and the last one that was valid, each with the texts that it is about. */
    answer: null, good: null, wholeFile: null,
    /** The last try of the request, and the rule whose reasons are asked for. */
    tried: null, asked: null, revealed: null,
    recorded: null, before: null, beforeKey: "", time: Math.floor(Date.now() / 1000),
  };
  const page = $(kind.page);
  const part = makeParts(kind);
  page.replaceChildren(part.whole);

  const base = () => bench.file ?? bench.linked;
  const isChanged = () => base() !== null && !isSame(bench.files, base());
  /** What the server is told: nothing, if the texts are those of its files. */
  const told = (files) => (bench.file && isSame(files, bench.file) && !bench.hasOtherEnds ? null : files);
  const current = () => bench.files[bench.shown] ?? { name: "", text: "" };
  /** The rules of the last answer that has any. */
  const rules = () => bench.answer?.rules ?? bench.good?.rules ?? [];
  const isAbout = (answer) => answer && isSame(answer.files, bench.files);

  function showSource() {
    const { text, language } = current();
    if (part.source.value !== text) part.source.value = text;
    const marks = sourceTokens(text, kind.format(current()), language);
    const at = positions(text);
    const add = (span, name) => {
      const [start, end] = span.map(at);
      marks.push([Math.min(start, Math.max(0, text.length - 1)), Math.max(end, start + 1), name]);
    };
    if (isAbout(bench.answer)) {
      for (const { span, severity } of bench.answer.diagnostics.filter((found) => kind.fileOf(found, bench) === bench.shown)) add(span, severity === "error" ? "wrong" : "doubt");
    }
    if (isAbout(bench.good) && isAbout(bench.tried)) {
      for (const { key, span, file } of bench.good.rules) {
        if (!span || file !== bench.shown || !bench.tried.decided.has(key)) continue;
        const start = at(span[0]);
        marks.push([start, start + text.slice(start, at(span[1])).trimEnd().length, "decides"]);
      }
    }
    paint(part.sourcePre, text, marks);
    const names = bench.files.map((file) => file.name);
    if (part.files.dataset.names !== JSON.stringify(names)) {
      part.files.dataset.names = JSON.stringify(names);
      part.files.replaceChildren(...names.map((name, number) => h("option", { value: String(number) }, name)));
    }
    part.files.value = String(bench.shown);
    part.files.hidden = names.length < 2;
    part.title.textContent = names.length < 2 ? current().name.split("/").at(-1) : "";
    part.title.title = current().name;
    part.back.hidden = !isChanged();
    part.edited.textContent = isChanged() ? (bench.file ? "edited in memory" : "edited") : !bench.file && bench.linked ? "from a link" : "";
  }

  function showDiagnostics() {
    const { answer } = bench;
    const items = (answer?.diagnostics ?? []).map((found) => {
      const number = kind.fileOf(found, bench);
      const text = answer.files[number]?.text;
      const place = h("button", { className: "place", type: "button", title: "Selects the place in the source" }, "");
      if (text === undefined) place.textContent = found.file ?? "";
      else {
        const [start, end] = found.span.map(positions(text));
        place.textContent = (answer.files.length > 1 ? `${answer.files[number].name}:` : "") + lineAndColumn(text, start);
        place.onclick = () => select(number, start, end);
      }
      return h("li", { className: found.severity }, place, `${found.severity}: `, ...withCode(found.message), ...(found.help ?? []).map((help) => h("span", { className: "help" }, ...withCode(help))));
    });
    if (answer?.more_diagnostics) items.push(h("li", { className: "warning" }, `and ${answer.more_diagnostics} more`));
    if (answer?.error) items.push(h("li", { className: "error" }, ...withCode(answer.error)));
    part.diagnostics.replaceChildren(...items);
    const isStale = bench.good !== null && !isAbout(bench.good);
    part.stale.hidden = !isStale;
    for (const element of [part.outcome, part.recorded, part.list]) element.classList.toggle("stale", isStale);
  }

  /** Selects a place in the source and shows it. */
  function select(number, start, end = start) {
    bench.shown = number;
    showSource();
    part.source.focus({ preventScroll: true });
    part.source.setSelectionRange(start, end);
    reveal(start);
    part.editor.scrollIntoView({ block: "nearest" });
  }

  /** Scrolls the source, and not the page, to a place. */
  function reveal(start) {
    const piece = [...part.sourcePre.children].findLast((one) => Number(one.dataset.at) <= start);
    if (piece) scrollWithin(part.editor, piece);
  }

  /** Shows the place of the rule that decides, if it is another one than before and nobody writes there. */
  function revealDeciding() {
    const rule = isAbout(bench.good) && bench.tried ? bench.good.rules.find(({ key, span, file }) => span && file === bench.shown && bench.tried.decided.has(key)) : null;
    if (rule && rule.key !== bench.revealed && document.activeElement !== part.source) reveal(positions(current().text)(rule.span[0]));
    bench.revealed = rule?.key ?? null;
  }

  function showList() {
    const all = rules();
    const wanted = part.filter.value.trim().toLowerCase();
    part.filter.hidden = all.length < MANY_RULES;
    part.count.textContent = all.length ? String(all.length) : "";
    const tried = bench.tried;
    let phase = "";
    const items = [];
    for (const rule of all) {
      if (wanted && !part.filter.hidden && !`${rule.name} ${rule.phase ?? ""}`.toLowerCase().includes(wanted)) continue;
      if (items.length >= MOST_LISTED) break;
      if (rule.phase && rule.phase !== phase) {
        phase = rule.phase;
        items.push(h("li", { className: "phase" }, phase));
      }
      const outcome = tried?.decided.has(rule.key) ? ["decides", "accent"] : tried?.failed.has(rule.key) ? ["fails", "warn"] : tried?.matched.has(rule.key) ? ["matches", "good"] : null;
      const button = h("button", { type: "button", className: `rule ${outcome?.[0] ?? ""}`, title: rule.span ? "Shows the rule in the source, and why it matches or not" : "This rule is in another file" },
        h("span", { className: "name" }, rule.name), outcome ? tag(...outcome) : null);
      if (rule.key === bench.asked) button.setAttribute("aria-current", "true");
      button.onclick = () => {
        bench.asked = rule.key;
        if (rule.span) {
          const start = positions(bench.files[rule.file]?.text ?? "")(rule.name_span?.[0] ?? rule.span[0]);
          select(rule.file, start);
        }
        showList();
        tryRequest();
      };
      items.push(h("li", {}, button));
    }
    if (!items.length) items.push(h("li", { className: "muted none" }, all.length ? "No rule has such a name." : "No rules."));
    part.list.replaceChildren(...items);
  }

  function reasonsView() {
    const found = bench.tried?.reasons ?? [];
    return found.map(({ name, phase, title, lines }) => h("section", { className: "reasons" }, h("h3", {}, "Why ", h("code", {}, name), phase ? ` (${phase})` : ""),
      title ? h("p", {}, ...withCode(title)) : null, h("ul", {}, ...lines.map((line) => h("li", {}, ...(title ? [h("code", {}, line)] : reasonLine(line)))))));
  }

  async function tryRequest() {
    if (!bench.good) return;
    const { files } = bench.good;
    const result = await ask(`try ${kind.page}`, kind.path, { ...kind.body(told(files)), input: bench.input, source: bench.client, ...kind.ask(bench) });
    if (!result) return;
    part.problem.hidden = result.ok;
    if (!result.ok) {
      part.problem.replaceChildren(...withCode(result.answer.error));
      bench.tried = null;
    } else bench.tried = { files, ...kind.read(result.answer, bench.good) };
    part.outcome.replaceChildren(...(bench.tried ? [...kind.verdict(result.answer, bench.good), ...reasonsView(), ...kind.outcome(result.answer, bench.good)] : []));
    showList();
    showSource();
    const item = part.list.querySelector(".decides");
    if (item && bench.asked === null) scrollWithin(part.list, item);
    revealDeciding();
  }

  async function tryRecorded() {
    if (!bench.good) return;
    const question = (files) => ({ ...kind.body(told(files)), ...(bench.requests === null ? {} : { requests: bench.requests }), source: bench.client, ...kind.atTime(bench) });
    const path = `${kind.path}/requests`;
    const first = base();
    const key = JSON.stringify([bench.requests, bench.client, first]);
    if (bench.beforeKey !== key) {
      const result = await ask(`before ${kind.page}`, path, question(first));
      if (!result) return;
      bench.before = result.ok ? result.answer : null;
      bench.beforeKey = key;
      if (result.ok && typeof result.answer.text === "string") bench.recordedFile = normal(result.answer.text);
    }
    let now = bench.before;
    let error = "";
    if (!isSame(bench.good.files, first) || !now) {
      const result = await ask(`recorded ${kind.page}`, path, question(bench.good.files));
      if (!result) return;
      now = result.ok ? result.answer : null;
      error = result.ok ? "" : result.answer.error;
    }
    bench.recorded = now;
    showRecorded(error);
  }

  function showRecorded(error) {
    const { recorded, before } = bench;
    if (document.activeElement !== part.requests) part.requests.value = bench.requests ?? bench.recordedFile;
    part.requestsProblem.hidden = !error;
    part.requestsProblem.replaceChildren(...withCode(error));
    if (!recorded) return part.recorded.replaceChildren();
    const changes = differences(recorded.decisions, before?.decisions, kind.decision);
    const rows = recorded.decisions.map(({ request, text, source, decision }, number) => {
      const words = kind.decision(decision);
      const other = changes[number] === "decision" ? kind.decision(before.decisions[number].decision) : null;
      const open = h("button", { type: "button", className: "open", title: "Tries this request above" }, request);
      open.disabled = text === null;
      open.onclick = () => {
        Object.assign(bench, { input: text, client: source ?? bench.client });
        showInput();
        tryRequest();
        part.whole.scrollIntoView({ block: "start" });
      };
      return h("tr", { className: changes[number] ? "changed" : "" }, h("td", {}, open), h("td", {}, tag(words.text, words.kind)), h("td", {}, words.rule ? h("code", {}, words.rule) : ""),
        h("td", {}, changes[number] ? tag("changed", "warn") : "", other ? ` was ${other.text}${other.rule ? " by " : ""}` : changes[number] ? " what it does" : "", other?.rule ? h("code", {}, other.rule) : ""));
    });
    const changed = changes.filter(Boolean).length;
    const head = h("tr", {}, ...["request", "decision", kind.ruleHead, "changed by the edit"].map((text) => h("th", { scope: "col" }, text)));
    const summary = rows.length ? `${rows.length} requests${isChanged() ? `, the edit changes ${changed}` : ""}${recorded.left ? `; ${recorded.left} more are not tried` : ""}` : "No requests. Write some above, or start with celero serve … --requests FILE.";
    part.recorded.replaceChildren(h("p", {}, changed ? tag(summary, "warn") : summary), rows.length ? h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)) : "",
      ...recorded.left_out.map((line) => h("p", { className: "muted" }, `left out: ${line}`)));
  }

  function showInput() {
    if (part.input.value !== bench.input) part.input.value = bench.input;
    if (part.client.value !== bench.client) part.client.value = bench.client;
    paint(part.inputPre, bench.input, inputTokens(bench.input));
  }

  /** Checks the texts. What is not valid keeps the last answer that was. */
  async function check() {
    const asked = told(bench.files);
    const files = bench.files.map((file) => ({ ...file }));
    const result = asked === null ? await whole() : await ask(`check ${kind.page}`, `${kind.path}/check`, { ...kind.body(asked), ...kind.casesBody(bench) });
    if (!result) return;
    accept(result, files);
  }

  function accept(result, files) {
    const answer = result.ok ? { ...result.answer, found: result.answer.rules ?? [], files, rules: kind.rules(result.answer) } : { error: result.answer.error, diagnostics: [], files };
    bench.answer = answer;
    if (answer.ok) {
      bench.good = answer;
      tryRequest();
      tryRecorded();
      part.details.replaceChildren(...kind.details(answer, bench.wholeFile));
    }
    showDiagnostics();
    showSource();
    showList();
  }

  /** Reads the files of the server. */
  async function whole() {
    const result = await ask(`whole ${kind.page}`, kind.path);
    if (result?.ok) {
      const files = kind.files(result.answer);
      const wasUntouched = !bench.files.length || (bench.file && isSame(bench.files, bench.file));
      bench.file = files.map((file) => ({ ...file, text: normal(file.text) }));
      bench.hasOtherEnds = !isSame(files, bench.file);
      if (wasUntouched) bench.files = bench.file.map((file) => ({ ...file }));
      bench.wholeFile = result.answer;
    }
    return result;
  }

  let soon, later;
  function changed(delay = 250) {
    showSource();
    showDiagnostics();
    clearTimeout(soon);
    soon = setTimeout(check, delay);
    remember();
  }

  const link = () => pack({ page: kind.page, files: bench.files, ...(kind.casesOf(bench) ?? {}), input: bench.input, client: bench.client, requests: bench.requests ?? bench.recordedFile });

  /** Keeps the address current, so that the page can be loaded again. */
  function remember() {
    clearTimeout(later);
    later = setTimeout(async () => {
      const fragment = await link().catch(() => `#${kind.page}`);
      if (!page.hidden) history.replaceState(null, "", fragment);
    }, 900);
  }

  part.source.oninput = () => {
    if (bench.files.length) bench.files[bench.shown] = { ...current(), text: part.source.value };
    changed();
  };
  part.files.onchange = () => {
    bench.shown = Number(part.files.value);
    showSource();
  };
  part.back.onclick = () => {
    bench.files = base().map((file) => ({ ...file }));
    bench.shown = Math.min(bench.shown, bench.files.length - 1);
    changed(0);
  };
  part.link.onclick = async () => {
    const said = (text) => {
      part.link.textContent = text;
      setTimeout(() => (part.link.textContent = "Copy link"), 1800);
    };
    try {
      const fragment = await link();
      part.linkProblem.hidden = true;
      clearTimeout(later);
      history.replaceState(null, "", fragment);
    } catch (error) {
      part.linkProblem.textContent = error.message;
      part.linkProblem.hidden = false;
      return;
    }
    await navigator.clipboard.writeText(location.href).then(() => said("Copied"), () => said("It is in the address bar"));
  };
  part.filter.oninput = showList;
  let typing;
  const typed = (then) => {
    clearTimeout(typing);
    typing = setTimeout(then, 300);
    remember();
  };
  part.input.oninput = () => {
    bench.input = part.input.value;
    showInput();
    typed(tryRequest);
  };
  part.client.oninput = () => {
    bench.client = part.client.value;
    typed(() => {
      tryRequest();
      tryRecorded();
    });
  };
  part.requests.oninput = () => {
    bench.requests = part.requests.value;
    typed(tryRecorded);
  };

  /** Shows the page, of a link if one is given. `isServed` says whether the server has files of this kind. */
  return async function show(linked, isServed) {
    if (linked) {
      Object.assign(bench, { linked: linked.files, files: linked.files.map((file) => ({ ...file, text: normal(file.text) })), cases: linked.cases, input: linked.input, client: linked.client, requests: linked.requests, shown: 0, asked: null, good: null, tried: null });
      bench.linked = bench.files.map((file) => ({ ...file }));
    }
    if (!bench.input && !linked) bench.input = state.input && !state.input.trimStart().startsWith("{") ? state.input : EXAMPLES[0][3];
    if (!bench.client && !linked) bench.client = state.client;
    showInput();
    if (!isServed) return void (bench.files.length && check());
    const result = await whole();
    if (!result) return;
    if (result.ok && told(bench.files) === null) return accept(result, bench.files.map((file) => ({ ...file })));
    if (!bench.files.length) return accept(result, []);
    await check();
  };
}

/** A line of reasons: names are code, and so is what decided. */
function reasonLine(line) {
  const found = /^(`[^`]*` [^:`]*): (.*)$/s.exec(line);
  return found ? [...withCode(found[1]), ": ", h("code", {}, found[2])] : withCode(line);
}

/** Makes the elements of a page. */
function makeParts(kind) {
  const area = (label, rows) => h("textarea", { spellcheck: false, autocapitalize: "off", autocomplete: "off", rows, "aria-label": label });
  const hidden = (element) => ((element.hidden = true), element);
  const part = {
    filter: hidden(h("input", { type: "search", placeholder: "Filter", "aria-label": "Filter the rules", className: "filter" })),
    count: h("span", { className: "muted" }),
    list: h("ul", { className: "rule-list" }),
    title: h("h2", { className: "file-name" }),
    files: hidden(h("select", { "aria-label": "File" })),
    edited: h("span", { className: "muted", "aria-live": "polite" }),
    back: hidden(h("button", { type: "button" }, "Back to the file's text")),
    link: h("button", { type: "button", title: "Copies the address of this page. It holds the source, the request and the recorded requests." }, "Copy link"),
    linkProblem: hidden(h("p", { className: "problem", role: "alert" })),
    sourcePre: h("pre", { "aria-hidden": "true" }),
    source: area(`Source of the ${kind.word}`),
    diagnostics: h("ul", { className: "diagnostics", "aria-live": "polite", "aria-label": "Errors and warnings" }),
    stale: hidden(h("p", { className: "stale-note" }, "What is shown is that of the last text without errors.")),
    client: h("input", { placeholder: "192.0.2.7:4711", size: 16, spellcheck: false, autocomplete: "off" }),
    inputPre: h("pre", { "aria-hidden": "true" }),
    input: area("Request", 9),
    problem: hidden(h("p", { className: "problem", "aria-live": "polite" })),
    outcome: h("div", { className: "outcome", "aria-live": "polite" }),
    requests: area("Recorded requests", 6),
    requestsProblem: hidden(h("p", { className: "problem", "aria-live": "polite" })),
    recorded: h("div", { className: "wide recorded" }),
    details: h("div", { className: "details" }),
  };
  part.requests.placeholder = "HTTP/1.1 as text, separated by lines that start with ###; or JSON, one request per line";
  part.editor = h("div", { className: "editor scrolled" }, part.sourcePre, part.source);
  part.whole = h("div", { className: "bench" },
    h("aside", { className: "card rules-card", "aria-label": "Rules" }, h("div", { className: "head" }, h("h2", {}, "Rules"), part.count), part.filter, part.list),
    h("section", { className: "card source-card", "aria-label": "Source" }, h("div", { className: "head" }, part.title, part.files, part.edited, part.back, part.link), part.linkProblem, part.editor, part.stale, part.diagnostics),
    h("section", { className: "card", "aria-label": "Try a request" }, h("div", { className: "head" }, h("h2", {}, "Request"), h("label", { className: "client" }, "Client ", part.client)),
      h("div", { className: "editor" }, part.inputPre, part.input), part.problem, part.outcome),
    h("section", { className: "card across", "aria-label": "Recorded requests" }, h("div", { className: "head" }, h("h2", {}, "Recorded requests")),
      h("details", {}, h("summary", {}, "The requests as text"), h("div", { className: "editor plain" }, part.requests)), part.requestsProblem, part.recorded),
    part.details);
  return part;
}
