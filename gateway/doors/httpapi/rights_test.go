package httpapi

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/rights"
	"terminalproxy/protocol"
)

// R52: a path serves the roles that may send its message to the switchboard. One table sets the
// rights for both interfaces.
func TestPathsFollowTheTableOfRightsR52(t *testing.T) {
	for operation, request := range validRequests {
		method, _, _ := strings.Cut(operation, " ")
		var sent protocol.Message
		served := map[rights.Role]bool{rights.RoleAgent: false, rights.RoleViewer: false, rights.RoleOwner: false}
		for role := range served {
			v := &caller{role: string(role), answer: func(ctx context.Context, m protocol.Message) (protocol.Message, error) {
				sent, served[role] = m, true
				return plain(ctx, m)
			}}
			serve(t, v).do(method, request.path, request.body)
		}
		if sent == nil {
			continue // it asks the switchboard nothing
		}
		for role, is := range served {
			no := rights.Set{Can: rights.OfRole(role, false)}.CheckMessage(sent, time.Time{})
			require.Equal(t, no == nil, is, "%s: role %s, %s", operation, role, protocol.KindOf(sent))
		}
	}
}
