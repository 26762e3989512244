package browser_test

import (
	"testing"
	"time"

	"terminalproxy/gateway/access/auth"
	"terminalproxy/protocol"
)

// desk is a screenful of sessions of all kinds.
func desk(t *testing.T, asks bool) *gateway {
	v := vim()
	v.Cols, v.Rows, v.Title = 100, 24, "main.go (~/src/shop) - VIM"
	drive(v)
	v.Keyboard.ExpiresAt = time.Now().Add(8 * time.Minute).UnixMilli()
	v.Muted, v.LastLine = []string{"gemini"}, "-- INSERT --                 6,32          All"
	v.IdleMs = 3 * 60_000
	test := session("go-1", "/home/ada/src/shop", "go", "test", "./...")
	test.IdleMs, test.LastLine = 2000, "ok    shop/orders  0.312s"
	bash := session("bash-1", "/home/ada", "bash")
	bash.StartedAt++ // the newest
	bash.IdleMs, bash.LastLine = 12*60_000, "ada@desk:~$"
	ssh := session("ssh-1", "/home/ada", "ssh", "bastion")
	ssh.Blackout = &protocol.Hidden{Why: protocol.BlackoutPassword, Secret: "hard"}
	npm := session("npm-1", "/home/ada/src/web", "npm", "run", "build")
	npm.State, npm.ExitCode = protocol.StateExited, 2
	all := []*protocol.SessionInfo{v, test, bash, ssh, npm}
	if asks {
		q := asking("codex", "look up the failed order and show its rows", protocol.LevelDrive)
		q.Keyboard.AskingSince = time.Now().Add(-40 * time.Second).UnixMilli()
		all = append(all, q)
	}
	g := serve(t, auth.RoleOwner, "", all...)
	g.print("vim-1", "\x1b[38;5;244m  1 \x1b[94mpackage\x1b[m main\r\n\x1b[38;5;244m  2\r\n  3 \x1b[94mimport\x1b[m \x1b[92m\"fmt\"\x1b[m\r\n"+
		"\x1b[38;5;244m  4\r\n  5 \x1b[94mfunc\x1b[m main() {\r\n\x1b[38;5;244m  6 \x1b[m    list := []\x1b[94mstring\x1b[m{\x1b[92m\"bread\"\x1b[m, \x1b[92m\"apples\"\x1b[m}\r\n"+
		"\x1b[38;5;244m  7 \x1b[m    \x1b[94mfor\x1b[m i, item := \x1b[94mrange\x1b[m list {\r\n\x1b[38;5;244m  8 \x1b[m        fmt.Println(i, item) \x1b[90m// ✓ ┌─┬─┐\x1b[m\r\n"+
		"\x1b[38;5;244m  9 \x1b[m    }                         \x1b[90m// \x1b[m\x1b[7m inverse \x1b[m \x1b[41;97m red \x1b[m └─┴─┘\r\n\x1b[38;5;244m 10 \x1b[m}\r\n"+
		"\x1b[94m~\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\r\n~\x1b[m\r\n\x1b[33m-- INSERT --\x1b[m                                              6,32          All\x1b[6;40H")
	g.print("bash-1", "\x1b[32mada@desk\x1b[m:\x1b[34m~\x1b[m$ ls\r\nDocuments  notes.txt  src\r\n\x1b[32mada@desk\x1b[m:\x1b[34m~\x1b[m$ ")
	if asks {
		g.print("psql-1", "orders=# select count(*) from orders\r\norders-#   where state = 'failed';\r\n count\r\n-------\r\n     3\r\n(1 row)\r\n\r\norders=# ")
	}
	return g
}
