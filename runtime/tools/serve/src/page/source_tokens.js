// Tokens of a policy, of a file of rules and of a file with one rule, for colours.

import { ruleTokens } from "./tokens.js";

/** Longer texts have no colours: each change would take noticeable time. */
export const LONGEST_COLOURED = 128 << 10;

/** Most tokens of a text with colours. */
const MOST_TOKENS = 30_000;
/** Lines of YAML that are longer have none either. */
const LONGEST_LINE = 1000;

const CONDITIONS = /^(?:when|require)$/;
/** Sections of which each value is an expression. */
const DEFINITIONS = /^(?:variables|functions)$/;
const VALUE = /("(?:\\.|[^"\\])*"?|'(?:''|[^'])*'?)(\s*:(?=\s|$))?|((?:^|(?<=\s))#.*)|(?<![\w$.~/-])([\w$.~/-]+)(\s*:(?=\s|$))|(\$\{[^}]*\}?)|((?<![\w.-])(?:true|false|null|~|-?\d+(?:\.\d+)?)(?![\w.:/-]))/g;

const shifted = (tokens, by) => tokens.map(([start, end, kind]) => [start + by, end + by, kind]);
const blanked = (text) => text.replace(/[^\n]/g, " ");

/** The expressions in `${..}` of a text that starts at `at`. */
function templates(text, at, language) {
  const found = [...text.matchAll(/\$\{([^}]*)\}/g)];
  return found.flatMap((match) => shifted(ruleTokens(match[1], language), at + match.index + 2));
}

/** The last character before a place that is no blank. */
function lastBefore(text, place) {
  let at = place - 1;
  while (at >= 0 && (text[at] === " " || text[at] === "\t")) at--;
  return text[at] ?? "";
}

/** The tokens of a part of a line behind its indentation, and its last key; `isCondition` says of which keys the value is an expression. */
function yamlValue(text, at, language, isCondition) {
  const tokens = [];
  let key = "";
  let end = 0;
  const between = (to) => {
    if (isCondition(key) && text.slice(end, to).trim()) tokens.push(...shifted(ruleTokens(text.slice(end, to), language), at + end));
  };
  for (const match of text.matchAll(VALUE)) {
    const [whole, quoted, colon, comment, name, , template] = match;
    const start = match.index;
    const isFlow = ["", "{", ",", "["].includes(lastBefore(text, start));
    const isKey = (colon !== undefined || name !== undefined) && isFlow;
    // A condition without quotes is an expression up to a comment.
    if (isCondition(key) && !comment && !isKey && !(quoted && !text.slice(end, start).trim())) continue;
    if (comment || isKey) between(start);
    if (comment) tokens.push([at + start, at + start + whole.length, "t-comment"]);
    else if (isKey) {
      key = quoted ?? name;
      tokens.push([at + start, at + start + key.length, "t-key"]);
    } else if (quoted && isCondition(key)) {
      tokens.push(...shifted(ruleTokens(quoted.slice(1, quoted.length > 1 && quoted.endsWith(quoted[0]) ? -1 : undefined), language), at + start + 1));
      key = "";
    } else if (quoted) tokens.push([at + start, at + start + whole.length, "t-string"], ...templates(quoted, at + start, language));
    else if (template) tokens.push(...templates(template, at + start, language));
    else if (!name) tokens.push([at + start, at + start + whole.length, "t-number"]);
    end = start + whole.length;
  }
  between(text.length);
  return { tokens, key };
}

/** Whether the item of a list that begins in a line is a rule in the filter language. */
function isFilter(lines, from, indent) {
  for (let i = from; i < lines.length; i++) {
    const depth = lines[i].search(/\S/);
    if (i > from && depth >= 0 && depth <= indent) return false;
    if (/(?:^|[\s{,])language:\s*filter\b/.test(lines[i])) return true;
  }
  return false;
}

function policyTokens(text) {
  const tokens = [];
  const lines = text.split("\n");
  let at = 0;
  // A text over several lines: the indentation of its key, and whether it is an expression.
  let block = null;
  let language = "cel";
  let section = "";
  lines.forEach((line, number) => {
    const depth = line.search(/\S/);
    if (line.length > LONGEST_LINE) {
      block = null;
    } else if (block && (depth < 0 || depth > block.depth)) {
      if (block.isCondition) tokens.push(...shifted(ruleTokens(line, language), at));
      else tokens.push([at, at + line.length, "t-string"], ...templates(line, at, language));
    } else {
      block = null;
      const head = /^(\s*)((?:- +)*)/.exec(line);
      if (head[2]) language = isFilter(lines, number, depth) ? "filter" : "cel";
      const start = head[0].length;
      const isDefinition = start > 0 && DEFINITIONS.test(section);
      const isCondition = (key) => CONDITIONS.test(key) || (isDefinition && key !== "");
      const { tokens: found, key } = yamlValue(line.slice(start), at + start, language, isCondition);
      tokens.push(...found);
      if (start === 0 && key) section = key;
      if (/:\s*(?:[|>][-+0-9]*)?\s*(?:#.*)?$/.test(line) && (isCondition(key) || /[|>][-+0-9]*\s*(?:#.*)?$/.test(line))) {
        block = { depth: start, isCondition: isCondition(key) };
      }
    }
    at += line.length + 1;
  });
  return tokens;
}

function rulesTokens(text, language) {
  const tokens = [];
  // Where each rule begins: a line that is not indented.
  const heads = [...text.matchAll(/^(?![ \t#\n])([^:[\n]*)(\[[^\]\n]*\][ \t]*)?:/gm)];
  for (const match of text.matchAll(/^[ \t]*#.*$/gm)) tokens.push([match.index, match.index + match[0].length, "t-comment"]);
  heads.forEach((head, number) => {
    const [whole, name, attributes] = head;
    tokens.push([head.index, head.index + name.length, "t-key"]);
    if (attributes) tokens.push([head.index + name.length, head.index + name.length + attributes.length, "t-word"]);
    const start = head.index + whole.length;
    const rule = text.slice(start, heads[number + 1]?.index).replace(/^[ \t]*#.*$/gm, blanked);
    const own = /\blanguage\s+(\w+)/.exec(attributes ?? "")?.[1] ?? language;
    tokens.push(...shifted(ruleTokens(rule, own), start));
  });
  return tokens;
}

function expressionTokens(text, language) {
  // Comments above the rule belong to the command, if they are no part of the language.
  const comments = [...(/^(?:[ \t]*(?:#[^\n]*)?\n)*/.exec(text)[0] || "").matchAll(/#.*/g)];
  const tokens = comments.map((match) => [match.index, match.index + match[0].length, "t-comment"]);
  const end = tokens.at(-1)?.[1] ?? 0;
  return [...tokens, ...shifted(ruleTokens(text.slice(end), language), end)];
}

/** The tokens of a text: `kind` is "policy", "rules" or "expression". */
export function sourceTokens(text, kind, language = "cel") {
  if (text.length > LONGEST_COLOURED) return [];
  const tokens = kind === "policy" ? policyTokens(text) : kind === "rules" ? rulesTokens(text, language) : expressionTokens(text, language);
  return tokens.length > MOST_TOKENS ? [] : tokens;
}
