package chat

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// The server of one conversation answers its agent alone.
func TestToolsAreForOneConversation(t *testing.T) {
	guarded := guardTools(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "127.0.0.1:7", "secret")
	for _, tt := range []struct {
		host, token, origin string
		status              int
	}{
		{"127.0.0.1:7", "Bearer secret", "", http.StatusOK},
		{"127.0.0.1:7", "", "", http.StatusUnauthorized},
		{"127.0.0.1:7", "Bearer ", "", http.StatusUnauthorized},
		{"127.0.0.1:7", "Bearer secret2", "", http.StatusUnauthorized},
		{"127.0.0.1:7", "secret", "", http.StatusUnauthorized},
		{"evil.example:7", "Bearer secret", "", http.StatusForbidden},
		{"127.0.0.1:7", "Bearer secret", "http://evil.example", http.StatusForbidden},
	} {
		r := httptest.NewRequest(http.MethodPost, "http://"+tt.host+"/mcp", nil)
		if tt.token != "" {
			r.Header.Set("Authorization", tt.token)
		}
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		w := httptest.NewRecorder()
		guarded.ServeHTTP(w, r)
		require.Equal(t, tt.status, w.Code, "%+v", tt)
	}
}
