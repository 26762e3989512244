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

// Judge classifies the facts of one moment.
func Judge(f Facts) protocol.SecretPrompt {
	l := f.Line
	switch {
	case !f.Known || l.Echo:
		return protocol.SecretNone
	case l.EchoNewline, l.Canonical:
		return protocol.SecretHard
	case asksForSecret(f):
		return protocol.SecretSoft
	}
	return protocol.SecretNone
}

// asksForSecret reports whether a program that reads raw keys looks like one that asks for a
// secret.
func asksForSecret(f Facts) bool {
	if f.Masked {
		return true
	}
	worded := IsSecretQuestion(f.Left, f.Right)
	if f.Paste && !worded {
		return false // an editor, or a shell at its prompt, perhaps started by sudo
	}
	var chain []string
	if f.Foreground != nil {
		chain = f.Foreground()
	}
	program := userProgram(chain)
	switch {
	case len(chain) > 0 && slices.Contains(formPrograms, chain[len(chain)-1]) &&
		f.Arguments != nil && hasConcealedField(f.Arguments()):
		return true
	case f.Paste:
		return program == "fish" // its builtin "read --silent" uses the same line editor
	case slices.Contains(editors, program):
		return false
	}
	return worded || slices.ContainsFunc(secretPrograms, func(pattern string) bool {
		ok, _ := path.Match(pattern, program) // the patterns are valid
		return ok
	})
}

// userProgram returns the program that the user interacts with: the one that sudo started, or sudo
// itself before that.
func userProgram(chain []string) string {
	for len(chain) > 1 && slices.Contains(wrapperPrograms, chain[0]) {
		chain = chain[1:]
	}
	if len(chain) == 0 {
		return ""
	}
	return chain[0]
}

// relaying holds programs that ask for a password and then start another program; secretive holds
// those that read only secrets in raw mode.
var (
	wrapperPrograms = []string{"sudo", "sudo-rs", "su", "doas", "login", "runuser"}
	secretPrograms  = []string{
		"sudo", "sudo-rs", "su", "doas", "login", "pinentry*", "gpg",
		"systemd-ask-pas*", "systemd-tty-ask*", "pkttyagent",
	}
)

// forms holds programs with which scripts draw forms, and concealed their fields that show nothing,
// or signs, for typed characters.
var (
	formPrograms   = []string{"dialog", "cdialog", "whiptail", "gum"}
	concealedFlags = []string{"--passwordbox", "--passwordform", "--password"}
)

// hasConcealedField reports whether a program's arguments ask for a field of concealedFlags.
func hasConcealedField(args []string) bool {
	isConcealed := func(arg string) bool { return slices.Contains(concealedFlags, arg) }
	return slices.ContainsFunc(args, isConcealed)
}

// editors can show any text, with the cursor anywhere in it, and some do not accept bracketed
// pastes.
var editors = []string{
	"vi", "vim", "vim.tiny", "vim.basic", "nvi", "nvim", "view", "vimdiff", "nano", "emacs",
	"less", "more", "most",
}

// The signs that programs show in place of a secret's characters, and those that forms draw around
// a field.
const (
	dots  = "*•●∙·"
	frame = " _.|│┃║▏▕[]<>" + dots
)

// They are compiled on first use, so that a session that ends at once does not wait for them.
var (
	// secretWords matches the name of a secret, in many languages, and the text after it, such as
	// the secret's owner or purpose.
	secretWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:` +
			`\bpass(?:word|phrase|code|wort|ord)\b|\bkennwort\b|\bmot de passe\b|` +
			`contrase(?:ñ|n)a\b|\bclave\b|\bsenha\b|palavra-passe|\bwachtwoord\b|l(?:ö|o)senord|` +
			`adgangskode|salasana|\bhas(?:ł|l)o\b|\bheslo\b|jelsz(?:ó|o)|\bparol(?:a|ă|ā|e)?\b|` +
			`(?:ş|s)ifre|m(?:ậ|a)t kh(?:ẩ|a)u|kata sandi|kodeord|` +
			`пароль|пароля|лозинка|κωδικ(?:ό|ο)ς|סיסמה|كلمة (?:المرور|السر)|पासवर्ड|รหัสผ่าน|` +
			`密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|` +
			`\bpin\b|\b[th]?otp\b|\bsecret\b|\btoken\b|` +
			`\b(?:api|access|secret|private|encryption|recovery|account)[ _-]key\b|` +
			`\b(?:verification|security|authentication|authenticator|confirmation|` +
			`recovery|backup|one-time|two-factor|2fa|mfa|login|access|sms)[ -]code\b` +
			`)(.{0,80})$`)
	})
	// notSecret matches the text after such a word that makes it a heading or a setting.
	notSecret = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`(?i)^['’]?s?[ _-]*(?:polic|strength|manager|option|setting|hint|` +
				`expir|length|file|reset|count|type|chang|updat|generat|requir|rule|usage|limit|` +
				`budget|name|id\b|list|store|field|is\b|was\b|must|has\b|can|not\b|window|ring|` +
				`rotat|age\b|history|attempt|format|scope)`,
		)
	})
	// hiddenHint matches hints that input is not shown.
	hiddenHint = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`(?i)[\[(](?:[a-z ]{0,30} )?(?:hidden|invisible|(?:not|won't|no)(?: be)? (?:echo(?:ed)?|shown|displayed|visible))[\])]\s*[:：]?$`,
		)
	})
	// quotedSubject matches the subject of a question: addresses and quoted text, which may contain
	// any words and colons.
	quotedSubject = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			"[a-zA-Z][a-zA-Z0-9+.-]*://[^\\s'\"]+|'[^']*'|\"[^\"]*\"|“[^”]*”|‘[^’]*’|«[^»]*»|`[^`]*`",
		)
	})
	// shellPrompt matches a shell's prompt: text after it was typed, not asked.
	shellPrompt = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[$#%>❯»➜λ] `) })
)

// IsSecretQuestion reports whether the text left of the cursor ends like a question for a secret,
// with at most the frame of a form from the cursor on.
func IsSecretQuestion(left, right string) bool {
	if strings.Trim(right, frame) != "" {
		return false
	}
	asked := strings.TrimRight(left, " _"+dots)
	if at := hiddenHint().FindStringIndex(asked); at != nil {
		return !shellPrompt().MatchString(asked[:at[0]])
	}
	question, ok := strings.CutSuffix(asked, ":")
	if !ok {
		question, ok = strings.CutSuffix(asked, "：")
	}
	if !ok {
		return false
	}
	question = quotedSubject().ReplaceAllString(question, "")
	begin := strings.LastIndex(question, ": ") + 1
	at := secretWords().FindStringSubmatchIndex(question[begin:])
	return at != nil && !notSecret().MatchString(question[begin+at[2]:]) &&
		!shellPrompt().MatchString(question[:begin+at[0]])
}

// IsOnlyDots reports whether output consists only of signs that stand for a secret's characters.
func IsOnlyDots(p []byte) bool { return len(bytes.Trim(p, dots)) == 0 }

// SecretStart returns where the secret begins in the text left of the cursor, as a length in bytes:
// after the question, before the signs for typed characters.
func SecretStart(left string) int {
	asked := strings.TrimRight(left, dots)
	if strings.HasSuffix(strings.TrimRight(asked, " "), ":") {
		return len(asked)
	}
	return len(left)
}
