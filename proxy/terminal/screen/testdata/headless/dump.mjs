// Reads cases {cols, rows, in} (in: base64), one JSON object a line, and prints for each the cells of its screen as
// [chars, width, fg, bg, flags]: colours as -1, 0..255 or "#rrggbb".
import xterm from '@xterm/headless';
import unicode11 from '@xterm/addon-unicode11';
import { createInterface } from 'node:readline';

const color = (isDefault, isRGB, value) =>
  isDefault ? -1 : isRGB ? '#' + value.toString(16).padStart(6, '0') : value;

for await (const line of createInterface({ input: process.stdin })) {
  const c = JSON.parse(line);
  const term = new xterm.Terminal({ cols: c.cols, rows: c.rows, allowProposedApi: true });
  term.loadAddon(new unicode11.Unicode11Addon());
  term.unicode.activeVersion = '11';
  await new Promise((done) => term.write(Buffer.from(c.in, 'base64'), done));
  const buffer = term.buffer.active;
  const rows = [];
  for (let y = 0; y < c.rows; y++) {
    const row = buffer.getLine(buffer.baseY + y);
    const cells = [];
    for (let x = 0; x < c.cols; x++) {
      const cell = row.getCell(x);
      const flags = [cell.isBold(), cell.isDim(), cell.isItalic(), cell.isUnderline(), cell.isBlink(),
        cell.isInverse(), cell.isInvisible(), cell.isStrikethrough(), cell.isOverline()].map((f) => (f ? 1 : 0)).join('');
      cells.push([cell.getChars(), cell.getWidth(), color(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor()),
        color(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor()), flags]);
    }
    rows.push(cells);
  }
  console.log(JSON.stringify(rows));
  term.dispose();
}
