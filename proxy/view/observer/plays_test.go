package observer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/secretprompt"
	"terminalproxy/proxy/terminal/child"
	"terminalproxy/proxy/view/corpus"
	"terminalproxy/proxy/view/snapshot"
)

// TestPlays plays what the program, its user, agents, viewers and time do, and checks what each
// gets.
func TestPlays(t *testing.T) {
	corpus.Plays(t, "plays", func(t *testing.T, steps []corpus.Step) {
		var s *stage
		for _, step := range steps {
			if step.Words[0] == "stage" {
				cols, rows := size(t, step)
				s = newStage(t, cols, rows)
			}
			times := 1
			if n, err := strconv.Atoi(step.Words[0]); err == nil {
				times, step.Words = n, step.Words[1:]
			}
			s.seen = s.model.Rev()
			for range times {
				s.step(step)
			}
			for _, w := range step.Wants {
				s.checkFact(w, step.Line)
			}
		}
	})
}

func size(t testing.TB, step corpus.Step) (cols, rows int) {
	_, err := fmt.Sscanf(step.Arg(1), "%dx%d", &cols, &rows)
	require.NoError(t, err, step.Line)
	return cols, rows
}

// readOf makes a read of the words key=value, by the names on the wire.
func readOf(t testing.TB, words []string) *protocol.Read {
	t.Helper()
	fields := map[string]any{}
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		n, err := strconv.Atoi(value)
		switch {
		case !ok:
			fields[key] = true
		case err == nil && key != "match":
			fields[key] = n
		default:
			fields[key] = value
		}
	}
	m := &protocol.Read{}
	wire, err := json.Marshal(fields)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(wire, m))
	return m
}

// until makes a condition of name=text, or of a name.
func until(t testing.TB, word string) protocol.Until {
	t.Helper()
	name, text, _ := strings.Cut(word, "=")
	switch name {
	case "text":
		return protocol.Until{Text: text}
	case "regex":
		return protocol.Until{Regex: text}
	case "gone":
		return protocol.Until{Gone: text}
	case "changed":
		return protocol.Until{Changed: true}
	}
	require.FailNow(t, "no such condition", word)
	return protocol.Until{}
}

// answered keeps an answer, whose parts are facts: see checkFact.
func (s *stage) answered(answer any, err error) {
	if err != nil {
		answer = map[string]string{"error": err.Error()}
	}
	wire, err := json.Marshal(answer)
	require.NoError(s, err)
	d := json.NewDecoder(bytes.NewReader(wire))
	d.UseNumber()
	s.answer = nil
	require.NoError(s, d.Decode(&s.answer))
}

func (s *stage) step(step corpus.Step) {
	on := step.Arg(1) != "off"
	switch arg := step.Arg(1); step.Words[0] {
	case "stage":
	case "line":
		s.line = map[string]child.Line{"cooked": cooked, "noEcho": noEcho, "sudoRS": sudoRS, "raw": raw}[arg]
	case "program":
		s.program = arg
	case "prints":
		s.print(step.Words[1:]...)
	case "types":
		s.typeKey(step.Words[1:]...)
	case "passes", "later": // later: and no one looks
		d, err := time.ParseDuration(arg)
		require.NoError(s, err)
		if s.now = s.now.Add(d); step.Words[0] == "passes" {
			s.passes(0)
		}
	case "resize":
		cols, rows := size(s, step)
		s.Resize(s.now, cols, rows)
	case "dismiss":
		s.privacy.allowPrompt(s.now)
	case "spot":
		s.privacy.noteHardPrompt(s.now)
	case "hide", "show":
		s.ControlChanged(s.now, step.Words[0] == "hide")
	case "broken", "mended":
		s.broken = step.Words[0] == "broken"
	case "exit":
		s.exit = &child.Exit{}
	case "shell-gone":
		s.gone = on
	case "front":
		s.front = len(step.Words) - 1
	case "driven":
		s.driven = on
	case "reached":
		s.privacy.reached.Store(on)
	case "open": // --no-redact
		s.redacted.open = true
	case "began":
		s.setStartTime(s.now)
	case "pressed":
		s.pressed = s.now
	case "edits":
		s.edits = on
	case "runs":
		s.blocked.Ran++
	case "blocked":
		s.blocked = blockedAs(s, step)
	case "read":
		r := &protocol.ReadResult{}
		s.answered(r, s.CompleteRead(s.now, readOf(s, step.Words[1:]), r))
	case "follow":
		most, err := strconv.Atoi(arg)
		require.NoError(s, err)
		s.answered(s.follower.follow(s, s.Observer, most), nil)
	case "frame":
		s.answered(s.AnswerFrame(s.now), nil)
	case "view":
		s.SetViewed(s.now, on)
	case "viewers": // what they were sent since, once time has passed
		d, err := time.ParseDuration(arg)
		require.NoError(s, err)
		s.now = s.now.Add(d)
		s.runDue(s.now)
		s.answered(map[string]any{"count": len(s.views), "last": append(s.views, protocol.Rows{})[max(0, len(s.views)-1)]}, nil)
		s.views = nil
	case "wait":
		c, err := snapshot.Compile(until(s, arg))
		require.NoError(s, err)
		w := snapshot.Wait{ID: arg, Condition: c, Done: func(snapshot.Result) { s.met = append(s.met, arg) }}
		s.OpenWait(s.now, false, w, func(err error) { require.NoError(s, err) })
	case "expect":
		s.answered(nil, s.CheckExpectation(&protocol.Expect{Text: arg}))
	case "scrolled": // lines that left the screen since a revision, or since it was seen
		seq, err := strconv.ParseUint(arg, 10, 64)
		if err != nil {
			seq = s.follower.seq
		}
		s.answered(s.waitView().LinesGone(seq), nil)
	default:
		require.FailNow(s, "no such step", step.Line)
	}
}

