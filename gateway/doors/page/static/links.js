import {h, setText, setShown} from './dom.js';
import {continuesLine, linksOfRow} from './copy.js';
import {splitColumns} from './width.js';

// An address contains no quotes, brackets or lines of a box.
const address = /(?:https?:\/\/|mailto:)[^\s<>"'`{}|\\^\u2500-\u259f]+/giu;
const trailing = /[.,;:!?'"*\]]+$/u;
const maxRows = 50; // of one line that wraps

/** @param {string} text An address without the marks that end a sentence. */
function trimAddress(text) {
  let url = text.replace(trailing, '');
  while (url.endsWith(')') && url.split('(').length < url.split(')').length)
    url = url.slice(0, -1).replace(trailing, '');
  return url;
}

/** The address that covers an offset, or ''. @param {string} text @param {number} at */
export function addressAt(text, at) {
  for (const m of text.matchAll(address)) {
    const url = trimAddress(m[0]);
    if (at >= m.index && at < m.index + url.length) return opensHere(url) ? url : '';
  }
  return '';
}

/** Other schemes could start programs, or run in the page. @param {string} url */
export function opensHere(url) {
  if (!URL.canParse(url)) return false;
  const {protocol, hostname} = new URL(url);
  return protocol === 'mailto:' || (/^https?:$/.test(protocol) && hostname !== '');
}

/** Shows where a link leads before it is opened. */
export class Links {
  url = '';

  /**
   * isForProgram reports whether the program gets a click.
   * @param {HTMLElement} box @param {Painter} painter
   * @param {(e: MouseEvent) => boolean} isForProgram
   */
  constructor(box, painter, isForProgram) {
    this.isForProgram = isForProgram;
    this.box = box;
    this.painter = painter;
    this.target = h('code', {tabIndex: 0});
    this.bar = h(
      'p',
      {class: 'link-bar', hidden: true, role: 'status'},
      this.target,
      h('button', {onclick: () => this.openURL()}, 'Open'),
      h('button', {onclick: () => this.hide(), 'aria-label': 'close'}, '×'),
    );
    box.addEventListener('click', (e) => this.handleClick(e), true);
    box.addEventListener('mousemove', (e) => this.handleMove(e), {passive: true});
  }

  /** @param {MouseEvent} e */
  handleClick(e) {
    if (this.isForProgram(e) || !getSelection()?.isCollapsed) return;
    const url = this.linkAt(e);
    if (url === '') return this.hide();
    e.stopImmediatePropagation(); // it begins no typing
    this.url = url;
    setText(this.target, url);
    return setShown(this.bar, true);
  }

  /** @param {MouseEvent} e */
  handleMove(e) {
    const url = e.buttons === 0 && !this.isForProgram(e) ? this.linkAt(e) : '';
    this.box.style.cursor = url ? 'pointer' : '';
    if (this.box.title !== url) this.box.title = url;
  }

  hide() {
    setShown(this.bar, false);
  }

  openURL() {
    this.hide();
    window.open(this.url, '_blank', 'noopener,noreferrer');
  }

  /** @param {MouseEvent} e */
  linkAt({target, clientX, clientY}) {
    const row = target instanceof Element ? target.closest('.row') : null;
    const at = row && caretOffset(row, clientX, clientY);
    if (!row || at === null || at < 0) return '';
    const text = row.textContent || '';
    const cols = columnsOf(text.slice(0, at), !!this.painter.state.clusters);
    const link = linksOfRow(row).find((l) => cols >= l.from && cols < l.to);
    if (link) return opensHere(link.target) ? link.target : '';
    return this.plainLinkAt(row, text, at);
  }

  /** @param {Element} row @param {string} text @param {number} at */
  plainLinkAt(row, text, at) {
    let all = text;
    let before = row.previousElementSibling;
    for (let i = 0; before && continuesLine(before) && i < maxRows; i++) {
      all = before.textContent + all;
      at += before.textContent?.length || 0;
      before = before.previousElementSibling;
    }
    let last = row;
    for (let i = 0; continuesLine(last) && last.nextElementSibling && i < maxRows; i++) {
      last = last.nextElementSibling;
      all += last.textContent;
    }
    return addressAt(all, at);
  }
}

/** @param {string} text @param {boolean} clusters */
function columnsOf(text, clusters) {
  let n = 0;
  for (const [, width] of splitColumns(text, clusters)) n += width;
  return n;
}

/**
 * Returns the offset in the row's text of the character under a place, or null.
 * @param {Element} row @param {number} x @param {number} y
 */
function caretOffset(row, x, y) {
  const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let before = 0;
  for (let t = texts.nextNode(); t; t = texts.nextNode()) {
    const length = t.textContent?.length || 0;
    range.selectNodeContents(t);
    const isIn = [...range.getClientRects()].some((r) => isInside(r, x, y));
    for (let i = 0; isIn && i < length; i++) {
      range.setStart(t, i);
      range.setEnd(t, i + 1);
      if (isInside(range.getBoundingClientRect(), x, y)) return before + i;
    }
    before += length;
  }
  return null;
}

/** @param {DOMRect} r @param {number} x @param {number} y */
const isInside = (r, x, y) => x >= r.left && x < r.right && y >= r.top && y < r.bottom;
