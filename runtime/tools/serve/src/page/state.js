// The state of the page: what its address holds, and what the server answered.

import { WORDS } from "./tokens.js";

export const EXAMPLES = [
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

export const state = { language: "cel", rule: "", input: "", client: "", view: "why" };

export const now = {
  /** The last answer, and the text that it is about. */
  shown: { answer: {}, rule: "", at: (byte) => byte },
  /** The marked span of the rule, in bytes. */
  lit: null,
  /** What may be completed. */
  names: { variables: [], functions: [], words: [] },
};

export function toFragment() {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return `#s=${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

export function fromFragment() {
  const found = /^#s=([\w-]+)$/.exec(location.hash);
  if (!found) return false;
  try {
    const bytes = Uint8Array.from(atob(found[1].replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const read = JSON.parse(new TextDecoder().decode(bytes));
    for (const key of Object.keys(state)) if (typeof read[key] === "string") state[key] = read[key];
    if (!Object.hasOwn(WORDS, state.language)) state.language = "cel";
    return true;
  } catch {
    return false;
  }
}
