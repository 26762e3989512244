package httpapi

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/gateway/access/rights"
	"terminalproxy/protocol"
)

// R49, R52: a path serves the roles that may send its message to the switchboard, which sees no other
// request. One table sets the rights for both interfaces.
func TestPathsFollowTheTableOfRightsR49R52(t *testing.T) {
	for operation, request := range validRequests {
		method, _, _ := strings.Cut(operation, " ")
		var sent protocol.Message
		served := map[rights.Role]bool{rights.RoleAgent: false, rights.RoleViewer: false, rights.RoleOwner: false}
		for role := range served {
			v := &caller{role: string(role), answer: func(ctx context.Context, m protocol.Message) (protocol.Message, error) {
				sent, served[role] = m, true
				return plain(ctx, m)
			}}
			got := serve(t, v).do(method, request.path, request.body)
			if method == http.MethodPost && !served[role] {
				require.Equal(t, http.StatusForbidden, got.status)
				require.Contains(t, got.body, "use a token of role ")
				require.Equal(t, 1, v.done, "the request is over")
			}
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
