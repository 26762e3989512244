package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func readURI(t *testing.T, s *mcp.ClientSession, uri string) string {
	t.Helper()
	got, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
	require.NoError(t, err)
	require.Len(t, got.Contents, 1)
	require.Equal(t, uri, got.Contents[0].URI)
	require.Equal(t, "text/plain", got.Contents[0].MIMEType)
	return got.Contents[0].Text
}

// A resource is read in the words of the corresponding tool, and in its fence (SAFETY R44).
func TestResourcesAreReadLikeTheToolsAnswersR44(t *testing.T) {
	inEachEra(t, func(t *testing.T, era string) {
		f := newFake()
		f.read = func(m *protocol.Read) (*protocol.ReadResult, error) {
			return &protocol.ReadResult{Frame: &f.frame, Text: map[bool]string{true: "older"}[m.Scrollback > 0]}, nil
		}
		s := connect(t, f, era, nil)
		for uri, of := range map[string]struct {
			tool string
			args args
		}{
			"terminal://sessions":         {"terminal_list", nil},
			"terminal://vim-k3f9/screen":  {"terminal_read", args{"view": "screen"}},
			"terminal://vim-k3f9/history": {"terminal_read", args{"view": "history"}},
		} {
			want, isError := call(t, s, of.tool, of.args)
			require.False(t, isError)
			require.Equal(t, want, readURI(t, s, uri), uri)
		}
		require.Contains(t, readURI(t, s, "terminal://vim-k3f9/screen"), "<<<m4rk untrusted\nmilk")
		list, err := s.ListResources(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, list.Resources, 1)
		templates, err := s.ListResourceTemplates(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, templates.ResourceTemplates, 2)
	})
}

func TestAnUnknownResourceIsNotFound(t *testing.T) {
	f := newFake()
	s := connect(t, f, eras[2], nil)
	for _, uri := range []string{
		"terminal://nope/screen", "terminal://vim-k3f9/nope", "terminal://vim-k3f9", "terminal://", "file:///etc/passwd", "terminal://vim-k3f9/screen/x", "terminal://a%20b/screen",
	} {
		_, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		wire, ok := errors.AsType[*jsonrpc.Error](err)
		require.True(t, ok, "%s: %v", uri, err)
		require.EqualValues(t, jsonrpc.CodeInvalidParams, wire.Code, uri)
	}
	f.read = func(*protocol.Read) (*protocol.ReadResult, error) {
		return nil, &protocol.Error{Code: protocol.CodeBlackout, Message: "the user hides the screen"}
	}
	_, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "terminal://vim-k3f9/screen"})
	require.ErrorContains(t, err, "the user hides the screen")
	legacy := connect(t, f, eras[1], nil)
	require.Error(t, legacy.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "terminal://nope/screen"}))
	require.NotContains(t, f.said, "subscribe nope every 200ms")
}

// watched makes a client that counts notes.
func watched(t *testing.T, f *fake, era string) (*mcp.ClientSession, chan string) {
	notes := make(chan string, 1000)
	s := connect(t, f, era, &mcp.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
		notes <- r.Params.URI
	}})
	return s, notes
}

func TestSubscribersAreTold(t *testing.T) {
	inEachEra(t, func(t *testing.T, era string) {
		f := newFake()
		f.stream = make(chan protocol.Message)
		s, notes := watched(t, f, era)
		require.NoError(t, s.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "terminal://vim-k3f9/screen"}))
		f.stream <- &protocol.Snapshot{SessionID: "vim-k3f9"}
		require.Equal(t, "terminal://vim-k3f9/screen", <-notes)
		f.stream <- &protocol.ControlGrant{SessionID: "vim-k3f9"}
		require.Equal(t, "terminal://vim-k3f9/screen", <-notes)
		require.Contains(t, f.said, "subscribe vim-k3f9 every 200ms")
		close(f.stream)
		require.Equal(t, "terminal://vim-k3f9/screen", <-notes, "its end is news, too")
	})
}

