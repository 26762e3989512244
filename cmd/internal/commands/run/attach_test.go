package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestASessionIsNotShownOnItsOwnScreen(t *testing.T) {
	all := []protocol.SessionInfo{
		{SessionID: "outer"},
		{SessionID: "inner", ParentSessionID: "outer"},
		{SessionID: "innermost", ParentSessionID: "inner"},
		{SessionID: "headless", ParentSessionID: "outer", Headless: true},
		{SessionID: "hen", ParentSessionID: "egg"},
		{SessionID: "egg", ParentSessionID: "hen"},
	}
	for _, c := range []struct {
		inside, id string
		want       bool
	}{
		{"outer", "outer", true},
		{"outer", "inner", false}, // as a picture in the picture
		{"inner", "outer", true},
		{"innermost", "outer", true},
		{"innermost", "inner", true},
		{"headless", "headless", true},
		{"headless", "outer", false}, // it is invisible there
		{"elsewhere", "elsewhere", true},
		{"elsewhere", "outer", false},
		{"hen", "outer", false},
		{"hen", "egg", true},
	} {
		require.Equal(t, c.want, isShownIn(c.inside, c.id, all), "%s in %s", c.id, c.inside)
	}
}
