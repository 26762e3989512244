package page

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/access/rights"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// server has the links of a server, and the seats that its pages got.
type server struct {
	t     *testing.T
	links *Links
	port  Port
	mu    sync.Mutex
	seats []auth.Identity
	sets  []rights.Set
}

func newServer(t *testing.T) *server {
	t.Helper()
	links, err := NewLinks(Config{})
	require.NoError(t, err)
	s := &server{t: t, links: links}
	s.port = Port{
		Join: func(identity auth.Identity, set rights.Set) Seat {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.seats, s.sets = append(s.seats, identity), append(s.sets, set)
			return nil
		},
		Count: func(*http.Request, auth.Identity) error { return nil },
	}
	t.Cleanup(func() { links.Close(errors.New("closing")) })
	return s
}

var ada = auth.Identity{Role: auth.RoleOwner, Name: "ada", Namespace: "red", TokenID: "t-ada"}

const secret = "a-secret-of-a-good-length"

func wish(role auth.Role, keys ...[]byte) *protocol.PageOpen {
	return &protocol.PageOpen{RequestID: "o", Secret: secret, Role: string(role), ExpiresAt: time.Now().Add(time.Hour).UnixMilli(), KeysB64: keys}
}

// connected connects an opener that has sent its request.
func (s *server) connected(identity auth.Identity, m *protocol.PageOpen) *Opener {
	s.t.Helper()
	o := s.links.Opener(identity, s.port)
	o.Handle(m)
	opened := nextMessage[*protocol.PageOpened](s.t, o)
	require.Equal(s.t, m.RequestID, opened.RequestID)
	return o
}

// nextMessage returns an opener's next message.
func nextMessage[M protocol.Message](t *testing.T, o *Opener) M {
	t.Helper()
	late := make(chan struct{})
	defer time.AfterFunc(fake.Soon, func() { close(late) }).Stop()
	m, err := o.Next(late)
	require.NoError(t, err)
	is, ok := m.(M)
	require.True(t, ok, "%T %+v", m, m)
	return is
}

// waitOver returns the reason of an opener's end, after its messages.
func waitOver(t *testing.T, o *Opener) error {
	t.Helper()
	late := make(chan struct{})
	defer time.AfterFunc(fake.Soon, func() { close(late) }).Stop()
	for {
		if _, err := o.Next(late); err != nil {
			require.NotErrorIs(t, err, errLeft, "it goes on")
			return err
		}
	}
}

func (o *Opener) code(t *testing.T) string {
	t.Helper()
	o.Handle(&protocol.PageCode{RequestID: "c"})
	return nextMessage[*protocol.PageOpened](t, o).Code
}

// enterPage lets a page with a key enter by a code.
func (s *server) enterPage(code string) (ed25519.PublicKey, *visitor) {
	s.t.Helper()
	key, _, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(s.t, err)
	opening, err := s.links.door.useCode(code)
	require.NoError(s.t, err)
	v, err := opening.admitKey(key, nil)
	require.NoError(s.t, err)
	if !v.pending {
		opening.reportEntered(v)
	}
	return key, v
}

func (s *server) pages() (n int) {
	s.links.door.mu.Lock()
	defer s.links.door.mu.Unlock()
	return len(s.links.door.visitors)
}

func TestAPageHasTheRightsOfItsLinkAndTheNamespaceOfItsToken(t *testing.T) {
	s := newServer(t)
	m := wish(auth.RoleViewer)
	m.SessionID = "vim-1"
	o := s.connected(ada, m)
	defer o.Leave()
	_, v := s.enterPage(o.code(t))
	knock := nextMessage[*protocol.PageKnock](t, o)
	require.False(t, knock.Pending)
	require.Equal(t, v.ID, knock.PageID)
	_, err := v.opening.terms.Dial(t.Context())
	require.NoError(t, err)
	require.Equal(t, auth.Identity{Role: auth.RoleViewer, Name: "ada", Namespace: "red", TokenID: "t-ada"}, s.seats[0])
	require.Equal(t, rights.OfPage(auth.RoleViewer), s.sets[0].Can)
	require.Equal(t, "vim-1", s.sets[0].Session)
	require.Equal(t, m.ExpiresAt, s.sets[0].Until.UnixMilli())
}

