package gateways_test

import (
	"crypto/ed25519"
	"testing"
	"time"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// keysMessage returns a message of keys that follows the previous one; number 0 begins anew.
func (p *webPage) keysMessage(kind protocol.InputKind, data string) protocol.Message {
	p.w.T.Helper()
	s := p.session()
	m := &protocol.Keys{SessionID: s.SessionID, KeyNo: p.typed + 1, After: p.typed, At: time.Now().UnixMilli(), InputKind: kind, Data: data}
	p.typed++
	m.SignatureB64 = ed25519.Sign(p.key, m.Signed(s.StartedAt))
	return p.request(m)
}

// openOwnerPage opens an owner's page and lets it in.
func openOwnerPage(s *world.Terminal, flags string) *webPage {
	s.W.T.Helper()
	_, link := s.OpenPage("--role owner " + flags)
	p := visit(s.W, link)
	s.Wait(p.words)
	s.Typed("y\n")
	p.connect()
	return p
}

// A page's keys reach a user's own terminal only if the user allowed that, for one page or for all.
func TestAUsersOwnTerminalTakesAPagesKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		proxy, open string
		typed       bool
	}{
		"by default": {}, "with the page's key": {open: "--type", typed: true}, "for all": {proxy: "--allow-remote-keys", typed: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			s, o := w.Terminal(100, 24), w.Terminal(100, 30)
			s.RunListener("--agent " + c.proxy)
			w.Session()
			p := openOwnerPage(o, c.open)
			answer := p.keysMessage(protocol.InputText, "hello")
			if !c.typed {
				p.checkRefused(protocol.CodeForbidden, answer)
				require.Contains(t, answer.(*protocol.Error).Message, "gateway open --role owner --type")
				s.Typed("\n")
				s.Press("C-d")
				require.NotContains(t, w.Content("heard"), "hello")
				return
			}
			require.IsType(t, &protocol.Done{}, answer)
			s.WaitShown("types from a page")
			require.IsType(t, &protocol.Done{}, p.keysMessage(protocol.InputKeys, "enter ctrl-d"))
			require.Zero(t, s.Status())
			require.Equal(t, "hello\r\x04", w.Content("heard"))
		})
	}
}

