// Types of the page's scripts, read by tsc alone (make lint): nothing here reaches a browser, and
// the binary does not embed it. The scripts name these types in JSDoc.

// Messages, with the fields that the page uses. Package protocol is their source.

type Level = 'drive' | 'type';

interface KeyboardState {
  holder: 'user' | 'agent';
  agentName?: string;
  level?: Level;
  epoch: number;
  expiresAt?: number;
  paused?: boolean;
  held?: boolean;
  heldWhy?: 'confirm' | 'line';
  program?: string;
  away?: boolean;
  asking?: string;
  askingLevel?: Level;
  askingReason?: string;
  askingSince?: number;
  askingSeconds?: number;
}

interface Hidden {
  reason: 'password' | 'user';
}

interface Decision {
  agentName?: string;
  granted?: boolean;
  reason?: string;
  by?: string;
  at: number;
}

interface ChatState {
  agent: string;
  state: string;
  open?: number;
  mode?: string;
  why?: string;
}

interface SessionInfo {
  sessionId: string;
  name: string;
  command: string;
  args: string[];
  cwd: string;
  cols: number;
  rows: number;
  startedAt: number;
  muted?: string[];
  state: 'running' | 'exited' | 'lost';
  moving?: boolean;
  exitCode?: number;
  signal?: string;
  title?: string;
  foreground?: string;
  directory?: string;
  idleMs: number;
  keyboard: KeyboardState;
  lastLine?: string;
  decided?: Decision;
  blackout?: Hidden;
  chat?: ChatState;
}

interface Incomplete {
  since: number;
  why: string;
}

/** A row that continues in the next one. blanks end it, and its text lacks them. */
interface Wrap {
  row: number;
  blanks?: number;
}

/** A hyperlink in the columns of a row from from to before to. */
interface Link {
  row: number;
  from: number;
  to: number;
  target: string;
}

interface Color {
  name: string;
  rgb: string;
}

interface Cursor {
  row: number;
  col: number;
  visible: boolean;
  shape?: 'underline' | 'bar';
}

interface ChangedRow {
  row: number;
  text: string;
}

interface AgentTyped {
  agentName: string;
  text: string;
  count: number;
}

interface ViewState {
  alt?: boolean;
  palette?: Color[];
  clusters?: boolean;
  reverse?: boolean;
  mouse?: 'scroll' | 'buttons' | 'motion';
  wraps?: Wrap[];
  links?: Link[];
  keyboard: KeyboardState;
  blackout?: Hidden;
  typed?: AgentTyped;
}

interface Rows {
  sessionId: string;
  seq: number;
  cols: number;
  rows: number;
  cursor: Cursor;
  line?: number;
  lines?: string[];
  since?: number;
  moved?: number;
  changed?: ChangedRow[];
  state?: ViewState;
}

interface SessionsChanged {
  full?: boolean;
  sessions?: SessionInfo[];
  more?: boolean;
  gone?: string[];
  incomplete?: Incomplete;
}

interface ChatItem {
  kind: string;
  id?: string;
  author?: string;
  text?: string;
  tool?: string;
  input?: unknown;
  failed?: boolean;
  cut?: number;
}

interface ChatPiece {
  id: string;
  text: string;
}

interface ChatChoice {
  verdict: string;
  covers?: string;
}

interface ChatOption {
  label: string;
  description?: string;
}

interface ChatQuestion {
  id: string;
  header?: string;
  text: string;
  many?: boolean;
  options?: ChatOption[];
}

interface ChatRequest {
  id: string;
  by?: string;
  tool?: string;
  input?: unknown;
  why?: string;
  allows?: ChatChoice[];
  form?: ChatQuestion[];
  atTerminal?: string;
  until?: number;
}

interface ChatReply {
  verdict?: string;
  replies?: {[question: string]: string[]};
  words?: string;
}

interface ChatClosed {
  id: string;
  by?: string;
  answer?: ChatReply;
  why?: string;
}

interface ChatTurn {
  outcome: 'done' | 'failed' | 'interrupted';
  why?: string;
}

interface ChatRecord {
  number: number;
  at: number;
  item?: ChatItem;
  piece?: ChatPiece;
  state?: string;
  why?: string;
  request?: ChatRequest;
  closed?: ChatClosed;
  turn?: ChatTurn;
}

interface ChatRecords {
  sessionId: string;
  records?: ChatRecord[];
  lost?: number;
}

interface RecordInfo {
  recordId: string;
  sessionId?: string;
  command: string;
  args?: string[];
  cwd?: string;
  startedAt: number;
  writtenAt: number;
  running?: boolean;
}

interface RecordFrame {
  atMs: number;
  rows: Rows;
}

interface Mark {
  atMs: number;
  kind: 'input' | 'user' | 'event' | 'exit';
  name?: string;
  text?: string;
}

interface ControlDecide {
  sessionId: string;
  grant: boolean;
  level?: Level;
  seconds?: number;
  by: string;
  agentName?: string;
  hide?: 'on' | 'off';
  mute?: 'on' | 'off';
  refuse?: boolean;
  epoch?: number;
  at?: number;
  signatureB64?: string;
}

interface Keys {
  sessionId: string;
  keyNo: number;
  after?: number;
  at: number;
  kind: 'keys' | 'text' | 'paste' | 'mouse';
  data: string;
  more?: boolean;
  signatureB64?: string;
}

