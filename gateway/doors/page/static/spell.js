// Spells out invisible characters in foreign text, so that a reader sees all of it, in its order.

const invisible = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const thirdAccents = /(?<=\p{M}{2})\p{M}/gu;
const emojiJoiners = /(?<=\p{Extended_Pictographic})(?:\u200d|\ufe0e|\ufe0f)/gu;
// Stand-ins: spellText writes out private-use characters of the text first.
const [zwj, vs15, vs16] = ['\ue000', '\ue001', '\ue002'];

/** @param {string} c */
const spellCharacter = (c) =>
  c === '\n' || c === '\t' ? c : `\\u{${c.codePointAt(0)?.toString(16)}}`;

/** For text that a person is asked to allow. @param {string|undefined} text */
export const spellExactly = (text) =>
  (text || '').replace(invisible, spellCharacter).replace(thirdAccents, spellCharacter);

/** Keeps emoji whole: for text that is only read. @param {string|undefined} text */
export function spellText(text) {
  const kept = (text || '')
    .replace(/[\ue000-\ue002]/g, spellCharacter)
    .replace(emojiJoiners, (c) => ({'\u200d': zwj, '\ufe0e': vs15})[c] || vs16);
  const out = kept
    .replace(invisible, (c) => (c >= zwj && c <= vs16 ? c : spellCharacter(c)))
    .replace(thirdAccents, spellCharacter);
  return out.replace(
    /[\ue000-\ue002]/g,
    (c) => ({[zwj]: '\u200d', [vs15]: '\ufe0e'})[c] || '\ufe0f',
  );
}

/** Splits no surrogate pair. @param {string} text @param {number} most */
export function cutHead(text, most) {
  if (text.length <= most) return text;
  return text.slice(0, /[\ud800-\udbff]/.test(text[most - 1]) ? most - 1 : most);
}

/** @param {string} text @param {number} most */
export function cutTail(text, most) {
  if (text.length <= most) return text;
  const at = text.length - most;
  return text.slice(/[\udc00-\udfff]/.test(text[at]) ? at + 1 : at);
}
