package requests

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInbox(t *testing.T) {
	var b inbox
	require.Nil(t, b.take("ada"))
	b.put("ada", "one")
	b.put("", "two")
	require.True(t, b.waits("bert"))
	require.Nil(t, b.take(""), "who has no name gets none")
	require.True(t, b.waits("ada"))
	require.Equal(t, []string{"two"}, b.take("bert"))
	require.False(t, b.waits("bert"))
	require.Equal(t, []string{"one"}, b.take("ada"), "what is for the next agent gets one agent: the first")
	require.Nil(t, b.take("ada"), "each once")
	require.False(t, b.waits("ada"))
	b.put("bert", "three")
	require.Nil(t, b.take("ada"))
	require.Equal(t, []string{"three"}, b.take("bert"))
	for i := range 100 {
		b.put("ada", fmt.Sprint(i))
	}
	got := b.take("ada")
	require.Len(t, got, notesKept)
	require.Equal(t, "99", got[len(got)-1])
	b.put("", "more")
	require.Equal(t, []string{"more"}, b.take("agent"))
	require.Nil(t, b.take("another"))
}
