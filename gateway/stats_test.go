package gateway

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

func screenRows(seq uint64, line string) *protocol.Rows {
	return &protocol.Rows{SessionID: "vim-1", Seq: seq, Rev: seq, Cols: 10, Rows: 1, Lines: []string{line}, State: &protocol.ViewState{}}
}

func TestMetricsOfViewersAndFrames(t *testing.T) {
	addr, tokens, _ := tcp(t, Config{})
	operator := bearer(addr, tokens[auth.RoleViewer]).plain(t)
	metric := func(name string) float64 { return operator.metric(name) }
	becomes := func(name string, n float64) {
		t.Helper()
		require.Eventually(t, func() bool { return metric(name) == n }, fake.Soon, fake.Soon/1000, "%s is never %v", name, n)
	}
	require.Zero(t, metric("terminalproxy_frames_sent_total"))

	proxy := bearer(addr, tokens[auth.RoleProxy]).mustConnect(t, protocol.PathProxy)
	open := fake.Opening("vim-1")
	message(t, proxy, open)
	becomes(`terminalproxy_sessions{state="running"}`, 1)
	viewer := bearer(addr, tokens[auth.RoleViewer]).mustConnect(t, protocol.PathView)
	message(t, viewer, &protocol.View{RequestID: "v", SessionID: "vim-1"})
	hear[*protocol.View](t, proxy)
	message(t, proxy, screenRows(1, "one"))
	becomes("terminalproxy_frames_sent_total", 1)
	require.InDelta(t, 1, metric("terminalproxy_viewers"), 0)
	require.InDelta(t, 1, metric("terminalproxy_frames_unacknowledged"), 0)

	message(t, proxy, screenRows(2, "two")) // the viewer never gets this one
	message(t, proxy, screenRows(3, "three"))
	becomes(`terminalproxy_dropped_total{kind="frame"}`, 1)
	hear[*protocol.Done](t, viewer)
	hear[*protocol.Rows](t, viewer)
	message(t, viewer, &protocol.Ack{SessionID: "vim-1", Seq: 1})
	require.EqualValues(t, 3, hear[*protocol.Rows](t, viewer).Seq)
	message(t, viewer, &protocol.Ack{SessionID: "vim-1", Seq: 3})
	becomes("terminalproxy_frames_unacknowledged", 0)
	require.InDelta(t, 2, metric("terminalproxy_frames_sent_total"), 0)
	require.InDelta(t, 7, metric("terminalproxy_messages_received_total"), 0, "three of the viewer, four of the proxy")
	require.InDelta(t, 5, metric("terminalproxy_messages_sent_total"), 0, "three to the viewer, two to the proxy")
	require.Greater(t, metric("terminalproxy_received_bytes_total"), float64(len(`{"type":"terminal.rows"}`)))
	require.Greater(t, metric("terminalproxy_sent_bytes_total"), float64(len(`{"type":"terminal.rows"}`)))

	bearer(addr, "wrong").plain(t).mustAnswer(http.StatusUnauthorized, "GET", "/metrics", "")
	becomes("terminalproxy_tokens_refused_total", 1)
	require.NoError(t, viewer.Close())
	becomes("terminalproxy_viewers", 0)
}

// docs/remote.md explains every name for operators.
func TestMetricsAreDocumented(t *testing.T) {
	doc := documentation(t)
	for _, f := range New(Config{}).metricFamilies() {
		require.Contains(t, doc, fmt.Sprintf("`terminalproxy_%s", f.Name))
	}
}

func documentation(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/remote.md")
	require.NoError(t, err)
	return string(text)
}
