package askpass

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// talk has a pinentry answer these lines, with no gateway and no other pinentry but the given one.
func talk(t *testing.T, other, lines string) (out string, status int) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	t.Setenv("TERMINALPROXY_DIR", dir)
	if other != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "pinentry-tty"), []byte(other), 0o700))
	}
	var b bytes.Buffer
	status = newPinentry(strings.NewReader(lines), &b).serveLines()
	_, out, _ = strings.Cut(b.String(), "\n") // the greeting
	return out, status
}

// Each line gets exactly one answer.
func TestPinentryAnswersEachLine(t *testing.T) {
	for lines, want := range map[string]string{
		"":                               "",
		"BYE\nGETPIN\n":                  "OK closing connection\n",
		"OPTION ttyname=/dev/pts/1\nNOP": "OK\n",
		"setdesc a%0Ab\nSETPROMPT P:\nSETERROR x\nSETREPEAT\nRESET\n": "OK\nOK\nOK\nOK\nOK\n",
		"GETINFO flavor\nGETINFO ttyinfo\n":                           "D gateway\nOK\nD - - -\nOK\n",
		"GETINFO x\nx\n\x1b[2J\n\n":                                   strings.Repeat(assuanUnknown+"\n", 4),
		"SETDESC " + strings.Repeat("x", maxAssuanLine) + "\n":        assuanLineTooLong + "\n",
		"OPTION owner=\nOPTION owner=x/y\nOPTION owner=-1\nGETPIN\n":  "OK\nOK\nOK\n" + assuanNoPinentry + "\n",
		"OPTION owner=1/0 host\nCONFIRM\nMESSAGE\nGETPIN\n":           "OK\n" + strings.Repeat(assuanNoPinentry+"\n", 3),
	} {
		got, _ := talk(t, "", lines)
		require.Equal(t, want, got, lines)
	}
}

// What a coding agent does not run is for the system's pinentry, which gets all that was set.
func TestPinentryPassesOthersOn(t *testing.T) {
	const other = "#!/bin/sh\necho OK hello\nn=0\nwhile read -r line; do\n" +
		"case $line in GETPIN) echo \"D $n\"; echo OK;; BYE) echo OK bye; exit 3;; *) n=$n,${line%% *}; echo '# a comment'; echo OK;; esac\ndone\n"
	got, status := talk(t, other, "OPTION a=b\nSETDESC x\nGETINFO pid\nGETPIN\nSETERROR y\nGETPIN\nBYE\n")
	_, got, _ = strings.Cut(got, "OK\nOK\nD ") // the answer to GETINFO holds a number
	_, got, _ = strings.Cut(got, "\nOK\n")
	require.Equal(t, "D 0,OPTION,SETDESC\nOK\n# a comment\nOK\nD 0,OPTION,SETDESC,SETERROR\nOK\nOK bye\n", got)
	require.Equal(t, 1, status)
}

func TestPinentryQuotesItsQuestion(t *testing.T) {
	p := newPinentry(strings.NewReader(""), &bytes.Buffer{})
	for _, line := range [][2]string{{"SETPROMPT", "Passphrase:"}, {"SETDESC", "Unlock the key:%0A%22Ada <a@b>%22%0A%"}, {"SETERROR", "Bad Passphrase (try 2 of 3)"}} {
		require.Equal(t, "OK", p.applySetting(line[0], line[1], ""))
	}
	require.Equal(t, `Bad Passphrase (try 2 of 3) Unlock the key:%0A%22Ada <a@b>%22%0A%`, p.composeQuestion(), "what does not unescape stays")
	p.applySetting("SETDESC", "Unlock the key:%0A%22Ada <a@b>%22", "")
	require.Equal(t, `Bad Passphrase (try 2 of 3) Unlock the key: "Ada <a@b>"`, p.composeQuestion())
	var b bytes.Buffer
	p.out = &b
	answer := []byte("a%b\nü")
	p.writeData(answer)
	require.Equal(t, "D a%25b%0Aü\n", b.String())
	require.Equal(t, make([]byte, len(answer)), answer, "it is forgotten")
}
