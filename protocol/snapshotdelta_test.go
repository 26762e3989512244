package protocol

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shown is a snapshot as a shell's: with all that a proxy says of it.
func shown(lines ...string) *Snapshot {
	for len(lines) < 24 {
		lines = append(lines, "")
	}
	cursor := Cursor{Row: 1, Col: 2, Visible: true}
	return &Snapshot{
		ID: "k3f9x2m4qa", SessionID: "bash-k3f9", Content: strings.Join(lines, "\n"), Timestamp: 1767225600000, Seq: 412,
		Screen: &Screen{
			Cols: 80, Rows: 24, Lines: lines, Cursor: cursor, Title: "ada@host: ~/notes", Modes: Modes{BracketedPaste: true}, Scrollback: 130,
			Hash: HashScreen(80, 24, cursor, lines),
		},
		Keyboard: &Keyboard{Holder: HolderUser}, Foreground: "bash", Directory: "/home/ada/notes", UsedAt: 1767225590000,
	}
}

// after returns the snapshot that follows one.
func after(s *Snapshot, ms int64, change func(*Snapshot)) *Snapshot {
	next, screen, keyboard := *s, *s.Screen, *s.Keyboard
	next.Screen, next.Keyboard, screen.Lines = &screen, &keyboard, slices.Clone(screen.Lines)
	next.ID, next.Timestamp, next.Settled, next.IdleMs = "m4qak3f9x2", s.Timestamp+ms, false, 0
	change(&next)
	screen.Hash = HashScreen(screen.Cols, screen.Rows, screen.Cursor, screen.Lines)
	return &next
}

// overWire returns a message as a peer reads it, and the size of its frame.
func overWire(t *testing.T, m Message) (read Message, frame string) {
	t.Helper()
	raw, err := Encode(m)
	require.NoError(t, err)
	read, err = Decode(raw, MaxMessage)
	require.NoError(t, err)
	return read, string(raw)
}

