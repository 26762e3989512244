// Helpers for elements. They set text only as text, never as markup.

/**
 * Makes an element. Names with a dash, role and for set attributes; onclick and the like,
 * listeners.
 * @template {keyof HTMLElementTagNameMap} K @param {K} tag @param {Props<K>} props
 * @param {...Child} children @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(/** @type {object} */ (props))) {
    if (name === 'class') e.className = value;
    else if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (name.includes('-') || name === 'role' || name === 'for') e.setAttribute(name, value);
    else Object.assign(e, {[name]: value});
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

/**
 * Equal text is not set again: a screen reader would repeat it.
 * @param {Element} e @param {string} text
 */
export function setText(e, text) {
  if (e.textContent !== text) e.textContent = text;
}

/** @param {HTMLElement} e @param {boolean} on */
export function setShown(e, on) {
  if (e.hidden === on) e.hidden = !on;
}

/** @param {string} text */
export function announce(text) {
  const e = document.getElementById('said');
  if (e) e.textContent = text;
}

/**
 * Moves as few elements as possible: a moved one loses the focus.
 * @param {Element} e @param {Element[]} children
 */
export function orderChildren(e, children) {
  const keep = new Set(children);
  for (const c of [...e.children]) if (!keep.has(c)) c.remove();
  children.forEach((c, i) => {
    if (e.children[i] !== c) e.insertBefore(c, e.children[i] || null);
  });
}
