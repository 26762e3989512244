import {h, orderChildren} from './dom.js';
import {toBase64} from './keys.js';
import {spellText, cutHead} from './spell.js';
import {formatNumber} from './wording.js';

const types = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const mostImage = 3932160; // bytes
const mostImages = 4; // of one prompt
const partSize = 32 << 10; // bytes of one message

/** Reads the first bytes; '' for a type that agents do not accept. @param {File} file */
async function detectType(file) {
  const b = new Uint8Array(await file.slice(0, 12).arrayBuffer());
  const text = String.fromCharCode(...b);
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return types[0];
  if (text.startsWith('\xff\xd8\xff')) return types[1];
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return types[2];
  return text.startsWith('RIFF') && text.slice(8) === 'WEBP' ? types[3] : '';
}

/** @param {File} file */
const fileLabel = (file) => cutHead(file.name || 'pasted image', 60);

/**
 * @param {Connection} connection @param {string} sessionId @param {File} file
 * @returns {Promise<ChatAttachment>}
 */
export async function uploadImage(connection, sessionId, file) {
  const data = new Uint8Array(await file.arrayBuffer());
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', data));
  const id = [...crypto.getRandomValues(new Uint8Array(16))]
    .map((b) => b.toString(16).padStart(2, '0'))
    .join('');
  for (let offset = 0; offset < data.length; offset += partSize) {
    await connection.ask({
      type: 'chat.image',
      sessionId,
      image: id,
      size: data.length,
      offset,
      dataB64: toBase64(data.subarray(offset, offset + partSize)),
    });
  }
  return {
    id,
    name: fileLabel(file),
    sha256: [...sum].map((b) => b.toString(16).padStart(2, '0')).join(''),
  };
}

export class ImagePicker {
  /** @param {HTMLTextAreaElement} line @param {(words: string) => void} tell */
  constructor(line, tell) {
    this.showFault = tell;
    /** @type {File[]} */
    this.files = [];
    this.list = h('ul', {
      class: 'images',
      hidden: true,
      'aria-label': 'images that go with the message',
    });
    this.fileInput = h('input', {
      type: 'file',
      accept: types.join(),
      multiple: true,
      hidden: true,
      'aria-label': 'images to send',
      onchange: () => this.addChosen(),
    });
    this.button = h(
      'button',
      {
        type: 'button',
        class: 'plain attach',
        title: 'Send an image, or paste one',
        onclick: () => this.fileInput.click(),
      },
      'Image',
    );
    line.addEventListener('paste', (e) => {
      const files = [...(e.clipboardData?.files || [])].filter((f) => f.type.startsWith('image/'));
      if (files.length === 0) return;
      e.preventDefault();
      this.add(files);
    });
  }

  addChosen() {
    this.add([...(this.fileInput.files || [])]);
    this.fileInput.value = ''; // or the same file could not be chosen again
  }

  /** @param {File[]} files */
  async add(files) {
    for (const f of files) {
      const name = spellText(fileLabel(f));
      const kind = await detectType(f); // another paste may have added files meanwhile
      if (this.files.length >= mostImages)
        this.showFault(`Not attached: ${name}; the most with a message is ${mostImages} images.`);
      else if (f.size > mostImage)
        this.showFault(
          `Not attached: ${name} has ${formatNumber(f.size)} bytes; ` +
            `the most is ${formatNumber(mostImage)}.`,
        );
      else if (kind === '')
        this.showFault(`Not attached: ${name} is no PNG, JPEG, GIF or WebP image.`);
      else this.files.push(f);
    }
    this.draw();
  }

  /** @param {File[]} files */
  remove(files) {
    this.files = this.files.filter((f) => !files.includes(f));
    this.draw();
  }

  draw() {
    orderChildren(
      this.list,
      this.files.map((f) => {
        const name = spellText(fileLabel(f));
        return h(
          'li',
          {},
          `${name}, ${Math.max(1, Math.round(f.size / 1000))} KB `,
          h(
            'button',
            {
              type: 'button',
              class: 'plain',
              'aria-label': `do not send ${name}`,
              onclick: () => this.remove([f]),
            },
            '×',
          ),
        );
      }),
    );
    this.list.hidden = this.files.length === 0;
  }
}
