package askpass

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"terminalproxy/cmd/internal/process/harden"
	"terminalproxy/cmd/internal/process/version"
	"terminalproxy/gateway/access/secrets"
	"terminalproxy/protocol"
)

// maxAssuanLine bounds a line of the Assuan protocol, in bytes.
const maxAssuanLine = 1000

// Errors of the Assuan protocol: a number of libgpg-error from the source Pinentry (5 << 24).
const (
	assuanCanceled    = "ERR 83886179 Operation cancelled <Pinentry>"
	assuanNoPinentry  = "ERR 83886165 No pinentry <Pinentry>"
	assuanUnknown     = "ERR 83886355 Unknown IPC command <Pinentry>"
	assuanLineTooLong = "ERR 83886343 Line too long <Pinentry>"
)

// errOthers means that the question is for the system's own pinentry.
var errOthers = errors.New("no coding agent runs the program")

// pinentry answers gpg-agent by the Assuan protocol (the manuals of Libassuan and of Pinentry). It
// asks the user, through the gateway, for programs of coding agents. For others, and without a
// gateway, it runs the system's own pinentry.
type pinentry struct {
	in  *bufio.Reader
	out io.Writer

	settings []string // the lines so far, for the system's pinentry
	// desc says what the passphrase is for, and failed that the last one was wrong.
	desc, prompt, failed string
	client               int  // the process that gpg-agent asks for, or 0
	repeats              bool // the passphrase is a new one, to be typed twice
}

func newPinentry(in io.Reader, out io.Writer) *pinentry {
	return &pinentry{in: bufio.NewReaderSize(in, maxAssuanLine), out: out}
}

// serveLines serves gpg-agent to the end of its input. It returns the exit status.
func (p *pinentry) serveLines() int {
	p.writeLine("OK Pleased to meet you, process " + strconv.Itoa(os.Getpid()))
	for {
		line, err := p.in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			p.writeLine(assuanLineTooLong)
			return 1
		case err != nil:
			return 0
		}
		words := strings.TrimRight(string(line), "\r\n")
		verb, rest, _ := strings.Cut(words, " ")
		switch verb = strings.ToUpper(verb); verb {
		case "GETPIN", "CONFIRM", "MESSAGE":
			if err := p.answerQuestion(verb, words); errors.Is(err, errOthers) {
				if other := findOther(); other != "" {
					return p.runOther(other, words)
				}
				p.writeLine(assuanNoPinentry)
			}
		case "BYE":
			p.writeLine("OK closing connection")
			return 0
		default:
			p.writeLine(p.applySetting(verb, rest, words))
		}
	}
}

// writeLine writes a line of an answer.
func (p *pinentry) writeLine(line string) { _, _ = io.WriteString(p.out, line+"\n") }

// applySetting takes a line that asks nothing, and returns the answer to it.
func (p *pinentry) applySetting(verb, rest, line string) string {
	switch verb {
	case "SETDESC":
		p.desc = unescapeAssuan(rest)
	case "SETPROMPT":
		p.prompt = unescapeAssuan(rest)
	case "SETERROR":
		p.failed = unescapeAssuan(rest)
	case "SETREPEAT":
		p.repeats = true
	case "OPTION":
		if owner, isOwner := strings.CutPrefix(rest, "owner="); isOwner { // PID[/UID] HOST
			_, _ = fmt.Sscanf(owner, "%d", &p.client)
		}
	case "RESET":
		p.desc, p.prompt, p.failed, p.repeats = "", "", "", false
	case "GETINFO":
		return p.describeSelf(rest)
	case "SETTITLE", "SETOK", "SETCANCEL", "SETNOTOK", "SETKEYINFO", "SETREPEATERROR",
		"SETREPEATOK", "SETQUALITYBAR", "SETQUALITYBAR_TT", "SETGENPIN", "SETGENPIN_TT",
		"SETTIMEOUT", "CLEARPASSPHRASE", "NOP":
	default:
		return assuanUnknown
	}
	p.settings = append(p.settings, line)
	return "OK"
}