func TestTheListOfTerminalsIsWatched(t *testing.T) {
	inEachEra(t, func(t *testing.T, era string) {
		f := newFake()
		s, notes := watched(t, f, era)
		require.NoError(t, s.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "terminal://sessions"}))
		f.mu.Lock()
		looked := f.looks
		f.mu.Unlock()
		require.Eventually(t, func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.looks > looked+2 }, 2*time.Minute, time.Millisecond)
		require.Empty(t, notes, "nothing changed")
		f.mu.Lock()
		f.sessions = append(f.sessions, info("less-1"))
		f.mu.Unlock()
		require.Equal(t, "terminal://sessions", <-notes)
	})
}

func TestAWatchEndsWithItsLastSubscriber(t *testing.T) {
	f := newFake()
	f.stream = make(chan protocol.Message)
	server := New(Config{Terminals: f})
	open := func() (client *mcp.ClientSession, served chan error) {
		near, far := mcp.NewInMemoryTransports()
		served = make(chan error, 1)
		go func() { served <- server.mcp.Run(context.Background(), far) }() // ends with its client
		c, err := mcp.NewClient(&mcp.Implementation{Name: "c"}, nil).Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: eras[1]})
		require.NoError(t, err)
		return c, served
	}
	watching := func() int {
		server.watches.mu.Lock()
		defer server.watches.mu.Unlock()
		return len(server.watches.open)
	}
	one, oneServed := open()
	two, twoServed := open()
	const screen, history = "terminal://vim-k3f9/screen", "terminal://vim-k3f9/history"
	for _, c := range []*mcp.ClientSession{one, two} {
		require.NoError(t, c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: screen}))
	}
	require.NoError(t, one.Subscribe(t.Context(), &mcp.SubscribeParams{URI: history}))
	require.Equal(t, 2, watching())
	require.NoError(t, one.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: history}))
	require.Equal(t, 1, watching())
	require.NoError(t, one.Close())
	require.NoError(t, <-oneServed)
	require.Equal(t, 1, watching(), "the other one watches on")
	require.NoError(t, two.Close())
	require.NoError(t, <-twoServed)
	server.watches.stopAll()
	require.Zero(t, watching())
	require.Empty(t, server.watches.awaited)
}

func TestWatchesAreBounded(t *testing.T) {
	f := newFake()
	f.sessions = nil
	for i := range maxWatches + 1 {
		f.sessions = append(f.sessions, info("vim-"+string(rune('A'+i/26))+string(rune('a'+i%26))))
	}
	s := connect(t, f, eras[1], nil)
	for i, at := range f.sessions {
		err := s.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "terminal://" + at.SessionID + "/screen"})
		if i < maxWatches {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "unsubscribe from some first")
	}
}

// A flood of changes is a note each 200 ms, and the last change is told.
func TestNotesAreAtMostFiveASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.stream = make(chan protocol.Message)
		server := New(Config{Terminals: f})
		near, far := mcp.NewInMemoryTransports()
		served := make(chan error, 1)
		go func() { served <- server.serveTransport(context.Background(), far) }() // ends with its client
		var times []time.Time
		c, err := mcp.NewClient(&mcp.Implementation{Name: "c"}, &mcp.ClientOptions{
			ResourceUpdatedHandler: func(context.Context, *mcp.ResourceUpdatedNotificationRequest) { times = append(times, time.Now()) },
		}).Connect(t.Context(), near, &mcp.ClientSessionOptions{ProtocolVersion: eras[1]})
		require.NoError(t, err)
		require.NoError(t, c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "terminal://vim-k3f9/screen"}))
		began := time.Now()
		for range 500 { // more than four seconds
			f.stream <- &protocol.Snapshot{SessionID: "vim-k3f9"}
			time.Sleep(8 * time.Millisecond)
		}
		last := time.Now()
		time.Sleep(time.Second)
		synctest.Wait()
		require.Greater(t, len(times), 10)
		require.LessOrEqual(t, len(times), int(last.Sub(began)/noteEvery)+1)
		for i := 1; i < len(times); i++ {
			require.GreaterOrEqual(t, times[i].Sub(times[i-1]), noteEvery)
		}
		require.NoError(t, c.Close())
		require.NoError(t, <-served)
	})
}

func TestCapabilitiesSayWhatThereIs(t *testing.T) {
	got, err := json.Marshal(connect(t, newFake(), eras[1], nil).InitializeResult().Capabilities)
	require.NoError(t, err)
	require.JSONEq(t, `{"tools":{},"resources":{"subscribe":true}}`, string(got))
}