// equalSnapshots compares all but the ids, which are of the messages.
func equalSnapshots(t *testing.T, want, got *Snapshot, message ...any) {
	t.Helper()
	one, other := *want, *got
	one.ID, other.ID, one.shared, other.shared = "", "", nil, nil
	require.Equal(t, asJSON(t, &one), asJSON(t, &other), message...)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

// A field that a snapshot gains is in its deltas, or the next reader of it has an old value.
func TestADeltaHasEveryField(t *testing.T) {
	whole := func() *Snapshot {
		s := full("terminal.snapshot").(*Snapshot)
		s.Changed, s.Since, s.Moved = nil, 0, 0
		for len(s.Screen.Lines) < s.Screen.Rows {
			s.Screen.Lines = append(s.Screen.Lines, "")
		}
		return s
	}
	check := func(next *Snapshot, name string) {
		before := asJSON(t, whole())
		last := whole()
		d := next.Delta(last, true)
		require.NotNil(t, d, name)
		m, _ := overWire(t, d)
		full, ok := m.(*SnapshotDelta).Complete(last)
		require.True(t, ok, name)
		equalSnapshots(t, next, full, name)
		require.Equal(t, before, asJSON(t, last), "%s: others may be reading the snapshot before", name)
	}
	var walk func(of func(*Snapshot) reflect.Value, path string, except ...string)
	walk = func(of func(*Snapshot) reflect.Value, path string, except ...string) {
		shape := of(whole()).Type()
		for i := range shape.NumField() {
			f := shape.Field(i)
			if !f.IsExported() || slices.Contains(except, f.Name) {
				continue
			}
			field := func(s *Snapshot) reflect.Value { return of(s).Field(i) }
			if inner := f.Type; inner.Kind() == reflect.Struct || inner.Kind() == reflect.Pointer && inner.Elem().Kind() == reflect.Struct {
				walk(func(s *Snapshot) reflect.Value { return reflect.Indirect(field(s)) }, path+f.Name+".")
			}
			for _, clear := range []bool{false, true} {
				next := whole()
				if clear {
					field(next).SetZero()
				} else {
					change(t, field(next))
				}
				if next.check() == nil {
					check(next, path+f.Name)
				}
			}
		}
	}
	walk(func(s *Snapshot) reflect.Value { return reflect.ValueOf(s).Elem() }, "", "SessionID", "Screen", "Changed", "Since", "Moved")
	walk(func(s *Snapshot) reflect.Value { return reflect.ValueOf(s.Screen).Elem() }, "Screen.", "Cols", "Rows", "Lines")
}

func change(t *testing.T, v reflect.Value) {
	t.Helper()
	before := asJSON(t, v.Interface())
	switch v.Kind() { //nolint:exhaustive // the kinds that a snapshot has
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		v.SetZero()
	}
	require.NotEqual(t, before, asJSON(t, v.Interface()))
}

// A peer that has another snapshot refuses a delta, and needs a whole one.
func TestADeltaIsToOneSnapshot(t *testing.T) {
	base := shown("a", "b")
	d := after(base, 5, func(s *Snapshot) { s.Seq, s.Screen.Lines[0] = 413, "c" }).Delta(base, true)
	for name, last := range map[string]*Snapshot{
		"none":             nil,
		"without a screen": {SessionID: "bash-k3f9", Seq: 412},
		"a later one":      after(base, 5, func(s *Snapshot) { s.Seq = 413 }),
		"another session":  after(base, 5, func(s *Snapshot) { s.SessionID = "vim-1" }),
		"a smaller one":    after(base, 5, func(s *Snapshot) { s.Screen.Rows, s.Screen.Lines = 0, nil }),
		"a shorter text":   after(base, 5, func(s *Snapshot) { s.Content = "" }),
	} {
		d.Content = &TextDelta{Erase: 1}
		_, ok := d.Complete(last)
		require.False(t, ok, name)
	}
	for name, next := range map[string]*Snapshot{
		"another size":   after(base, 5, func(s *Snapshot) { s.Screen.Cols = 79 }),
		"no screen":      {ID: "t", SessionID: "bash-k3f9", Seq: 413},
		"another screen": after(base, 5, func(s *Snapshot) { s.Screen.Lines = strings.Split(strings.Repeat("another row\n", 23)+"-", "\n") }),
	} {
		require.Nil(t, next.Delta(base, true), name)
	}
	require.Nil(t, base.Delta(nil, true))
	unnumbered := after(base, 5, func(s *Snapshot) { s.Seq = 0 })
	require.Nil(t, base.Delta(unnumbered, true), "since 0 would be the revision itself")
}

func TestHashScreen(t *testing.T) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(" 80 2 1 3\né\n"))
	require.Equal(t, strconv.FormatUint(h.Sum64(), 36), HashScreen(80, 2, Cursor{Row: 1, Col: 3}, []string{"é", ""}))
}

func TestTextDelta(t *testing.T) {
	full := strings.Repeat("0123456789", 20)
	for name, c := range map[string]struct {
		last, next string
		want       TextDelta
	}{
		"more":                {"a\n", "a\nb\n", TextDelta{Add: "b\n"}},
		"a line again":        {"a\n10 %", "a\n20 %", TextDelta{Erase: 4, Add: "20 %"}},
		"a full text":         {"first line\n" + full, full + "end", TextDelta{Cut: 11, Add: "end"}},
		"a full text, erased": {"first line\n" + full + "x", full + "end", TextDelta{Cut: 11, Erase: 1, Add: "end"}},
		"another one":         {"abc", "xyz", TextDelta{Erase: 3, Add: "xyz"}},
		"nothing":             {"abc", "", TextDelta{Erase: 3}},
		"whole characters":    {"aé", "aè", TextDelta{Erase: 2, Add: "è"}},
	} {
		d := textDelta(c.last, c.next)
		require.Equal(t, c.want, *d, name)
		got, ok := d.applyTo(c.last)
		require.True(t, ok)
		require.Equal(t, c.next, got)
	}
}

