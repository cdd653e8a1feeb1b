// Tokens, for colours.

import { h } from "./elements.js";

export const WORDS = {
  cel: /^(?:true|false|null|in)$/,
  filter: /^(?:and|or|xor|not|eq|ne|lt|le|gt|ge|contains|matches|wildcard|strict|in|any|all|true|false)$/,
};
const TOKEN = /(\/\/[^\n]*)|((?:[rRbB]{0,2})(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?))|((?:\d+\.\d+|\.\d+|0x[0-9a-fA-F]+|\d+)(?:[eE][+-]?\d+)?u?)|([A-Za-z_][\w]*)|([^\sA-Za-z_0-9"']+)/g;

export function ruleTokens(text, language) {
  const tokens = [];
  const words = Object.hasOwn(WORDS, language) ? WORDS[language] : WORDS.cel;
  for (const match of text.matchAll(TOKEN)) {
    const [whole, comment, string, number, name] = match;
    const end = match.index + whole.length;
    let kind = comment ? "comment" : string ? "string" : number ? "number" : name ? "" : "operator";
    if (comment && language === "filter") kind = "operator";
    if (name && words.test(name) && text[match.index - 1] !== ".") kind = "word";
    else if (name && /^\s*\(/.test(text.slice(end, end + 20))) kind = "call";
    if (kind) tokens.push([match.index, end, `t-${kind}`]);
  }
  return tokens;
}

export function inputTokens(text) {
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
export function paint(element, text, marks) {
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
