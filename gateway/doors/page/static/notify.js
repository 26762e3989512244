import {h, setText, setShown} from './dom.js';
import {postJSON, requestTicket} from './connection.js';

// Trusted Types: the page's policy allows this one script's name.
const worker = self.trustedTypes
  ? self.trustedTypes.createPolicy('worker', {createScriptURL: () => '/sw.js'}).createScriptURL('')
  : '/sw.js';

const able = 'serviceWorker' in navigator && 'PushManager' in self && 'Notification' in self;
/** @param {ArrayBuffer} bytes */
const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=+$/, '');

export class Notifications {
  /** @param {PageIdentity} page */
  constructor(page) {
    this.page = page;
    this.button = h('button', {class: 'plain', onclick: () => this.setOn(!this.isOn)});
    this.note = h('span', {class: 'where', role: 'status'});
    this.element = h('p', {class: 'notify'}, this.button, this.note);
    this.showState('');
    if (able) navigator.serviceWorker.addEventListener('message', (e) => this.openSession(e.data));
  }

  /** @param {{open?: unknown}|null} m */
  openSession(m) {
    if (m && typeof m.open === 'string' && m.open !== '')
      location.hash = 's=' + encodeURIComponent(m.open);
  }

  /** @param {string} words */
  showState(words) {
    setShown(this.button, able);
    setText(this.button, this.isOn ? 'Stop notifying me' : 'Notify me when an agent waits');
    // iOS has Web Push only for pages on the home screen.
    setText(
      this.note,
      words ||
        (!able && navigator.standalone === false
          ? 'To be notified, add this page to the home screen first (Share).'
          : ''),
    );
  }

  async renew() {
    if (!able || Notification.permission !== 'granted') return;
    const registration = await navigator.serviceWorker.getRegistration('/');
    if (registration && (await registration.pushManager.getSubscription())) await this.setOn(true);
  }

  /** @param {boolean} on */
  async setOn(on) {
    this.button.disabled = true;
    try {
      await (on ? this.subscribe() : this.unsubscribe());
      this.isOn = on;
      this.showState(on ? '' : 'Notifications are off on this device.');
    } catch (e) {
      this.showState('Not notified: ' + e.message);
    }
    this.button.disabled = false;
  }

  async subscribe() {
    if ((await Notification.requestPermission()) !== 'granted')
      throw new Error('this browser blocks notifications of this page');
    await navigator.serviceWorker.register(worker, {type: 'module'});
    const {pushManager} = await navigator.serviceWorker.ready;
    const {key} = await (await fetch('/v1/push')).json();
    let s = await pushManager.getSubscription();
    if (s && base64url(s.options.applicationServerKey || new ArrayBuffer()) !== key) {
      // The subscription belongs to the key of an earlier server.
      await s.unsubscribe();
      s = null;
    }
    s ||= await pushManager.subscribe({userVisibleOnly: true, applicationServerKey: key});
    const {endpoint, keys} = s.toJSON();
    await this.sendSubscription({endpoint, p256dh: keys?.p256dh, auth: keys?.auth});
  }

  async unsubscribe() {
    const {pushManager} = await navigator.serviceWorker.ready;
    const s = await pushManager.getSubscription();
    if (s) await s.unsubscribe();
    await this.sendSubscription({});
  }

  /** @param {object} where */
  async sendSubscription(where) {
    const got = await postJSON('/v1/push', {ticket: await requestTicket(this.page), ...where});
    if (got.status !== 200) throw new Error(got.error || 'the server does not answer');
  }
}
