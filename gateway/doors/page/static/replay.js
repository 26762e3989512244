import {h, setText, setShown, announce} from './dom.js';
import {programLabel, directoryLabel} from './wording.js';
import {Painter} from './painter.js';
import {ScreenFit} from './fit.js';

const fetchAhead = 4000; // ms of the recording, at normal speed
const longestPause = 2000; // ms of a shortened pause
const maxPieces = 200;
const pollEvery = 1000; // ms between two requests for more of a running session
const skip = 5000; // ms of one arrow key
const speeds = [1, 2, 4, 8, 0.5];

/** @param {number} ms */
const formatTime = (ms) => {
  const s = Math.floor(ms / 1000);
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
  return s < 3600
    ? `${Math.floor(s / 60)}:${two(s % 60)}`
    : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
};

/** @type {ScrolledBack} A recording has no rows above its screen. */
const noHistory = {isBack: false, height: () => 0, refit: (act) => act(), showNow: () => {}};

/**
 * The server renders the recording as rows, so no escape sequence reaches the page and masked text
 * stays masked.
 */
export class Replay {
  note = h('p', {class: 'note', role: 'status'});
  playButton = h('button', {class: 'play', onclick: () => this.toggle()}, 'Play');
  clock = h('span', {class: 'clock'});
  slider = h('input', {
    type: 'range',
    min: 0,
    max: 0,
    value: 0,
    'aria-label': 'time',
    oninput: () => {
      this.seek(Number(this.slider.value));
    },
  });
  markBar = h('div', {class: 'marks', 'aria-hidden': 'true'});
  speedButton = h('button', {onclick: () => this.changeSpeed(), 'aria-label': '1× speed'}, '1×');
  previousButton = h(
    'button',
    {onclick: () => this.jumpToInput(-1), hidden: true, title: 'To what an agent typed before'},
    '‹ input',
  );
  nextButton = h(
    'button',
    {onclick: () => this.jumpToInput(1), hidden: true, title: 'To what an agent typed next'},
    'input ›',
  );
  markLabel = h('p', {class: 'says'});

  /** @type {Piece[]} */
  pieces = []; // by time, without gaps
  /** @type {Mark[]} */
  marks = [];
  time = 0; // ms since the beginning
  length = 0;
  /** @type {{piece: Piece, n: number} | null} */
  shownFrame = null;
  speed = 1;
  shortensPauses = true;
  isPlaying = false;
  isEnded = false;
  /** @type {Promise<Piece | null> | null} */
  fetching = null;
  seekToken = {}; // of the newest seek, which ends older ones
  lastStep = 0;
  frameDue = 0;
  pollTimer = 0;
  lastSize = '';

  /** @param {App} app @param {RecordInfo} record */
  constructor(app, record) {
    this.app = app;
    this.record = record;
    this.id = record.recordId;
    this.title = h('h2', {tabIndex: -1}, programLabel(record));
    this.screen = h('div', {
      class: 'screen',
      role: 'group',
      tabIndex: 0,
      'aria-label': `recording of ${programLabel(record)}`,
    });
    this.frame = h('div', {class: 'frame'}, this.screen);
    this.stage = h('div', {class: 'stage'}, this.frame);
    const pauses = h('input', {
      type: 'checkbox',
      checked: true,
      onchange: () => {
        this.shortensPauses = pauses.checked;
      },
    });
    this.foot = h('footer', {}, h('label', {class: 'plain'}, pauses, ' Shorten pauses'));
    this.element = h(
      'section',
      {class: 'session replay'},
      h(
        'header',
        {},
        h('a', {class: 'up', href: '#', 'aria-label': 'all sessions'}, '‹'),
        h(
          'div',
          {class: 'name'},
          this.title,
          h(
            'span',
            {class: 'where'},
            `${directoryLabel(record)} · ${new Date(record.startedAt).toLocaleString('en-GB')}`,
          ),
        ),
      ),
      this.note,
      this.stage,
      this.markLabel,
      h('div', {class: 'line-of-time'}, this.slider, this.markBar),
      h(
        'div',
        {class: 'transport'},
        this.playButton,
        this.previousButton,
        this.nextButton,
        this.speedButton,
        this.clock,
      ),
      this.foot,
    );
    setShown(this.note, false);
    this.painter = new Painter(this.screen, app.theme());
    this.painter.setSize(13);
    this.fit = new ScreenFit(this.frame, this.screen, this.painter, noHistory);
    this.foot.append(this.fit.buttons);
    this.resizeObserver = new ResizeObserver(() =>
      requestAnimationFrame(() => this.handleResize()),
    );
    this.resizeObserver.observe(this.element);
    this.keyListener = this.handleKey.bind(this);
    document.addEventListener('keydown', this.keyListener);
    this.begin();
  }