// Chains of random snapshots, of which some are skipped, are rebuilt by whoever has each before.
func TestDeltasRebuildEverySnapshot(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same snapshots each time
		newest := shown("a", "b")
		sent, have := newest, newest
		for range 40 {
			newest = randomNext(random, newest)
			if random.IntN(3) == 0 {
				continue // merged with the next one
			}
			m := Message(newest)
			if d := newest.Delta(sent, true); d != nil {
				m = d
			}
			sent = newest
			m, _ = overWire(t, m)
			full, ok := m.(SnapshotPart).Complete(have)
			require.True(t, ok, "seed %d", seed)
			equalSnapshots(t, newest, full, "seed %d", seed)
			have = full
		}
	}
}

// randomNext returns a snapshot that can follow one.
func randomNext(random *rand.Rand, last *Snapshot) *Snapshot {
	return after(last, random.Int64N(5000)-10, func(s *Snapshot) {
		s.Settled, s.IdleMs = random.IntN(2) == 0, random.Int64N(3)*15
		if random.IntN(2) == 0 {
			s.Seq += 1 + random.Uint64N(3)
			s.Screen.Lines = Move(s.Screen.Lines, random.IntN(5)-2)
			for range random.IntN(4) {
				s.Screen.Lines[random.IntN(len(s.Screen.Lines))] = strings.Repeat("word ", random.IntN(15))
			}
			text := []rune(s.Content)
			s.Content = string(text[min(len(text), random.IntN(9)):]) + fmt.Sprint("é ", random.IntN(3), "\n")
		}
		for range random.IntN(4) {
			switch random.IntN(10) {
			case 0:
				s.Screen.Cursor = Cursor{Row: random.IntN(s.Screen.Rows), Col: random.IntN(9), Visible: random.IntN(2) == 0}
			case 1:
				s.Screen.Modes = Modes{Mouse: random.IntN(2) == 0, AppCursor: random.IntN(2) == 0}
			case 2:
				s.Screen.Title = strings.Repeat("<t>", random.IntN(2))
			case 3:
				s.Keyboard = &Keyboard{Holder: HolderAgent, AgentID: fmt.Sprint("a-", random.IntN(2)), Epoch: random.Uint64N(9)}
			case 4:
				s.Blackout = nil
			case 5:
				s.Blackout = &Hidden{Why: BlackoutPassword, SinceMs: random.Int64N(99)}
			case 6:
				s.Muted = strings.Fields(strings.Repeat("codex ", random.IntN(3)))
			case 7:
				s.Foreground, s.Directory, s.UsedAt = "", "", 0
			case 8:
				s.HiddenText, s.Redactions = []int{random.IntN(s.Screen.Rows)}, random.IntN(2)
			case 9:
				s.Screen.Rows, s.Screen.Cursor.Row = 20+random.IntN(3), 0
				s.Screen.Lines = append(s.Screen.Lines, "", "", "", "")[:s.Screen.Rows]
				s.HiddenText = nil
			}
		}
	})
}

// No frame makes a reader fail, and none makes a snapshot that may not be sent.
func FuzzSnapshotDelta(f *testing.F) {
	f.Add(`{"type":"terminal.delta","sessionId":"bash-k3f9","seq":413,"since":412,"changed":[{"row":1,"text":"x"}],"cursor":{"col":3}}`)
	f.Add(`{"type":"terminal.delta","sessionId":"bash-k3f9","seq":412,"content":{"cut":3,"erase":9},"keyboard":null,"modes":null}`)
	f.Add(`{"type":"terminal.delta","sessionId":"bash-k3f9","seq":412,"screen":{"rows":1},"rows":1,"lines":[],"hiddenText":[99]}`)
	f.Add(`{"tYpe":"terminal.delta","sessionId":"bash-k3f9","seq":412,"Title":"x","unknown":1}`)
	base := shown("a", "b")
	before, err := json.Marshal(base)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, frame string) {
		m, err := Decode([]byte(frame), MaxMessage)
		d, ok := m.(*SnapshotDelta)
		if err != nil || !ok {
			return
		}
		again, _ := overWire(t, d)
		require.Equal(t, d.patch, again.(*SnapshotDelta).patch)
		full, ok := d.Complete(base)
		if ok {
			_, err := Encode(full)
			require.NoError(t, err)
			require.Len(t, full.Screen.Lines, full.Screen.Rows)
		}
		require.Equal(t, string(before), asJSON(t, base))
	})
}
