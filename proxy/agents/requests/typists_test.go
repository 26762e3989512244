package requests

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/terminal/keys"
)

// desk receives the keys of remote people.
type desk struct {
	typed  strings.Builder
	by     string
	at     time.Time
	refuse error
}

func (d *desk) PressKeys(_, at time.Time, by string, keys []byte) error {
	if d.refuse == nil {
		d.by, d.at = by, at
		d.typed.Write(keys)
	}
	return d.refuse
}

// typedText returns what was typed since the last call.
func (d *desk) typedText() string {
	s := d.typed.String()
	d.typed.Reset()
	return s
}

// page is an owner's page that signs keys.
type page struct {
	private ed25519.PrivateKey
	session string
	started int64
	no      uint64
}

// next returns the message that follows the one before.
func (p *page) next(kind protocol.InputKind, data string, change ...func(m *protocol.Keys)) *protocol.Keys {
	m := &protocol.Keys{RequestID: "r", SessionID: p.session, KeyNo: p.no + 1, After: p.no, At: time.Now().UnixMilli(), InputKind: kind, Data: data}
	for _, c := range change {
		c(m)
	}
	p.no = m.KeyNo
	m.SignatureB64 = ed25519.Sign(p.private, m.Signed(p.started))
	return m
}

// pageAt is a stage with a page whose owner types there.
func pageAt(t *testing.T, change func(c *Config)) (*stage, *desk, *page) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	d := &desk{}
	s := newStage(func(c *Config) {
		c.RemoteKeyboard, c.RemoteKeys = d, true
		c.Owner = func(message, signature []byte) (protocol.Signer, error) {
			if !ed25519.Verify(public, message, signature) {
				return protocol.Signer{}, errors.New("it is not signed by an owner")
			}
			return protocol.Signer{Name: "ada"}, nil
		}
		if change != nil {
			change(c)
		}
	})
	return s, d, &page{private: private, session: s.SessionID, started: s.Started.UnixMilli()}
}

func TestAPageTypes(t *testing.T) {
	s, d, p := pageAt(t, nil)
	s.mustDo(t, p.next(protocol.InputText, "ls ä"))
	s.mustDo(t, p.next(protocol.InputKeys, "up enter ctrl-c shift-enter ctrl-shift-a left*2"))
	require.Equal(t, "ls ä\x1b[A\r\x03\r\x01\x1b[D\x1b[D", d.typedText())
	require.Equal(t, "ada", d.by)
	earlier := p.next(protocol.InputText, "x", func(m *protocol.Keys) { m.At -= 9000 })
	s.mustDo(t, earlier)
	require.Equal(t, "x", d.typedText())
	require.Equal(t, earlier.At, d.at.UnixMilli(), "control knows when it was typed")
	s.Observer.Model().Feed([]byte("\x1b[?1h\x1b[?2004h"))
	s.mustDo(t, p.next(protocol.InputKeys, "up"))
	s.mustDo(t, p.next(protocol.InputPaste, "a\n\x1b[201~b"))
	require.Equal(t, "\x1bOA\x1b[200~a\r[201~b\x1b[201~", d.typedText())
	s.Observer.Model().Feed([]byte("\x1b[>1u"))
	s.mustDo(t, p.next(protocol.InputKeys, "shift-enter"))
	s.mustDo(t, p.next(protocol.InputKeys, "ctrl-g"))
	require.Equal(t, "\x1b[13;2u\x1b[103;5u", d.typedText(), "which is the program's key")
}

// sizelessTerminal does not know the size of its cells.
type sizelessTerminal struct{ Terminal }

func (sizelessTerminal) CellSize() (width, height int) { return 0, 0 }

