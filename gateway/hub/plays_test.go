package hub

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/rights"
	"terminalproxy/protocol"
)

// play is a hub under the plays of testdata/plays.txt, in the test's own time. A scene begins with
// [scene]'s hub, proxy and agent. Its lines are steps, each of a participant:
//
//	NAME joins ROLE FIELD=VALUE...  NAME sends TYPE FIELD=VALUE...  NAME opens FIELD=VALUE...
//	NAME shows SEQ ROW|ROW          NAME leaves, idles, works, drops (what waits for it)
//	NAME < TYPE FIELD=VALUE...      the next message for NAME; after the last of these, none is left
//	NAME <                          nothing waits for NAME
//	pass 5s
//
// A TYPE needs no "terminal.". A VALUE is JSON or a word; of a message for NAME, - is one that is
// missing or zero, and ~ in place of = a text within. What a participant sends is by default about
// vim-1, under the request id r. A word that begins with $ names the value that it first stands for.
type play struct {
	t     *testing.T
	hub   *Hub
	peers map[string]*Peer
	heard map[string][]protocol.Message
	named map[string]any // values by their names
}

var playField = regexp.MustCompile(`([\w.]+)([=~])("(?:[^"\\]|\\.)*"|\S*)`)

func TestPlays(t *testing.T) {
	text, err := os.ReadFile("testdata/plays.txt")
	require.NoError(t, err)
	for _, part := range strings.Split(string(text), "\n# ")[1:] {
		name, steps, _ := strings.Cut(part, "\n")
		t.Run(name, func(t *testing.T) {
			inScene(t, func(t *testing.T, h *Hub, proxy, agent *Peer) {
				p := &play{t, h, map[string]*Peer{"proxy": proxy, "agent": agent}, map[string][]protocol.Message{}, map[string]any{}}
				lines := strings.Split(strings.TrimSpace(steps), "\n")
				for i, line := range lines {
					p.step(line)
					who, what, _ := strings.Cut(line, " ")
					if strings.HasPrefix(what, "<") && (i+1 == len(lines) || !strings.HasPrefix(lines[i+1], who+" <")) {
						require.Empty(t, p.heard[who], "after %q: %v", line, kinds(p.heard[who]))
					}
				}
			})
		})
	}
}

func (p *play) step(line string) {
	p.t.Helper()
	words := append(strings.Fields(line), "", "")
	who, verb, what := words[0], words[1], words[2]
	peer := p.peers[who]
	if who == "pass" {
		wait, err := time.ParseDuration(verb)
		require.NoError(p.t, err)
		time.Sleep(wait)
		synctest.Wait()
		return
	}
	if verb != "joins" {
		require.NotNil(p.t, peer, line)
	}
	_, rest, _ := strings.Cut(line, verb+" "+what)
	switch verb {
	case "joins":
		p.peers[who] = p.hub.Join(p.member(who, what, rest))
	case "leaves":
		peer.Leave()
	case "idles":
		peer.MarkIdle()
	case "works":
		peer.MarkBusy()
	case "drops":
		p.heard[who] = nil
		_ = fetch(peer)
	case "shows":
		seq, err := strconv.ParseUint(what, 10, 64)
		require.NoError(p.t, err)
		peer.Handle(full("vim-1", seq, strings.Split(strings.TrimSpace(rest), "|")...))
	case "opens":
		base, err := json.Marshal(opening("vim-1", "secret"))
		require.NoError(p.t, err)
		p.send(peer, "session.open", what+rest, base)
	case "sends":
		base := `{"sessionId":"vim-1","requestId":"r","id":"i"}`
		if peer.member.Role == RoleProxy {
			base = `{"sessionId":"vim-1","id":"i"}`
		}
		p.send(peer, what, rest, []byte(base))
	case "<":
		p.heard[who] = append(p.heard[who], fetch(peer)...)
		if what == "" {
			return
		}
		require.NotEmpty(p.t, p.heard[who], line)
		p.compare(p.heard[who][0], what, rest, line)
		p.heard[who] = p.heard[who][1:]
	default:
		require.Fail(p.t, "no such step", line)
	}
}

