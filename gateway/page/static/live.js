// What a screen reader hears of a screen: lines that are new, once they stand still.
import {h} from './dom.js';

const quiet = 800; // ms
const most = 8; // lines at once: who wants all reads the screen

const words = (lines) => lines.map((l) => l.replace(/\x1b\[[0-9;:]*m/g, '').trim()).filter(Boolean);

export class Live {
  constructor(region) {
    this.region = region;
    this.known = null; // what was read, or was there from the start
  }

  changed(lines) {
    this.known ||= new Set(words(lines));
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settle(words(lines)), quiet);
  }

  settle(now) {
    const fresh = now.filter((l) => !this.known.has(l));
    this.known = new Set(now);
    if (fresh.length > 0) this.region.replaceChildren(...fresh.slice(-most).map((l) => h('p', {}, l)));
  }

  stop() { clearTimeout(this.timer); }
}
