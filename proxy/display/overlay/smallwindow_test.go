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
)

// In windows of every size, the line has the agent's whole name, the level and the key; otherwise
// it is not a question, and the key does nothing.
func TestAnUnreadableQuestionGrantsNothing(t *testing.T) {
	names := []string{"claude", "x", "a name of 20 letters", "日本語の名前"}
	levels := map[protocol.Level][]string{protocol.LevelDrive: {"drive", "DRIVE"}, protocol.LevelType: {"type", "TYPE"}}
	for _, name := range names {
		for level, words := range levels {
			for _, another := range []bool{false, true}[:1+len(name)/20] {
				s := New(Config{Line: true, Reclaim: `Ctrl+\`, Grant: "Ctrl+G", Repaint: func() {}})
				s.ShowState(control.State{
					Phase: control.Asked, Agent: control.Agent{Name: name}, Level: level, Another: another, For: 10 * time.Minute, Question: 7,
					Reason: strings.Repeat("a reason that is long ", 10),
				})
				for cols := 1; cols <= 80; cols++ {
					for rows := 1; rows <= 24; rows++ {
						about := fmt.Sprintf("%q %s %v on %dx%d", name, level, another, cols, rows)
						line, _, _, question := s.composeNow(time.Now(), cols, rows, "")
						lines := strings.Split(line, "\n")
						require.LessOrEqual(t, len(lines), max(1, rows-1), "%s: %q", about, line)
						if question == 0 {
							require.NotContains(t, line, "allows", about)
							continue
						}
						for _, row := range lines {
							if strings.HasSuffix(row, "more characters") {
								continue // of the agent's words
							}
							require.LessOrEqual(t, displaywidth.String(strings.TrimRight(row, " ")), cols, "%s: %q", about, line)
						}
						require.True(t, holdsText(line, name), "%s: %q", about, line)
						require.True(t, holdsText(line, words[0]) || holdsText(line, words[1]), "%s: %q", about, line)
						require.True(t, holdsText(line, "Ctrl+G allows") || holdsText(line, `^G/^\`), "%s: %q", about, line)
						require.Equal(t, another, strings.Contains(line, "another"), "%s: %q", about, line)
					}
				}
				_, _, _, question := s.composeNow(time.Now(), 80, 24, "")
				require.Equal(t, uint64(7), question)
				_, _, _, question = s.composeNow(time.Now(), 4, 1, "")
				require.Zero(t, question)
			}
		}
	}
}

// The question in small windows.
func TestTheShortQuestion(t *testing.T) {
	state := control.State{
		Phase: control.Asked, Agent: control.Agent{Name: "claude"}, Level: protocol.LevelDrive, For: 10 * time.Minute, Reason: "to fix the typo", Question: 7,
	}
	for _, c := range []struct {
		cols, rows int
		want       string
		asks       bool
	}{
		{80, 2, "claude: DRIVE for 10 min? ^G/^\\", true},
		{80, 1, "claude: DRIVE for 10 min? ^G/^\\", true},
		{24, 1, "claude: DRIVE? ^G/^\\", true},
		{20, 1, "claude: DRIVE? ^G/^\\", true},
		{14, 3, "claude: DRIVE?\n^G/^\\", true},
		{7, 4, "claude:\nDRIVE?\n^G/^\\", true},
		{19, 1, "too small: ^\\", false},
		{6, 24, "too\nsmall:\n^\\", false},
		{4, 1, "^\\", false},
		{1, 1, "!", false},
	} {
		s := New(Config{Line: true, Reclaim: `Ctrl+\`, Grant: "Ctrl+G", Repaint: func() {}})
		s.ShowState(state)
		line, _, _, question := s.composeNow(time.Now(), c.cols, c.rows, "")
		if c.want != "" {
			require.Equal(t, c.want, line, "%dx%d", c.cols, c.rows)
		}
		require.Equal(t, c.asks, question != 0, "%dx%d", c.cols, c.rows)
	}
}

// The menu, held input, an occupied line, a secret prompt.
func TestEveryQuestionIsReadBeforeItsKeyCounts(t *testing.T) {
	agent := control.Agent{Name: "claude"}
	for name, c := range map[string]struct {
		state control.State
		has   []string
	}{
		"menu":     {control.State{Menu: true, For: 10 * time.Minute, Question: 7}, []string{"Ctrl+G lets the next agent that asks drive for 10 min"}},
		"held":     {control.State{Phase: control.Granted, Agent: agent, Pending: control.Confirmation{Keys: "<Enter>", Line: `· runs: "rm -r build"`}, Question: 7}, []string{"“claude” wants to send <Enter> · runs: \"rm -r build\""}},
		"occupied": {control.State{Phase: control.Granted, Agent: agent, Occupied: true, Line: "git pu", Question: 7}, []string{"“claude” waits for your line", "Ctrl+G lets it type"}},
		"secret":   {control.State{Phase: control.Granted, Agent: agent, Secret: protocol.SecretSoft, Dismissible: true, Question: 7}, []string{"Ctrl+G: this is not a password"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Config{Line: true, Reclaim: `Ctrl+\`, Grant: "Ctrl+G", Repaint: func() {}})
			s.ShowState(c.state)
			asked := 0
			for cols := 1; cols <= 80; cols++ {
				for rows := 1; rows <= 24; rows++ {
					line, _, _, question := s.composeNow(time.Now(), cols, rows, "")
					if question == 0 {
						require.NotContains(t, line, "Ctrl+G lets", "%dx%d", cols, rows)
						continue
					}
					asked++
					for _, want := range c.has {
						require.Contains(t, removeBlanks(line), removeBlanks(want), "%dx%d: %q", cols, rows, line)
					}
				}
			}
			require.Greater(t, asked, 24)
			require.Less(t, asked, 80*24)
		})
	}
}
