// Checks the scopes that the grammars give to words of samples.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const GRAMMARS = {
  "source.cel": "cel.tmLanguage.json",
  "source.celero-filter": "filter.tmLanguage.json",
  "source.celero-rules": "rules.tmLanguage.json",
  "celero.policy.injection": "policy.tmLanguage.json",
};

// Stands in for the editor's own grammar of YAML, into which that of policies is injected.
const YAML = {
  scopeName: "source.yaml",
  patterns: [
    { name: "comment.line.yaml", match: "#.*$" },
    { match: "([\\w-]+)(:)(?=\\s|$)", captures: { 1: { name: "entity.name.tag.yaml" } } },
    { name: "string.quoted.double.yaml", begin: "\"", end: "\"" },
    { name: "string.unquoted.yaml", match: "[^\\s:{}#\"$]+" },
  ],
};

// Grammar, lines, and for words of them the beginning of the innermost scope.
const SAMPLES = [
  ["source.cel", ['request.path.startsWith("/é\\n") && x in [1u, 0x2F, 1.5e3] // c'], {
    request: "variable.other", startsWith: "entity.name.function", '"/é': "string.quoted.double", "\\n": "constant.character.escape",
    "&&": "keyword.operator", in: "keyword.operator.word", "1u": "constant.numeric.integer", "0x2F": "constant.numeric.hex",
    "1.5e3": "constant.numeric.float", "// c": "comment.line",
  }],
  ["source.cel", ["l.exists(x, has(x.y)) ? true : null"], { exists: "keyword.control.macro", has: "keyword.control.macro", true: "constant.language" }],
  ["source.cel", ["r'\\d' + '''a", "b''' + b\"\\xff\""], { "r'": "string.quoted.single", "\\d": "string.quoted.single", b: "string.quoted.triple", "\\xff": "constant.character.escape" }],
  ["source.celero-filter", ["# c", 'http.host eq "a\\x41" and not ip.src in {192.0.2.0/24 2001:db8::/32} or any(x[*] in $list)'], {
    "# c": "comment.line", "http.host": "variable.other", eq: "keyword.operator.word", "\\x41": "constant.character.escape", and: "keyword.operator.word",
    not: "keyword.operator.word", "192.0.2.0/24": "constant.numeric.address", "2001:db8::/32": "constant.numeric.address", any: "keyword.control.quantifier",
    "[*]": "keyword.operator", "$list": "variable.other.list",
  }],
  ["source.celero-filter", ['lower(http.host) matches r#"a"b"#'], { lower: "entity.name.function", 'a"b': "string.quoted.raw", matches: "keyword.operator.word" }],
  ["source.celero-rules", ["# all", "a b [priority 1]: x == 1", "  # c", '  && y.matches("z")', 'f [language filter]: http.host eq "a"', "last: has(x)"], {
    "# all": "comment.line", "a b": "entity.name.section", "[priority 1]": "storage.modifier", "==": "keyword.operator", "# c": "comment.line",
    matches: "entity.name.function", f: "entity.name.section", eq: "keyword.operator.word", last: "entity.name.section", has: "keyword.control.macro",
  }],
  ["source.yaml", ["request:", "  - name: admin", '    when: request.path.startsWith("/admin") && x', "      || has(y)  # c", "    deny: 403"], {
    when: "entity.name.tag", startsWith: "entity.name.function", "&&": "keyword.operator", has: "keyword.control.macro", deny: "entity.name.tag", 403: "string.unquoted",
  }],
  ["source.yaml", ["- when: |", '    path == "/"', "  deny: true", "- when: a.b(c)", "  deny: false"], {
    "|": "keyword.control.flow", path: "variable.other", "==": "keyword.operator", deny: "entity.name.tag", true: "string.unquoted", b: "entity.name.function", false: "string.unquoted",
  }],
  ["source.yaml", ["- language: filter", '  when: http.host eq "a" and not ssl', "  deny: true", "- when: >", "    ip.src in {10.0.0.0/8}"], {
    "http.host": "variable.other", eq: "keyword.operator.word", not: "keyword.operator.word", true: "string.unquoted", "10.0.0.0/8": "constant.numeric.address",
  }],
  ["source.yaml", ["- when: \"!variables.isTeam && x.matches('a')\"", "  deny: true"], { "&&": "keyword.operator", matches: "entity.name.function", deny: "entity.name.tag", true: "string.unquoted" }],
  ["source.yaml", ['to: "https://${request.host.lowerAscii()}/$${x}"', "# when: has(x) and ${y}"], {
    "${": "punctuation.section.embedded.begin", lowerAscii: "entity.name.function", "/$${x}": "string.quoted.double", "# when: has(x) and ${y}": "comment.line",
  }],
];

async function main() {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    getInjections: (scope) => (scope === "source.yaml" ? ["celero.policy.injection"] : undefined),
    loadGrammar: async (scope) => {
      if (scope === YAML.scopeName) return YAML;
      const file = path.join(__dirname, "..", "syntaxes", GRAMMARS[scope]);
      return textmate.parseRawGrammar(fs.readFileSync(file, "utf8"), file);
    },
  });
  let checked = 0;
  for (const [scope, lines, words] of SAMPLES) {
    const grammar = await registry.loadGrammar(scope);
    let stack = textmate.INITIAL;
    const found = [];
    for (const line of lines) {
      const result = grammar.tokenizeLine(line, stack);
      stack = result.ruleStack;
      found.push(...result.tokens.map((token) => ({ line, ...token })));
    }
    for (const [word, wanted] of Object.entries(words)) {
      const holds = ({ line, startIndex, endIndex, scopes }) => {
        const at = line.indexOf(word);
        return at >= 0 && startIndex <= at && at < endIndex && scopes.at(-1).startsWith(wanted) || line.slice(startIndex, endIndex) === word && scopes.at(-1).startsWith(wanted);
      };
      const scopes = found.filter(({ line, startIndex, endIndex }) => line.slice(startIndex, endIndex).includes(word)).map(({ scopes }) => scopes.at(-1));
      assert(found.some(holds), `${scope}: \`${word}\` in \`${lines.join("\\n")}\` is ${scopes}, not ${wanted}`);
      checked += 1;
    }
  }
  console.log(`${checked} words have the right scopes`);
}

main();
