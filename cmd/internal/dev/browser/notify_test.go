package browser_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/doors/page/push"
	"terminalproxy/gateway/doors/page/push/fakepush"
	"terminalproxy/protocol"
)

// serveNotifying serves a gateway whose pages a push service on this machine notifies, and returns
// the page's end of the subscription.
func serveNotifying(t *testing.T, role auth.Role, sessions ...*protocol.SessionInfo) (*gateway, *fakepush.Service, *fakepush.Browser) {
	service := fakepush.Serve(t)
	sender, err := push.NewLocal("https://desk.example", service.Roots())
	require.NoError(t, err)
	return serveBy(t, sender, role, "", sessions...), service, fakepush.NewBrowser(t)
}

// subscribeTo makes the browser subscribe at the test's push service. Its vendor's service needs an
// account.
func subscribeTo(b *browser.Tab, service *fakepush.Service, end *fakepush.Browser) {
	browser.Call[bool](b, `(keys) => {
		let has = null;
		const raw = (s) => Uint8Array.from(atob(s.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0)).buffer;
		PushManager.prototype.getSubscription = async () => has;
		PushManager.prototype.subscribe = async (options) => {
			if (!options.userVisibleOnly) throw new Error('silent messages');
			has = {
				options: {applicationServerKey: raw(options.applicationServerKey)}, unsubscribe: async () => { has = null; },
				toJSON: () => keys,
			};
			return has;
		};
		return true;
	}`, map[string]any{"endpoint": service.URL + "/push/1", "keys": map[string]string{"p256dh": end.P256DH(), "auth": end.Auth()}})
}

func allowNotifications(g *gateway) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, _ *chromedp.Target) (void chromedp.Void, err error) {
		_, err = chromedp.CallBrowser(ctx, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
			Permission: &cdpbrowser.PermissionDescriptor{Name: "notifications"}, Setting: cdpbrowser.PermissionSettingGranted, Origin: g.url,
			BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
		})
		return void, err
	}
}

func TestThePageCanBeInstalled_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "", vim())
	b := openPage(g, "")
	got, err := chromedp.Call(b.Ctx, page.GetAppManifest, page.GetAppManifestParams{})
	require.NoError(t, err)
	require.Empty(t, got.Errors)
	var manifest struct {
		Name, Display, Scope string
		Icons                []struct{ Src, Sizes string }
	}
	require.NoError(t, json.Unmarshal([]byte(got.Data), &manifest))
	require.Equal(t, []string{"terminals", "standalone", "/"}, []string{manifest.Name, manifest.Display, manifest.Scope})
	for _, i := range manifest.Icons {
		size := browser.Call[string](b, `async (src) => {
			const i = new Image();
			i.src = new URL(src, document.querySelector('link[rel=manifest]').href);
			await i.decode();
			return i.naturalWidth + 'x' + i.naturalHeight;
		}`, i.Src)
		if i.Sizes != "any" {
			require.Equal(t, i.Sizes, size, i.Src)
		}
	}
	missing, err := chromedp.Call(b.Ctx, page.GetInstallabilityErrors, cdp.Empty{})
	require.NoError(t, err)
	for _, m := range missing.InstallabilityErrors {
		require.Equal(t, "in-incognito", m.ErrorID, "what keeps a browser from installing it")
	}
}

// worker is the page's service worker, inspected from within.
type worker struct {
	page *browser.Tab
	own  *browser.Tab
	g    *gateway
	id   serviceworker.RegistrationID
}

// recorder notes what the worker has shown, once it is shown: the browser does not yet list a
// notification that was just requested.
const recorder = `(() => {
	const show = self.registration.showNotification.bind(self.registration);
	self.told = [];
	self.registration.showNotification = async (title, options) => {
		await show(title, options);
		told.push([title, options.body || '', ...(options.actions || []).map((a) => a.title)].join('|'));
	};
	return true;
})()`

