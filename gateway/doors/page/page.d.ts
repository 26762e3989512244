// Types of the page's scripts beside its messages; see messages.d.ts.

/** A session in the list. idleSince is in the gateway's clock, ms since 1970. */
type Session = SessionInfo & {idleSince?: number};

/** What names a session or a recording to people. */
interface Program {
  name?: string;
  command: string;
  args?: string[];
  cwd?: string;
}

interface MutableStyle {
  fg: number;
  bg: number;
  line: number;
  underline: number;
  bold: boolean;
  faint: boolean;
  italic: boolean;
  inverse: boolean;
  conceal: boolean;
  strike: boolean;
  overline: boolean;
}

type Style = Readonly<MutableStyle>;

/** Text of one style. An even run has one column for each character; another is one character. */
interface Run {
  text: string;
  cols: number;
  style: Style;
  even: boolean;
}

/** A part of a folded row: its runs, and the column of the row at which it begins. */
interface FoldedLine {
  from: number;
  runs: Run[];
}

interface Theme {
  foreground: string;
  background: string;
  light: boolean;
  legible?: boolean; // letters get a contrast that can be read
  colors: string[];
}

/** The part of a history that Fit needs. */
interface ScrolledBack {
  isBack: boolean;
  height(): number;
  refit(act: () => void): void;
  showNow(): void;
}

/** A screen for a Painter: what a question and a recording show has no session. */
type RowsToPaint = Omit<Rows, 'sessionId' | 'cursor'> & {cursor: Cursor | null};
type ShowRows = (m: Rows, lines: string[]) => void;
type ReadFields = Omit<Read, 'sessionId'>;
type FitMode = 'follow' | 'whole' | 'fold';

/** A piece of a recording: frames from one time to another, ms since its beginning. */
interface Piece {
  from: number;
  to: number;
  end: boolean;
  frames: RecordFrame[];
}

interface OpenRequest {
  request: ChatRequest;
  at: number;
}

/** An entry of a conversation. rev counts its changes. */
interface TalkEntry {
  key: number;
  rev: number;
  kind: string;
  at?: number;
  id?: string;
  author?: string;
  text?: string;
  tool?: string;
  input?: unknown;
  failed?: boolean;
  cut?: number;
  size?: number;
  writing?: boolean;
  count?: number;
  closed?: ChatClosed;
  request?: Partial<ChatRequest>;
  outcome?: string;
  state?: string;
}

/** Modifiers tapped on the key bar, for the next key. */
interface Held {
  ctrl?: boolean;
  alt?: boolean;
}
type KeyPress = Pick<
  KeyboardEvent,
  'key' | 'code' | 'ctrlKey' | 'altKey' | 'metaKey' | 'shiftKey'
> & {
  getModifierState?: (name: string) => boolean;
};

/** Keys on their way: enterAlone waits until all messages before it have answers. */
type KeysPart = Pick<Keys, 'kind' | 'data' | 'more'> & {enterAlone?: boolean};
interface TypistEvents {
  handleFailure(e: GatewayError): void;
  handleTyped(): void;
  showDropping(on: boolean): void;
}

type Child = Node | string | null | undefined | false | '';
type Listeners = {
  [E in keyof HTMLElementEventMap as `on${E}`]?: (e: HTMLElementEventMap[E]) => unknown;
};
type Props<K extends keyof HTMLElementTagNameMap> = Omit<
  Partial<HTMLElementTagNameMap[K]>,
  keyof Listeners | 'role' | 'min' | 'max' | 'value'
> &
  Listeners & {
    class?: string;
    role?: string;
    for?: string;
    min?: number;
    max?: number;
    value?: string | number;
    [dashed: `${string}-${string}`]: string;
  };

type App = import('./static/app.js').App;
type Card = import('./static/card.js').Card;
type Chats = import('./static/chat.js').Chats;
type Connection = import('./static/connection.js').Connection;
type Drawer = import('./static/drawer.js').Drawer;
type List = import('./static/list.js').List;
type Painter = import('./static/painter.js').Painter;
type Question = import('./static/question.js').Question;
type Replay = import('./static/replay.js').Replay;
type Scrollback = import('./static/history.js').Scrollback;
type SecretQuestion = import('./static/secret.js').SecretQuestion;
type Secrets = import('./static/secret.js').Secrets;
type SessionView = import('./static/session.js').SessionView;
type Talk = import('./static/talk.js').Talk;
type Typing = import('./static/typing.js').Typing;

/** Trusted Types, which lib.dom lacks. */
interface Window {
  trustedTypes?: {
    createPolicy(
      name: string,
      rules: {createScriptURL(url: string): string},
    ): {createScriptURL(url: string): string};
  };
}

/** Safari on iOS: whether the page runs from the home screen. */
interface Navigator {
  standalone?: boolean;
}

/** A session's screen in view. seq is 0 until it came after a connect. */
interface View {
  shows: Set<ShowRows>;
  lines: string[];
  last: Rows | null;
  seq: number;
}