// A page's keys pause a driving agent as the user's own do, and Ctrl+\ from the page takes the
// keyboard from it. The audit log names the page, not what was typed.
func TestAPageTypesBesideAnAgent(t *testing.T) {
	w := world.New(t)
	s, o := w.Terminal(100, 24), w.Terminal(100, 30)
	s.Run("proxy --agent --grant drive --yield 3s --record s.cast sh -c 'stty -icanon -echo; echo ready; exec cat'")
	s.Wait("ready")
	id := w.Session()
	p := openOwnerPage(o, "--type")
	w.RequestGrant(id, "--as", "codex")
	require.IsType(t, &protocol.Done{}, p.keysMessage(protocol.InputText, "mine "))
	require.IsType(t, &protocol.Done{}, p.keysMessage(protocol.InputText, "still mine "))
	s.Wait("mine still mine")
	w.MustGateway("read", id, "--as", "codex")
	w.MustGateway("send", id, "--as", "codex", "--text", "theirs") // once the person has paused
	s.Wait("mine still mine theirs")
	require.IsType(t, &protocol.Done{}, p.keysMessage(protocol.InputKeys, `ctrl-\`))
	w.WaitKeyboard(id, "user")
	s.Press("C-c")
	s.Status()
	shown := w.MustGateway("audit", "show", "s.cast")
	require.Regexp(t, `page-\w+ typed from elsewhere`, shown)
	require.NotRegexp(t, `typed: .*mine`, shown, "what a person types is nobody's business")
}

// Only the owner types a password, at a page as at the desk: no agent sees it, and no file keeps
// it.
func TestAPageAnswersAPassword(t *testing.T) {
	w := world.New(t)
	s, o := w.Terminal(100, 24), w.Terminal(100, 30)
	s.Run(`proxy --agent --record s.cast --log s.log --log-level debug bash -c 'read -rsp "Password: " p; echo; echo "it has ${#p} characters"; read -r'`)
	s.Wait("Password:")
	id := w.Session()
	p := openOwnerPage(o, "--type")
	w.Until(func() bool { b := p.session().Blackout; return b != nil && b.Secret == protocol.SecretHard }, func() string { return "no password is asked" })
	require.IsType(t, &protocol.Done{}, p.keysMessage(protocol.InputText, "hunter2-of-ada"))
	require.IsType(t, &protocol.Done{}, p.keysMessage(protocol.InputKeys, "enter"))
	s.Wait("it has 14 characters")
	world.WaitRead(w, id, "it has 14 characters")
	s.Typed("\n")
	require.Zero(t, s.Status())
	for _, file := range w.Files() {
		require.NotContains(t, w.Content(file), "hunter2", file)
	}
}

// A person types in a browser: into vim, whose arrows are other bytes than a shell's, and into a
// shell, which takes a paste and an interrupt.
func TestABrowserTypes_Client(t *testing.T) {
	b := browser.Chromium(t)
	w := world.New(t, "vim", "bash")
	w.Write("notes.txt", "one\ntwo\nthree\n")
	s, o := w.Terminal(100, 24), w.Terminal(100, 30)
	s.Run("proxy --agent bash --norc")
	s.Wait("bash-")
	_, link := o.OpenPage("--role owner --type " + w.Session())
	b.RunSteps(chromedp.Navigate(link))
	b.WaitFor(`document.querySelector('.words')`)
	o.Wait(browser.JS[string](b, browser.Text(".words")))
	o.Typed("y\n")
	b.WaitFor(browser.Text(".session .sheet") + ".includes('bash-')")
	sees := func(text string) { b.WaitFor(browser.Text(".session .sheet") + ".includes('" + text + "')") }
	b.Press("Type here")
	b.RunSteps(browser.Keys("echo fo"), browser.Keys(kb.ArrowLeft), browser.Keys("x"), browser.Keys(kb.End), browser.Keys("o\r"))
	s.Wait("\nfxoo")
	sees("fxoo")
	s.WaitShown("types from a page")
	b.RunSteps(browser.Keys(kb.ArrowUp), browser.Keys("!\r"))
	sees("fxoo!")
	b.RunSteps(browser.Keys("sleep 1000\r"))
	w.Until(func() bool { return w.InFront("sleep") }, func() string { return "sleep does not run" })
	b.RunSteps(browser.Keys("c", chromedp.ModifierCtrl))
	s.Wait("^C\nbash-") // it takes pastes as such again
	sees("^C")
	browser.JS[any](b, `(() => {
		const clipboard = new DataTransfer();
		clipboard.setData('text/plain', 'echo in brackets\necho again');
		document.querySelector('.pad').dispatchEvent(new ClipboardEvent('paste', {clipboardData: clipboard, bubbles: true, cancelable: true}));
	})()`)
	sees("echo again")
	require.NotContains(t, s.Screen(), "\nin brackets", "a paste waits for Enter")
	b.RunSteps(browser.Keys("\r"))
	s.Wait("\nin brackets\nagain")

	b.RunSteps(browser.Keys("vim -u NONE notes.txt\r"))
	sees("three")
	b.RunSteps(browser.Keys(kb.ArrowDown+kb.ArrowDown), browser.Keys("A 世界"), browser.Keys(kb.Escape), browser.Keys(":wq\r"))
	w.WaitContent("notes.txt", "one\ntwo\nthree 世界\n")
	b.RunSteps(browser.Keys("exit\r"))
	require.Zero(t, s.Status())
}

// A program without a user's terminal takes the keys of every owner's page: the page is the
// person's terminal.
func TestAPageTypesIntoAProgramWithoutATerminal(t *testing.T) {
	w := world.New(t)
	o := w.Terminal(100, 30)
	r := w.Start("gateway", "run", "--cols", "90", "--rows", "20", "--", "sh", "-c", `stty size; read line; echo "got $line at $(stty size)"; read line; exit 7`)
	id := w.Session()
	w.MustGateway("wait", id, "--text", "20 90")
	p := openOwnerPage(o, id)
	require.IsType(t, &protocol.Done{}, p.keysMessage(protocol.InputText, "words"))
	require.IsType(t, &protocol.Done{}, p.keysMessage(protocol.InputKeys, "enter"))
	w.MustGateway("wait", id, "--text", "got words at 20 90")
	require.IsType(t, &protocol.Done{}, p.keysMessage(protocol.InputKeys, "enter"))
	require.Equal(t, 7, r.Wait().Status)
}