// openNotified opens a page that wants to be notified, and returns its worker and the push
// service's messages for it.
func openNotified(t *testing.T, role auth.Role) (g *gateway, b *browser.Tab, w *worker, told func() string) {
	g, service, end := serveNotifying(t, role, vim(), session("psql-1", "/home/ada", "psql"))
	b = openPage(g, "", allowNotifications(g))
	w = &worker{page: b, g: g}
	ids := make(chan serviceworker.RegistrationID, 100)
	require.NoError(t, chromedp.Listen(b.Ctx, func(ev any) {
		if up, ok := ev.(*serviceworker.EventWorkerRegistrationUpdated); ok && len(up.Registrations) > 0 {
			ids <- up.Registrations[0].RegistrationID
		}
	}))
	b.RunSteps(command(serviceworker.Enable, cdp.Empty{}))
	subscribeTo(b, service, end)
	b.Press("Notify me")
	b.WaitFor(browser.Button("Stop notifying me"))
	b.WaitFor(`navigator.serviceWorker.controller?.state === 'activated'`)
	w.id = within(t, ids)
	targets, err := chromedp.Targets(b.Ctx)
	require.NoError(t, err)
	at := slices.IndexFunc(targets, func(i *target.Info) bool {
		return i.Type == "service_worker" && strings.HasPrefix(i.URL, g.url+"/")
	})
	require.GreaterOrEqual(t, at, 0)
	ctx, cancel := chromedp.NewContext(b.Ctx, chromedp.WithTargetID(targets[at].TargetID), chromedp.WithDetachOnCancel())
	t.Cleanup(cancel)
	w.own = &browser.Tab{T: t, Ctx: ctx}
	browser.JS[bool](w.own, recorder)
	return g, b, w, func() string { return end.Open(within(t, service.Received).Body) }
}

// deliver lets the browser hand a message to the worker, as from its push service.
func (w *worker) deliver(payload string) {
	w.page.T.Helper()
	w.page.RunSteps(command(serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{Origin: w.g.url, RegistrationID: w.id, Data: payload}))
}

// waitShown waits for the next notification that the worker shows.
func (w *worker) waitShown(want string) {
	w.page.T.Helper()
	require.Equal(w.page.T, want, browser.Call[string](w.own, `async (patience) => {
		for (const end = Date.now() + patience; told.length === 0 && Date.now() < end;) await new Promise((go) => setTimeout(go, 20));
		return told.shift() ?? 'none';
	}`, browser.Patience.Milliseconds()))
}

// press does what a press on the notification does: on a button, or with "" on the rest of it.
func (w *worker) press(action string) {
	w.page.T.Helper()
	browser.JS[bool](w.own, `(async () => {
		const [notification] = await self.registration.getNotifications();
		const e = new NotificationEvent('notificationclick', {notification, action: '`+action+`'});
		let done;
		e.waitUntil = (promise) => { done = promise; }; // a browser takes it only from an event of its own
		self.dispatchEvent(e);
		await done.catch(() => {}); // no window takes the focus without a person's own press
		return true;
	})()`)
}

// countStanding returns how many notifications stand.
func (w *worker) countStanding() float64 {
	w.page.T.Helper()
	return browser.JS[float64](w.own, `self.registration.getNotifications().then((all) => all.length)`)
}

func TestANotificationRefuses_Client(t *testing.T) {
	t.Parallel()
	g, _, w, told := openNotified(t, auth.RoleOwner)
	g.change("psql-1", func(s *protocol.SessionInfo) { *s = *asking("codex", "hush", protocol.LevelDrive) })
	payload := told()
	require.NotContains(t, payload, "hush")
	w.deliver(payload)
	w.waitShown("codex asks in psql-1|It asks for the keyboard.|Refuse")
	w.press("away")
	m := next[*protocol.ControlDecide](g)
	require.Equal(t, []any{false, true, "codex"}, []any{m.Grant, m.Refuse, m.AgentName}, "whoever has got the keyboard keeps it")
	require.Equal(t, "psql-1", m.SessionID)
	require.Zero(t, w.countStanding())

	// The same press a second later is about a question that is gone.
	g.change("psql-1", never)
	w.deliver(payload)
	w.waitShown("codex asks in psql-1|It asks for the keyboard.|Refuse")
	w.press("away")
	w.waitShown("Not refused: it was answered already|")
	require.Zero(t, count[*protocol.ControlDecide](g))
}

