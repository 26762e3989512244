package auth

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(killed); path != "" {
		holdAndDie(path)
	}
	goleak.VerifyTestMain(m)
}

func open(t *testing.T, path string, now func() time.Time) *Store {
	t.Helper()
	s, err := OpenStore(path, now)
	require.NoError(t, err)
	return s
}

func TestTokenIsKnownByItsHashAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private", "tokens")
	s := open(t, path, nil)
	token, err := s.Create(Token{Name: "laptop", Role: RoleAgent, Namespace: "team"})
	require.NoError(t, err)
	require.Greater(t, len(token), 43)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(data), token)
	for file, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), file)
	}
	who, err := open(t, path, nil).Verify(token)
	require.NoError(t, err)
	require.Equal(t, []string{"agent", "laptop", "team"}, []string{string(who.Role), who.Name, who.Namespace})
	for _, wrong := range []string{"", token[1:], token + "x", strings.ToUpper(token), hash(token)} {
		_, err := s.Verify(wrong)
		require.ErrorIs(t, err, ErrUnknownToken)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".tokens-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestCreateRefusesWhatItCannotKeep(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "private", "tokens"), nil)
	_, err := s.Create(Token{Name: "a", Role: RoleProxy})
	require.NoError(t, err)
	for _, bad := range []Token{
		{Name: "a", Role: RoleProxy},
		{Name: "b", Role: "root"},
		{Name: "", Role: RoleProxy},
		{Name: "a b", Role: RoleProxy},
		{Name: "c", Role: RoleProxy, Namespace: "x/y"},
		{Name: strings.Repeat("x", 65), Role: RoleProxy},
	} {
		_, err := s.Create(bad)
		require.Error(t, err, "%+v", bad)
	}
	list, err := s.List()
	require.NoError(t, err)
	require.Len(t, list, 1)
}

func TestRevocationByAnotherProcessIsSeenR37(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private", "tokens")
	server, command := open(t, path, nil), open(t, path, nil)
	token, err := command.Create(Token{Name: "a", Role: RoleAgent})
	require.NoError(t, err)
	_, err = command.Create(Token{Name: "b", Role: RoleAgent})
	require.NoError(t, err)
	who, err := server.Verify(token)
	require.NoError(t, err)
	require.True(t, server.IsValid(who.TokenID))
	require.NoError(t, command.Revoke("a"))
	require.False(t, server.IsValid(who.TokenID))
	_, err = server.Verify(token)
	require.ErrorIs(t, err, ErrUnknownToken)
	require.ErrorContains(t, command.Revoke("a"), "unknown token")
	require.NoError(t, os.Remove(path))
	_, err = server.Verify(token)
	require.ErrorContains(t, err, "has disappeared: restore it, or restart to begin without tokens", "a disk that went away revokes no token")
	require.NotErrorIs(t, err, ErrUnknownToken)
	require.False(t, server.IsValid(who.TokenID), "and without the file nobody comes in")
	list, err := open(t, path, nil).List()
	require.NoError(t, err, "a new process begins without tokens")
	require.Empty(t, list)
}

func TestTokenExpires(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := open(t, filepath.Join(t.TempDir(), "private", "tokens"), func() time.Time { return now })
	token, err := s.Create(Token{Name: "a", Role: RoleAgent, Expires: now.Add(time.Hour)})
	require.NoError(t, err)
	who, err := s.Verify(token)
	require.NoError(t, err)
	now = now.Add(time.Hour)
	_, err = s.Verify(token)
	require.ErrorIs(t, err, ErrUnknownToken)
	require.False(t, s.IsValid(who.TokenID))
}

func TestWideModesAreRefusedWithWhatToDoR54(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private", "tokens")
	s := open(t, path, nil)
	token, err := s.Create(Token{Name: "a", Role: RoleAgent})
	require.NoError(t, err)
	require.NoError(t, os.Chmod(path, 0o640))
	_, err = OpenStore(path, nil)
	require.ErrorContains(t, err, "chmod 600 "+path)
	_, err = s.Verify(token)
	require.ErrorContains(t, err, "chmod 600", "a running server notices too")
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, os.Chmod(filepath.Dir(path), 0o755))
	_, err = OpenStore(path, nil)
	require.ErrorContains(t, err, "chmod 700 "+filepath.Dir(path))
	_, err = s.Create(Token{Name: "b", Role: RoleAgent})
	require.ErrorContains(t, err, "chmod 700")
}