// A person's mouse is what their own terminal would send: reports where the program listens, cursor
// keys for the wheel on the alternate screen, and otherwise nothing.
func TestAPagesMouseReachesTheProgram(t *testing.T) {
	s, d, p := pageAt(t, func(c *Config) { c.Terminal = sizelessTerminal{} })
	for _, c := range []struct{ print, act, want string }{
		{"", "wheel-down*3 2,4", ""},
		{"", "click 2,4", ""},
		{"\x1b[?1049h", "wheel-down*2 2,4", strings.Repeat("\x1b[B", 6)},
		{"\x1b[?1h", "wheel-up 2,4", strings.Repeat("\x1bOA", 3)},
		{"", "press 2,4", ""},
		{"\x1b[?1000h\x1b[?1006h", "wheel-up*2 2,4", strings.Repeat("\x1b[<64;5;3M", 2)},
		{"", "press 2,4", "\x1b[<0;5;3M"},
		{"", "move 2,5", ""},
		{"", "release 2,5", "\x1b[<0;6;3m"},
		{"\x1b[?1002h", "ctrl-press 0,0", "\x1b[<16;1;1M"},
		{"", "move 1,0", "\x1b[<32;1;2M"},
		{"", "release 1,999", "\x1b[<0;20;2m"}, // the screen has become smaller
		{"", "move 1,0", ""},
		{"\x1b[?1003h", "move 1,0", "\x1b[<35;1;2M"},
		{"\x1b[?9h", "release 1,0", ""},
	} {
		s.Observer.Model().Feed([]byte(c.print))
		s.mustDo(t, p.next(protocol.InputMouse, c.act))
		require.Equal(t, c.want, d.typedText(), "%q %s", c.print, c.act)
	}
	for _, bad := range []string{"click", "click 1", "click -1,2", "click 1,99999", "drag 1,2", "wheel-up*101 1,2", "jump 1,2", "click 1,2,3"} {
		s.mustRefuse(t, protocol.CodeBadMessage, p.next(protocol.InputMouse, bad, func(m *protocol.Keys) { m.After = 0 }))
	}
	require.Empty(t, d.typedText())
}

// A signed message counts as the next one only, and as what it is.
func TestAGatewayThatLiesTypesNothing(t *testing.T) {
	again := func(m *protocol.Keys) *protocol.Keys { c := *m; return &c }
	for name, lie := range map[string]func(p *page, before *protocol.Keys) *protocol.Keys{
		"as keys": func(p *page, _ *protocol.Keys) *protocol.Keys {
			m := p.next(protocol.InputText, "enter")
			m.InputKind = protocol.InputKeys
			return m
		},
		"replayed":               func(_ *page, before *protocol.Keys) *protocol.Keys { return again(before) },
		"replayed with a number": func(p *page, before *protocol.Keys) *protocol.Keys { m := again(before); m.KeyNo = p.no + 1; return m },
		"anew with an old number": func(p *page, before *protocol.Keys) *protocol.Keys {
			return p.next(protocol.InputText, "x", func(m *protocol.Keys) { m.KeyNo, m.After = before.KeyNo, 0 })
		},
		"without the one before": func(p *page, _ *protocol.Keys) *protocol.Keys {
			p.next(protocol.InputText, "x/")
			return p.next(protocol.InputKeys, "enter")
		},
		"before the one before": func(p *page, _ *protocol.Keys) *protocol.Keys {
			p.next(protocol.InputText, "x")
			return p.next(protocol.InputText, "y")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, d, p := pageAt(t, nil)
			before := p.next(protocol.InputText, "rm ")
			s.mustDo(t, before)
			require.Equal(t, "rm ", d.typedText())
			s.mustRefuse(t, protocol.CodeForbidden, lie(p, before))
			require.Empty(t, d.typedText())
		})
	}
}

// Otherwise, a key after a refused one could mean something else.
func TestWhatFollowsARefusalWaitsForANewBeginning(t *testing.T) {
	s, d, p := pageAt(t, nil)
	s.mustDo(t, p.next(protocol.InputText, "rm "))
	d.refuse = ErrUnread
	s.mustRefuse(t, protocol.CodeBusy, p.next(protocol.InputText, "x/"))
	d.refuse = nil
	s.mustRefuse(t, protocol.CodeForbidden, p.next(protocol.InputKeys, "enter"))
	anew := func(m *protocol.Keys) { m.After = 0 }
	s.mustDo(t, p.next(protocol.InputKeys, "ctrl-u", anew))
	s.mustDo(t, p.next(protocol.InputText, "ls"))
	require.Equal(t, "rm \x15ls", d.typedText())

	d.refuse = control.ErrTakenBack
	s.mustRefuse(t, protocol.CodeBusy, p.next(protocol.InputText, "x"))
	d.refuse = nil
	for _, m := range []struct {
		kind protocol.InputKind
		data string
	}{{protocol.InputKeys, "nokey"}, {protocol.InputKeys, "super-x"}, {protocol.InputKeys, " "}, {protocol.InputText, "\x1b"}, {protocol.InputPaste, "\x00"}} {
		s.mustRefuse(t, protocol.CodeBadMessage, p.next(m.kind, m.data, anew))
	}
	require.Empty(t, d.typedText())
}

