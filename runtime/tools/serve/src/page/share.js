// Links that hold everything: a value as JSON, compressed, in the fragment of the address, which browsers do not send.

/** Longest fragment. Browsers take more; what passes links on often does not. */
export const LONGEST_LINK = 64 << 10;
/** Most bytes of the JSON that a link may unpack to. */
export const LONGEST_UNPACKED = 1 << 20;

const COMPRESSED = "#z=";
const PLAIN = "#u=";

function base64(bytes) {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Reads a stream, up to a number of bytes. */
async function bytesOf(stream, most) {
  const reader = stream.getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel().catch(() => {});
      throw new RangeError("too long");
    }
    parts.push(value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const through = (bytes, transform) => new Blob([bytes]).stream().pipeThrough(transform);

/** Returns the fragment that holds a value. Throws an error that says why there is none. */
export async function pack(value) {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  if (bytes.length > LONGEST_UNPACKED) throw new Error(`A link holds at most ${LONGEST_UNPACKED} bytes of texts, and these have ${bytes.length}. Shorten the source, the recorded requests or the cases.`);
  const isCompressed = typeof CompressionStream === "function";
  const packed = isCompressed ? await bytesOf(through(bytes, new CompressionStream("deflate-raw")), Infinity) : bytes;
  const fragment = (isCompressed ? COMPRESSED : PLAIN) + base64(packed);
  if (fragment.length > LONGEST_LINK) throw new Error(`The link would have ${fragment.length} characters, and the most is ${LONGEST_LINK}. Shorten the source, the recorded requests or the cases.`);
  return fragment;
}

/** Whether a fragment is one of `pack`. */
export const isPacked = (fragment) => fragment.startsWith(COMPRESSED) || fragment.startsWith(PLAIN);

/** Returns the value that a fragment holds. Throws an error that says what is wrong with it. */
export async function unpack(fragment) {
  if (fragment.length > LONGEST_LINK) throw new Error(`This link has ${fragment.length} characters, and the most is ${LONGEST_LINK}: it is not opened.`);
  const text = fragment.slice(COMPRESSED.length);
  const broken = "This link is broken: a part of it may be missing. Ask for it again.";
  if (!/^[\w-]+$/.test(text)) throw new Error(broken);
  try {
    let bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
    if (fragment.startsWith(COMPRESSED)) bytes = await bytesOf(through(bytes, new DecompressionStream("deflate-raw")), LONGEST_UNPACKED);
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new Error(error instanceof RangeError ? `This link holds more than ${LONGEST_UNPACKED} bytes of texts: it is not opened.` : broken);
  }
}

/** Returns what a link says about a page of texts, or null if it says something else. Other members are left out. */
export function readLink(value) {
  const isText = (text) => typeof text === "string";
  const isFile = (file) => file && isText(file.name) && isText(file.text);
  const isFiles = (files) => Array.isArray(files) && files.length <= 1000 && files.every(isFile);
  if (!value || typeof value !== "object" || !["policy", "rules"].includes(value.page)) return null;
  if (!isFiles(value.files) || !value.files.length || (value.page === "policy" && value.files.length > 1)) return null;
  if (value.cases !== undefined && !isFiles(value.cases)) return null;
  const file = ({ name, text, language, expression }) => ({
    name, text, ...(isText(language) ? { language } : {}), ...(typeof expression === "boolean" ? { expression } : {}),
  });
  return {
    page: value.page,
    files: value.files.map(file),
    cases: value.cases?.map(({ name, text }) => ({ name, text })) ?? null,
    input: isText(value.input) ? value.input : "",
    client: isText(value.client) ? value.client : "",
    requests: isText(value.requests) ? value.requests : null,
  };
}
