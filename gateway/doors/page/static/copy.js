// Records which rows continue in the next one, and their links. Copies selected rows of a screen as
// text: lines that wrapped are whole, and no blanks end a line.

/** @type {WeakMap<Element, number>} The blanks that end a row which continues in the next one. */
const blanksOf = new WeakMap();

/** Not setWrap with 0 blanks: the row ends its line. @param {Element} row */
export const clearWrap = (row) => blanksOf.delete(row);
/** @param {Element} row @param {Wrap} wrap */
export const setWrap = (row, {blanks = 0}) => blanksOf.set(row, blanks);

/** @type {WeakMap<Element, Link[]>} The hyperlinks of a row. */
const linksIn = new WeakMap();

/** @param {Element} row */
export const continuesLine = (row) => blanksOf.has(row);
/** @param {Element} row @param {Link} link */
export const addLink = (row, link) => linksIn.set(row, [...linksOfRow(row), link]);
/** @param {Element} row @returns {Link[]} */
export const linksOfRow = (row) => linksIn.get(row) || [];
/** @param {Element} row */
export const clearLinks = (row) => linksIn.delete(row);

/** @param {Element} row @param {Range} selected */
function textWithin(row, selected) {
  const part = document.createRange();
  part.selectNodeContents(row);
  if (row.contains(selected.startContainer))
    part.setStart(selected.startContainer, selected.startOffset);
  if (row.contains(selected.endContainer)) part.setEnd(selected.endContainer, selected.endOffset);
  return part.toString();
}

/** @param {Element} box @param {Range} selected */
function joinRows(box, selected) {
  let all = '';
  let line = '';
  for (const row of box.querySelectorAll('.row')) {
    if (!selected.intersectsNode(row)) continue;
    line += textWithin(row, selected);
    const blanks = blanksOf.get(row);
    if (blanks !== undefined && !row.contains(selected.endContainer)) {
      line += ' '.repeat(blanks);
    } else {
      all += line.trimEnd() + '\n';
      line = '';
    }
  }
  // Pasting must not press Enter: a selection to the end of a row ends in the row after it.
  return (all + line).trimEnd();
}

/** @param {ClipboardEvent} e */
function copyRows(e) {
  const box = /** @type {Element} */ (e.currentTarget);
  const s = getSelection();
  if (!s || s.isCollapsed || !e.clipboardData) return;
  const selected = s.getRangeAt(0);
  if (!box.contains(selected.commonAncestorContainer)) return;
  e.clipboardData.setData('text/plain', joinRows(box, selected));
  e.preventDefault();
}

/** @param {HTMLElement} box */
export const enableCopying = (box) => box.addEventListener('copy', copyRows);
