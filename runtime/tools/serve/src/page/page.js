// The page of `celero serve`: opens its pages and starts it.

import { call, limitBodies } from "./calls.js";
import { $ } from "./elements.js";
import { listen, load } from "./playground.js";
import { showPolicy } from "./policy.js";
import { showRules } from "./rule_set.js";
import { isPacked, readLink, unpack } from "./share.js";
import { EXAMPLES, fromFragment, toFragment } from "./state.js";

const PAGES = { policy: showPolicy, rules: showRules };
const tab = (name) => document.querySelector(`[data-page=${name}]`);

/** Reads what a link holds; null if it is no link of a page of texts, or a broken one, which is said. */
async function linked() {
  $("link-problem").hidden = true;
  if (!isPacked(location.hash)) return null;
  const why = "This link holds nothing that this page shows. It may come from another version of celero.";
  try {
    const link = readLink(await unpack(location.hash));
    if (link) return link;
    $("link-problem").textContent = why;
  } catch (error) {
    $("link-problem").textContent = error.message;
  }
  $("link-problem").hidden = false;
  return null;
}

/** What the command was given, as the server says. */
let known = {};

async function openPage() {
  const link = await linked();
  // A link needs no file of the server.
  if (link) tab(link.page).hidden = false;
  const page = link?.page ?? Object.keys(PAGES).find((name) => location.hash === `#${name}` && !tab(name).hidden) ?? "play";
  for (const other of document.querySelectorAll("[data-page]")) {
    if (other.dataset.page === page) other.setAttribute("aria-current", "page");
    else other.removeAttribute("aria-current");
    $(other.dataset.page).hidden = other.dataset.page !== page;
  }
  await PAGES[page]?.(link, Boolean(known[page]));
}

async function start() {
  listen();
  window.addEventListener("hashchange", () => {
    if (location.hash !== toFragment() && fromFragment()) load({});
    openPage();
  });
  const given = fromFragment();
  const result = await call("start", "/api/start");
  known = result?.answer ?? {};
  limitBodies(known.body_bytes);
  $("build").textContent = known.version ? `${known.version} · ${known.architecture}` : "";
  if (known.optimized === false) $("build").dataset.slow = "1";
  for (const page of Object.keys(PAGES)) tab(page).hidden = !known[page];
  $("lab").hidden = !known.lab;
  if (given) load({});
  else {
    const [, language, rule, input] = EXAMPLES[0];
    if (known.rule) load({ language: known.rule.language, rule: known.rule.text, input });
    else load({ language, rule, input });
  }
  if (!given && !location.hash && !known.rule && (known.policy || known.rules)) history.replaceState(null, "", known.policy ? "#policy" : "#rules");
  openPage();
}

start();
