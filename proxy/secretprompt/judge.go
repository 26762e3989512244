package secretprompt

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"terminalproxy/protocol"
)

// Judge says what the facts of one moment look like.
func Judge(f Facts) protocol.SecretPrompt {
	l := f.Line
	switch {
	case !f.Known || l.Echo:
		return protocol.SecretNone
	case l.EchoNewline, l.Canonical:
		return protocol.SecretHard
	case asks(f):
		return protocol.SecretSoft
	}
	return protocol.SecretNone
}

// asks reports whether a program that reads raw keys looks like one that asks for a secret.
func asks(f Facts) bool {
	if f.Masked {
		return true
	}
	worded := Prompt(f.Left, f.Right)
	if f.Paste && !worded {
		return false // an editor, or a shell at its prompt, also one that sudo has started
	}
	var chain []string
	if f.Foreground != nil {
		chain = f.Foreground()
	}
	program := front(chain)
	switch {
	case len(chain) > 0 && slices.Contains(forms, chain[len(chain)-1]) && f.Arguments != nil && concealing(f.Arguments()):
		return true
	case f.Paste:
		return program == "fish" // its own "read --silent" is the same line editor
	case slices.Contains(editors, program):
		return false
	}
	return worded || slices.ContainsFunc(secretive, func(pattern string) bool {
		ok, _ := path.Match(pattern, program) // the patterns are good
		return ok
	})
}

// front is the program that the user has to do with: what sudo has started, and sudo only until it has.
func front(chain []string) string {
	for len(chain) > 1 && slices.Contains(relaying, chain[0]) {
		chain = chain[1:]
	}
	if len(chain) == 0 {
		return ""
	}
	return chain[0]
}

// relaying are programs that ask for a password and then start another program; secretive are all that read nothing raw
// but secrets.
var (
	relaying  = []string{"sudo", "sudo-rs", "su", "doas", "login", "runuser"}
	secretive = []string{"sudo", "sudo-rs", "su", "doas", "login", "pinentry*", "gpg", "systemd-ask-pas*", "systemd-tty-ask*", "pkttyagent"}
)

// forms are programs that scripts have draw a form for them, and concealed the fields that show nothing of what is typed, or
// signs.
var (
	forms     = []string{"dialog", "cdialog", "whiptail", "gum"}
	concealed = []string{"--passwordbox", "--passwordform", "--password"}
)

// concealing reports whether a program's arguments ask for such a field.
func concealing(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(concealed, arg) })
}

// editors show any text, with the cursor anywhere in it, and not all of them take bracketed pastes.
var editors = []string{"vi", "vim", "vim.tiny", "vim.basic", "nvi", "nvim", "view", "vimdiff", "nano", "emacs", "less", "more", "most"}

// What a program shows in the place of a secret's characters, and what a form draws around a field.
const (
	dots  = "*•●∙·"
	frame = " _.|│┃║▏▕[]<>" + dots
)

// They are compiled when the first prompt may be one: a session that ends at once shall not wait for them.
var (
	words = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(pass(word|phrase|code|wort)|kennwort|mot de passe|contrase(ñ|n)a|senha|пароль|密码|パスワード|\bpin\b|\b[th]?otp\b|secret|token)[^:]{0,60}$`)
	})
	// command is a shell's prompt: what follows it was typed, not asked.
	command = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[$#%>❯»➜λ] `) })
)

// Prompt reports whether the text left of the cursor ends like a question for a secret, and nothing but a form's frame
// stands from the cursor on.
func Prompt(left, right string) bool {
	asked := strings.TrimRight(left, " _"+dots)
	question, ok := strings.CutSuffix(asked, ":")
	if !ok {
		question, ok = strings.CutSuffix(asked, "：")
	}
	if !ok || strings.Trim(right, frame) != "" {
		return false
	}
	if i := strings.LastIndexByte(question, ':'); i >= 0 {
		question = question[i+1:]
	}
	at := words().FindStringIndex(question)
	return at != nil && !command().MatchString(left[:strings.LastIndex(asked, question)+at[0]])
}

// Dots reports whether output is nothing but what stands for a secret's characters.
func Dots(p []byte) bool { return len(bytes.Trim(p, dots)) == 0 }

// Field is where the secret begins in the text left of the cursor: after the question, before what stands for characters
// that are typed already. It is a length in bytes.
func Field(left string) int {
	asked := strings.TrimRight(left, dots)
	if strings.HasSuffix(strings.TrimRight(asked, " "), ":") {
		return len(asked)
	}
	return len(left)
}
