// Images of a prompt: those that are pasted or chosen, shown above the line until they are sent.
import {h, order} from './dom.js';
import {base64} from './keys.js';
import {spelled, head} from './spell.js';

const types = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const mostImage = 3932160, mostImages = 4; // bytes, and of one prompt
const partSize = 32 << 10; // bytes of a message

// kindOf is the type that a file's first bytes say, '' for none of those that agents take.
async function kindOf(file) {
  const b = new Uint8Array(await file.slice(0, 12).arrayBuffer()), text = String.fromCharCode(...b);
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return types[0];
  if (text.startsWith('\xff\xd8\xff')) return types[1];
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return types[2];
  return text.startsWith('RIFF') && text.slice(8) === 'WEBP' ? types[3] : '';
}

const named = (file) => head(file.name || 'pasted image', 60);

// upload sends an image's bytes in parts, and returns how the prompt names it.
export async function upload(connection, sessionId, file) {
  const data = new Uint8Array(await file.arrayBuffer()), sum = new Uint8Array(await crypto.subtle.digest('SHA-256', data));
  const id = [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, '0')).join('');
  for (let offset = 0; offset < data.length; offset += partSize) {
    await connection.ask({type: 'chat.image', sessionId, image: id, size: data.length, offset, dataB64: base64(data.subarray(offset, offset + partSize))});
  }
  return {id, name: named(file), sha256: [...sum].map((b) => b.toString(16).padStart(2, '0')).join('')};
}

// Images are those that go with the next prompt of a line.
export class Images {
  // tell says what is wrong; line takes what is pasted.
  constructor(line, tell) {
    this.tell = tell;
    this.files = [];
    this.list = h('ul', {class: 'images', hidden: true, 'aria-label': 'images that go with the message'});
    this.choice = h('input', {type: 'file', accept: types.join(), multiple: true, hidden: true, 'aria-label': 'images to send', onchange: () => this.chosen()});
    this.button = h('button', {type: 'button', class: 'plain attach', title: 'Send an image, or paste one', onclick: () => this.choice.click()}, 'Image');
    line.addEventListener('paste', (e) => {
      const files = [...(e.clipboardData?.files || [])].filter((f) => f.type.startsWith('image/'));
      if (files.length === 0) return;
      e.preventDefault();
      this.add(files);
    });
  }

  chosen() {
    this.add([...this.choice.files]);
    this.choice.value = ''; // the same file can be chosen again
  }

  async add(files) {
    for (const f of files) {
      const name = spelled(named(f)), kind = await kindOf(f); // what is pasted meanwhile counts from here on
      if (this.files.length >= mostImages) this.tell(`Not attached: ${name}; the most with a message is ${mostImages} images.`);
      else if (f.size > mostImage) this.tell(`Not attached: ${name} has ${f.size.toLocaleString('en')} bytes; the most is ${mostImage.toLocaleString('en')}.`);
      else if (kind === '') this.tell(`Not attached: ${name} is no PNG, JPEG, GIF or WebP image.`);
      else this.files.push(f);
    }
    this.draw();
  }

  remove(files) {
    this.files = this.files.filter((f) => !files.includes(f));
    this.draw();
  }

  draw() {
    order(this.list, this.files.map((f) => {
      const name = spelled(named(f));
      return h('li', {}, `${name}, ${Math.max(1, Math.round(f.size / 1000))} KB `,
        h('button', {type: 'button', class: 'plain', 'aria-label': `do not send ${name}`, onclick: () => this.remove([f])}, '×'));
    }));
    this.list.hidden = this.files.length === 0;
  }
}