// blockedAs returns the kernel's report in words.
func blockedAs(t testing.TB, step corpus.Step) child.Blocked {
	has := func(word string) bool { return slices.Contains(step.Words, word) }
	age := func(name string) time.Duration {
		d, err := time.ParseDuration(cmp.Or(step.Option(name), "0s"))
		require.NoError(t, err, step.Line)
		return d
	}
	return child.Blocked{
		Group: 7, Reads: has("reads"), Polls: has("polls"), Shares: has("shares"), Loops: has("loops"), Asleep: has("asleep"),
		Unclear: has("unclear"), Relay: step.Option("relay"), Leads: age("leads"), Youngest: age("youngest"),
	}
}

// checkFact checks a fact: of the frame, of everything visible, of what others were told, or, with a
// point before its path on the wire, a part of the last answer.
func (s *stage) checkFact(w corpus.Want, line string) {
	got, exact := s.fact(w)
	switch {
	case exact:
		require.Equal(s, w.Value, got, line)
	case w.Name == "hides":
		require.NotContains(s, got, w.Value, line)
	default:
		require.Contains(s, got, w.Value, line)
	}
}

func (s *stage) fact(w corpus.Want) (got string, exact bool) {
	f := s.Frame(s.now)
	if row, ok := strings.CutPrefix(w.Name, "row"); ok && row != "s" {
		n, err := strconv.Atoi(row)
		require.NoError(s, err)
		return f.Screen.Lines[n], true
	}
	yes := func(is bool) string { return map[bool]string{true: "yes", false: "no"}[is] }
	switch w.Name {
	case "hides", "seen":
		return s.allVisible(), false
	case "text":
		return s.rollingText(), false
	case "history":
		return strings.Join(s.pastRows(0, s.model.HistoryLen()), "|"), true
	case "rows":
		return strings.Join(f.Screen.Lines, "|"), true
	case "cursor":
		return fmt.Sprintf("%d,%d", f.Screen.Cursor.Row, f.Screen.Cursor.Col), true
	case "title":
		return f.Screen.Title, true
	case "blackout":
		if f.Blackout != nil {
			got = f.Blackout.Why
		}
		return got, true
	case "secret":
		return string(f.Blackout.Secret), true
	case "covered":
		return fmt.Sprint(f.Redactions), true
	case "news": // what agents see changed by this step
		return yes(s.model.Rev() != s.seen), true
	case "bars":
		return yes(s.InputRefusal(s.now) != nil), true
	case "stars":
		return fmt.Sprint(strings.Count(s.rollingText(), "*")), true
	case "asked", "last":
		var all []string
		for _, p := range s.asked {
			all = append(all, map[bool]string{true: "dismissed", false: cmp.Or(string(p.kind), "over")}[p.allowed])
		}
		if w.Name == "last" {
			all = all[len(all)-1:]
		}
		return strings.Join(all, ","), true
	case "said":
		var all []string
		for _, b := range s.said {
			all = append(all, map[bool]string{true: "on:" + b.Why + ":" + string(b.Secret), false: "off:" + b.Why}[b.On])
		}
		return strings.Join(all, ","), true
	case "blackouts":
		return fmt.Sprint(len(s.said)), true
	case "dark":
		return strings.Join(s.dark, "|"), true
	case "lingers":
		return yes(s.privacy.inGracePeriod(s.now)), true
	case "waiting":
		return s.waitView().InputWait(s.now), true
	case "told":
		return cmp.Or(string(s.privacy.told.kind), "over"), true
	case "met":
		slices.Sort(s.met)
		return strings.Join(s.met, ","), true
	case "asks":
		return fmt.Sprint(s.asks), true
	case "due": // when the terminal is looked at again
		if at, ok := s.privacy.nextCheck(); ok {
			got = at.Sub(s.now).String()
		}
		return got, true
	case "timer":
		_, ok := s.nextDeadline()
		return yes(ok), true
	}
	path, isPart := strings.CutPrefix(w.Name, ".")
	require.True(s, isPart, "no such fact: %s", w.Name)
	path, contains := strings.CutSuffix(path, "~") // with ~ it contains the value, with ! it does not
	path, lacks := strings.CutSuffix(path, "!")
	got = plain(partOf(s.answer, path))
	if lacks {
		require.NotContains(s, got, w.Value)
		return w.Value, true
	}
	return got, !contains
}