  /** @param {Omit<RecordsRead, 'recordId'>} fields @returns {Promise<RecordsReadResult|null>} */
  async readRecord(fields) {
    try {
      const r = await this.app.connection.ask({type: 'records.read', recordId: this.id, ...fields});
      setShown(this.note, false);
      return r;
    } catch (e) {
      setText(this.note, `The recording cannot be shown: ${e.message}`);
      setShown(this.note, true);
      return null;
    }
  }

  async begin() {
    await this.survey();
    await this.seek(0);
    this.showTime();
  }

  async survey() {
    const r = await this.readRecord({marks: true});
    if (!r || this.isEnded) return;
    this.length = Math.max(this.length, r.lengthMs || 0);
    this.marks = r.marks || [];
    this.slider.max = String(this.length);
    this.drawMarks();
    setShown(
      this.previousButton,
      this.marks.some((m) => m.kind === 'input'),
    );
    setShown(this.nextButton, !this.previousButton.hidden);
  }

  drawMarks() {
    this.markBar.replaceChildren(
      ...this.marks
        .filter((m) => m.kind !== 'event')
        .map((m) => {
          const e = h('i', {class: 'mark ' + m.kind});
          e.style.left = (this.length ? (100 * m.atMs) / this.length : 0) + '%';
          return e;
        }),
    );
  }

  /** @param {number} at */
  pieceAt(at) {
    return this.pieces.find((p) => at >= p.from && (at < p.to || (p.end && at >= p.to)));
  }

  end() {
    this.isEnded = true;
    this.stop();
    clearTimeout(this.pollTimer);
    this.resizeObserver.disconnect();
    document.removeEventListener('keydown', this.keyListener);
  }

  /** @param {number} from @returns {Promise<Piece|null>} */
  async fetchPiece(from) {
    if (this.fetching) return this.fetching;
    this.fetching = this.readRecord({
      fromMs: Math.round(from),
      everyMs: Math.round(33 * Math.max(1, this.speed)),
    }).then((r) => {
      this.fetching = null;
      if (!r || this.isEnded || !r.frames) return null;
      const p = {
        from: Math.min(Math.round(from), r.frames[0].atMs),
        to: r.nextMs || 0,
        end: !!r.end,
        frames: r.frames,
      };
      const last = this.pieces[this.pieces.length - 1];
      if (last && last.end && p.end && p.to === last.to && p.from === p.to) return last;
      if (last && last.to !== p.from && !(last.end && p.from >= last.to)) this.pieces = [];
      else if (last && last.end) last.end = false;
      this.pieces.push(p);
      if (this.pieces.length > maxPieces) this.pieces.shift();
      this.length = Math.max(this.length, p.to);
      this.slider.max = String(this.length);
      return p;
    });
    return this.fetching;
  }

  /** @param {number} at */
  async seek(at) {
    this.time = Math.min(Math.max(0, at), this.length);
    const mine = (this.seekToken = {});
    while (!this.pieceAt(this.time)) {
      if (this.fetching) await this.fetching;
      else if (!(await this.fetchPiece(this.time))) return;
      if (mine !== this.seekToken) return;
    }
    this.shownFrame = null;
    this.draw();
    this.showTime();
  }

  draw() {
    const p = this.pieceAt(this.time);
    if (!p) return;
    let n = p.frames.findLastIndex((f) => f.atMs <= this.time);
    if (n < 0) n = 0;
    if (this.shownFrame && this.shownFrame.piece === p && this.shownFrame.n === n) return;
    const from =
      this.shownFrame && this.shownFrame.piece === p && this.shownFrame.n < n
        ? this.shownFrame.n + 1
        : 0;
    const was = `${this.painter.cols}x${this.painter.rows}`;
    for (let i = from; i <= n; i++) this.painter.show(p.frames[i].rows);
    this.shownFrame = {piece: p, n};
    this.fit.update(this.painter.state, was !== `${this.painter.cols}x${this.painter.rows}`);
  }

  nextFrameAt() {
    const p = this.pieceAt(this.time);
    const isLater = (/** @type {RecordFrame} */ f) => f.atMs > this.time;
    const next = p && p.frames.find(isLater);
    if (next) return next.atMs;
    const after = p && !p.end && this.pieces[this.pieces.indexOf(p) + 1];
    const later = after && after.frames.find(isLater);
    return later ? later.atMs : Infinity;
  }

