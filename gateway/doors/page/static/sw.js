// Shows notifications while no page is open. Their buttons only take rights from agents: granting
// needs the page, which shows the screen and the agent.
import {loadPage} from '/app/{{.Build}}/keys.js';
import {askAside} from '/app/{{.Build}}/connection.js';

const look = {icon: '/app/{{.Build}}/icon-192.png', badge: '/app/{{.Build}}/badge-96.png'};

const wishes = {
  secret: 'asks for a password',
  text: 'asks for an answer',
  confirm: 'needs your yes',
};

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

worker.addEventListener('install', () => worker.skipWaiting());
worker.addEventListener('activate', (e) => e.waitUntil(worker.clients.claim()));
worker.addEventListener('push', (e) => e.waitUntil(handlePush(e.data)));
worker.addEventListener('notificationclick', (e) => {
  e.notification.close();
  const m = e.notification.data || {};
  e.waitUntil(e.action === 'away' ? takeAway(m) : openPage(m));
});

/** @param {PushMessage} m @param {string} title @param {object} [more] */
const showNotification = (m, title, more) =>
  worker.registration.showNotification(title, {...look, tag: 'ask ' + m.session, data: m, ...more});

/**
 * Always shows a notification: a browser revokes the permission of a worker that does not.
 * @param {PushMessageData|null} data
 */
async function handlePush(data) {
  /** @type {PushMessage} */
  let m = {};
  try {
    if (data) m = data.json();
  } catch {
    // The message is not from this server.
  }
  if (!m.session) return showNotification({}, 'An agent waits for you');
  if (m.secret) {
    return showNotification(m, `${m.agent} ${wishes[m.secret] || wishes.text}`, {
      tag: 'secret ' + m.session,
      renotify: true,
      body: 'For a program that it started. Open the page to see which.',
    });
  }
  const page = await loadPage();
  const ours = page && page.page === m.page && m.owner;
  return showNotification(m, `${m.agent} ${m.held ? 'waits' : 'asks'} in ${m.session}`, {
    renotify: true,
    body: m.chat
      ? 'It wants an approval or an answer.'
      : m.held
        ? 'It waits for you.'
        : 'It asks for the keyboard.',
    actions: ours && !m.chat ? [{action: 'away', title: m.held ? 'Take back' : 'Refuse'}] : [],
  });
}

/** Refuses only the question that the notification showed. @param {PushMessage} m */
async function takeAway(m) {
  try {
    const page = await loadPage();
    /** @type {Message<'terminal.control.decide'>} */
    const d = {
      type: 'terminal.control.decide',
      sessionId: m.session || '',
      grant: false,
      by: 'a page',
    };
    if (!page || page.page !== m.page) throw new Error('the page is over: open a new link');
    if (!m.held) {
      /** @type {SessionInfo | undefined} */
      let s;
      let after = '';
      do {
        const {sessions, next = ''} = await askAside(page, {
          type: 'sessions.list',
          paged: true,
          after,
        });
        s = sessions.find(({sessionId}) => sessionId === m.session);
        after = next;
      } while (!s && after);
      if (!s || !s.keyboard.asking || s.keyboard.epoch !== m.epoch)
        throw new Error('it was answered already');
      // An agent that was given the keyboard meanwhile keeps it.
      Object.assign(d, {refuse: true, agentName: s.keyboard.asking});
    }
    await askAside(page, d);
  } catch (e) {
    await showNotification(m, (m.held ? 'Not taken back: ' : 'Not refused: ') + e.message);
  }
}

/** @param {PushMessage} m */
async function openPage(m) {
  const pages = await worker.clients.matchAll({type: 'window', includeUncontrolled: true});
  const page = pages.find((p) => p.visibilityState === 'visible') || pages[0];
  if (!page)
    return worker.clients.openWindow(m.session ? '/#s=' + encodeURIComponent(m.session) : '/');
  page.postMessage({open: m.session || ''});
  return page.focus();
}