// partOf returns the part of an answer with a path, such as frame.changed.0.text.
func partOf(answer any, path string) any {
	for _, key := range strings.Split(path, ".") {
		switch a := answer.(type) {
		case map[string]any:
			answer = a[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(a) {
				return nil
			}
			answer = a[i]
		default:
			return nil
		}
	}
	return answer
}

// plain returns a part of an answer as text: what is in a list between |, and fields as name:value.
func plain(part any) string {
	switch p := part.(type) {
	case nil:
		return ""
	case []any:
		var all []string
		for _, e := range p {
			all = append(all, plain(e))
		}
		return strings.Join(all, "|")
	case map[string]any:
		var all []string
		for key, value := range p {
			all = append(all, key+":"+plain(value))
		}
		slices.Sort(all)
		return strings.Join(all, ",")
	}
	return fmt.Sprint(part)
}

// FuzzPrivacy plays a program, a user and an agent at random. An agent only ever gets frames that
// are valid on the wire, and blank ones while the screen is hidden.
func FuzzPrivacy(f *testing.F) {
	f.Add([]byte("\xf1Password: \xf5*\xf5*\xf5\b \b\xf7\xf5*\r\n\xf0done\xf8\xf9"))
	f.Add([]byte("\xf3\x1b[?1049h\x1b[2;3H| PIN: __|\x1b[2;9H\xf5*\xf6\xfa\xf5*\xfb\x1b[?1049l"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newStage(t, 20, 4)
		var chunk []byte
		flush := func() {
			s.print(string(chunk))
			chunk = chunk[:0]
		}
		for _, b := range data {
			switch {
			case b < 0xf0:
				chunk = append(chunk, b)
				continue
			case b == 0xf5:
				s.writes.Add(1)
			}
			flush()
			switch b {
			case 0xf0, 0xf1, 0xf2, 0xf3:
				s.line = []child.Line{cooked, noEcho, sudoRS, raw}[b-0xf0]
			case 0xf6:
				s.privacy.allowPrompt(s.now)
			case 0xf7:
				s.Resize(s.now, 7+int(s.writes.Load())%9, 3)
			case 0xf8:
				s.privacy.setHidden(s.now, !s.privacy.isHidden())
			case 0xf9:
				s.passes(secretprompt.Linger)
			case 0xfa:
				s.privacy.noteHardPrompt(s.now)
			case 0xfb:
				s.Resize(s.now, 30, 6)
			}
			frame := s.Frame(s.now)
			require.Equal(t, s.privacy.isHidden(), frame.Blackout.ByUser())
			if s.privacy.isHidden() {
				require.Empty(t, strings.Join(frame.Screen.Lines, "")+s.rollingText())
			}
			_, err := protocol.Encode(&protocol.ReadResult{ID: "i", RequestID: "r", SessionID: "s", Frame: frame, Text: s.rollingText()})
			require.NoError(t, err)
		}
		flush()
	})
}