func TestALinkGivesNoMoreThanItsToken(t *testing.T) {
	s := newServer(t)
	viewer := ada
	viewer.Role, viewer.Expires = auth.RoleViewer, time.Now().Add(time.Minute)
	o := s.links.Opener(viewer, s.port)
	defer o.Leave()
	o.Handle(&protocol.PageCode{RequestID: "c"})
	require.Contains(t, nextMessage[*protocol.Error](t, o).Message, "page.open must come first")
	o.Handle(wish(auth.RoleOwner))
	refused := nextMessage[*protocol.Error](t, o)
	require.Equal(t, protocol.CodeForbidden, refused.Code)
	require.Contains(t, refused.Message, "a token of role viewer opens viewers' pages only")
	o.Handle(wish(auth.RoleViewer))
	opened := nextMessage[*protocol.PageOpened](t, o)
	require.Equal(t, viewer.Expires.UnixMilli(), opened.ExpiresAt, "not longer than the token")
	o.Handle(wish(auth.RoleViewer))
	require.Contains(t, nextMessage[*protocol.Error](t, o).Message, "has an opening already")
	o.Handle(&protocol.SessionsList{RequestID: "l"})
	require.Equal(t, protocol.CodeForbidden, nextMessage[*protocol.Error](t, o).Code)
	agent := s.links.Opener(auth.Identity{Role: auth.RoleAgent, TokenID: "t-agent"}, s.port)
	defer agent.Leave()
	agent.Handle(wish(auth.RoleViewer))
	require.Equal(t, protocol.CodeForbidden, nextMessage[*protocol.Error](t, agent).Code)
	long := wish(auth.RoleViewer)
	long.ExpiresAt = time.Now().Add(1000 * time.Hour).UnixMilli()
	far := s.links.Opener(ada, s.port)
	defer far.Leave()
	far.Handle(long)
	require.Less(t, nextMessage[*protocol.PageOpened](t, far).ExpiresAt, time.Now().Add(8*24*time.Hour).UnixMilli())
}

func TestAnOwnersPageIsInWhenItsOpenerSaysSo(t *testing.T) {
	s := newServer(t)
	o := s.connected(ada, wish(auth.RoleOwner))
	defer o.Leave()
	key, v := s.enterPage(o.code(t))
	require.True(t, nextMessage[*protocol.PageKnock](t, o).Pending)
	o.Handle(&protocol.PageAdmit{KeyB64: key, Admit: true})
	require.Equal(t, &protocol.PageKnock{PageID: v.ID, KeyB64: key}, nextMessage[*protocol.PageKnock](t, o))

	other, _ := s.enterPage(o.code(t))
	nextMessage[*protocol.PageKnock](t, o)
	o.Handle(&protocol.PageAdmit{KeyB64: other})
	require.Equal(t, &protocol.PageGone{KeyB64: other}, nextMessage[*protocol.PageGone](t, o))
	require.Equal(t, 1, s.pages())
}

