// The page of `celero serve`: opens its pages and starts it.

import { call } from "./calls.js";
import { $ } from "./elements.js";
import { listen, load } from "./playground.js";
import { showPolicy } from "./policy.js";
import { showRules } from "./rule_set.js";
import { EXAMPLES, fromFragment, toFragment } from "./state.js";

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

async function start() {
  listen();
  window.addEventListener("hashchange", () => {
    if (location.hash !== toFragment() && fromFragment()) load({});
    openPage();
  });
  const given = fromFragment();
  const result = await call("start", "/api/start");
  const known = result?.answer ?? {};
  $("build").textContent = known.version ? `${known.version} · ${known.architecture}` : "";
  if (known.optimized === false) $("build").dataset.slow = "1";
  for (const page of ["policy", "rules"]) document.querySelector(`[data-page=${page}]`).hidden = !known[page];
  $("lab").hidden = !known.lab;
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
