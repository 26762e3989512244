package requests

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInbox(t *testing.T) {
	var b inbox
	require.Nil(t, b.takeNotes("ada"))
	b.addNote("ada", "one")
	b.addNote("", "two")
	require.True(t, b.hasNote("bert"))
	require.Nil(t, b.takeNotes(""), "who has no name gets none")
	require.True(t, b.hasNote("ada"))
	require.Equal(t, []string{"two"}, b.takeNotes("bert"))
	require.False(t, b.hasNote("bert"))
	require.Equal(t, []string{"one"}, b.takeNotes("ada"), "what is for the next agent gets one agent: the first")
	require.Nil(t, b.takeNotes("ada"), "each once")
	require.False(t, b.hasNote("ada"))
	b.addNote("bert", "three")
	require.Nil(t, b.takeNotes("ada"))
	require.Equal(t, []string{"three"}, b.takeNotes("bert"))
	for i := range 100 {
		b.addNote("ada", fmt.Sprint(i))
	}
	got := b.takeNotes("ada")
	require.Len(t, got, notesKept)
	require.Equal(t, "99", got[len(got)-1])
	b.addNote("", "more")
	require.Equal(t, []string{"more"}, b.takeNotes("agent"))
	require.Nil(t, b.takeNotes("another"))
}
