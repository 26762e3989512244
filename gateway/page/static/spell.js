// Text that somebody else wrote, with what cannot be seen written out: who reads it reads all of it, in the order in which it stands.

const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const heaps = /(?<=\p{M}{2})\p{M}/gu;
const joined = /(?<=\p{Extended_Pictographic})[\u200d\ufe0e\ufe0f]/gu;
const [zwj, vs15, vs16] = ['\ue000', '\ue001', '\ue002']; // of private use: what a text holds of them is written out before

const written = (c) => (c === '\n' || c === '\t' ? c : `\\u{${c.codePointAt(0).toString(16)}}`);

// exactly writes out everything that cannot be seen: for what somebody is to allow.
export const exactly = (text) => (text || '').replace(unseen, written).replace(heaps, written);

// spelled leaves emoji together: for what is only read.
export function spelled(text) {
  const kept = (text || '').replace(/[\ue000-\ue002]/g, written).replace(joined, (c) => ({'\u200d': zwj, '\ufe0e': vs15}[c] || vs16));
  const out = kept.replace(unseen, (c) => (c >= zwj && c <= vs16 ? c : written(c))).replace(heaps, written);
  return out.replace(/[\ue000-\ue002]/g, (c) => ({[zwj]: '\u200d', [vs15]: '\ufe0e'}[c] || '\ufe0f'));
}

// head is the beginning of a text, at most that many characters, and none of them half.
export function head(text, most) {
  if (text.length <= most) return text;
  return text.slice(0, /[\ud800-\udbff]/.test(text[most - 1]) ? most - 1 : most);
}

// tail is its end.
export function tail(text, most) {
  if (text.length <= most) return text;
  const at = text.length - most;
  return text.slice(/[\udc00-\udfff]/.test(text[at]) ? at + 1 : at);
}
