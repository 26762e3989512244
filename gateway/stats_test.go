package gateway

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
	"terminalproxy/protocol/fake"
)

// sample matches a line of Prometheus' text format 0.0.4: a name, labels, a number.
var sample = regexp.MustCompile(`^([a-z_]+)((?:\{[a-z]+="[^"\\]*"(?:,[a-z]+="[^"\\]*")*\})?) (\S+)$`)

// exposition reads metrics as Prometheus does: help, type and samples of a family stand together,
// and no sample comes twice.
func exposition(t *testing.T, text string) map[string]float64 {
	t.Helper()
	families, out := make(map[string]string), make(map[string]float64)
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, _, _ = strings.Cut(rest, " ")
			require.NotContains(t, families, name, "a family comes once")
			families[name] = ""
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "+name+" "); ok {
			require.Equal(t, strings.HasSuffix(name, "_total"), rest == "counter", line)
			families[name] = rest
			continue
		}
		part := sample.FindStringSubmatch(line)
		require.NotNil(t, part, line)
		require.NotEmpty(t, families[name], "%s: help and type come first", line)
		if families[name] == "histogram" {
			require.Contains(t, []string{name + "_bucket", name + "_sum", name + "_count"}, part[1])
		} else {
			require.Equal(t, name, part[1])
		}
		value, err := strconv.ParseFloat(part[3], 64)
		require.NoError(t, err, line)
		require.NotContains(t, out, part[1]+part[2])
		out[part[1]+part[2]] = value
	}
	return out
}

func screenRows(seq uint64, line string) *protocol.Rows {
	return &protocol.Rows{SessionID: "vim-1", Seq: seq, Rev: seq, Cols: 10, Rows: 1, Lines: []string{line}, State: &protocol.ViewState{}}
}

func TestMetricsOfViewersAndFrames(t *testing.T) {
	addr, tokens, _ := tcp(t, Config{})
	operator := bearer(addr, tokens[auth.RoleViewer]).plain(t)
	metrics := func() map[string]float64 {
		return exposition(t, operator.mustAnswer(http.StatusOK, "GET", "/metrics", ""))
	}
	becomes := func(name string, n float64) {
		t.Helper()
		require.Eventually(t, func() bool { return metrics()[name] == n }, fake.Soon, fake.Soon/1000, "%s is never %v", name, n)
	}
	require.Zero(t, metrics()["terminalproxy_frames_sent_total"])

	proxy := bearer(addr, tokens[auth.RoleProxy]).mustConnect(t, protocol.PathProxy)
	open := fake.Opening("vim-1")
	message(t, proxy, open)
	becomes(`terminalproxy_sessions{state="running"}`, 1)
	viewer := bearer(addr, tokens[auth.RoleViewer]).mustConnect(t, protocol.PathView)
	message(t, viewer, &protocol.View{RequestID: "v", SessionID: "vim-1"})
	hear[*protocol.View](t, proxy)
	message(t, proxy, screenRows(1, "one"))
	becomes("terminalproxy_frames_sent_total", 1)
	require.InDelta(t, 1, metrics()["terminalproxy_viewers"], 0)
	require.InDelta(t, 1, metrics()["terminalproxy_frames_unacknowledged"], 0)

	message(t, proxy, screenRows(2, "two")) // the viewer never gets this one
	message(t, proxy, screenRows(3, "three"))
	becomes(`terminalproxy_dropped_total{kind="frame"}`, 1)
	hear[*protocol.Done](t, viewer)
	hear[*protocol.Rows](t, viewer)
	message(t, viewer, &protocol.Ack{SessionID: "vim-1", Seq: 1})
	require.EqualValues(t, 3, hear[*protocol.Rows](t, viewer).Seq)
	message(t, viewer, &protocol.Ack{SessionID: "vim-1", Seq: 3})
	becomes("terminalproxy_frames_unacknowledged", 0)
	now := metrics()
	require.InDelta(t, 2, now["terminalproxy_frames_sent_total"], 0)
	require.InDelta(t, 7, now["terminalproxy_messages_received_total"], 0, "three of the viewer, four of the proxy")
	require.InDelta(t, 5, now["terminalproxy_messages_sent_total"], 0, "three to the viewer, two to the proxy")
	require.Greater(t, now["terminalproxy_received_bytes_total"], float64(len(`{"type":"terminal.rows"}`)))
	require.Greater(t, now["terminalproxy_sent_bytes_total"], float64(len(`{"type":"terminal.rows"}`)))

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

func TestMetricsOfPages(t *testing.T) {
	s := newSite(t, nil)
	v := s.enterPage(s.connectOpener(s.tokens[auth.RoleViewer], auth.RoleViewer))
	metric := func(name string) float64 {
		status, got := s.request("GET", "/metrics", "", "Authorization", "Bearer "+s.tokens[auth.RoleViewer])
		require.Equal(t, http.StatusOK, status, got)
		return exposition(t, got)["terminalproxy_"+name]
	}
	require.Zero(t, metric("pages"), "it came in and has no connection")
	conn := v.enter()
	require.InDelta(t, 1, metric("pages"), 0)
	require.Zero(t, metric("page_refusals_total"))
	status, _ := s.request("POST", "/v1/tickets", `{"page":"p-none","at":1,"signature":"00"}`)
	require.NotEqual(t, http.StatusOK, status)
	require.InDelta(t, 1, metric("page_refusals_total"), 0)
	status, _ = s.request("POST", "/v1/page/enter", `{"code":"guess","key":"`+strings.Repeat("0", 64)+`"}`)
	require.Equal(t, http.StatusForbidden, status)
	require.InDelta(t, 2, metric("page_refusals_total"), 0)
	other, _ := s.socket("/v1/page")
	require.NoError(t, other.WriteJSON(map[string]string{"type": "hello", "ticket": "stolen"}))
	_, _ = closed(t, other)
	require.InDelta(t, 3, metric("page_refusals_total"), 0)
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool { return metric("pages") == 0 }, fake.Soon, fake.Soon/1000)
}