// An opener's connection is lost and restored: the pages are the same, and the opener is told what
// it missed.
func TestAReturningOpener(t *testing.T) {
	s := newServer(t)
	o := s.connected(ada, wish(auth.RoleOwner))
	key, v := s.enterPage(o.code(t))
	nextMessage[*protocol.PageKnock](t, o)
	o.Handle(&protocol.PageAdmit{KeyB64: key, Admit: true})
	nextMessage[*protocol.PageKnock](t, o)
	code := o.code(t)
	o.Leave()
	asking, _ := s.enterPage(code)
	again := s.connected(ada, wish(auth.RoleOwner, key))
	require.Equal(t, asking, ed25519.PublicKey(nextMessage[*protocol.PageKnock](t, again).KeyB64))
	require.Same(t, v, s.links.door.visitors[v.ID])
	require.Equal(t, 2, s.pages())
	for pending := true; pending; pending = nextMessage[*protocol.PageKnock](t, again).Pending { // it may be told twice that this one waits
		again.Handle(&protocol.PageAdmit{KeyB64: asking, Admit: true})
	}

	// The newest connection has it; the older one is told not to reconnect.
	newest := s.connected(ada, wish(auth.RoleOwner, key, asking))
	end := waitOver(t, again)
	require.ErrorIs(t, end, errReplaced)
	require.Equal(t, 1008, end.(interface{ CloseCode() int }).CloseCode())
	again.Leave()
	require.NotEmpty(t, newest.code(t))

	// The same secret is of no use with another token.
	eve := ada
	eve.TokenID = "t-eve"
	stranger := s.connected(eve, wish(auth.RoleOwner))
	stranger.Handle(&protocol.PageClose{RequestID: "x"})
	require.Equal(t, "x", nextMessage[*protocol.Done](t, stranger).RequestID)
	require.Equal(t, 2, s.pages())
	stranger.Leave()
	newest.Handle(&protocol.PageClose{RequestID: "x"})
	require.ErrorIs(t, waitOver(t, newest), errClosed)
	newest.Leave()
	require.Zero(t, s.pages())
}

// A restarted server knows the pages by their keys, under their old ids.
func TestPagesOutliveTheirServer(t *testing.T) {
	before := newServer(t)
	o := before.connected(ada, wish(auth.RoleOwner))
	key, v := before.enterPage(o.code(t))
	o.Leave()
	after := newServer(t)
	again := after.connected(ada, wish(auth.RoleOwner, key))
	defer again.Leave()
	known := after.links.door.visitors[v.ID]
	require.NotNil(t, known)
	require.False(t, known.pending)

	// The user said yes while the server was away.
	late := bytes.Repeat([]byte{7}, ed25519.PublicKeySize)
	again.Handle(&protocol.PageAdmit{KeyB64: late, Admit: true})
	require.Equal(t, 2, after.pages())
	again.Handle(&protocol.PageAdmit{KeyB64: bytes.Repeat([]byte{8}, ed25519.PublicKeySize)})
	require.Equal(t, 2, after.pages())
}

func TestAnOpenerThatStaysAway(t *testing.T) {
	s := newServer(t)
	s.links.away = time.Millisecond
	o := s.connected(ada, wish(auth.RoleViewer))
	s.enterPage(o.code(t))
	opening := o.link.opening
	o.Leave()
	fake.Receive(t, opening.Done(), "its end")
	require.ErrorIs(t, opening.Err(), errAway)
	require.Eventually(t, func() bool { return s.pages() == 0 }, fake.Soon, time.Millisecond)
}

func TestARevokedTokenEndsItsPages(t *testing.T) {
	s := newServer(t)
	eve := ada
	eve.TokenID = "t-eve"
	o, other, silent := s.connected(ada, wish(auth.RoleViewer)), s.connected(eve, wish(auth.RoleViewer)), s.links.Opener(ada, s.port)
	defer o.Leave()
	defer other.Leave()
	defer silent.Leave()
	_, v := s.enterPage(o.code(t))
	_, kept := s.enterPage(other.code(t))
	revoked := errors.New("revoked")
	s.links.CutInvalid(func(id string) bool { return id != ada.TokenID }, revoked)
	require.ErrorIs(t, waitOver(t, o), revoked)
	require.ErrorIs(t, waitOver(t, silent), revoked)
	fake.Receive(t, v.ctx.Done(), "the page's end")
	require.NoError(t, kept.ctx.Err())
}

func TestOpeningsAreBounded(t *testing.T) {
	s := newServer(t)
	for i := range maxOpeningsPerToken + 1 {
		o := s.links.Opener(ada, s.port)
		defer o.Leave()
		m := wish(auth.RoleViewer)
		m.Secret += strings.Repeat("x", i)
		o.Handle(m)
		if i == maxOpeningsPerToken {
			require.Equal(t, protocol.CodeBusy, nextMessage[*protocol.Error](t, o).Code)
			return
		}
		nextMessage[*protocol.PageOpened](t, o)
	}
}
