package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/metrics"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// caller is a scripted switchboard.
type caller struct {
	role   string
	answer func(context.Context, protocol.Message) (protocol.Message, error)
	stream chan protocol.Message // nil refuses to subscribe
	ended  chan struct{}
	done   int
}

func (v *caller) Role() string           { return v.role }
func (v *caller) NextID() string         { return "made-up" }
func (v *caller) Ended() <-chan struct{} { return v.ended }
func (v *caller) FinishRequest()         { v.done++ }
func (v *caller) Stream(ctx context.Context, m *protocol.SessionsSubscribe) (<-chan protocol.Message, error) {
	if v.stream == nil {
		_, err := v.answer(ctx, m)
		return nil, err
	}
	return fake.Relay(ctx, v.stream), nil
}

func (v *caller) Records(ctx context.Context, sessionID string, after uint64) ([]protocol.ChatRecord, uint64, error) {
	got, err := v.answer(ctx, &protocol.ChatSubscribe{SessionID: sessionID, After: after})
	if err != nil {
		return nil, 0, err
	}
	all := got.(*protocol.ChatRecords) //nolint:forcetypeassert // a test's own
	return all.Records, all.Lost, nil
}

func (v *caller) Call(ctx context.Context, m protocol.Message) (protocol.Message, error) {
	return v.answer(ctx, m)
}

func frame() *protocol.Frame {
	return &protocol.Frame{
		Seq: 7, Keyboard: protocol.Keyboard{Holder: protocol.HolderUser, Asking: "clàude\r\nX: y"}, Settled: true,
		Screen:   protocol.Screen{Cols: 20, Rows: 3, Lines: []string{"\x1b[31mred\x1b[0m <b>", "two ", ""}, Cursor: protocol.Cursor{Row: 1, Col: 2, Visible: true}},
		Activity: &protocol.Activity{State: "waiting", Evidence: []string{"tty-read"}},
	}
}

// plain answers every request with a success.
func plain(_ context.Context, m protocol.Message) (protocol.Message, error) {
	id := protocol.RequestID(m)
	switch m := m.(type) {
	case *protocol.SessionsList:
		return &protocol.SessionsListResult{RequestID: id, Sessions: []protocol.SessionInfo{{
			SessionID: "vim-1", Command: "vim", Args: []string{}, Cols: 20, Rows: 3, State: protocol.StateRunning, Keyboard: protocol.Keyboard{Holder: protocol.HolderUser},
		}}}, nil
	case *protocol.Read:
		r := &protocol.ReadResult{ID: "r", RequestID: id, SessionID: m.SessionID, Frame: frame()}
		if !m.Attributes {
			r.Frame.Screen.Lines[0] = "red <b>"
		}
		if m.Scrollback > 0 {
			r.Text = "older\x1b]0;evil\a row\n"
		}
		if m.Command > 0 {
			r.Text, r.FirstLine, r.NextLine = "cc a.c\ncc b.c", 70, 72
			r.Command = &protocol.Command{Line: fmt.Sprintf("make \"é\" %d", m.Command), Cwd: "/src", ExitCode: new(2), DurationMs: 3200, FirstLine: 60, NextLine: 72}
		}
		return r, nil
	case *protocol.Wait:
		return &protocol.WaitResult{ID: "w", RequestID: id, SessionID: m.SessionID, Met: true, Frame: frame()}, nil
	case *protocol.Input:
		return &protocol.InputResult{ID: "i", RequestID: id, SessionID: m.SessionID, Status: protocol.StatusWritten, WrittenBytes: len(m.Data), Frame: frame()}, nil
	case *protocol.ControlRequest:
		return &protocol.ControlGrant{ID: "g", RequestID: id, SessionID: m.SessionID, Level: m.Level, Epoch: 1}, nil
	case *protocol.ChatSubscribe:
		return &protocol.ChatRecords{SessionID: m.SessionID, Lost: 2, Records: []protocol.ChatRecord{
			{Number: m.After + 3, At: 5, Request: &protocol.ChatRequest{ID: "t1", Tool: "Bash", Input: []byte(`{"command":"make"}`), Allows: []protocol.ChatChoice{{Verdict: protocol.ChatOnce}}}},
		}}, nil
	case *protocol.ControlRelease, *protocol.ControlDecide, *protocol.Note, *protocol.ChatSend, *protocol.ChatAnswer, *protocol.ChatInterrupt:
		return &protocol.Done{RequestID: id}, nil
	}
	return nil, fmt.Errorf("unexpected %s", protocol.KindOf(m))
}

func refusing(code protocol.Code) func(context.Context, protocol.Message) (protocol.Message, error) {
	return func(context.Context, protocol.Message) (protocol.Message, error) {
		return nil, &protocol.Error{Code: code, Message: "no: " + string(code)}
	}
}

// served is the API on a real socket.
type served struct {
	t *testing.T
	*httptest.Server
	caller *caller
	cfg    Config
}

func serve(t *testing.T, v *caller) *served {
	t.Helper()
	s := &served{t: t, caller: v}
	s.cfg = Config{
		Version: "test", Heartbeat: time.Millisecond,
		Authenticate: func(r *http.Request, _ bool) (Caller, error) {
			if r.Header.Get("Authorization") == "" {
				return nil, &auth.Refusal{Status: http.StatusUnauthorized, Code: protocol.CodeUnauthorized, Say: "a token is wanted"}
			}
			return v, nil
		},
		Stats: func() []metrics.Family {
			return []metrics.Family{
				{Name: "sessions", Help: "Sessions.", Label: "state", Values: map[string]float64{"running": 2, "lost": 1}},
				{Name: "requests_waiting", Help: "Requests.", Value: 4},
				{Name: "sent_bytes_total", Help: "Bytes.", Value: 123456789},
			}
		},
		Draw: func(w io.Writer, format string, p protocol.Screen) error {
			_, err := fmt.Fprintf(w, "<%s %dx%d %q>", format, p.Cols, p.Rows, p.Lines[0])
			return err
		},
	}
	s.start()
	return s
}

func (s *served) start() {
	mux := http.NewServeMux()
	mux.Handle("/", New(s.cfg))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"ok","version":"x"}`)
	})
	s.Server = httptest.NewServer(mux)
	s.t.Cleanup(s.Close)
}

type answer struct {
	status int
	header http.Header
	body   string
}

func (s *served) do(method, path, body string, header ...string) answer {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(body))
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer x")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
		if value == "" {
			r.Header.Del(name)
		}
	}
	resp, err := s.Client().Do(r)
	require.NoError(s.t, err)
	got, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, resp.Body.Close())
	return answer{resp.StatusCode, resp.Header, string(got)}
}
