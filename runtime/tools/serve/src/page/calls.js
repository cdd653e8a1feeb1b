// Calls of the API.

import { $, withCode } from "./elements.js";

const running = new Map();
/** Most bytes of a body. The server says how many. */
let mostBytes = Infinity;

export function limitBodies(bytes) {
  mostBytes = bytes ?? Infinity;
}

/** Calls the API. An older call of the same name is given up: its result is null. */
export async function call(name, path, body) {
  running.get(name)?.abort();
  const controller = new AbortController();
  running.set(name, controller);
  // A page of another origin can't send this header.
  const options = { signal: controller.signal, headers: { "x-celero": "1" } };
  if (body) {
    options.headers["content-type"] = "application/json";
    Object.assign(options, { method: "POST", body: JSON.stringify(body) });
    const bytes = new TextEncoder().encode(options.body).length;
    if (bytes > mostBytes) return { ok: false, answer: { error: `these texts have ${bytes} bytes, and the server takes at most ${mostBytes}` } };
  }
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

export function notice(text) {
  $("offline").hidden = !text;
  $("offline").replaceChildren(...withCode(text));
}
