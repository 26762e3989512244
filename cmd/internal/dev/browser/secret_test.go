package browser_test

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hpke"
	"crypto/rand"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// secret is a program's question for a secret, with the program's key.
type secret struct {
	ask *protocol.SecretAsk
	key *ecdh.PrivateKey
}

// askSecret puts a program's question to the pages that watch for them.
func (g *gateway) askSecret(kind, prompt string) *secret {
	g.t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	require.NoError(g.t, err)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.secrets == nil {
		g.secrets = make(map[string]*secret)
	}
	g.asked++
	s := &secret{key: key, ask: &protocol.SecretAsk{
		RequestID: fmt.Sprintf("v-1:%d", g.asked), SessionID: "vim-1", Kind: kind, Prompt: prompt,
		PublicKeyB64: key.PublicKey().Bytes(),
		Asker: protocol.SecretAsker{
			Program: "sudo", Command: "sudo apt-get install jq", Cwd: "/home/ada/app",
			Host: "desk.example", Pid: 7, Agent: "codex", Proven: true,
		},
	}}
	require.NoError(g.t, protocol.Check(s.ask))
	g.secrets[s.ask.RequestID] = s
	for l := range g.links {
		if l.watchesSecrets {
			l.put(s.ask)
		}
	}
	return s
}

// endSecret ends a question; pages that are away do not hear of it.
func (g *gateway) endSecret(s *secret, verdict, by string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.secrets, s.ask.RequestID)
	for l := range g.links {
		if l.watchesSecrets {
			l.put(&protocol.SecretEnded{
				Question: s.ask.RequestID, SessionID: s.ask.SessionID, Verdict: verdict, By: by,
			})
		}
	}
}

// open returns the text that a page sealed, after a look at the page's signature.
func (s *secret) open(g *gateway, m *protocol.SecretReply) string {
	g.t.Helper()
	require.Equal(g.t, s.ask.RequestID, m.Question)
	g.mu.Lock()
	page := g.key
	g.mu.Unlock()
	signed := m.Signed(vim().StartedAt, s.ask.PublicKeyB64)
	require.True(g.t, ed25519.Verify(page, signed, m.SignatureB64))
	require.False(g.t, ed25519.Verify(page, m.Signed(vim().StartedAt, []byte("another key")), m.SignatureB64))
	k, err := hpke.NewDHKEMPrivateKey(s.key)
	require.NoError(g.t, err)
	text, err := hpke.Open(k, hpke.HKDFSHA256(), hpke.AES128GCM(), s.ask.SealInfo(), m.SealedB64)
	require.NoError(g.t, err)
	return string(text)
}

// secretField is where the answer is typed.
const secretField = ".secret:not(.answered) input"

// typedSecret is a script for what stands in that field.
const typedSecret = `document.querySelector('` + secretField + `')?.value ?? ''`

// startAnswer opens the field for an answer.
func startAnswer(b *browser.Tab) {
	b.T.Helper()
	b.Press("Answer")
	b.WaitFor(`document.activeElement?.matches('` + secretField + `')`)
}

// ownName returns the name by which proxies know the page's key.
func ownName(b *browser.Tab) string {
	b.T.Helper()
	return browser.JS[string](b, `new Promise((done) => {
		const open = indexedDB.open('terminal-page', 1);
		open.onsuccess = () => {
			const wish = open.result.transaction('pages').objectStore('pages').get('page');
			wish.onsuccess = () => done('page-' + wish.result.page.replace('p-', '').slice(0, 4));
		};
	})`)
}

