package e2e_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"
)

// startTalk runs a coding agent in a terminal, and opens another terminal for an owner.
func startTalk(t *testing.T) (w *world, s, o *terminal, id string) {
	t.Helper()
	w = newWorld(t)
	s, o = w.terminal(80, 24), w.owner(140, 40)
	s.run("talker s.cast sh -c 'echo ready; cat'")
	s.wait("ready")
	return w, s, o, w.session()
}

// askForPermission lets the owner tell the coding agent to ask for permission, and returns when it
// has asked.
func (o *terminal) askForPermission(id string, more ...string) {
	o.w.t.Helper()
	_, status := o.runToEnd("gateway chat send " + id + " ask " + strings.Join(more, " "))
	require.Zero(o.w.t, status)
	o.w.waitForChat(id, protocol.ChatApproval, more...)
}

// waitForChat waits for a state of the conversation.
func (w *world) waitForChat(id, state string, more ...string) {
	w.t.Helper()
	got := ""
	w.until(func() bool {
		got = ""
		for _, s := range w.sessions(more...) {
			if s.SessionID == id && s.Chat != nil {
				got = s.Chat.State
			}
		}
		return got == state
	}, func() string { return "it is " + got + " and not " + state })
}

// One of several answers counts, and the others are told whose.
func TestACodingAgentIsAnsweredOnce(t *testing.T) {
	w, s, o, id := startTalk(t)
	o.askForPermission(id)
	require.Contains(t, w.mustGateway("chat", "log", id), "May the coding agent use Bash?\n  │ command: make test\n  1  allow once\n  2  refuse\n  request t1")
	o.run("gateway chat answer " + id + " once")
	o.wait("allow once? [y/N]")
	first, second := w.prepare("gateway", "chat", "answer", id, "t1", "refuse", "--words", "first"), w.prepare("gateway", "chat", "answer", id, "t1", "refuse", "--words", "second")
	first.run()
	second.run()
	one, other, words := first.wait(), second.wait(), "first"
	if one.status != 0 {
		one, other, words = other, one, "second"
	}
	require.Zero(t, one.status, one.err)
	require.Equal(t, 1, other.status)
	require.Contains(t, other.err, "already answered by ")
	o.typed("y\n")
	o.wait("already answered by ")
	require.Equal(t, 1, o.status())
	w.waitForChat(id, protocol.ChatAtPrompt)
	log := w.mustGateway("chat", "log", id)
	require.Contains(t, log, "t1 did not run "+words)
	require.Contains(t, log, "· t1 refused by ")
	w.gateway("chat", "answer", id, "t1", "once").mustFail(t, 1, "chat answer: t1: already answered by ") // before it asks a person
	w.gateway("chat", "answer", id, "t9", "once").mustFail(t, 1, `no open request "t9"`)

	o.askForPermission(id)
	o.run("gateway chat answer " + id + " once")
	o.wait("allow once? [y/N]")
	o.typed("y\n")
	o.wait("answered")
	require.Zero(t, o.status())
	w.waitForChat(id, protocol.ChatAtPrompt)
	require.Contains(t, w.mustGateway("chat", "log", id), "· t2 allowed (once) by owner")
	s.press("C-d")
	require.Zero(t, s.status())
	require.Contains(t, w.mustGateway("audit", "show", "s.cast"), "owner answers t2: allowed, once")
}

// An agent cannot answer a coding agent, and neither can a process of the user's that claims to be
// a person.
func TestNoAgentAnswersACodingAgent(t *testing.T) {
	w, s, o, id := startTalk(t)
	o.askForPermission(id)
	ep, err := endpoint.Parse("unix:" + w.run() + "/gateway.sock")
	require.NoError(t, err)
	for _, path := range []string{protocol.PathAgent, protocol.PathView} {
		c := client.New(client.Config{Dial: ep.DialContext, URL: ep.URL(path), Header: ep.Header()})
		err = c.Answer(w.ctx, &protocol.ChatAnswer{SessionID: id, By: "the owner", Request: "t1", Answer: protocol.ChatReply{Verdict: protocol.ChatOnce}})
		require.ErrorContains(t, err, map[string]string{protocol.PathAgent: "role agent may not send chat.answer", protocol.PathView: "an owner who signs it"}[path])
		_, err = c.SendChat(w.ctx, &protocol.ChatSend{SessionID: id, By: "the owner", Text: "go on"})
		require.Error(t, err)
		require.NoError(t, c.Close())
	}
	got := w.gateway("chat", "answer", id, "once")
	got.mustFail(t, 4, "not a terminal")
	w.waitForChat(id, protocol.ChatApproval)
	require.Contains(t, w.mustGateway("chat", "answer", id, "refuse"), "answered")
	s.press("C-d")
	require.Zero(t, s.status())
	audit := w.mustGateway("audit", "show", "s.cast")
	require.NotContains(t, audit, "allowed")
	require.NotContains(t, audit, "go on")
}

