import assert from 'node:assert/strict';
import {test} from 'node:test';
import {addressAt, opensHere} from '../static/links.js';

test('an address ends before what belongs to the sentence', () => {
  for (const [text, want] of [
    ['see https://example.org/a.', 'https://example.org/a'],
    ['(https://example.org/a)', 'https://example.org/a'],
    ['https://example.org/wiki/Go_(language), and', 'https://example.org/wiki/Go_(language)'],
    ['"https://example.org/?q=1&b=[2]"', 'https://example.org/?q=1&b=[2'],
    ['│https://example.org/a│', 'https://example.org/a'],
    ['<mailto:ada@example.org>', 'mailto:ada@example.org'],
    ['HTTPS://EXAMPLE.ORG', 'HTTPS://EXAMPLE.ORG'],
  ]) {
    const at = text.toLowerCase().search(/https?:|mailto:/);
    assert.equal(addressAt(text, at), want);
    assert.equal(addressAt(text, at + want.length - 1), want);
    assert.equal(addressAt(text, at + want.length), '');
    if (at > 0) assert.equal(addressAt(text, at - 1), '');
  }
  assert.equal(addressAt('two https://a.example https://b.example', 25), 'https://b.example');
});

test('only what starts no program is opened', () => {
  for (const bad of ['javascript:alert(1)', 'file:///etc/passwd', 'https:', 'http://', 'x', ''])
    assert.equal(opensHere(bad), false, bad);
  for (const good of ['https://example.org', 'http://[::1]:8080/', 'mailto:ada@example.org'])
    assert.equal(opensHere(good), true, good);
});
