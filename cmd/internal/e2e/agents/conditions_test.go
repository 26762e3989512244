package agents_test

import (
	"fmt"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
	"terminalproxy/protocol"

	"github.com/stretchr/testify/require"
)

// door types a line with Enter and waits for a fact after it, through one of the agents'
// interfaces. It returns the rows that the answer holds, as of that moment.
type door func(line, fact, value string) (met bool, rows string)

// doors are the interfaces through which agents reach a session.
var doors = map[string]func(w *world.World) door{
	"MCP": func(w *world.World) door {
		a := w.Agent("claude", world.Eras[1])
		a.MustCall("terminal_request_control", world.Args{"reason": "test"}, "granted")
		return func(line, fact, value string) (met bool, rows string) {
			with := world.Args{"text": line, "enter": true, "wait_for": fact}
			if value != "" {
				with["value"] = value
			}
			got := a.MustCall("terminal_send", with)
			return !strings.Contains(got, "no match"), got
		}
	},
	"command line": func(w *world.World) door {
		id := w.Session()
		w.RequestGrant(id)
		return func(line, fact, value string) (met bool, rows string) {
			if value != "" {
				fact += "=" + value
			}
			got := w.Gateway("send", id, "--text", line, "--enter", "--until", fact, "--timeout", "5m")
			return got.Status == 0, got.Out + got.Err
		}
	},
	"HTTP": func(w *world.World) door {
		c, at := w.Caller(), "/v1/sessions/"+w.Session()
		c.Do("POST", at+"/control/request", `{"level":"drive","reason":"test"}`, 200)
		return func(line, fact, value string) (met bool, rows string) {
			until := fmt.Sprintf(`{%q:%q}`, fact, value)
			switch fact {
			case "title-regex":
				until = fmt.Sprintf(`{"titleRegex":%q}`, value)
			case "idle":
				until = `{"quietMs":300}`
			case "waiting", "changed", "exit":
				until = fmt.Sprintf(`{%q:true}`, fact)
			}
			body := fmt.Sprintf(`{"kind":"text","settleMs":250,"data":%q}`, line)
			typed := world.Reply[protocol.InputResult](w.T, c.Do("POST", at+"/input", body, 200))
			c.Do("POST", at+"/input", `{"kind":"keys","data":"enter"}`, 200)
			body = fmt.Sprintf(`{"until":%s,"afterSeq":%d,"timeoutMs":60000}`, until, typed.Seq)
			got := world.Reply[protocol.WaitResult](w.T, c.Do("POST", at+"/wait", body, 200))
			return got.Met, strings.Join(got.Frame.Screen.Lines, "\n")
		}
	},
}

// A wait after an input is met only by what follows the input: neither the line's echo nor the
// prompt before it counts. The sleeps are a program's work.
func TestWaitsAfterAnInput(t *testing.T) {
	t.Parallel()
	for name, open := range doors {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			w.Write("say", `printf '\033]2;%s\007' "$1"; printf '\033]9;4;%s\007' "$2"`)
			s := w.Terminal(80, 40)
			s.Run("proxy --agent --grant drive bash --norc --noprofile")
			s.Wait("bash-")
			id := w.Session()
			send := open(w)
			for _, c := range []struct{ line, fact, value, shown string }{
				{"sleep 0.3; echo late", "text", "late", "late$"},
				{"sleep 0.3; echo later", "regex", "late[r]", "later$"},
				{"sleep 0.3; echo latest", "regex", "^latest$", "latest$"},
				{"sleep 0.3; echo waited", "waiting", "", "waited$"},
				{"sleep 0.3; true", "waiting", "", ""}, // prints nothing
				{"printf ones; printf two", "idle", "300ms", "onestwo"},
				{"echo once", "changed", "", ""},
				{"sleep 0.3; . ./say 'at work' '1;42'", "title", "t wo", ""},
				{"sleep 0.3; . ./say 'At work' '3'", "title-regex", "^At", ""},
				{"sleep 0.3; . ./say 'at work' '2;7'", "title", "at work", ""},
			} {
				s.Match(`bash-[0-9.]+[$#] ?\n`) // otherwise the shell repeats the line after its prompt
				met, rows := send(c.line, c.fact, c.value)
				require.True(t, met, "%v\n%s", c, rows)
				require.Regexp(t, `(?m)^(\d+\| ?)?`+c.shown, rows, "%v", c) // some answers number the rows
			}
			w.Until(func() bool { return strings.Contains(w.MustGateway("ls"), "at work [7%, error]") }, func() string { return w.MustGateway("ls") })
			world.WaitRead(w, id, "\ntitle: at work; progress: 7%, error\n")
			met, rows := send("sleep 0.3; clear; echo cleared", "gone", "onestwo")
			require.True(t, met)
			require.NotContains(t, rows, "onestwo")
			met, _ = send("sleep 0.3; exit 3", "exit", "")
			require.True(t, met)
			require.Equal(t, 3, s.Status())
		})
	}
}

// The typed text is already on the screen when Enter is sent. A wait for it ends as soon as the
// program waits again, and says so, but not while the program works.
func TestAWaitForTypedTextEndsWithTheProgramsWork(t *testing.T) {
	t.Parallel()
	for program, c := range map[string]struct{ prompt, first, then string }{
		"bash --norc --noprofile": {"bash-", "true world", "sleep 0.6; echo la'te'; true other"},
		"python3 -q":              {">>>", "x = 'world'", "import time; time.sleep(0.6); print('la' + 'te'); x = 'other'"},
	} {
		t.Run(program, func(t *testing.T) {
			w := world.New(t, strings.Fields(program)[0])
			s := w.Terminal(80, 24)
			s.Run("proxy --agent --grant drive " + program)
			s.Wait(c.prompt)
			send := doors["command line"](w)
			for _, typed := range [][3]string{{c.first, "world", ""}, {c.then, "other", "late"}} {
				met, rows := send(typed[0], "text", typed[1])
				require.True(t, met, rows)
				require.Contains(t, rows, "it stood there before Enter, and the program waits again")
				require.Regexp(t, `(?m)^(\d+\| ?)?.*`+typed[2]+"$", rows, "it worked when the wait was met")
			}
			s.Close()
		})
	}
}
