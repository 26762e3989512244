package authority

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/consent/control"
	"terminalproxy/proxy/consent/names"
)

// The rule also judges the agent if a gateway knows it by a token.
func TestASecondAgentOfANameIsJudgedByIt(t *testing.T) {
	var book names.Book
	require.Equal(t, "claude", book.AssignName("a", "claude"))
	second := control.Agent{ID: "b", Name: book.AssignName("b", "claude"), Identity: "token 7"}
	require.NotEqual(t, "claude", second.Name)
	require.True(t, slices.Contains(ruleAgent(second).Names, "claude"), "%v", ruleAgent(second).Names)
}
