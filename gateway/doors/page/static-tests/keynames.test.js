import assert from 'node:assert/strict';
import {test} from 'node:test';

// load returns the module as a browser of that platform has it.
async function load(platform) {
  Object.defineProperty(globalThis, 'navigator', {value: {platform}, configurable: true});
  return import(`../static/keynames.js?${platform}`);
}

const press = (key, more = {}) => ({
  key,
  code: '',
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  shiftKey: false,
  ...more,
});

test('keys have the names of the wire, and text has none', async () => {
  const {keyName} = await load('Linux');
  const ctrl = {ctrlKey: true};
  for (const [e, want] of [
    [press('a'), ''],
    [press('Enter'), 'enter'],
    [press('Tab', {shiftKey: true}), 'shift-tab'],
    [press('ArrowUp', {ctrlKey: true, altKey: true, shiftKey: true}), 'ctrl-alt-shift-up'],
    [press('F10'), 'f10'],
    [press('F11'), ''],
    [press('Insert', {shiftKey: true}), ''],
    [press('c', ctrl), 'ctrl-c'],
    [press('C', {ctrlKey: true, shiftKey: true}), ''],
    [press('V', {ctrlKey: true, shiftKey: true}), ''],
    [press('X', {ctrlKey: true, shiftKey: true}), 'ctrl-shift-x'],
    [press(' ', ctrl), 'ctrl-space'],
    [press('\\', ctrl), 'ctrl-\\'],
    [press('с', {ctrlKey: true, code: 'KeyC'}), 'ctrl-c'], // Cyrillic
    [press('é', {ctrlKey: true, code: 'Digit2'}), 'ctrl-2'],
    [press('é', ctrl), ''],
    [press('a', {altKey: true}), 'alt-a'],
    [press('a', {altKey: true, getModifierState: (name) => name === 'AltGraph'}), ''],
    [press('c', {metaKey: true, ctrlKey: true}), ''],
  ]) {
    assert.equal(keyName(e), want, JSON.stringify(e));
  }
});

test('Option writes characters on a Mac', async () => {
  const {keyName} = await load('MacIntel');
  assert.equal(keyName(press('a', {altKey: true})), '');
  assert.equal(keyName(press('a', {altKey: true, ctrlKey: true})), 'ctrl-alt-a');
  assert.equal(keyName(press('a'), {alt: true}), 'alt-a');
});

test('modifiers of the key bar count for the next key', async () => {
  const {keyName, nameHeldKey} = await load('Linux');
  assert.equal(keyName(press('w'), {ctrl: true}), 'ctrl-w');
  assert.equal(nameHeldKey('W', {ctrl: true, alt: false}), 'ctrl-w');
  assert.equal(nameHeldKey('W', {alt: true}), 'alt-W');
  assert.equal(nameHeldKey(' ', {ctrl: true, alt: true}), 'ctrl-alt-space');
});
