package chat_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/gateway/client"
	"terminalproxy/gateway/endpoint"
	"terminalproxy/protocol"
	"terminalproxy/proxy/chat"

	"github.com/stretchr/testify/require"
)

// askForPermission lets the owner tell the coding agent to ask for permission, and returns when it
// has asked.
func askForPermission(o *world.Terminal, id string, more ...string) {
	o.W.T.Helper()
	_, status := o.RunToEnd("gateway chat send " + id + " ask " + strings.Join(more, " "))
	require.Zero(o.W.T, status)
	o.W.WaitForChat(id, protocol.ChatApproval, more...)
}

// One of several answers counts, and the others are told whose.
func TestACodingAgentIsAnsweredOnce(t *testing.T) {
	w, s, o, id := world.StartTalk(t)
	askForPermission(o, id)
	require.Contains(t, w.MustGateway("chat", "log", id), "May the coding agent use Bash?\n  │ command: make test\n  1  allow once\n  2  refuse\n  request t1")
	o.Run("gateway chat answer " + id + " once")
	o.Wait("allow once? [y/N]")
	first, second := w.Prepare("gateway", "chat", "answer", id, "t1", "refuse", "--words", "first"), w.Prepare("gateway", "chat", "answer", id, "t1", "refuse", "--words", "second")
	first.Run()
	second.Run()
	one, other, words := first.Wait(), second.Wait(), "first"
	if one.Status != 0 {
		one, other, words = other, one, "second"
	}
	require.Zero(t, one.Status, one.Err)
	require.Equal(t, 1, other.Status)
	require.Contains(t, other.Err, "already answered by ")
	o.Typed("y\n")
	o.Wait("already answered by ")
	require.Equal(t, 1, o.Status())
	w.WaitForChat(id, protocol.ChatAtPrompt)
	log := w.MustGateway("chat", "log", id)
	require.Contains(t, log, "t1 did not run "+words)
	require.Contains(t, log, "· t1 refused by ")
	w.Gateway("chat", "answer", id, "t1", "once").MustFail(t, 1, "chat answer: t1: already answered by ") // before it asks a person
	w.Gateway("chat", "answer", id, "t9", "once").MustFail(t, 1, `no open request "t9"`)

	askForPermission(o, id)
	o.Run("gateway chat answer " + id + " once")
	o.Wait("allow once? [y/N]")
	o.Typed("y\n")
	o.Wait("answered")
	require.Zero(t, o.Status())
	w.WaitForChat(id, protocol.ChatAtPrompt)
	require.Contains(t, w.MustGateway("chat", "log", id), "· t2 allowed (once) by owner")
	s.Press("C-d")
	require.Zero(t, s.Status())
	require.Contains(t, w.MustGateway("audit", "show", "s.cast"), "owner answers t2: allowed, once")
}

// An agent cannot answer a coding agent, and neither can a process of the user's that claims to be
// a person.
func TestNoAgentAnswersACodingAgent(t *testing.T) {
	w, s, o, id := world.StartTalk(t)
	askForPermission(o, id)
	ep, err := endpoint.Parse("unix:" + w.Run() + "/gateway.sock")
	require.NoError(t, err)
	for _, path := range []string{protocol.PathAgent, protocol.PathView} {
		c := client.New(client.Config{Dial: ep.DialContext, URL: ep.URL(path), Header: ep.Header()})
		err = c.Answer(w.Ctx, &protocol.ChatAnswer{SessionID: id, By: "the owner", Request: "t1", Answer: protocol.ChatReply{Verdict: protocol.ChatOnce}})
		require.ErrorContains(t, err, map[string]string{protocol.PathAgent: "role agent may not send chat.answer", protocol.PathView: "an owner who signs it"}[path])
		_, err = c.SendChat(w.Ctx, &protocol.ChatSend{SessionID: id, By: "the owner", Text: "go on"})
		require.Error(t, err)
		require.NoError(t, c.Close())
	}
	got := w.Gateway("chat", "answer", id, "once")
	got.MustFail(t, 4, "not a terminal")
	w.WaitForChat(id, protocol.ChatApproval)
	require.Contains(t, w.MustGateway("chat", "answer", id, "refuse"), "answered")
	s.Press("C-d")
	require.Zero(t, s.Status())
	audit := w.MustGateway("audit", "show", "s.cast")
	require.NotContains(t, audit, "allowed")
	require.NotContains(t, audit, "go on")
}

