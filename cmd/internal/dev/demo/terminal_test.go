package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The frames of the demo fit into an ordinary window, and those for the README's picture stay.
func TestFramesFitIntoTheWindow(t *testing.T) {
	for window, want := range map[int]int{0: mostCols, 1: leastCols, 65: 60, 80: 75, 105: 100, 300: mostCols} {
		cols := chooseCols(window)
		require.Equal(t, want, cols, window)
		if window >= leastCols+frameCols {
			require.LessOrEqual(t, cols+frameCols, window)
		}
	}
}