// fetch reads what waits for a participant as its connection does, but for word of subscribers.
func fetch(p *Peer) (all []protocol.Message) {
	for {
		m, err := p.Next(now)
		if err != nil {
			return all
		}
		if _, counts := m.(*protocol.Subscribed); !counts {
			all = append(all, m)
		}
	}
}

func (p *play) member(who, role, fields string) Member {
	m := Member{ID: who, Role: Role(role)}
	base, err := json.Marshal(p.fields(fields, nil))
	require.NoError(p.t, err)
	var page struct{ Session string }
	require.NoError(p.t, json.Unmarshal(base, &page))
	switch role {
	case "asker":
		m.Role, m.Remote, m.Rights = RoleViewer, true, rights.Set{Who: "asker", Can: rights.OfAsker()}
	case "page":
		m.Role, m.Rights = RoleOwner, rights.Set{Who: "a page", Can: rights.OfPage(RoleOwner), Session: page.Session}
	case "guest":
		m.Role, m.Rights = RoleOwner, rights.Set{Who: "a guest", Can: rights.OfPage(RoleViewer), Session: page.Session}
	}
	require.NoError(p.t, json.Unmarshal(base, &m))
	return m
}

// fields sets the fields of a step in an object.
func (p *play) fields(text string, into map[string]any) map[string]any {
	if into == nil {
		into = map[string]any{}
	}
	for _, f := range playField.FindAllStringSubmatch(text, -1) {
		at, path := into, strings.Split(f[1], ".")
		for _, name := range path[:len(path)-1] {
			if at[name] == nil {
				at[name] = map[string]any{}
			}
			at = at[name].(map[string]any)
		}
		at[path[len(path)-1]] = p.valueOf(f[3])
	}
	return into
}

func (p *play) valueOf(word string) (value any) {
	if named, ok := p.named[word]; ok {
		return named
	}
	if json.Unmarshal([]byte(word), &value) != nil {
		value = word
	}
	return value
}

// kindOf completes the name of a type.
func kindOf(word string) string {
	if slices.Contains(protocol.Kinds(), word) {
		return word
	}
	return "terminal." + word
}

func (p *play) send(peer *Peer, kind, fields string, base []byte) {
	p.t.Helper()
	var object map[string]any
	require.NoError(p.t, json.Unmarshal(base, &object))
	object["type"] = kindOf(kind)
	frame, err := json.Marshal(p.fields(fields, object))
	require.NoError(p.t, err)
	m, err := protocol.Decode(frame, protocol.MaxMessage)
	require.NoError(p.t, err, "%s", frame)
	peer.Handle(m)
}

// compare checks that a message is of a kind and has the fields of a step.
func (p *play) compare(m protocol.Message, kind, fields, line string) {
	p.t.Helper()
	frame, err := json.Marshal(m)
	require.NoError(p.t, err)
	require.Equal(p.t, kindOf(kind), protocol.KindOf(m), "%s: %s", line, frame)
	for _, f := range playField.FindAllStringSubmatch(fields, -1) {
		var got any
		require.NoError(p.t, json.Unmarshal(frame, &got))
		for _, name := range strings.Split(f[1], ".") {
			switch in := got.(type) {
			case map[string]any:
				got = in[name]
			case []any:
				i, err := strconv.Atoi(name)
				require.NoError(p.t, err, line)
				if got = nil; i < len(in) {
					got = in[i]
				}
			}
		}
		if strings.HasPrefix(f[3], "$") && p.named[f[3]] == nil {
			p.named[f[3]] = got
		}
		switch want := p.valueOf(f[3]); {
		case f[2] == "~":
			require.Contains(p.t, fmt.Sprint(got), want, line)
		case f[3] == "-":
			require.True(p.t, got == nil || reflect.ValueOf(got).IsZero(), "%s: %s", line, frame)
		default:
			require.Equal(p.t, want, got, "%s: %s", line, frame)
		}
	}
}