interface SecretAsker {
  program: string;
  command: string;
  host?: string;
  cwd?: string;
  agent?: string;
  proven?: boolean;
}

/** A program's question. Its answer names the requestId, as does its end. */
interface SecretAsk {
  requestId: string;
  sessionId: string;
  asker: SecretAsker;
  prompt: string;
  kind: 'secret' | 'text' | 'confirm';
  again?: boolean;
  publicKeyB64: string;
}

interface SecretEnded {
  question: string;
  sessionId: string;
  verdict?: 'answer' | 'refuse';
  by?: string;
  moved?: boolean;
}

interface SecretReply {
  sessionId: string;
  question: string;
  verdict: 'answer' | 'refuse';
  sealedB64?: string;
  at: number;
  signatureB64?: string;
}

interface ChatSend {
  sessionId: string;
  text: string;
  keyNo: number;
  at: number;
  signatureB64?: string;
}

interface ChatAnswer {
  sessionId: string;
  request: string;
  answer: ChatReply;
  at: number;
  signatureB64?: string;
}

interface Read {
  sessionId: string;
  fromLine?: number;
  scrollback?: number;
  match?: string;
  attributes?: boolean;
}

interface ReadResult {
  frame?: {blackout?: Hidden};
  text?: string;
  firstLine?: number;
  nextLine?: number;
  oldestLine?: number;
  wraps?: Wrap[];
  links?: Link[];
  found?: Found;
}

interface Found {
  rows: FoundRow[];
  more?: number;
}

/** A line of several rows, if it wraps. */
interface FoundRow {
  line: number;
  rows?: number;
}

interface RecordsRead {
  recordId: string;
  fromMs?: number;
  everyMs?: number;
  marks?: boolean;
}

interface RecordsReadResult {
  frames?: RecordFrame[];
  nextMs?: number;
  end?: boolean;
  lengthMs?: number;
  marks?: Mark[];
}

interface SessionsListResult {
  sessions: SessionInfo[];
  next?: string;
  incomplete?: Incomplete;
}

interface Named {
  sessionId: string;
}

/** The messages that the page sends, by type. */
interface Outgoing {
  'sessions.watch': object;
  'sessions.list': {paged: boolean; after: string};
  'terminal.view': Named;
  'terminal.unview': Named;
  'terminal.ack': Named & {seq: number};
  'terminal.read': Read;
  'terminal.keys': Keys;
  'terminal.control.decide': ControlDecide;
  'terminal.message': Named & {from: string; text: string};
  'records.list': object;
  'records.read': RecordsRead;
  'chat.subscribe': Named & {after?: number};
  'chat.unsubscribe': Named;
  'chat.send': ChatSend;
  'chat.answer': ChatAnswer;
  'chat.interrupt': Named;
  'secret.watch': object;
  'secret.reply': SecretReply;
}

/** Answers that have fields; the others are "done". */
interface Answers {
  'sessions.list': SessionsListResult;
  'terminal.read': ReadResult;
  'records.list': {records?: RecordInfo[]};
  'records.read': RecordsReadResult;
}

type OutgoingType = keyof Outgoing;
type Message<T extends OutgoingType = OutgoingType> = T extends OutgoingType
  ? {type: T} & Outgoing[T]
  : never;
type Answer<T extends OutgoingType> = T extends keyof Answers ? Answers[T] : object;

interface Welcome {
  type: 'welcome';
  session: string;
  now: number;
}

/** The messages that come unasked. Answers and errors carry the id of their request instead. */
type Incoming =
  | ({requestId?: undefined} & (
      | ({type: 'sessions.changed'} & SessionsChanged)
      | ({type: 'terminal.rows'} & Rows)
      | ({type: 'chat.records'} & ChatRecords)
      | ({type: 'secret.ended'} & SecretEnded)
    ))
  | ({type: 'secret.ask'} & SecretAsk);
/** An error whose code the gateway gave, or that says how the page comes in. */
interface GatewayError extends Error {
  code?: string;
  pending?: boolean;
  linkless?: boolean;
}

/** What an HTTP answer holds, beside its status. */
interface PostAnswer {
  status: number;
  error?: string;
  ticket?: string;
  pending?: boolean;
  page?: string;
  role?: string;
  expires?: number;
}

/** The page as the gateway knows it, kept in IndexedDB with its key. */
interface PageIdentity {
  page: string;
  role?: string;
  expires?: number;
  pair: CryptoKeyPair;
  words: string[];
}

type ConnectionState = 'connected' | 'stalled' | 'lost' | 'pending' | 'closed';
interface ConnectionEvents {
  setState(name: ConnectionState, why?: string): void;
  handleWelcome(m: Welcome): void;
  handleMessage(m: Incoming): void;
  setRoundTrip(ms: number): void;
}

/** A request without an answer. Its type of answer is known where it was asked. */
interface PendingRequest {
  resolve(m: any): void;
  reject(e: Error): void;
  quick: boolean;
  late: number; // the timer of a quick request, 0 for none
  began: number;
}

/** An answer, as it is before its request is found. */
interface Reply {
  type: string;
  requestId: string;
  message?: string;
  code?: string;
}
