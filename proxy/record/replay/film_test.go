package replay_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/record/replay"
	"terminalproxy/proxy/terminal/screen"
)

// shown returns what a film's picture shows.
func shown(f *replay.Film, p replay.Picture) string {
	s := screen.New(screen.Config{Cols: f.Cols, Rows: f.Rows})
	s.Feed(p.Redraw)
	var rows []string
	for i := range f.Rows {
		rows = append(rows, s.RowText(i))
	}
	return strings.TrimRight(strings.Join(rows, "|"), "|")
}

func TestAFilm(t *testing.T) {
	secret := "gh" + "p_" + strings.Repeat("Ab3x", 9)
	cast := strings.Replace(header, "bash", "bash "+secret, 1) + event(1, "o", "one") + event(0.010, "o", " two") + event(10, "A", `{"agent":"claude"}`) +
		event(0, "i", "x\r") + event(0, "o", "\r\nthree") + event(1, "o", "\x1b[m") + event(1, "r", "50x3") + event(2, "o", "\r\n"+secret) + event(2, "x", "0")
	type picture struct {
		at, stays time.Duration
		text      string
	}
	film := func(c replay.Cut) (f *replay.Film, all []picture) {
		c.Most = 100
		f, err := replay.NewFilm(t.Context(), strings.NewReader(cast), nil, c)
		require.NoError(t, err)
		for _, p := range f.Pictures {
			all = append(all, picture{p.At.Truncate(10 * time.Millisecond), p.Stays.Round(10 * time.Millisecond), shown(f, p)})
		}
		return f, all
	}
	const s, ms = time.Second, time.Millisecond
	last := "one two|three|" + strings.Repeat("•", len(secret))
	f, all := film(replay.Cut{Idle: 3 * time.Second})
	require.Equal(t, []picture{{0, 1010 * ms, ""}, {1010 * ms, 3 * s, "one two"}, {11010 * ms, 2 * s, "one two|three"}, {13010 * ms, 2 * s, "one two|three"}, {15010 * ms, 2 * s, last}}, all)
	require.Equal(t, [2]int{50, 4}, [2]int{f.Cols, f.Rows}, "the largest screen")
	require.NotContains(t, f.Command, "Ab3x")
	k, ok := replay.NewestMark(f.Marks, 12*s)
	require.True(t, ok)
	require.Equal(t, "claude: x⏎", replay.DescribeMark(k, "you"))
	_, ok = replay.NewestMark(f.Marks, 17*s-ms)
	require.False(t, ok)

	_, all = film(replay.Cut{From: 5 * s, To: 12 * s})
	require.Equal(t, []picture{{5 * s, 6010 * ms, "one two"}, {11010 * ms, 990 * ms, "one two|three"}}, all)

	for want, c := range map[string]replay.Cut{
		"there is nothing from 1m0s to":                {From: time.Minute, Most: 9},
		"more than 2 pictures until 11s: draw less of": {Most: 2},
	} {
		_, err := replay.NewFilm(t.Context(), strings.NewReader(cast), nil, c)
		require.ErrorContains(t, err, want)
	}
}

// Output that does not pause is drawn ten times a second.
func TestAFloodIsSeenInSteps(t *testing.T) {
	cast := header + strings.Repeat(event(0.001, "o", "x"), 150)
	f, err := replay.NewFilm(t.Context(), strings.NewReader(cast), nil, replay.Cut{Most: 9})
	require.NoError(t, err)
	require.Len(t, f.Pictures, 2)
}

func TestWords(t *testing.T) {
	for want, k := range map[string]protocol.Mark{
		"claude: a b":     {Kind: protocol.MarkInput, Name: "claude", Text: "a\nb"},
		"the user typed":  {Kind: protocol.MarkUser},
		"a phone typed":   {Kind: protocol.MarkUser, Name: "a phone"},
		"exit 1":          {Kind: protocol.MarkExit, Text: "1"},
		"a grant to evil": {Kind: protocol.MarkEvent, Text: "a grant to \x1bevil"},
	} {
		require.Equal(t, want, replay.DescribeMark(k, "the user"))
	}
	require.Equal(t, "1:01:05", replay.FormatClock(3665*time.Second))
}
