package proxy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/observer"
)

func TestR28TheCommandLine(t *testing.T) {
	claim := "sk-" + "ant-api03-" + strings.Repeat("Qz7-", 20)
	s := &session{
		observer: observer.New(observer.Config{Cols: 20, Rows: 4}),
		conf:     Config{Args: []string{"-H", "Authorization: Bearer " + claim, "x"}},
	}
	require.Equal(t, []string{"-H", "Authorization: Bearer " + strings.Repeat("•", len(claim)), "x"}, s.arguments())
}
