package consent_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// asAgent runs lines in a shell that looks like a coding agent's.
func (a *tool) asAgent(lines string) string {
	return "bash " + a.Write("claude", lines+"\n")
}

// gpg in an agent's own shell asks the user for the passphrase of a key. What the user runs without
// an agent asks by the system's pinentry.
func TestGpgAsksTheUser(t *testing.T) {
	a := newTool(t, "gpg", "gpgconf", "gpg-connect-agent")
	require.NoError(t, os.Mkdir(a.Path("gnupg"), 0o700))
	a.Write("gnupg/gpg-agent.conf", a.MustGateway("init", "gpg"))
	own := "#!/bin/sh\necho OK\nwhile read -r line; do case $line in GETPIN) echo asked >>'" + a.Path("own") + "'; echo ERR 83886179;; BYE) echo OK; exit;; *) echo OK;; esac; done\n"
	require.NoError(t, os.Chmod(a.Write("pinentry", own), 0o700)) //nolint:gosec // a program
	a.Env = append(a.Env, "GNUPGHOME="+a.Path("gnupg"), "PATH="+a.Dir+":"+os.Getenv("PATH"))
	forget := func() { require.Zero(t, a.Do("gpgconf", "--kill", "gpg-agent").Status) }
	t.Cleanup(forget)
	made := a.Do("gpg", "--batch", "--pinentry-mode", "loopback", "--passphrase-file", a.Write("passphrase", a.canary),
		"--quick-generate-key", "ada@example.com", "ed25519", "sign", "never")
	require.Zero(t, made.Status, made.Err)
	require.NoError(t, os.Remove(a.Path("passphrase")))
	forget()
	a.Write("text", "x\n")
	const sign = "gpg --no-tty --yes -o signed -s text"
	heard := a.Overhear(a.id)

	signs := a.start(a.asAgent(sign))
	a.answer("claude wants your password for gpg: “"+sign+"”", "wrong")
	a.answer("Bad Passphrase", a.canary)
	got := signs.Wait()
	require.Zero(t, got.Status, got.Err)
	require.FileExists(t, a.Path("signed"))
	readAll(heard)
	a.noCanary(heard, got)

	forget()
	refused := a.start(a.asAgent(sign))
	a.press("wants your password for gpg", "C-\\")
	got = refused.Wait()
	require.NotZero(t, got.Status)
	require.Contains(t, got.Err, "cancelled")
	require.NoFileExists(t, a.Path("own"))

	// gpg-connect-agent prints what it gets: the agent gets what it would get without the helper.
	got = a.start(a.asAgent(`gpg-connect-agent "GET_PASSPHRASE x X X Sudo" /bye`)).Wait()
	require.Contains(t, got.Out, "ERR")
	require.FileExists(t, a.Path("own"))
	require.NoError(t, os.Remove(a.Path("own")))
	a.desk.Typed("GNUPGHOME=" + a.Path("gnupg") + " gpg --no-tty -o mine -s text; echo en\\d\n")
	a.desk.Wait("end")
	a.desk.Wait("cancelled")
	require.FileExists(t, a.Path("own"))
}
