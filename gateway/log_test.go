package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// written collects what a log wrote.
type written struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// secret is part of every text that a program, a user, an agent or a proxy words.
const secret = "MARKER-5e54"

// wordy is a proxy that puts the secret into all of its texts.
func wordy(t *testing.T, d address, id string) {
	t.Helper()
	ws := d.mustConnect(t, protocol.PathProxy)
	open := fake.Opening(id)
	open.Name, open.Command, open.Args, open.Cwd, open.ResumeKey = secret, secret, []string{secret}, "/"+secret, secret
	message(t, ws, open)
	first := fake.Snapshot(id, 1, secret)
	first.Screen.Title, first.Directory = secret, secret
	message(t, ws, first)
	done := make(chan struct{})
	t.Cleanup(func() { _ = ws.Close(); <-done })
	go func() { // ends with the socket
		defer close(done)
		_ = fake.Conn{Conn: ws}.Answer(func(m protocol.Message) protocol.Message {
			if input, ok := m.(*protocol.Input); ok {
				return &protocol.Error{RequestID: input.RequestID, Code: protocol.CodeNotReading, Message: secret, Field: "data"}
			}
			return (&fake.Proxy{}).Reply(m)
		})
	}()
}

// lines returns the decoded lines of the log that have a message.
func lines(t *testing.T, log, message string) (out []map[string]any) {
	t.Helper()
	for line := range strings.Lines(log) {
		var l map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &l), line)
		if l["msg"] == message {
			out = append(out, l)
		}
	}
	return out
}

func TestALogHoldsNoContent(t *testing.T) {
	var out written
	log := NewLog(&out, true, slog.LevelDebug)
	addr, tokens, _ := tcp(t, Config{Log: log.Logger})
	t.Cleanup(log.Close)
	as := func(role auth.Role) address {
		d := bearer(addr, tokens[role])
		d.header.Set("Terminal-Agent-Name", secret)
		return d
	}
	wordy(t, as(auth.RoleProxy), "vim-1")
	agent, owner := as(auth.RoleAgent).plain(t), as(auth.RoleOwner).plain(t)
	require.Eventually(t, func() bool { status, _ := agent.do("GET", at+"screen", ""); return status == http.StatusOK }, fake.Soon, fake.Soon/1000)

	agent.mustAnswer(http.StatusOK, "POST", at+"control/request", `{"level":"drive","reason":"`+secret+`"}`)
	agent.mustAnswer(http.StatusOK, "POST", at+"message", `{"text":"`+secret+`"}`)
	agent.mustAnswer(http.StatusOK, "POST", at+"wait", `{"until":{"text":"`+secret+`"}}`)
	require.Contains(t, agent.mustAnswer(http.StatusConflict, "POST", at+"input", `{"data":"`+secret+`","kind":"text"}`), secret, "who asked is told")
	agent.mustAnswer(http.StatusBadRequest, "POST", at+"input", `{"data":"x","kind":"`+secret+`"}`)
	agent.mustAnswer(http.StatusNotFound, "GET", "/v1/sessions/"+secret+"/screen", "")
	owner.mustAnswer(http.StatusOK, "POST", at+"message", `{"text":"`+secret+`"}`)
	bearer(addr, secret).plain(t).mustAnswer(http.StatusUnauthorized, "GET", "/v1/sessions/"+secret+"/screen", "")
	agent.mustAnswer(http.StatusOK, "POST", at+"control/release", `{"note":"`+secret+`"}`)

	viewer := as(auth.RoleViewer).mustConnect(t, protocol.PathView)
	require.NoError(t, viewer.WriteMessage(websocket.TextMessage, []byte(`{"type":"`+secret+`"}`)))
	require.Equal(t, protocol.CodeBadMessage, hear[*protocol.Error](t, viewer).Code)
	message(t, viewer, &protocol.Input{RequestID: "1", SessionID: "vim-1", Data: secret, Epoch: 1})
	require.Equal(t, websocket.ClosePolicyViolation, closeCodeOf(t, viewer))
	leaves := as(auth.RoleAgent).mustConnect(t, protocol.PathAgent)
	require.NoError(t, leaves.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, secret), time.Now().Add(fake.Soon)))
	require.Equal(t, 1000, closeCodeOf(t, leaves))

	wanted := []string{"joined", "left", "session opened", "control requested", "control given", "refused", "connection ended"}
	require.Eventually(t, func() bool {
		return len(lines(t, out.String(), "connection ended")) == 2 && len(lines(t, out.String(), "left")) >= 2
	}, fake.Soon, fake.Soon/1000, &out)
	for _, message := range wanted {
		require.NotEmpty(t, lines(t, out.String(), message), message)
	}
	require.NotContains(t, out.String(), secret)
	require.NotContains(t, out.String(), tokens[auth.RoleAgent])
	codes := fmt.Sprint(lines(t, out.String(), "refused"))
	for _, part := range []string{"code:program_not_reading", "code:no_such_session", "code:forbidden", "token:the-agent", "role:viewer", "type:terminal.input", "session:vim-1", "route:GET /v1/sessions/{id}/screen"} {
		require.Contains(t, codes, part)
	}
}

func TestErrorsThatPeersWordedAreNamedByTheirCodes(t *testing.T) {
	var out written
	log := NewLog(&out, false, slog.LevelInfo)
	for _, err := range []error{
		&protocol.Error{Code: protocol.CodeBusy, Message: secret},
		fmt.Errorf("stream: %w", &protocol.FieldError{Code: protocol.CodeTooLarge, Field: "data", Say: secret}),
		&websocket.CloseError{Code: 4000, Text: secret},
		errors.New("disk full"),
	} {
		log.Info("x", "error", err)
	}
	log.Close()
	require.NotContains(t, out.String(), secret)
	for _, part := range []string{`error="refused: busy"`, `error="too_large in the field \"data\""`, `error="closed with code 4000"`, `error="disk full"`} {
		require.Contains(t, out.String(), part)
	}
}

// A full log delays no request.
func TestAFullLogLosesLinesAndSaysSo(t *testing.T) {
	r, w := io.Pipe()
	log := NewLog(w, true, slog.LevelInfo)
	for range 2 * logLines {
		log.Info("line") // would wait for ever
	}
	var out written
	read := make(chan struct{})
	go func() { defer close(read); _, _ = io.Copy(&out, r) }() // ends with the pipe
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "left out") }, fake.Soon, fake.Soon/1000)
	log.Close()
	log.Info("late")
	require.NoError(t, w.Close())
	<-read
	kept := len(lines(t, out.String(), "line"))
	require.InDelta(t, logLines, kept, 2)
	require.InDelta(t, 2*logLines-kept, lines(t, out.String(), "lines of this log were left out: they were not read in time")[0]["lines"], 0)
	require.NotContains(t, out.String(), "late")
}
