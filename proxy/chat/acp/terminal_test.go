package acp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat"
	"terminalproxy/proxy/chat/acp"
)

// places are terminals in which nothing runs: a killed program has ended.
type places struct {
	fails    error
	ran      chan acp.Command
	released chan string
}

func (p *places) Run(_ context.Context, conversation string, c acp.Command) (acp.Terminal, error) {
	if p.fails != nil {
		return nil, p.fails
	}
	p.ran <- c
	return &place{places: p, name: conversation + " " + c.Program, ended: make(chan struct{})}, nil
}

type place struct {
	*places
	name  string
	ended chan struct{}
}

func (p *place) Output(_ context.Context, most int) (string, bool, error) {
	return "output"[:min(most, 6)], most < 6, nil
}
func (p *place) Ended() <-chan struct{}     { return p.ended }
func (p *place) Exit() acp.Exit             { return acp.Exit{Signal: "TERM"} }
func (p *place) Kill(context.Context) error { close(p.ended); return nil }
func (p *place) Release()                   { p.released <- p.name }

func asksFor(id, method, params string) string {
	return `> {"jsonrpc":"2.0","id":"` + id + `","method":"terminal/` + method + `","params":{"sessionId":"s1"` + params + "}}\n" + `< "id":"` + id + `"` + "\n"
}

// What the agent runs in a terminal runs where we say, and all of it ends with the agent.
func TestTerminals(t *testing.T) {
	p := &places{ran: make(chan acp.Command, 8), released: make(chan string, 8)}
	const one = `,"terminalId":"terminal-1"`
	s := startWith(t, acp.Config{Terminals: p}, prompted+
		asksFor("a", "create", `,"command":"make","args":["all"],"cwd":"/tmp","env":[{"name":"A","value":"b"}],"outputByteLimit":4`)+
		asksFor("b", "output", one)+asksFor("c", "kill", one)+asksFor("d", "wait_for_exit", one)+asksFor("e", "output", one)+asksFor("f", "release", one)+
		asksFor("g", "output", one)+asksFor("h", "explode", one)+asksFor("i", "create", `,"command":"last"`)+strings.Replace(done, "ID", "3", 1))
	require.NoError(t, s.Send("you", "go"))
	require.Equal(t, chat.Done, s.Turn().Outcome)
	require.Equal(t, acp.Command{Program: "make", Args: []string{"all"}, Env: []string{"A=b"}, Dir: "/tmp"}, <-p.ran)
	require.Equal(t, "s1 make", <-p.released)
	require.NotEmpty(t, (<-p.ran).Dir, "the conversation's directory")
	got := s.CloseAndReadInput()
	require.Equal(t, "s1 last", <-p.released, "it ends with the agent")
	for id, want := range map[string]string{
		"a": `"result":{"terminalId":"terminal-1"}`, "b": `"result":{"output":"outp","truncated":true}`, "c": `"result":{}`,
		"d": `"result":{"exitCode":null,"signal":"TERM"}`, "e": `"exitStatus":{"exitCode":null,"signal":"TERM"},"output":"outp"`, "f": `"result":{}`,
		"g": "there is no such terminal", "h": "-32601", "i": `"result":{"terminalId":"terminal-2"}`,
	} {
		for line := range strings.Lines(got) {
			if strings.Contains(line, `"id":"`+id+`"`) {
				require.Contains(t, line, want, id)
			}
		}
		require.Contains(t, got, `"id":"`+id+`"`)
	}
}

func TestATerminalThatCannotBe(t *testing.T) {
	refused := asksFor("a", "create", `,"command":"make"`)
	for want, config := range map[string]acp.Config{
		`"message":"no gateway runs"`: {Terminals: &places{fails: errors.New("no gateway runs")}},
		`"code":-32601`:               {},
	} {
		s := startWith(t, config, prompted+refused+strings.Replace(done, "ID", "3", 1))
		require.NoError(t, s.Send("you", "go"))
		s.Turn()
		require.Contains(t, s.CloseAndReadInput(), want)
	}
	p := &places{}
	s := startWith(t, acp.Config{Terminals: p}, prompted+strings.Replace(refused, `"s1"`, `"s2"`, 1)+strings.Replace(done, "ID", "3", 1))
	require.NoError(t, s.Send("you", "go"))
	s.Turn()
	require.Contains(t, s.CloseAndReadInput(), "another conversation")
}
