package protocol

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	rows := []string{"one", "error 1", "two", "error 2", "three", "four", "five", "error 3"}
	for _, c := range []struct {
		pattern       string
		context, most int
		want          string // a matching row with its line and ":", one around it with "-"
		count         int
		more          uint64
	}{
		{"error", 0, 9, "11: 13: 17:", 3, 0},
		{"error", 1, 9, "10- 11: 12- 13: 14- 16- 17:", 3, 0},
		{"error", 2, 9, "10- 11: 12- 13: 14- 15- 16- 17:", 3, 0},
		{"error", 0, 2, "11: 13:", 3, 17},
		{"error", 2, 1, "10- 11: 12- 13:", 3, 17}, // the second stands around the first
		{"^four$", 20, 9, "10- 11- 12- 13- 14- 15: 16- 17-", 1, 0},
		{"six", 1, 9, "", 0, 0},
	} {
		found := Excerpt{First: 9, Rows: append([]string{"error 0"}, rows...), Hidden: []int{0, 2}}.Skip(1).Find(regexp.MustCompile(c.pattern), c.context, c.most)
		var got []string
		for _, r := range found.Rows {
			require.Equal(t, rows[r.Line-10], r.Text)
			require.Equal(t, r.Line == 11, r.Hidden)
			got = append(got, fmt.Sprint(r.Line, map[bool]string{true: ":", false: "-"}[r.Match]))
		}
		name := fmt.Sprint(c)
		require.Equal(t, c.count, found.Count, name)
		if c.more > 0 {
			require.NotNil(t, found.More, name)
			require.Equal(t, c.more, *found.More, name)
		} else {
			require.Nil(t, found.More, name)
		}
		require.Equal(t, c.want, strings.Join(got, " "), name)
	}
	long := make([]string, 10)
	for i := range long {
		long[i] = strings.Repeat("x", maxFoundBytes/3)
	}
	found := Excerpt{Rows: long}.Find(regexp.MustCompile("x"), 0, 100)
	require.Equal(t, []int{10, 4, 4}, []int{found.Count, len(found.Rows), int(*found.More)}, "an answer is one message") //nolint:gosec // four
}

func TestASearchThatTakesTooLong(t *testing.T) {
	rows := []string{"error 1", "two", "error 2", "four", "error 3"}
	for after, want := range map[int]Found{
		1: {Count: 1, More: new(uint64(11)), Cut: true},
		3: {Count: 2, More: new(uint64(13)), Cut: true},
		5: {Count: 3},
	} {
		asked := 0
		found := Excerpt{First: 10, Rows: rows}.find(regexp.MustCompile("error"), 0, 9, func() bool { asked++; return asked == after })
		require.Len(t, found.Rows, want.Count)
		found.Rows = nil
		require.Equal(t, want, *found)
	}
	asked := 0
	found := Excerpt{First: 10, Rows: rows}.find(regexp.MustCompile("error"), 0, 1, func() bool { asked++; return asked == 4 })
	require.Equal(t, Found{Count: 2, More: new(uint64(12)), Cut: true, Rows: []FoundRow{{Line: 10, Text: "error 1", Match: true}}}, *found,
		"those that had no room come first")
	dear, err := CompilePattern("match", "(([0-9]?){30}){9}x")
	require.NoError(t, err)
	require.True(t, Excerpt{Rows: slices.Repeat([]string{strings.Repeat("7", 1000)}, 5000)}.Find(dear, 0, 9).Cut)
}

// Rows that the terminal wrapped are searched, answered and counted as the line that they are.
func TestFindInWrappedRows(t *testing.T) {
	all := Excerpt{
		First: 10, Rows: []string{"one", "an error that", "goes on and on", "end", "two", "three", "four"},
		Hidden: []int{2}, Wraps: []Wrap{{Row: 1, Blanks: 2}, {Row: 2}, {Row: 4}},
	}
	line := FoundRow{Line: 11, Text: "an error that  goes on and onend", Rows: 3, Match: true, Hidden: true}
	pair := FoundRow{Line: 14, Text: "twothree", Rows: 2}
	for _, c := range []struct {
		pattern string
		skip    int
		context int
		want    []FoundRow
	}{
		{"that  goes", 0, 0, []FoundRow{line}},
		{"^an.*end$", 0, 1, []FoundRow{{Line: 10, Text: "one"}, line, pair}},
		{"onend", 2, 0, []FoundRow{{Line: 12, Text: "goes on and onend", Rows: 2, Match: true, Hidden: true}}},
		{"three", 5, 0, []FoundRow{{Line: 15, Text: "three", Match: true}}},
		{"^end", 0, 0, []FoundRow{}},
	} {
		require.Equal(t, c.want, all.Skip(c.skip).Find(regexp.MustCompile(c.pattern), c.context, 9).Rows, c.pattern)
	}
	require.Equal(t, []string{"one", line.Text, pair.Text, "four"}, all.Lines())
	require.Equal(t, []string{"one", "an error that  goes on and on"}, all.Until(3).Lines())
	more := all.Find(regexp.MustCompile("e"), 0, 1).More
	require.Equal(t, uint64(11), *more)

	long := Excerpt{Rows: slices.Repeat([]string{"x"}, 2*MaxJoined+5)}
	for row := range long.Rows {
		long.Wraps = append(long.Wraps, Wrap{Row: row})
	}
	var sizes []int
	for _, text := range long.Lines() {
		sizes = append(sizes, len(text))
	}
	require.Equal(t, []int{MaxJoined, MaxJoined, 5}, sizes)
}

// Wraps that no check has seen, out of order or with a senseless number of blanks, do no harm.
func TestFindInDamagedWraps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		e := Excerpt{Rows: slices.Repeat([]string{"x"}, r.IntN(6))}
		for range r.IntN(8) {
			e.Wraps = append(e.Wraps, Wrap{Row: r.IntN(9) - 2, Blanks: r.IntN(5) - 2})
			e.Hidden = append(e.Hidden, r.IntN(9)-2)
		}
		require.Equal(t, len(e.Rows), strings.Count(strings.Join(e.Lines(), ""), "x"))
		e.Skip(len(e.Rows)/2).Find(regexp.MustCompile("x"), 1, 9)
		e.Until(len(e.Rows) / 2).Lines()
	}
}