// What a person types for a program is sealed in the page to that program's key, and signed; the
// page keeps nothing of it, also when the person leaves the field and when the question ends. A
// name is read as it is typed, and a yes is two presses about the whole text.
func TestAPersonAnswersAProgram_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim())
	b := openPage(g, "")
	none := func() {
		t.Helper()
		require.Empty(t, browser.JS[string](b, typedSecret))
		require.False(t, b.Is(`document.body.innerHTML.includes('$$word')`))
	}
	s := g.askSecret(protocol.SecretHidden, "[sudo] password for ada: ")
	b.WaitText(".secret h3", "“codex” wants your password for sudo at desk.example")
	b.WaitText(".secret code", "sudo apt-get install jq")
	b.WaitPart(".secret .where", "in ~/app · asked ")
	require.False(t, b.Is(`document.querySelector('`+secretField+`').checkVisibility()`), "it just came")
	startAnswer(b)
	require.Equal(t, "password off none", browser.JS[string](b, `((f) =>
		[f.type, f.autocomplete, f.form ? 'form' : 'none'].join(' '))(document.querySelector('`+secretField+`'))`))
	b.RunSteps(browser.Keys("$$word"))
	b.Eval(`document.querySelector('.skip, h1, h2').tabIndex = 0,
		document.querySelector('` + secretField + `').blur()`)
	b.WaitText(".secret .result", "You left the field: what you typed is gone.")
	none()
	b.Eval(`document.querySelector('` + secretField + `').focus()`)
	g.mu.Lock()
	g.noSecret = &protocol.Error{Code: protocol.CodeForbidden, Message: "the signature is refused"}
	g.mu.Unlock()
	b.RunSteps(browser.Keys("$$word\r"))
	b.WaitText(".secret .result", "Not sent: the signature is refused")
	none()
	next[*protocol.SecretReply](g)
	g.mu.Lock()
	g.noSecret = nil
	g.mu.Unlock()
	b.WaitFor(browser.Button("Refuse") + "?.disabled === false")
	b.Eval(`document.querySelector('` + secretField + `').focus()`)
	b.RunSteps(browser.Keys("pä$$word\r"))
	m := next[*protocol.SecretReply](g)
	require.Equal(t, protocol.SecretGiven, m.Verdict)
	require.Equal(t, "pä$$word", s.open(g, m))
	none()
	g.endSecret(s, protocol.SecretGiven, ownName(b))
	b.WaitAnswered("you answered")
	none()

	s = g.askSecret(protocol.SecretText, "Username for 'https://example.com': ")
	startAnswer(b)
	require.Equal(t, "text", browser.JS[string](b, `document.querySelector('`+secretField+`').type`))
	b.RunSteps(browser.Keys("ada"))
	b.Press("Send")
	require.Equal(t, "ada", s.open(g, next[*protocol.SecretReply](g)))
	g.endSecret(s, protocol.SecretGiven, "page-x")
	b.WaitAnswered("answered by page-x")

	s = g.askSecret(protocol.SecretConfirm, "ED25519 key fingerprint is SHA256:abc.\nAre you sure (yes/no)? ")
	b.WaitPart(".secret:not(.answered) .asks:not(code)", "SHA256:abc")
	b.Press("Answer")
	require.Zero(t, count[*protocol.SecretReply](g), "one press is not enough")
	b.Press("Say yes")
	require.Equal(t, "yes", s.open(g, next[*protocol.SecretReply](g)))
	g.endSecret(s, protocol.SecretGiven, "page-y")
	b.WaitAnswered("answered by page-y")

	s = g.askSecret(protocol.SecretHidden, "")
	startAnswer(b)
	b.RunSteps(browser.Keys("$$word"))
	g.endSecret(s, protocol.SecretRefused, "")
	b.WaitAnswered("refused at the terminal. What you typed went nowhere.")
	none()
	require.Zero(t, count[*protocol.SecretReply](g))
}

// Two pages have one question; the answer of one ends it on the other. A viewer's page asks for
// none, and a question that ended while a page was away is gone when it is back.
func TestAQuestionForASecretOnSeveralPages_Client(t *testing.T) {
	t.Parallel()
	g := serve(t, auth.RoleOwner, "", vim())
	one, two := openPage(g, ""), openPage(g, "")
	s := g.askSecret(protocol.SecretHidden, "x")
	one.WaitFor(`document.querySelector('.secret')`)
	startAnswer(two)
	one.Press("Refuse")
	m := next[*protocol.SecretReply](g)
	require.Equal(t, protocol.SecretRefused, m.Verdict)
	require.Empty(t, m.SealedB64)
	g.endSecret(s, protocol.SecretRefused, "page-one")
	two.WaitAnswered("refused by page-one")

	s = g.askSecret(protocol.SecretHidden, "y")
	one.WaitFor(`document.querySelector('.secret:not(.answered)')`)
	g.endLinks(true)
	one.WaitFor(`document.querySelector('.trip.lost')`)
	g.endSecret(s, protocol.SecretGiven, "")
	g.endLinks(false)
	one.WaitAnswered("the program no longer waits")

	guests := serve(t, auth.RoleViewer, "", vim())
	guest := openPage(guests, "")
	next[*protocol.SessionsWatch](guests)
	guest.WaitFor(`document.querySelector('.sessions a')`)
	require.Zero(t, count[*protocol.SecretWatch](guests))
}

// asksForPassword is a scene: the field is open.
func asksForPassword(p place) *browser.Tab {
	g := desk(p.t, false)
	b := p.open(g, "s=vim-1")
	s := g.askSecret(protocol.SecretHidden, "[sudo] password for ada: ")
	s.ask.Again = true
	startAnswer(b)
	b.WaitFor(browser.Button("Send") + "?.disabled === false")
	return shows(b, "package main")
}

// asksAboutHost is a scene: ssh does not know a host.
func asksAboutHost(p place) *browser.Tab {
	g := desk(p.t, false)
	b := p.open(g, "s=vim-1")
	g.askSecret(protocol.SecretConfirm,
		"The authenticity of host 'bastion (192.0.2.7)' can't be established.\n"+
			"ED25519 key fingerprint is SHA256:l3oj9rY1s2mK0q4Tn7v8w5x6y7z8A9B0C1D2E3F4G5H.\n"+
			"This key is not known by any other names.\n"+
			"Are you sure you want to continue connecting (yes/no/[fingerprint])? ")
	b.Press("Answer")
	b.WaitFor(browser.Button("Say yes") + "?.disabled === false")
	return shows(b, "package main")
}
