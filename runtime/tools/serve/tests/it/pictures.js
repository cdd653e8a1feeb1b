// Runs in an empty page of the browser under test. Reduces a picture to a width, and returns it and for each region how much it differs from
// another picture that was reduced so.
async ({ picture, reference, regions, expected, cell, width }) => {
  const loaded = async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const height = Math.round((image.height * width) / image.width);
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, width, height);
    return { canvas, image, pixels: context.getImageData(0, 0, width, height) };
  };
  // The mean colour of each cell of a region, and the mean distance of its pixels from that: how much is written there.
  const cells = (pixels, scale, [x, y, w, h], columns, lines) => {
    const [left, top] = [Math.round(x * scale), Math.round(y * scale)];
    const [right, bottom] = [Math.min(pixels.width, Math.round((x + w) * scale)), Math.min(pixels.height, Math.round((y + h) * scale))];
    const at = (start, end, part, parts) => Math.floor(start + ((end - start) * part) / parts);
    const [colours, distances] = [[], []];
    for (let line = 0; line < lines; line++) for (let column = 0; column < columns; column++) {
      const inside = [];
      for (let py = at(top, bottom, line, lines); py < at(top, bottom, line + 1, lines); py++) {
        for (let px = at(left, right, column, columns); px < at(left, right, column + 1, columns); px++) {
          inside.push([0, 1, 2].map((c) => pixels.data[4 * (py * pixels.width + px) + c]));
        }
      }
      const mean = [0, 1, 2].map((c) => inside.reduce((sum, pixel) => sum + pixel[c], 0) / inside.length);
      colours.push(mean);
      for (const pixel of inside) distances.push(Math.max(...pixel.map((value, c) => Math.abs(value - mean[c]))));
    }
    return { colours, written: distances.reduce((sum, one) => sum + one, 0) / distances.length };
  };
  const now = await loaded(picture);
  const bytes = new Uint8Array(await (await now.canvas.convertToBlob({ type: "image/png" })).arrayBuffer());
  const reduced = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  if (!reference) return { reduced, regions: {} };
  const [before, scale, differences] = [await loaded(reference), width / now.image.width, {}];
  for (const [name, box] of Object.entries(regions)) {
    const [columns, lines] = [2, 3].map((side) => Math.max(1, Math.round(expected[name][side] / cell[side - 2])));
    const [one, other] = [cells(now.pixels, scale, box, columns, lines), cells(before.pixels, scale, expected[name], columns, lines)];
    const each = one.colours.map((colour, cell) => Math.max(...colour.map((value, c) => Math.abs(value - other.colours[cell][c]))));
    const mean = each.reduce((sum, value) => sum + value) / each.length;
    differences[name] = { most: Math.max(...each), mean, written: one.written, expected: other.written };
  }
  return { reduced, regions: differences };
}
