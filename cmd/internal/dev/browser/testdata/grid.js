// The cells of a screen as they stand in the page: where each character's box is, and how it is drawn. A cell is [column, columns,
// text, foreground, background, weight, style, lines, kind of lines, colour of lines]; what is not on the grid says by how much.
window.grid = function grid(screen, cell) {
  const css = (node) => {
    const s = getComputedStyle(node);
    const lines = s.textDecorationLine === 'none' ? '' : s.textDecorationLine;
    return [s.color, s.backgroundColor, s.fontWeight, s.fontStyle, lines, lines && s.textDecorationStyle, lines && s.textDecorationColor];
  };
  const place = (box, left, text, look) => {
    const col = (box.left - left) / cell, cols = box.width / cell;
    const off = Math.abs(col - Math.round(col)) > 0.04 || Math.abs(cols - Math.round(cols)) > 0.04;
    return [off ? col : Math.round(col), off ? cols : Math.round(cols), text, ...look];
  };
  return Array.from(screen.querySelectorAll('.row'), (row) => {
    const left = row.getBoundingClientRect().left, out = [];
    for (const node of row.childNodes) {
      const text = node.nodeType === 3 ? node : node.firstChild, look = css(node.nodeType === 3 ? row : node);
      if (node.nodeType === 1 && node.classList.contains('one')) {
        out.push(place(node.getBoundingClientRect(), left, node.textContent, look));
        continue;
      }
      const range = document.createRange();
      let at = 0;
      for (const c of text.data) {
        range.setStart(text, at);
        range.setEnd(text, at += c.length);
        out.push(place(range.getBoundingClientRect(), left, c, look));
      }
    }
    return out;
  });
};
