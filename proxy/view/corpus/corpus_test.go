package corpus_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/view/corpus"
)

func TestRows(t *testing.T) {
	type row struct {
		Name, In, Want string
		N              int
		For            time.Duration
		Is             bool
	}
	require.Equal(t, []row{
		{"a name", "\x1b[1m\"q\"\\", "ababab", 7, 90 * time.Second, true}, {Name: "another", Want: "x "},
	}, corpus.Rows[row](t, "rows"))
}

func TestPlays(t *testing.T) {
	var played [][]corpus.Step
	corpus.Plays(t, "plays", func(_ *testing.T, steps []corpus.Step) { played = append(played, steps) })
	require.Len(t, played, 2)
	first := played[0]
	require.Equal(t, []string{"begin", "aab", "how=ever"}, first[0].Words)
	require.Equal(t, []string{"aab", "", "ever"}, []string{first[0].Arg(1), first[0].Arg(9), first[0].Option("how")})
	require.Empty(t, first[0].Wants)
	require.Equal(t, []string{"5ms", "press", "\x1b x"}, first[1].Words)
	require.Equal(t, []corpus.Want{{Name: "written", Value: "\x1b x|y"}, {Value: "done"}}, first[1].Wants)
	require.Equal(t, []corpus.Want{{Value: "open"}}, played[1][0].Wants)
}