// describeSelf answers GETINFO.
func (p *pinentry) describeSelf(item string) string {
	switch item {
	case "pid":
		return "D " + strconv.Itoa(os.Getpid()) + "\nOK"
	case "version":
		return "D " + version.Release + "\nOK"
	case "flavor":
		return "D gateway\nOK"
	case "ttyinfo":
		return "D - - -\nOK"
	}
	return assuanUnknown
}

// answerQuestion asks the user through the gateway, and writes the answer. It returns errOthers
// if the question is for the system's pinentry.
func (p *pinentry) answerQuestion(verb, line string) error {
	isSeen := false
	q := secrets.Question{
		Kind: protocol.SecretHidden, Prompt: p.composeQuestion(), Client: p.client,
		Proceed: func(agent string) error {
			if agent == "" {
				return errOthers
			}
			isSeen = true
			return nil
		},
	}
	if verb != "GETPIN" {
		q.Kind = protocol.SecretConfirm
	}
	if p.repeats || p.client == 0 || verb == "MESSAGE" || strings.Contains(line, "--one-button") {
		return errOthers // nothing to hide from an agent, or more than one answer
	}
	answer, err := askUser(q)
	refusal, isRefusal := errors.AsType[secrets.Refusal](err)
	switch {
	case err != nil && (!isSeen || isRefusal && refusal == secrets.Unattended):
		return errOthers
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", PinentryName, err)
		p.writeLine(assuanCanceled)
		return nil
	case verb == "GETPIN":
		p.writeData(answer)
	}
	p.failed = ""
	p.writeLine("OK")
	return nil
}

// composeQuestion returns the words of the question, on one line.
func (p *pinentry) composeQuestion() string {
	text := strings.Join(strings.Fields(p.failed+" "+cmp.Or(p.desc, p.prompt)), " ")
	return secrets.CleanPrompt(text)
}

// writeData writes an answer and forgets it.
func (p *pinentry) writeData(answer []byte) {
	line := make([]byte, 0, 3*len(answer)+len("D \n"))
	line = append(line, "D "...)
	for _, b := range answer {
		if b == '%' || b == '\r' || b == '\n' {
			line = fmt.Appendf(line, "%%%02X", b)
			continue
		}
		line = append(line, b)
	}
	_, _ = p.out.Write(append(line, '\n'))
	clear(answer)
	clear(line[:cap(line)])
}

// runOther has the system's own pinentry answer from here on, and returns its exit status.
func (p *pinentry) runOther(path, line string) int {
	harden.CloseMemory() // the answer passes through
	cmd := exec.CommandContext(context.Background(), path, os.Args[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err, err2); err != nil || cmd.Start() != nil {
		p.writeLine(assuanNoPinentry)
		return 1
	}
	replies := bufio.NewReader(out)
	skipReply(replies) // its greeting
	for _, setting := range p.settings {
		_, _ = io.WriteString(in, setting+"\n")
		skipReply(replies)
	}
	_, _ = io.WriteString(in, line+"\n")
	go func() { // ends with gpg-agent, or the process
		_, _ = io.Copy(in, p.in)
		_ = in.Close()
	}()
	_, _ = io.Copy(p.out, replies)
	if err := cmd.Wait(); err != nil {
		return 1
	}
	return 0
}

// skipReply reads the lines of an answer.
func skipReply(r *bufio.Reader) {
	for {
		line, err := r.ReadString('\n')
		if err != nil || strings.HasPrefix(line, "OK") || strings.HasPrefix(line, "ERR") {
			return
		}
	}
}

// findOther returns the path of the system's own pinentry, or "".
func findOther() string {
	own, err := os.Stat("/proc/self/exe")
	for _, name := range []string{
		"pinentry", "pinentry-gnome3", "pinentry-qt", "pinentry-gtk-2", "pinentry-curses",
		"pinentry-tty",
	} {
		path, err2 := exec.LookPath(name)
		info, err3 := os.Stat(path)
		if errors.Join(err, err2, err3) == nil && !os.SameFile(own, info) {
			return path
		}
	}
	return ""
}

// unescapeAssuan returns the text of a line's argument.
func unescapeAssuan(text string) string {
	plain, err := url.PathUnescape(text)
	if err != nil {
		return text
	}
	return plain
}
