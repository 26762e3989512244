// The button with which somebody wants to be notified while no page is open: the service worker, and the browser's subscription,
// which the server learns.
import {h, put, show} from './dom.js';
import {post, ticket} from './connection.js';

// The page's policy lets scripts be loaded by name only where this says the name: of one file.
const worker = self.trustedTypes ? self.trustedTypes.createPolicy('worker', {createScriptURL: () => '/sw.js'}).createScriptURL('') : '/sw.js';

const able = 'serviceWorker' in navigator && 'PushManager' in self && 'Notification' in self;
const base64url = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');

export class Notify {
  constructor(page) {
    this.page = page;
    this.button = h('button', {class: 'plain', onclick: () => this.turn(!this.on)});
    this.note = h('span', {class: 'where', role: 'status'});
    this.element = h('p', {class: 'notify'}, this.button, this.note);
    this.shown('');
    if (able) navigator.serviceWorker.addEventListener('message', (e) => this.opened(e.data));
  }

  // opened shows the session of a notification that was pressed.
  opened(m) {
    if (m && typeof m.open === 'string' && m.open !== '') location.hash = 's=' + encodeURIComponent(m.open);
  }

  shown(words) {
    show(this.button, able);
    put(this.button, this.on ? 'Do not notify me any more' : 'Notify me when an agent waits');
    // iOS knows Web Push only for pages on the home screen.
    put(this.note, words || (!able && navigator.standalone === false ? 'To be notified, add this page to the home screen first (Share).' : ''));
  }

  // welcome tells the server anew: it may be another one than the one that was told.
  async welcome() {
    if (!able || Notification.permission !== 'granted') return;
    const registration = await navigator.serviceWorker.getRegistration('/');
    if (registration && await registration.pushManager.getSubscription()) await this.turn(true);
  }

  async turn(on) {
    this.button.disabled = true;
    try {
      await (on ? this.subscribe() : this.end());
      this.on = on;
      this.shown(on ? '' : 'No more notifications on this device.');
    } catch (e) {
      this.shown('Not notified: ' + e.message);
    }
    this.button.disabled = false;
  }

  async subscribe() {
    if (await Notification.requestPermission() !== 'granted') throw new Error('this browser blocks notifications of this page');
    await navigator.serviceWorker.register(worker, {type: 'module'});
    const {pushManager} = await navigator.serviceWorker.ready;
    const {key} = await (await fetch('/v1/push')).json();
    let s = await pushManager.getSubscription();
    if (s && base64url(s.options.applicationServerKey) !== key) { // of a server that was there before
      await s.unsubscribe();
      s = null;
    }
    s ||= await pushManager.subscribe({userVisibleOnly: true, applicationServerKey: key});
    const {endpoint, keys} = s.toJSON();
    await this.tell({endpoint, p256dh: keys.p256dh, auth: keys.auth});
  }

  async end() {
    const {pushManager} = await navigator.serviceWorker.ready;
    const s = await pushManager.getSubscription();
    if (s) await s.unsubscribe();
    await this.tell({});
  }

  async tell(where) {
    const got = await post('/v1/push', {ticket: await ticket(this.page), ...where});
    if (got.status !== 200) throw new Error(got.error || 'the server does not answer');
  }
}