// An agent needs a grant to prompt a coding agent, and its prompts carry its name.
func TestAnAgentPromptsACodingAgent(t *testing.T) {
	w, s, _, id := startTalk(t)
	ep, err := endpoint.Parse("unix:" + w.run() + "/gateway.sock")
	require.NoError(t, err)
	c := client.New(client.Config{Dial: ep.DialContext, URL: ep.URL(protocol.PathAgent), Header: ep.Header(), Name: "codex"})
	defer func() { _ = c.Close() }()
	hello := func() error {
		_, err := c.SendChat(w.ctx, &protocol.ChatSend{SessionID: id, Text: "hello"})
		return err
	}
	require.ErrorContains(t, hello(), "ask for control with level drive")
	granted := make(chan error, 1)
	go func() { // ends with the answer
		_, _, err := c.Request(w.ctx, &protocol.ControlRequest{SessionID: id, Level: protocol.LevelDrive, Why: "to talk"})
		granted <- err
	}()
	s.answer("C-g")
	require.NoError(t, <-granted)
	require.NoError(t, hello())
	a := w.agent("claude", eras[1])
	w.until(func() bool {
		return strings.Contains(a.mustCall("terminal_read", args{"terminal": id, "view": "chat"}, "scripted"), "agent codex: hello\nscripted: you said: hello")
	}, func() string { return w.mustGateway("chat", "log", id) })
	s.press(`C-\`)
	w.until(func() bool { return hello() != nil }, func() string { return "it still talks" })
	require.ErrorContains(t, hello(), "you do not have the keyboard")
	s.press("C-d")
	require.Zero(t, s.status())
	require.Contains(t, w.mustGateway("audit", "show", "s.cast"), "codex says to the coding agent: hello")
}

// A hidden conversation stays unread while it is hidden, and what was said then stays unread
// afterwards.
func TestAHiddenConversationLeaksNothing(t *testing.T) {
	w, s, o, id := startTalk(t)
	_, status := o.runToEnd("gateway chat send " + id + " before")
	require.Zero(t, status)
	follows := w.start("gateway", "chat", "log", id, "--follow")
	w.until(func() bool { return strings.Contains(follows.out.String(), "you said: before") }, follows.err.String)
	w.mustGateway("hide", id)
	o.run("gateway chat send " + id + " meanwhile")
	o.wait("the screen is hidden")
	require.Equal(t, 1, o.status())
	got := w.gateway("chat", "log", id)
	got.mustFail(t, 1, "hides")
	require.Empty(t, got.out)
	require.Nil(t, w.sessions()[0].Chat)
	o.run("gateway hide --off " + id)
	o.wait("[y/N]")
	o.typed("y\n")
	require.Zero(t, o.status())
	_, status = o.runToEnd("gateway chat send " + id + " after")
	require.Zero(t, status)
	w.until(func() bool { return strings.Contains(follows.out.String(), "you said: after") }, follows.err.String)
	require.NotContains(t, follows.out.String(), "meanwhile")
	s.press("C-d")
	require.Zero(t, s.status())
	require.Zero(t, follows.wait().status)
}

// The approval stays open without a gateway, and is answered once through the next one. A follower
// misses nothing and reads nothing twice.
func TestAnApprovalOutlivesItsGateway(t *testing.T) {
	w := newWorld(t)
	first := w.serve("gateway")
	proxyToken, ownerToken := w.token("p", "proxy"), w.token("o", "owner")
	s, o := w.terminal(80, 24), w.terminal(140, 40)
	s.run("PROXY_TOKEN_FILE=" + proxyToken + " PROXY_GATEWAY=" + first.url + ` talker "" sh -c 'echo ready; cat'`)
	s.wait("ready")
	at := []string{"--gateway", first.url, "--token-file", ownerToken}
	id := w.session(at...)
	o.askForPermission(id, at...)
	follows := w.start("gateway", append([]string{"chat", "log", id, "--follow", "--json"}, at...)...)
	w.until(func() bool { return strings.Contains(follows.out.String(), `"id":"t1"`) }, follows.err.String)
	require.NoError(t, first.cmd.Process.Kill())
	first.wait()
	again := w.serve("gateway", "--listen", strings.TrimPrefix(first.url, "ws://"))
	require.Equal(t, first.url, again.url)
	w.waitForChat(id, protocol.ChatApproval, at...)
	o.run("gateway chat answer " + id + " once " + strings.Join(at, " "))
	o.wait("allow once? [y/N]")
	o.typed("y\n")
	require.Zero(t, o.status())
	w.until(func() bool { return strings.Contains(follows.out.String(), "t1 ran") }, follows.err.String)
	s.press("C-d")
	require.Zero(t, s.status())
	require.Zero(t, follows.wait().status)
	number := uint64(0)
	for line := range strings.Lines(follows.out.String()) {
		var r chat.Record
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		require.Equal(t, number+1, r.Number, "each once, in their order: %s", line)
		number = r.Number
	}
	require.NoError(t, again.cmd.Process.Signal(syscall.SIGTERM))
}