func TestANotificationTakesBack_Client(t *testing.T) {
	t.Parallel()
	g, _, w, told := openNotified(t, auth.RoleOwner)
	g.change("vim-1", func(s *protocol.SessionInfo) {
		drive(s)
		s.Keyboard.Held, s.Keyboard.HeldWhy = true, protocol.HeldConfirm
	})
	w.deliver(told())
	w.waitShown("claude waits in vim-1|It waits for you.|Take back")
	w.press("away")
	m := next[*protocol.ControlDecide](g)
	require.False(t, m.Grant)
	require.Equal(t, "vim-1", m.SessionID)
}

// Its question is not pushed in full: a person has to see it before answering.
func TestACodingAgentNotifies_Client(t *testing.T) {
	t.Parallel()
	g, b, w, told := openNotified(t, auth.RoleOwner)
	g.change("psql-1", func(s *protocol.SessionInfo) {
		s.Chat = &protocol.ChatState{Agent: "Claude Code", State: protocol.ChatApproval}
	})
	g.addRecords("psql-1", approval("toolu_1", "hush"))
	payload := told()
	require.NotContains(t, payload, "hush")
	w.deliver(payload)
	w.waitShown("Claude Code asks in psql-1|It wants an approval or an answer.")
	w.press("")
	b.WaitFor(`location.hash === '#s=psql-1'`)
	b.WaitFor(browser.Text(".card pre") + ` === 'hush'`)
}

// Its words are not pushed: the page shows them, with the question.
func TestAProgramsQuestionNotifies_Client(t *testing.T) {
	g, b, w, told := openNotified(t, auth.RoleOwner)
	g.askSecret(protocol.SecretHidden, "hush")
	payload := told()
	require.NotContains(t, payload, "hush")
	require.NotContains(t, payload, "sudo")
	w.deliver(payload)
	w.waitShown("codex asks for a password|For a program that it started. Open the page to see which.")
	w.press("")
	b.WaitFor(`location.hash === '#s=vim-1'`)
	b.WaitFor(browser.Text(".secret .asks:not(code)") + ` === 'hush'`)
}

func TestANotificationOpensThePage_Client(t *testing.T) {
	t.Parallel()
	g, b, w, told := openNotified(t, auth.RoleViewer)
	g.change("psql-1", func(s *protocol.SessionInfo) { *s = *asking("codex", "", protocol.LevelDrive) })
	w.deliver(told())
	w.waitShown("codex asks in psql-1|It asks for the keyboard.")
	w.press("")
	b.WaitFor(`location.hash === '#s=psql-1'`)
	require.Zero(t, w.countStanding())
	w.deliver("no JSON")
	w.waitShown("An agent waits for you|")
	b.Press("Stop notifying me")
	b.WaitFor(browser.Button("Notify me"))
}

// The policy lets a script be loaded by one name alone, which the page uses once.
func TestNoOtherScriptBecomesAWorker_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "", vim())
	b := openPage(g, "")
	require.Equal(t, "TypeError TypeError", browser.JS[string](b, `(async () => {
		const fault = async (act) => { try { await act(); return 'none'; } catch (e) { return e.name; } };
		const got = await fault(() => navigator.serviceWorker.register('/sw.js')) + ' ' + await fault(() => trustedTypes.createPolicy('worker', {}));
		await new Promise((go) => setTimeout(go, 50));
		window.faults = []; // these were meant
		return got;
	})()`))
}

// An installed page has no address bar, and on iOS it shares no storage with the browser.
func TestALinkIsPasted_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleViewer, "", vim())
	b := browser.OpenTab(t)
	b.RunSteps(chromedp.Navigate(g.url))
	b.WaitFor(browser.Button("Open"))
	fill := func(text string) {
		browser.Call[bool](b, `(text) => { document.querySelector('form input').value = text; return true; }`, text)
		b.Press("Open")
	}
	fill("https://example.com/")
	b.WaitFor(browser.Text(".door") + ".includes('That is no link of gateway open')")
	fill(g.url + "/#c=" + g.opening.Code() + " ")
	b.WaitFor(`document.querySelector('.trip.connected')`)
	require.Equal(t, g.url+"/", browser.JS[string](b, "location.href"))
}

// within returns what a channel delivers soon.
func within[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(browser.Patience):
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}
