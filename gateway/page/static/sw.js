// The page's service worker: it shows notifications, and does by their buttons what only takes away from agents, while no page is
// open. What gives them more needs the page, where who asks and the screen are seen.
import {recall} from '/app/{{.Build}}/keys.js';
import {aside} from '/app/{{.Build}}/connection.js';

const look = {icon: '/app/{{.Build}}/icon-192.png', badge: '/app/{{.Build}}/badge-96.png'};

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (e) => e.waitUntil(self.clients.claim()));
self.addEventListener('push', (e) => e.waitUntil(pushed(e.data)));
self.addEventListener('notificationclick', (e) => {
  e.notification.close();
  const m = e.notification.data || {};
  e.waitUntil(e.action === 'away' ? takeAway(m) : open(m));
});

const tell = (m, title, more) => self.registration.showNotification(title, {...look, tag: 'ask ' + m.session, data: m, ...more});

// pushed shows a notification for whatever came: a browser takes the permission away from a worker that shows none.
async function pushed(data) {
  let m = {};
  try {
    m = data.json();
  } catch { /* not of our server */ }
  if (!m.session) return tell({}, 'An agent waits for you');
  const page = await recall();
  const ours = page && page.page === m.page && m.owner;
  return tell(m, `${m.agent} ${m.held ? 'waits' : 'asks'} in ${m.session}`, {
    renotify: true, body: m.chat ? 'It wants an approval or an answer.' : m.held ? 'It waits for you.' : 'It asks for the keyboard.',
    actions: ours && !m.chat ? [{action: 'away', title: m.held ? 'Take back' : 'Refuse'}] : [],
  });
}

// takeAway refuses the question that was shown, and no other, or takes the keyboard back.
async function takeAway(m) {
  try {
    const page = await recall(), d = {type: 'terminal.control.decide', sessionId: m.session, grant: false, by: 'a page'};
    if (!page || page.page !== m.page) throw new Error('the page is over: open a new link');
    if (!m.held) {
      let s, after = '';
      do {
        const {sessions, next} = await aside(page, {type: 'sessions.list', paged: true, after});
        [s, after] = [sessions.find(({sessionId}) => sessionId === m.session), next];
      } while (!s && after);
      if (!s || !s.keyboard.asking || s.keyboard.epoch !== m.epoch) throw new Error('it was answered already');
      if (s.mutes) Object.assign(d, {refuse: true, agentName: s.keyboard.asking}); // whoever has got the keyboard meanwhile keeps it
    }
    await aside(page, d);
  } catch (e) {
    await tell(m, (m.held ? 'Not taken back: ' : 'Not refused: ') + e.message);
  }
}

// open shows the question on the page, on one that is open if there is one.
async function open(m) {
  const pages = await self.clients.matchAll({type: 'window', includeUncontrolled: true});
  const page = pages.find((p) => p.visibilityState === 'visible') || pages[0];
  if (!page) return self.clients.openWindow(m.session ? '/#s=' + encodeURIComponent(m.session) : '/');
  page.postMessage({open: m.session || ''});
  return page.focus();
}
