package chat

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestSessionsInsideOthers(t *testing.T) {
	session := func(id, parent string) protocol.SessionInfo {
		return protocol.SessionInfo{SessionID: id, ParentSessionID: parent}
	}
	all := []protocol.SessionInfo{session("deep", "inner"), session("inner", "outer"), session("outer", ""), session("other", ""), session("a", "b"), session("b", "a")}
	for outer, want := range map[string][]string{"outer": {"inner", "deep"}, "inner": {"deep"}, "deep": nil, "other": nil, "none": nil, "a": {"b"}, "": {"outer", "other", "inner", "deep"}} {
		require.Equal(t, want, findNested(all, outer), outer)
	}
}
