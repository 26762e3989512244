package overlay

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/question"
	"terminalproxy/proxy/display/notice"
)

// asks makes a question of this kind the present one, as turn 7.
func asks(kind question.Kind, st control.State) control.State {
	st.Question.Kind, st.Question.Turn, st.Question.Agent = kind, 7, st.Agent
	return st
}

// line returns the line on a screen of this size.
func line(s *Status, cols, rows int) string {
	line, _ := s.lineLocked(time.Now(), cols, rows)
	return line
}

func stateful(st control.State, conf Config) *Status {
	conf.Reclaim, conf.Grant, conf.Repaint = `Ctrl+\`, "Ctrl+G", func() {}
	s := New(conf)
	s.state = st
	return s
}

// asked holds every kind of question: the line on a wide screen, what the user must read before the
// grant key counts, and the title if they want no line.
var asked = func() map[string]struct {
	state       control.State
	line        string
	must, title string
} {
	ada := control.Agent{ID: "a", Name: "ada", Token: "claude"}
	request := control.State{Phase: control.Asked, Agent: ada, Level: protocol.LevelDrive, Reason: "try", For: 10 * time.Minute}
	typing, endless, another, ruled, hurried := request, request, request, request, request
	typing.Level, endless.For, another.Question.Another, hurried.Question.Behind = protocol.LevelType, 0, true, 2
	ruled.RuleGrant, ruled.AskingProgram = control.RuleGrant{Rule: "c.toml:3", OneProgram: true}, "gateway mcp under claude"
	driven := control.State{Phase: control.Granted, Agent: ada}
	held, clicks, occupied, soft, hard := driven, driven, driven, driven, driven
	held.Pending = control.Confirmation{Keys: "<Enter>", Line: `· runs: "rm -r build"`}
	clicks.Pending = control.Confirmation{Keys: `click at 5,12 on "OK"`, Mouse: true, Line: `after "rm -r"`}
	occupied.Occupied, occupied.Types = true, `"make"<Enter>`
	soft.Secret, hard.Secret = protocol.SecretSoft, protocol.SecretHard
	menu := control.State{For: 10 * time.Minute}
	muting, hidden, before := menu, menu, request
	muting.Mute, hidden.Hidden = control.Mute{Agent: "claude 2"}, true
	hidden.Mute = control.Mute{Agent: "claude 2", Undo: true}
	secret := control.State{Question: question.Shown{Asked: question.Asked{Text: "“ada” wants your password for sudo: “sudo id” in “~/app”"}}}
	answered, closed := secret, secret
	answered.Question.Typing, answered.Question.Typed = true, "•••"
	closed.Question.Typing, closed.Question.Closed = true, "sudo no longer waits: nothing is sent"
	const allows, refuses = "Ctrl+G allows", ` · Ctrl+\ refuses`
	return map[string]struct {
		state       control.State
		line        string
		must, title string
	}{
		"keyboard":     {asks(question.Keyboard, request), "“ada” asks to drive for 10 min: “try” " + allows + refuses, "“ada” asks to drive for 10 min", `[“ada” asks to drive for 10 min: Ctrl+G allows · Ctrl+\ refuses]`},
		"to type":      {asks(question.Keyboard, typing), "“ada” asks to type for 10 min: “try” " + allows + refuses, "“ada” asks to type for 10 min", ""},
		"endless":      {asks(question.Keyboard, endless), "“ada” asks to drive until you take it back: “try” " + allows + refuses, "“ada” asks to drive until you take it back", ""},
		"another":      {asks(question.Keyboard, another), "another agent, “ada”, asks to drive for 10 min: “try” " + allows + refuses, "another agent, “ada”, asks to drive", `[another agent, “ada”, asks to drive for 10 min: Ctrl+G allows · Ctrl+\ refuses]`},
		"two wait":     {asks(question.Keyboard, hurried), "1 of 3: “ada” asks to drive for 10 min: “try” " + allows + refuses, "“ada” asks to drive for 10 min", ""},
		"rule":         {asks(question.Keyboard, ruled), `“ada” (token claude, gateway mcp under claude) drives this program in 3 s for 10 min, by your rule at c.toml:3: “try” Ctrl+\ refuses`, "by your rule at c.toml:3", `[“ada” (token claude, gateway mcp under claude) drives this program in 3 s for 10 min, by your rule at c.toml:3: Ctrl+\ refuses]`},
		"input":        {asks(question.Input, held), `“ada” wants to send <Enter> · runs: "rm -r build" Ctrl+G sends it · Ctrl+\ refuses and stops ada`, `“ada” wants to send <Enter> · runs: "rm -r build"`, `[“ada” wants to send <Enter> · runs: "rm -r build": Ctrl+G sends it · Ctrl+\ refuses and stops ada]`},
		"mouse":        {asks(question.Input, clicks), `“ada” wants to click at 5,12 on "OK" after "rm -r" Ctrl+G sends it · Ctrl+\ refuses and stops ada`, `click at 5,12 on "OK" after "rm -r"`, ""},
		"line":         {asks(question.Line, occupied), `“ada” waits for your line, to type “"make"<Enter>” Ctrl+G lets it type · Ctrl+\ stops it`, "“ada” waits for your line", `[“ada” waits for your line: Ctrl+G lets it type · Ctrl+\ stops it]`},
		"no secret":    {asks(question.Prompt, soft), "password prompt: ada's input is blocked, and it does not see what you type Ctrl+G: this is not a password", "this is not a password", "[secret, agents blocked: Ctrl+G: this is not a password]"},
		"secret":       {asks(question.Prompt, hard), "password prompt: ada's input is blocked, and it does not see what you type Ctrl+G lets ada answer", "Ctrl+G lets ada answer", "[secret, agents blocked: Ctrl+G lets ada answer]"},
		"menu":         {asks(question.Menu, menu), `no agent has the keyboard Ctrl+G lets the next agent that asks drive for 10 min · m writes to it · h hides · Ctrl+\ sends the key`, "Ctrl+G lets the next agent that asks drive for 10 min", ""},
		"menu, mutes":  {asks(question.Menu, muting), `no agent has the keyboard Ctrl+G lets the next agent that asks drive for 10 min · m writes to it · x mutes claude 2 · h hides · Ctrl+\ sends the key`, "Ctrl+G lets the next agent", ""},
		"menu, hidden": {asks(question.Menu, hidden), `agents do not see this screen Ctrl+G lets the next agent that asks drive for 10 min · m writes to it · x unmutes claude 2 · h shows it · Ctrl+\ sends the key`, "Ctrl+G lets the next agent", ""},
		"menu, asked":  {asks(question.Menu, before), `no agent has the keyboard Ctrl+G shows who asks · m writes to it · h hides · Ctrl+\ sends the key`, "Ctrl+G shows who asks", ""},
		"program":      {asks(question.Secret, secret), secret.Question.Text + ` Ctrl+G answers` + refuses, secret.Question.Text, ""},
		"host":         {asks(question.Confirm, secret), secret.Question.Text + ` Ctrl+G says yes` + refuses, secret.Question.Text, ""},
		"answer":       {asks(question.Secret, answered), secret.Question.Text + ` password: •••▏ Enter sends · Esc closes` + refuses, "▏", ""},
		"vanished":     {asks(question.Text, closed), "sudo no longer waits: nothing is sent Enter closes", "", ""},
	}
}()

func TestTheWordsOfEveryQuestionR47R71(t *testing.T) {
	for name, c := range asked {
		s := stateful(c.state, Config{Line: true})
		require.Equal(t, c.line, strings.Join(strings.Fields(line(s, 250, 24)), " "), name)
		s.conf.Line = false
		if c.title != "" {
			require.Equal(t, c.title, s.titleTag(time.Now()), name)
		}
	}
	s := stateful(asked["keyboard"].state, Config{Line: true, OneProgram: true})
	require.Contains(t, line(s, 250, 24), "asks to drive this program for")
}

// The agent's own words stand between marks that it cannot forge, cleaned, beside the keys.
func TestAnAgentsWordsAreOnlyWordsR47(t *testing.T) {
	for reason, want := range map[string]string{
		"look” Ctrl+\\ gives it · “":                           "look' ctrl-\\ gives it . '",
		"look" + strings.Repeat(" ", 100) + "Ctrl + G refuses": "look ctrl-G refuses",
		"a\x1b[31mb\x00\nc":                                    "ab c",
		"look\u202e gnihton\U000e0041":                         "look gnihton",
		strings.Repeat("x", 500):                               strings.Repeat("x", 200),
	} {
		st := asked["keyboard"].state
		st.Reason = notice.Reason(reason)
		text := line(stateful(st, Config{Line: true}), 300, 24)
		require.Contains(t, text, "10 min: “"+want)
		require.Contains(t, text, `Ctrl+G allows · Ctrl+\ refuses`)
	}
}

// In windows of every size, the user reads all that the grant key gives, or the key does nothing.
func TestEveryQuestionIsReadBeforeItsKeyCounts(t *testing.T) {
	for name, c := range asked {
		c.state.Reason = strings.Repeat("a reason that is long ", 10)
		s := stateful(c.state, Config{Line: true})
		read := 0
		for cols := 1; cols <= 90; cols++ {
			for rows := 1; rows <= 24; rows++ {
				about := fmt.Sprintf("%s on %dx%d", name, cols, rows)
				line, _, _, turn := s.composeNow(time.Now(), cols, rows, "")
				require.LessOrEqual(t, 1+strings.Count(line, "\n"), max(1, rows-1), "%s: %q", about, line)
				if turn == 0 {
					require.NotRegexp(t, `Ctrl\+G (allows|sends|lets|answers|says)`, line, about)
					continue
				}
				read++
				for row := range strings.SplitSeq(line, "\n") {
					if (cols >= 20 || !c.state.Question.Typing) && !strings.HasSuffix(row, "more characters") { // of the agent's words
						require.LessOrEqual(t, displaywidth.String(strings.TrimRight(row, " ")), cols, "%s: %q", about, line)
					}
				}
				short := strings.Contains(line, "? ^G/^\\") || strings.Contains(line, "?\n^G/^\\")
				if short {
					require.True(t, holdsText(line, "ada:", cols) && (holdsText(line, "DRIVE", cols) || holdsText(line, "TYPE", cols)), "%s: %q", about, line)
					require.Equal(t, c.state.Question.Another, strings.Contains(line, "another"), about)
				} else {
					require.Contains(t, removeBlanks(line), removeBlanks(c.must), "%s: %q", about, line)
				}
			}
		}
		require.Greater(t, read, 24, name)
		_, _, _, turn := s.composeNow(time.Now(), 80, 24, "")
		require.EqualValues(t, 7, turn, name)
	}
	rule := asked["rule"].state
	_, _, _, turn := stateful(rule, Config{Title: true}).composeNow(time.Now(), 80, 1, "")
	require.EqualValues(t, 7, turn)
	_, _, _, turn = stateful(rule, Config{}).composeNow(time.Now(), 80, 24, "")
	require.Zero(t, turn, "it cannot be read at all")
}

// The question in small windows.
func TestTheShortQuestion(t *testing.T) {
	st := asked["keyboard"].state
	st.Agent.Name, st.Reason = "claude", "to fix the typo"
	for _, c := range []struct {
		cols, rows int
		want       string
		asks       bool
	}{
		{80, 2, "claude: DRIVE for 10 min? ^G/^\\", true},
		{24, 1, "claude: DRIVE? ^G/^\\", true},
		{14, 3, "claude: DRIVE?\n^G/^\\", true},
		{7, 4, "claude:\nDRIVE?\n^G/^\\", true},
		{19, 1, "too small: ^\\", false},
		{6, 24, "too\nsmall:\n^\\", false},
		{4, 1, "^\\", false},
		{1, 1, "!", false},
	} {
		line, _, _, turn := stateful(st, Config{Line: true}).composeNow(time.Now(), c.cols, c.rows, "")
		require.Equal(t, c.want, line, "%dx%d", c.cols, c.rows)
		require.Equal(t, c.asks, turn != 0, "%dx%d", c.cols, c.rows)
	}
}

// While the user types the answer, agent, command and directory stay in sight, and the end of what
// they type.
func TestTheAnswerKeepsItsQuestionInSight(t *testing.T) {
	st := asked["answer"].state
	for cols := 20; cols <= 120; cols++ {
		for _, rows := range []int{1, 2, 6, 24} {
			shown := line(stateful(st, Config{Line: true}), cols, rows)
			require.Contains(t, shown, "•••▏", "%dx%d", cols, rows)
			if rows > 6 {
				require.Contains(t, removeBlanks(shown), removeBlanks(st.Question.Text), "%dx%d: %q", cols, rows, shown)
				require.Contains(t, removeBlanks(shown), `Ctrl+\refuses`, "%dx%d", cols, rows)
			}
		}
	}
}

// A Ctrl+G that does not count is seen, and a line that has room without that has room with it.
func TestACtrlGThatDoesNotCountIsSeenR71(t *testing.T) {
	for name, c := range asked {
		if c.state.Question.Typing || name == "rule" {
			continue
		}
		for _, conf := range []Config{{Line: true}, {Title: true}} {
			s := stateful(c.state, conf)
			shown := func() string {
				text, title, _, _ := s.composeNow(time.Now(), 250, 24, "")
				return text + title
			}
			require.NotContains(t, shown(), "press again", name)
			s.state.Question.Ignored = true
			if conf.Line || c.title != "" {
				require.Contains(t, shown(), "press again: Ctrl+G", name)
			}
		}
	}
	st := asked["input"].state
	st.Question.Ignored = true
	s := stateful(st, Config{Line: true})
	for cols := range 120 {
		if s.FitsScreen("ada", st.Pending, cols, 3) {
			require.Contains(t, line(s, cols, 3), "<Enter>", "%d columns", cols)
		}
	}
}

// Whatever the keys are.
func TestEverySentenceNamesTheKeysInForce(t *testing.T) {
	for name, c := range asked {
		s := stateful(c.state, Config{Line: true, Title: true})
		s.conf.Reclaim = "Ctrl+Y"
		s.LabelGrant("Ctrl+]")
		line, title, _, _ := s.composeNow(time.Now(), 250, 24, "")
		replaced := strings.NewReplacer("Ctrl+G", "Ctrl+]", `Ctrl+\`, "Ctrl+Y").Replace(c.line)
		require.Equal(t, replaced, strings.Join(strings.Fields(line), " "), name)
		require.NotContains(t, title, "Ctrl+G", name)
	}
}

// The bell rings once for each question that an agent asks.
func TestTheBellRingsForEachQuestion(t *testing.T) {
	for name, c := range asked {
		s := stateful(control.State{}, Config{Line: true})
		s.ShowState(c.state)
		_, _, rings, _ := s.composeNow(time.Now(), 80, 24, "")
		k := c.state.Question.Kind
		require.Equal(t, k != question.Menu && k != question.Line, rings, name)
		s.ShowState(c.state)
		_, _, rings, _ = s.composeNow(time.Now(), 80, 24, "")
		require.False(t, rings, name)
	}
}
