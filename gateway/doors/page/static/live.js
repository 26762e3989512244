import {h} from './dom.js';

const settleAfter = 800; // ms
const maxLines = 8; // lines at once

/** @param {string[]} lines */
const visibleLines = (lines) =>
  lines.map((l) => l.replace(/\x1b\[[0-9;:]*m/g, '').trim()).filter(Boolean);

export class LiveRegion {
  /** @param {Element} region */
  constructor(region) {
    this.region = region;
    /** @type {Set<string> | null} */
    this.knownLines = null;
    this.timer = 0;
  }

  /** @param {string[]} lines */
  schedule(lines) {
    this.knownLines ||= new Set(visibleLines(lines));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.announceNew(visibleLines(lines)), settleAfter);
  }

  /** @param {string[]} now */
  announceNew(now) {
    const fresh = now.filter((l) => !this.knownLines?.has(l));
    this.knownLines = new Set(now);
    if (fresh.length > 0)
      this.region.replaceChildren(...fresh.slice(-maxLines).map((l) => h('p', {}, l)));
  }

  /** Forgets all lines, because the screen is hidden. */
  clear() {
    clearTimeout(this.timer);
    this.knownLines = null;
    this.region.replaceChildren();
  }

  stop() {
    clearTimeout(this.timer);
  }
}