func TestDamagedTokenFileNamesItsLine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "private")
	require.NoError(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "tokens")
	for _, line := range []string{`{"name":`, `{"name":"a","role":"agent","sha256":"00"}`, `{"name":"a","role":"root","sha256":"` + strings.Repeat("00", 32) + `"}`} {
		require.NoError(t, os.WriteFile(path, []byte("\n"+line+"\n"), 0o600))
		_, err := OpenStore(path, nil)
		require.ErrorContains(t, err, "line 2")
	}
}

func TestReadTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(path, []byte(" tp_abc \nmore\n"), 0o600))
	token, err := ReadTokenFile(path)
	require.NoError(t, err)
	require.Equal(t, "tp_abc", token)
	require.NoError(t, os.Chmod(path, 0o604))
	_, err = ReadTokenFile(path)
	require.ErrorContains(t, err, "chmod 600 "+path)
	require.NoError(t, os.Chmod(path, 0o600))
	for bad, reason := range map[string]string{
		"": path + " is empty", "\n \n": path + " is empty", "\nx": "not a token", "a b\n": "not a token", "a\x00b": "not a token",
	} {
		require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
		_, err := ReadTokenFile(path)
		require.ErrorContains(t, err, reason, "%q", bad)
	}
}

func TestFailuresAreSlowedDownPerPeerR36(t *testing.T) {
	now := time.Unix(0, 0)
	f := Failures{Now: func() time.Time { return now }}
	for range freeFailures {
		require.Zero(t, f.NoteFailure("10.0.0.1"))
	}
	require.Equal(t, time.Second, f.NoteFailure("10.0.0.1"))
	require.Zero(t, f.NoteFailure("10.0.0.2"))
	now = now.Add(time.Minute)
	require.Zero(t, f.NoteFailure("10.0.0.1"))
	for i := range 3 * maxFailing {
		f.NoteFailure(time.Duration(i).String())
	}
	require.LessOrEqual(t, len(f.peers), maxFailing, "memory is bounded")
}

func TestHostIsOneOfOurNamesR32(t *testing.T) {
	g := Guard{Hosts: []string{"box.example", "other.example:443"}}
	for host, want := range map[string]bool{
		"127.0.0.1:7777": true, "localhost:7777": true, "[::1]:7777": true, "LOCALHOST:7777": true,
		"localhost:80": true, "127.0.0.1:7778": true, // a port forwarded to ours
		"127.0.0.1": false, "evil.example:7777": false, "": false,
		"127.0.0.1.evil.example:7777": false, "localhost.:7777": false, "[::1": false,
		"box.example": true, "box.example:9": true, "Box.Example:7777": true,
		"other.example:443": true, "other.example": false, "other.example:7777": false,
	} {
		require.Equal(t, want, g.hostAllowed(host), "Host: %q", host)
	}
}

func TestOriginIsAllowedToTheLetterR31(t *testing.T) {
	g := Guard{Origins: []string{"https://box.example"}}
	ok := g.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, c := range []struct {
		origins []string
		want    int
	}{
		{nil, 200},
		{[]string{"https://box.example"}, 200},
		{[]string{"null"}, 403},
		{[]string{""}, 403},
		{[]string{"http://box.example"}, 403},
		{[]string{"https://box.example:444"}, 403},
		{[]string{"http://127.0.0.1:7777"}, 403},
		{[]string{"https://box.example", "https://evil.example"}, 403},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:7777/", nil)
		for _, o := range c.origins {
			r.Header.Add("Origin", o)
		}
		w := httptest.NewRecorder()
		ok.ServeHTTP(w, r)
		require.Equal(t, c.want, w.Code, "Origin: %q", c.origins)
	}
}

func TestPeerUIDIsKnownAtBothEndsR41(t *testing.T) {
	dir, err := os.MkdirTemp("", "peer") //nolint:usetesting // short: the path of a socket has a limit
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, "s"))
	require.NoError(t, err)
	defer func() { _ = ln.Close() }()
	dialled, err := (&net.Dialer{}).DialContext(t.Context(), "unix", ln.Addr().String())
	require.NoError(t, err)
	defer func() { _ = dialled.Close() }()
	accepted, err := ln.Accept()
	require.NoError(t, err)
	defer func() { _ = accepted.Close() }()
	for _, conn := range []net.Conn{dialled, accepted} {
		uid, err := PeerUID(conn)
		require.NoError(t, err)
		require.Equal(t, os.Getuid(), uid)
	}
	pipe, other := net.Pipe()
	defer func() { _, _ = pipe.Close(), other.Close() }()
	_, err = PeerUID(pipe)
	require.Error(t, err)
}
