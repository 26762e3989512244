package recent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/chat/recent"
)

func TestTheOldestGoFirst(t *testing.T) {
	m := recent.New[int](10_000)
	for i := range 1000 {
		m.Put(fmt.Sprint(i), i, 1000)
	}
	got, ok := m.Get("999")
	require.Equal(t, 999, got)
	require.True(t, ok)
	require.True(t, m.Has("993"))
	require.False(t, m.Has("900"))
	m.Put("993", 7, 1000) // it is the newest now
	m.Put("another", 1, 4000)
	require.True(t, m.Has("993"))
	require.False(t, m.Has("994"))
	m.Delete("another")
	require.False(t, m.Has("another"))
	m.Put(strings.Repeat("x", 20_000), 1, 0)
	require.True(t, m.Has(strings.Repeat("x", 20_000)), "the newest is kept whatever its size")
	require.False(t, m.Has("993"))
}
