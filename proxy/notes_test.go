package proxy

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMailbox(t *testing.T) {
	var b mailbox
	require.Nil(t, b.take("ada"))
	b.put("ada", "one")
	b.put("", "two")
	require.Nil(t, b.take(""), "who has no name gets none")
	require.True(t, b.waits("ada"))
	require.Equal(t, []string{"two"}, b.take("bert"))
	require.Equal(t, []string{"one", "two"}, b.take("ada"))
	require.Nil(t, b.take("ada"), "each once")
	require.False(t, b.waits("ada"))
	b.put("bert", "three")
	require.Nil(t, b.take("ada"))
	require.Equal(t, []string{"three"}, b.take("bert"))
	for i := range 100 {
		b.put("ada", fmt.Sprint(i))
	}
	got := b.take("ada")
	require.Len(t, got, lettersKept)
	require.Equal(t, "99", got[len(got)-1])
	for i := range 1000 {
		b.take(fmt.Sprint("agent", i))
		b.put("", "more")
	}
	require.LessOrEqual(t, len(b.seen), readersKept)
}
