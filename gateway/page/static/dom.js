// Small helpers for elements. Text is only ever set as text.

// h makes an element: properties, listeners (onclick) and attributes (with a dash, or role), then its children.
export function h(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === 'class') e.className = value;
    else if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (name.includes('-') || name === 'role' || name === 'for') e.setAttribute(name, value);
    else e[name] = value;
  }
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

// put changes an element's text only where it differs, so that nobody hears it again.
export function put(e, text) {
  if (e.textContent !== text) e.textContent = text;
}

// show hides an element, or shows it.
export function show(e, on) {
  if (e.hidden === on) e.hidden = !on;
}

// say has a screen reader read text when it has nothing else to read.
export function say(text) {
  const e = document.getElementById('said');
  if (e) e.textContent = text;
}

// order makes the children of e the given elements, and moves as few as it must: a moved element loses the focus.
export function order(e, children) {
  const keep = new Set(children);
  for (const c of [...e.children]) if (!keep.has(c)) c.remove();
  children.forEach((c, i) => {
    if (e.children[i] !== c) e.insertBefore(c, e.children[i] || null);
  });
}