// An agent needs a grant to prompt a coding agent, and its prompts carry its name.
func TestAnAgentPromptsACodingAgent(t *testing.T) {
	w, s, _, id := world.StartTalk(t)
	ep, err := endpoint.Parse("unix:" + w.Run() + "/gateway.sock")
	require.NoError(t, err)
	c := client.New(client.Config{Dial: ep.DialContext, URL: ep.URL(protocol.PathAgent), Header: ep.Header(), Name: "codex"})
	defer func() { _ = c.Close() }()
	hello := func() error {
		_, err := c.SendChat(w.Ctx, &protocol.ChatSend{SessionID: id, Text: "hello"})
		return err
	}
	require.ErrorContains(t, hello(), "ask for control with level drive")
	granted := make(chan error, 1)
	go func() { // ends with the answer
		_, _, err := c.Request(w.Ctx, &protocol.ControlRequest{SessionID: id, Level: protocol.LevelDrive, Why: "to talk"})
		granted <- err
	}()
	s.Answer("C-g")
	require.NoError(t, <-granted)
	require.NoError(t, hello())
	a := w.Agent("claude", world.Eras[1])
	w.Until(func() bool {
		return strings.Contains(a.MustCall("terminal_read", world.Args{"terminal": id, "view": "chat"}, "scripted"), "agent codex: hello\nscripted: you said: hello")
	}, func() string { return w.MustGateway("chat", "log", id) })
	s.Press(`C-\`)
	w.Until(func() bool { return hello() != nil }, func() string { return "it still talks" })
	require.ErrorContains(t, hello(), "you do not have the keyboard")
	s.Press("C-d")
	require.Zero(t, s.Status())
	require.Contains(t, w.MustGateway("audit", "show", "s.cast"), "codex says to the coding agent: hello")
}

// A hidden conversation stays unread while it is hidden, and what was said then stays unread
// afterwards.
func TestAHiddenConversationLeaksNothing(t *testing.T) {
	w, s, o, id := world.StartTalk(t)
	_, status := o.RunToEnd("gateway chat send " + id + " before")
	require.Zero(t, status)
	follows := w.Start("gateway", "chat", "log", id, "--follow")
	w.Until(func() bool { return strings.Contains(follows.Out.String(), "you said: before") }, follows.Err.String)
	w.MustGateway("hide", id)
	o.Run("gateway chat send " + id + " meanwhile")
	o.Wait("the screen is hidden")
	require.Equal(t, 1, o.Status())
	got := w.Gateway("chat", "log", id)
	got.MustFail(t, 1, "hides")
	require.Empty(t, got.Out)
	w.Until(func() bool { return w.Sessions()[0].Chat == nil }, func() string { return w.MustGateway("ls", "--json") })
	o.Run("gateway hide --off " + id)
	o.Wait("[y/N]")
	o.Typed("y\n")
	require.Zero(t, o.Status())
	_, status = o.RunToEnd("gateway chat send " + id + " after")
	require.Zero(t, status)
	w.Until(func() bool { return strings.Contains(follows.Out.String(), "you said: after") }, follows.Err.String)
	require.NotContains(t, follows.Out.String(), "meanwhile")
	s.Press("C-d")
	require.Zero(t, s.Status())
	require.Zero(t, follows.Wait().Status)
}

// The approval stays open without a gateway, and is answered once through the next one. A follower
// misses nothing and reads nothing twice.
func TestAnApprovalOutlivesItsGateway(t *testing.T) {
	w := world.New(t)
	first := w.Serve("gateway")
	proxyToken, ownerToken := w.Token("p", "proxy"), w.Token("o", "owner")
	s, o := w.Terminal(80, 24), w.Terminal(140, 40)
	s.Run("PROXY_TOKEN_FILE=" + proxyToken + " PROXY_GATEWAY=" + first.URL + ` talker "" sh -c 'echo ready; cat'`)
	s.Wait("ready")
	at := []string{"--gateway", first.URL, "--token-file", ownerToken}
	id := w.Session(at...)
	askForPermission(o, id, at...)
	follows := w.Start("gateway", append([]string{"chat", "log", id, "--follow", "--json"}, at...)...)
	w.Until(func() bool { return strings.Contains(follows.Out.String(), `"id":"t1"`) }, follows.Err.String)
	require.NoError(t, first.Cmd.Process.Kill())
	first.Wait()
	again := w.Serve("gateway", "--listen", strings.TrimPrefix(first.URL, "ws://"))
	require.Equal(t, first.URL, again.URL)
	w.WaitForChat(id, protocol.ChatApproval, at...)
	o.Run("gateway chat answer " + id + " once " + strings.Join(at, " "))
	o.Wait("allow once? [y/N]")
	o.Typed("y\n")
	require.Zero(t, o.Status())
	w.Until(func() bool { return strings.Contains(follows.Out.String(), "t1 ran") }, follows.Err.String)
	s.Press("C-d")
	require.Zero(t, s.Status())
	require.Zero(t, follows.Wait().Status)
	number := uint64(0)
	for line := range strings.Lines(follows.Out.String()) {
		var r chat.Record
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		require.Equal(t, number+1, r.Number, "each once, in their order: %s", line)
		number = r.Number
	}
	require.NoError(t, again.Cmd.Process.Signal(syscall.SIGTERM))
}
