// Places in texts: the API counts bytes of UTF-8, the page counts UTF-16.

/** The positions in a text of byte offsets. */
export function positions(text) {
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

export function lineAndColumn(text, position) {
  const before = text.slice(0, position).split("\n");
  return `${before.length}:${before.at(-1).length + 1}`;
}
