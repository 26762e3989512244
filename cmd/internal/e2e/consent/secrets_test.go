package consent_test

import (
	"fmt"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// leaked is a part of each secret of the test below, which is put together as it runs.
const leaked = "Zk9q"

// R76: secrets as they appear in files and in programs' output: wrapped over two rows, in pieces,
// after wide characters.
func TestAgentsSeeNoSecretR76(t *testing.T) {
	body := strings.Repeat(leaked, 10)
	lines := []string{
		"# .env", "db_password=" + leaked + "hunter2", "export STRIPE=sk_" + "test_" + body,
		"# yaml", "  password: " + leaked + "hunter2", "  - api_key: \"" + body + "\"",
		"# json", `{"user": "ada", "password": "` + leaked + ` horse"}`, `{\"token\":\"` + body + `\"}`,
		"# curl -v", "> Authorization: Bearer " + body, "< set-cookie: sid=" + body + "; Path=/",
		"# docker", `"auths": {"x": {"auth": "YWRhOlprOXFaazlx"}}`, "# aws", "aws_secret_access_key = " + body,
		"# ours", "token tp" + "_" + body + "abc", "日本語 の hvs" + "." + body,
		"# wrapped", strings.Repeat("x", 50) + " shpat" + "_" + strings.Repeat("deadbeef", 4),
	}
	w := world.New(t)
	w.Write("secrets", strings.Join(lines, "\n")+"\n")
	w.Write("code", "\tpassword := readPassword(os.Stdin)\n\ttoken = next_token()\npasswd:         files systemd\n--password-file=/run/x\n")
	// The last one comes in two chunks: its beginning stands there, and is read, before its end
	// comes.
	w.Write("half", "cat secrets; printf 'half gl"+"pat-Zk9q'; read -rsn1; printf 'Zk9qZk9qZk9qZk9q\\nend of it\\n'\n")
	s := w.Terminal(60, 40)
	id := s.RunBash("")
	o := w.Overhear(id)
	s.Typed(". ./half\n")
	s.Wait("half gl")
	w.MustGateway("wait", id, "--text", "half ")
	readAll(o)
	s.Typed("x")
	s.Wait("end of it")
	w.MustGateway("wait", id, "--text", "end of it")
	readAll(o)
	all := o.All()
	for _, part := range []string{leaked, "YWRhOlpr", "deadbeef"} {
		require.NotContains(t, all, part)
	}
	for _, line := range []string{"db_password=•", "  password: •", "> Authorization: Bearer •", "日本語 の •", "x •", "half •"} {
		world.WaitRead(w, id, line)
	}
	require.Contains(t, strings.ReplaceAll(s.Screen(), "\n", ""), "Zk9qhunter2", "the user's own screen is as it was")

	s.Typed("clear; cat code\n")
	s.Wait("password-file")
	w.MustGateway("wait", id, "--text", "password-file")
	shown := w.MustGateway("read", id)
	for _, line := range []string{"password := readPassword(os.Stdin)", "token = next_token()", "passwd:         files systemd", "--password-file=/run/x"} {
		require.Contains(t, shown, line)
	}
	s.Typed("exit\n")
	require.Zero(t, s.Status(), fmt.Sprint(s.Screen()))
}
