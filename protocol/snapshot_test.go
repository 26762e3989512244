package protocol

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// A snapshot is brief only if the peer can rebuild all of it from what it has.
func TestBriefSaysAllThereIs(t *testing.T) {
	last := func() *Snapshot {
		return &Snapshot{
			ID: "1", SessionID: "vim-1", Content: "a", Timestamp: 5, Seq: 7, IdleMs: 0, Keyboard: &Keyboard{Epoch: 1}, Muted: []string{"x"},
			Screen:   &Screen{Cols: 4, Rows: 2, Lines: []string{"a", ""}, Hash: "h"},
			Blackout: &Hidden{Why: BlackoutUser, SinceMs: 5}, HiddenText: []int{1}, Foreground: "vim",
		}
	}
	next := func() *Snapshot {
		s := last()
		s.ID, s.Timestamp, s.IdleMs, s.Settled = "2", 35, 30, true
		return s
	}
	brief := next().Brief(last())
	require.NotNil(t, brief)
	frame, err := Encode(brief)
	require.NoError(t, err)
	require.Less(t, len(frame), 200)
	read, err := Decode(frame, MaxMessage)
	require.NoError(t, err)
	whole, ok := read.(*Snapshot).Complete(last())
	require.True(t, ok)
	require.Equal(t, next(), whole)

	older := next()
	older.Blackout.SinceMs = 35
	require.NotNil(t, older.Brief(last()), "what is hidden gets older by itself")

	fields := reflect.TypeFor[Snapshot]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		switch name {
		case "ID", "Timestamp", "IdleMs", "shared":
			continue
		}
		other := next()
		change(t, reflect.ValueOf(other).Elem().Field(i))
		require.Nil(t, other.Brief(last()), name)
	}
	screen := reflect.TypeFor[Screen]()
	for i := range screen.NumField() {
		other := next()
		change(t, reflect.ValueOf(other.Screen).Elem().Field(i))
		require.Nil(t, other.Brief(last()), screen.Field(i).Name)
	}
	require.Nil(t, next().Brief(nil))
	require.Nil(t, next().Brief(next()), "it was settled")

	_, ok = brief.Complete(nil)
	require.False(t, ok)
	later := last()
	later.Seq = 8
	_, ok = brief.Complete(later)
	require.False(t, ok, "it is about another revision")
}

func change(t *testing.T, v reflect.Value) {
	t.Helper()
	before, err := json.Marshal(v.Interface())
	require.NoError(t, err)
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
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		} else {
			v.Set(reflect.Zero(v.Type()))
		}
	case reflect.Struct:
		change(t, v.Field(0))
	}
	after, err := json.Marshal(v.Interface())
	require.NoError(t, err)
	require.NotEqual(t, string(before), string(after))
}