  toggle() {
    if (this.isPlaying) return this.stop();
    if (this.time >= this.length && !this.record.running) this.seek(0);
    this.isPlaying = true;
    setText(this.playButton, 'Pause');
    this.lastStep = performance.now();
    this.frameDue = requestAnimationFrame((t) => this.step(t));
    return undefined;
  }

  stop() {
    this.isPlaying = false;
    setText(this.playButton, 'Play');
    cancelAnimationFrame(this.frameDue);
  }

  /** @param {number} now */
  step(now) {
    if (!this.isPlaying) return;
    const passed = Math.min(Math.max(0, now - this.lastStep), 250) * this.speed;
    this.lastStep = now;
    const last = this.pieces[this.pieces.length - 1];
    if (last && !last.end && last.to - this.time < fetchAhead * this.speed && !this.fetching)
      this.fetchPiece(last.to);
    const next = this.nextFrameAt();
    const here = this.pieceAt(this.time);
    if (!here) {
      // Playback pauses until the next piece arrives.
      if (last && !this.fetching) this.fetchPiece(last.to);
    } else if (next < Infinity || !here.end || this.time < this.length) {
      const rest = Math.min(next, this.length) - this.time;
      const jump =
        this.shortensPauses && rest > longestPause * this.speed
          ? rest - longestPause * this.speed
          : 0;
      this.time = Math.min(this.time + passed + jump, last.end ? this.length : last.to);
      this.draw();
    } else if (!this.record.running) {
      this.stop();
    } else if (!this.pollTimer) {
      this.pollTimer = setTimeout(() => this.fetchMore(), pollEvery);
    }
    this.showTime();
    this.frameDue = requestAnimationFrame((t) => this.step(t));
  }

  async fetchMore() {
    await this.fetchPiece(this.pieces[this.pieces.length - 1].to);
    await this.survey();
    this.pollTimer = 0;
  }

  changeSpeed() {
    this.speed = speeds[(speeds.indexOf(this.speed) + 1) % speeds.length];
    setText(this.speedButton, `${this.speed}×`);
    this.speedButton.setAttribute('aria-label', `${this.speed}× speed`);
  }

  /** @param {number} by */
  jumpToInput(by) {
    const inputs = this.marks.filter((m) => m.kind === 'input');
    const to =
      by > 0
        ? inputs.find((m) => m.atMs > this.time)
        : inputs.findLast((m) => m.atMs < this.time - (this.isPlaying ? 1000 : 0));
    if (to) this.seek(to.atMs).then(() => announce(describeMark(to)));
  }

  showTime() {
    const recording = this.record.running ? ', recording' : '';
    setText(this.clock, `${formatTime(this.time)} / ${formatTime(this.length)}${recording}`);
    if (document.activeElement !== this.slider || this.isPlaying)
      this.slider.value = String(this.time);
    this.slider.setAttribute('aria-valuetext', formatTime(this.time));
    const m = this.marks.findLast(({atMs}) => atMs <= this.time + 1);
    this.markLabel.className = 'says ' + (m ? m.kind : '');
    setText(this.markLabel, m ? `${formatTime(m.atMs)} ${describeMark(m)}` : '');
  }

  /** @param {KeyboardEvent} e */
  handleKey(e) {
    if (
      e.defaultPrevented ||
      e.ctrlKey ||
      e.altKey ||
      e.metaKey ||
      /**
       * @type {Element} */ (e.target).matches('input, button, a, select, textarea')
    )
      return;
    const act = {
      ' ': () => this.toggle(),
      ArrowLeft: () => this.seek(this.time - skip),
      ArrowRight: () => this.seek(this.time + skip),
      '[': () => this.jumpToInput(-1),
      ']': () => this.jumpToInput(1),
      Home: () => this.seek(0),
      End: () => this.seek(this.length),
    }[e.key];
    if (
      !act ||
      (e.target !== document.body &&
        !this.element.contains(
          /**
           * @type {Element} */ (e.target),
        ))
    )
      return;
    e.preventDefault();
    act();
  }

  handleResize() {
    const room = this.element.clientWidth + 'x' + this.element.clientHeight;
    if (room === this.lastSize) return;
    this.lastSize = room;
    this.fit.fitLetters();
  }

  /** @param {Theme} theme */
  setTheme(theme) {
    this.painter.setTheme(theme);
  }
}

/** @param {Mark} m */
function describeMark(m) {
  switch (m.kind) {
    case 'input':
      return `${m.name || 'an agent'} typed ${m.text}`;
    case 'user':
      return `${m.name || 'the user'} typed`;
    case 'exit':
      return m.text === '0' ? 'the program ended' : `the program ended with status ${m.text}`;
    default:
      return m.text || '';
  }
}
