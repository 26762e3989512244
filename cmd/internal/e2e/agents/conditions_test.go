package agents_test

import (
	"encoding/json"
	"fmt"
	"strconv"
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
			with := world.Args{"text": line, "enter": true, "wait_for": fact, "timeout_ms": 50_000}
			if value != "" {
				with["value"] = value
			}
			got := a.MustCall("terminal_send", with)
			return !strings.Contains(got, "no match"), got
		}
	},
	"command line": func(w *world.World) door {
		id := w.Session()
		w.MustGateway("request", id, "--reason", "test")
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
			data, err := json.Marshal(line)
			w.T.Helper()
			require.NoError(w.T, err)
			var typed protocol.InputResult
			require.NoError(w.T, json.Unmarshal([]byte(c.Do("POST", at+"/input", `{"kind":"text","settleMs":250,"data":`+string(data)+`}`, 200)), &typed))
			c.Do("POST", at+"/input", `{"kind":"keys","data":"enter"}`, 200)
			until := fmt.Sprintf(`{%q:true}`, fact)
			switch fact {
			case "title-regex":
				until = fmt.Sprintf(`{"titleRegex":%q}`, value)
			case "text", "regex", "title", "gone":
				until = fmt.Sprintf(`{%q:%q}`, fact, value)
			case "idle":
				until = `{"quietMs":` + strings.TrimSuffix(value, "ms") + `}`
			}
			got := world.Reply[protocol.WaitResult](w.T, c.Do("POST", at+"/wait", `{"until":`+until+`,"afterSeq":`+strconv.FormatUint(typed.Seq, 10)+`,"timeoutMs":60000}`, 200))
			return got.Met, strings.Join(got.Frame.Screen.Lines, "\n")
		}
	},
}

// A wait after an input is met only by what follows the input: neither the line's echo nor the
// prompt before it counts.
func TestWaitsAfterAnInput(t *testing.T) {
	t.Parallel()
	for name, open := range doors {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			s := w.Terminal(80, 24)
			s.Run("proxy --agent --grant drive bash --norc --noprofile")
			s.Wait("bash-")
			w.Session()
			send := open(w)
			for _, c := range []struct{ line, fact, value, shown string }{
				{"sleep 0.6; echo late", "text", "late", "late$"},
				{"sleep 0.6; echo later", "regex", "late[r]", "later$"},
				{"sleep 0.6; echo latest", "regex", "^latest$", "latest$"},
				{"sleep 0.6; echo waited", "waiting", "", "waited$"},
				{"sleep 0.6; true", "waiting", "", ""}, // prints nothing
				{"printf ones; printf two", "idle", "300ms", "onestwo"},
				{"echo once", "changed", "", ""},
			} {
				s.Match(`bash-[0-9.]+[$#] ?\n`) // otherwise the shell repeats the line after its prompt
				met, rows := send(c.line, c.fact, c.value)
				require.True(t, met, "%v\n%s", c, rows)
				require.Regexp(t, `(?m)^(\d+\| ?)?`+c.shown, rows, "%v", c) // some answers number the rows
			}
			met, rows := send("sleep 0.6; clear; echo cleared", "gone", "onestwo")
			require.True(t, met)
			require.NotContains(t, rows, "onestwo")
			met, _ = send("sleep 0.6; exit 3", "exit", "")
			require.True(t, met)
			require.Equal(t, 3, s.Status())
		})
	}
}

// The typed text is already on the screen when Enter is sent. A wait for it ends as soon as the
// program waits again, and says so, but not while the program works.
func TestAWaitForTypedTextEndsWithTheProgramsWork(t *testing.T) {
	t.Parallel()
	for name, open := range doors {
		if name == "HTTP" {
			continue // here the caller says what counts
		}
		for program, c := range map[string]struct{ prompt, first, then string }{
			"bash --norc --noprofile": {"bash-", "true world", "sleep 0.6; echo la'te'; true other"},
			"python3 -q":              {">>>", "x = 'world'", "import time; time.sleep(0.6); print('la' + 'te'); x = 'other'"},
		} {
			t.Run(name+" "+program, func(t *testing.T) {
				w := world.New(t, strings.Fields(program)[0])
				s := w.Terminal(80, 24)
				s.Run("proxy --agent --grant drive " + program)
				s.Wait(c.prompt)
				w.Session()
				send := open(w)
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
}

// A program's title and the progress of a long job can be waited for and are shown.
func TestTitlesAndProgress(t *testing.T) {
	t.Parallel()
	for name, open := range doors {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			w.Write("say", `printf '\033]2;%s\007' "$1"; printf '\033]9;4;%s\007' "$2"`)
			s := w.Terminal(80, 24)
			s.Run("proxy --agent --grant drive bash --norc --noprofile")
			s.Wait("bash-")
			id := w.Session()
			send := open(w)
			for _, c := range []struct{ line, fact, value, listed string }{
				{"sleep 0.6; . ./say 'at work' '1;42'", "title", "t wo", "at work [42%]"},
				{"sleep 0.6; . ./say 'At work' '3'", "title-regex", "^At", "At work [under way]"},
				{"sleep 0.6; . ./say 'at work' '2;7'", "title", "at work", "at work [7%, error]"}, // the state before the step
				{"sleep 0.6; . ./say '' '0'; echo o''ver", "text", "over", ""},
			} {
				met, rows := send(c.line, c.fact, c.value)
				require.True(t, met, "%v\n%s", c, rows)
				w.Until(func() bool { // the list follows the newest snapshot
					listed := w.MustGateway("ls")
					return c.listed != "" && strings.Contains(listed, c.listed) || c.listed == "" && !strings.Contains(listed, "TITLE")
				}, func() string { return w.MustGateway("ls") })
			}
			met, rows := send(". ./say 'Build' '1;99'", "title", "Build")
			require.True(t, met, rows)
			w.Until(func() bool { return strings.Contains(w.MustGateway("read", id), "\ntitle: Build; progress: 99%\n") }, func() string { return w.MustGateway("read", id) })
			require.Equal(t, 124, w.Gateway("wait", id, "--title", "build", "--timeout", "300ms").Status)
			require.Zero(t, w.Gateway("wait", id, "--title-regex", "(?i)^build$").Status)
			s.Close()
		})
	}
}

// The last part of an input is followed by its own echo.
func TestTheEchoOfTheLastPartCounts(t *testing.T) {
	w := world.New(t)
	s, d := w.StartDriver("bash --norc --noprofile")
	s.Wait("bash-")
	d.WaitReady(0)
	require.True(t, d.Wait(protocol.Until{Text: "echoed"}, d.TypeText("echoed"), world.Patience.Milliseconds()).Met)
	seq := d.Wait(protocol.Until{QuietMs: 300}, 0, world.Patience.Milliseconds()).Seq
	require.False(t, d.Wait(protocol.Until{Text: "echoed"}, seq, 300).Met, "it was there before")
	s.Close()
}