func TestAPasteIsOneWhole(t *testing.T) {
	s, d, p := pageAt(t, nil)
	more := func(m *protocol.Keys) { m.More = true }
	anew := func(m *protocol.Keys) { m.After = 0 }
	s.Observer.Model().Feed([]byte("\x1b[?2004h"))
	s.mustDo(t, p.next(protocol.InputPaste, "one \xc3", more)) // cut within a character
	s.mustDo(t, p.next(protocol.InputPaste, "\xa4 two", more))
	require.Empty(t, d.typedText())
	s.mustDo(t, p.next(protocol.InputPaste, " three"))
	require.Equal(t, "\x1b[200~one ä two three\x1b[201~", d.typedText())

	s.mustDo(t, p.next(protocol.InputPaste, "lost", more))
	s.mustDo(t, p.next(protocol.InputKeys, "a"))
	s.mustDo(t, p.next(protocol.InputPaste, "b"))
	require.Equal(t, "a\x1b[200~b\x1b[201~", d.typedText(), "one that is given up is not typed")
	s.mustDo(t, p.next(protocol.InputPaste, "lost", more))
	s.mustDo(t, p.next(protocol.InputPaste, "c", anew))
	require.Equal(t, "\x1b[200~c\x1b[201~", d.typedText())

	piece := strings.Repeat("x", protocol.MaxKeys)
	for range protocol.MaxPaste / protocol.MaxKeys {
		s.mustDo(t, p.next(protocol.InputPaste, piece, more))
	}
	s.mustRefuse(t, protocol.CodeTooLarge, p.next(protocol.InputPaste, "x"))
	require.Empty(t, d.typedText())
}

// The key opens nothing on the user's terminal.
func TestAPagesReclaimKeyTakesBack(t *testing.T) {
	for _, c := range []struct{ custom, pressed string }{
		{`ctrl-\`, `ctrl-\`},
		{`ctrl-\`, "ctrl-4"},
		{`ctrl-\`, `ctrl-shift-\`},
		{`ctrl-\`, "ctrl-|"},
		{`ctrl-\`, "ctrl-shift-4"}, // a terminal cannot tell it apart
		{"ctrl-]", "ctrl-]"},
		{"ctrl-]", "ctrl-shift-]"},
	} {
		key, err := keys.ParseReclaimKey(c.custom)
		require.NoError(t, err)
		s, d, p := pageAt(t, func(c *Config) { c.ReclaimKey = key })
		require.NoError(t, s.machine.Request(time.Now(), control.Request{ID: "q", Agent: control.Agent{ID: "a"}, Level: protocol.LevelDrive}))
		s.mustDo(t, p.next(protocol.InputKeys, "a "+c.pressed))
		require.Equal(t, control.Observing, s.machine.Phase())
		s.mustDo(t, p.next(protocol.InputKeys, c.pressed))
		require.False(t, s.machine.IsCurrent(question.Menu))
		require.Empty(t, d.typedText())
	}
}

// For every owner, or with the owner's key.
func TestAUsersOwnTerminalTakesKeysWhenItsUserSaidSo(t *testing.T) {
	who := protocol.Signer{Name: "ada"}
	s, d, p := pageAt(t, func(c *Config) {
		c.RemoteKeys = false
		c.Owner = func([]byte, []byte) (protocol.Signer, error) { return who, nil }
	})
	why := s.mustRefuse(t, protocol.CodeForbidden, p.next(protocol.InputText, "x"))
	require.Contains(t, why, "--allow-remote-keys")
	require.Contains(t, why, "gateway open --role owner --type")
	require.Empty(t, d.typedText())
	who.Types = true
	s.mustDo(t, p.next(protocol.InputText, "x", func(m *protocol.Keys) { m.After = 0 }))
	require.Equal(t, "x", d.typedText())
	who.Session = "vim-2"
	why = s.mustRefuse(t, protocol.CodeForbidden, p.next(protocol.InputText, "y"))
	require.Contains(t, why, "for another session")
	s.Owner = nil
	s.mustRefuse(t, protocol.CodeForbidden, p.next(protocol.InputText, "y"))
}

func TestNoKeysReachAHiddenScreen(t *testing.T) {
	s, d, p := pageAt(t, nil)
	s.machine.SetHidden(time.Now(), true)
	s.mustRefuse(t, protocol.CodeBlackout, p.next(protocol.InputText, "x"))
	s.machine.SetHidden(time.Now(), false)
	s.machine.NoteSecretPrompt(time.Now(), protocol.SecretHard, false)
	s.mustDo(t, p.next(protocol.InputText, "hunter2", func(m *protocol.Keys) { m.After = 0 }))
	require.Equal(t, "hunter2", d.typedText(), "a password is a person's to type")
	s.over = true
	s.mustRefuse(t, protocol.CodeExited, p.next(protocol.InputText, "x"))
}
