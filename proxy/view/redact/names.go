package redact

import (
	"slices"
	"strings"
)

// kind is the kind of value that a name announces.
type kind uint8

const (
	nothing  kind = iota
	key           // a token or key: it looks random
	envKey        // the same in capitals, as in the environment
	password      // it may be a word
	header        // of HTTP: a scheme, and then a token
	cookie        // of HTTP: pairs
	login         // user and password in base64, as docker keeps them
)

// The ends of names, in small letters and without what separates their parts.
var (
	passwords = []string{
		"password", "passwd", "passphrase", "passcode", "pwd", "pass",
		"kennwort", "passwort", "motdepasse", "contrasena", "psk",
	}
	keys = []string{
		"token", "secret", "apikey", "accesskey", "secretkey", "privatekey", "privatekeyid",
		"accountkey", "sharedaccesskey", "sharedkey", "authkey",
		"signingkey", "encryptionkey", "masterkey", "storagekey", "licensekey", "credential",
		"credentials", "creds", "signature", "sig",
	}
	capitals = []string{"_KEY", "TOKEN", "SECRET"}
	public   = []string{
		"PUBLIC_KEY", "PRIMARY_KEY", "FOREIGN_KEY", "SORT_KEY", "PARTITION_KEY",
		"CACHE_KEY", "HOST_KEY", "MAX_TOKEN",
	}
	headers = []string{"authorization", "proxyauthorization"}
	cookies = []string{"cookie", "setcookie"}
)

// wholeWords are short words that also end longer ones: they count only as words of their own.
var wholeWords = []string{"pwd", "pass", "psk", "sig", "creds"}

// named is a name and the kind of its value.
type named struct {
	kind     kind
	from, to int  // in the line
	quote    byte // around the name, 0 if absent
	escaped  bool // with a backslash before the quote
	spaced   bool // blanks stand around the sign
}

// nameEnds has the letters with which a name can end. It spares most words the search for one.
var nameEnds = func() (ends [256]bool) {
	for _, name := range slices.Concat(passwords, keys, capitals, headers, cookies, []string{"auth"}) {
		last := name[len(name)-1:]
		ends[strings.ToLower(last)[0]], ends[strings.ToUpper(last)[0]] = true, true
	}
	return ends
}()

const longestName = 64

// findName reads the name that ends before i, with blanks, a quote or a bracket behind it.
func (f *finder) findName(i int) (n named, ok bool) {
	to := i
	for to > 0 && i-to < 32 && f.line[to-1] == ' ' {
		to--
	}
	n.spaced = to < i
	if to > 0 && f.line[to-1] == ']' {
		to--
	}
	if to > 0 && (f.line[to-1] == '"' || f.line[to-1] == '\'') {
		to--
		n.quote = f.line[to]
		if to > 0 && f.line[to-1] == '\\' {
			to--
			n.escaped = true
		}
	}
	if to == 0 || !nameEnds[f.line[to-1]] {
		return n, false
	}
	from := to
	for from > 0 && to-from < longestName && (classes[f.line[from-1]]&word != 0 || f.line[from-1] == '.') {
		from--
	}
	n.from, n.to, n.kind = from, to, kindOf(f.line[from:to])
	return n, n.kind != nothing
}

// kindOf returns the kind of value that a name announces.
func kindOf(name string) kind {
	var room [longestName]byte
	small := plainName(room[:0], name)
	switch {
	case endsInWord(small, passwords, name):
		return password
	case hasOnly(name, upper|digit|under) && hasSuffixOf(name, capitals) && len(name) >= 5:
		if hasSuffixOf(name, public) {
			return nothing
		}
		return envKey
	case endsInWord(small, keys, name):
		return key
	case isOneOf(small, headers):
		return header
	case isOneOf(small, cookies):
		return cookie
	case string(small) == "auth":
		return login
	}
	return nothing
}

// plainName returns a name in small letters, without the characters that separate its parts.
func plainName(dst []byte, name string) []byte {
	for i := range len(name) {
		switch c := name[i]; {
		case classes[c]&upper != 0:
			dst = append(dst, c|0x20)
		case classes[c]&(lower|digit) != 0:
			dst = append(dst, c)
		}
	}
	return dst
}

// endsInWord reports whether a name ends in one of the words.
func endsInWord(small []byte, words []string, name string) bool {
	for _, w := range words {
		if len(small) < len(w) || small[len(small)-1] != w[len(w)-1] ||
			string(small[len(small)-len(w):]) != w {
			continue
		}
		if !slices.Contains(wholeWords, w) {
			return true
		}
		at := len(name) - len(w)
		if !strings.EqualFold(name[at:], w) {
			continue
		}
		if at == 0 || classes[name[at-1]]&alnum == 0 ||
			classes[name[at]]&upper != 0 && classes[name[at-1]]&lower != 0 {
			return true
		}
	}
	return false
}

func isOneOf(small []byte, words []string) bool {
	for _, w := range words {
		if string(small) == w {
			return true
		}
	}
	return false
}

func hasSuffixOf(name string, list []string) bool {
	return slices.ContainsFunc(list, func(end string) bool { return strings.HasSuffix(name, end) })
}

// isFirstWord reports whether the word at i is the first one of its line. The marks of a list, a
// number or a quotation do not count.
func (f *finder) isFirstWord(i int) bool {
	if f.lead < 0 {
		f.lead = len(f.line) - len(strings.TrimLeft(f.line, " \t-+#;/*|│<>$0123456789:\"'{,"))
		for _, word := range []string{"export ", "set ", "ENV ", "env ", "declare -x ", "Environment="} {
			if strings.HasPrefix(f.line[f.lead:], word) {
				f.lead += len(word)
			}
		}
	}
	return i <= f.lead || i >= 2 && f.line[i-1] == ':' && classes[f.line[i-2]]&digit != 0 // grep -n
}

// findFlag covers the value of --name value on a command line, and the password of -u user:password
// behind curl. The word begins with the dash at i.
func (f *finder) findFlag(i int) {
	if i+2 >= len(f.line) || f.findGluedPassword(i) {
		return
	}
	end := i + 1
	for end < len(f.line) && end-i < longestName && classes[f.line[end]]&word != 0 {
		end++
	}
	if end >= len(f.line) || f.line[end] != ' ' {
		return
	}
	switch name := f.line[i:end]; name {
	case "-u", "--user", "--proxy-user":
		f.coverUserFlag(i, end+1)
	default:
		if !strings.HasPrefix(name, "--") || f.line[end+1:] == "" {
			return
		}
		if k := kindOf(name[2:]); k == password || k == key {
			f.coverFlagValue(end + 1)
		}
	}
}

// coverFlagValue covers the value of a flag. A word of letters only is more likely the placeholder
// in a manual.
func (f *finder) coverFlagValue(from int) {
	end := from
	for end < len(f.line) && f.line[end] > ' ' {
		end++
	}
	value := strings.Trim(f.line[from:end], `"'`)
	if strings.HasPrefix(value, "-") || isPlaceholder(value) ||
		!f.isPrinting(from, end) && (len(value) < 4 || hasOnlyLetters(value)) {
		return
	}
	f.coverSpan(from, end)
}

// findGluedPassword covers the password of -pSECRET behind mysql and its kin, and behind sshpass,
// where a blank may follow the letter.
func (f *finder) findGluedPassword(i int) bool {
	before := f.line[max(0, i-256):i]
	switch {
	case f.line[i+1] != 'p':
		return false
	case strings.HasSuffix(before, "sshpass "):
	case f.line[i+2] == ' ' || !strings.Contains(before, "mysql") && !strings.Contains(before, "mariadb"):
		return false
	}
	from := f.skipQuotes(i + 2)
	end := f.token68End(from)
	if end == from || isPlaceholder(f.line[from:end]) {
		return false
	}
	f.coverSpan(from, end)
	return true
}

// coverUserFlag covers the password of user:password.
func (f *finder) coverUserFlag(i, from int) {
	before := f.line[max(0, i-256):i]
	if !strings.Contains(before, "curl") && !strings.Contains(before, "http") {
		return
	}
	end, colon := from, 0
	for ; end < len(f.line) && f.line[end] > ' '; end++ {
		if f.line[end] == ':' && colon == 0 {
			colon = end + 1
		}
	}
	for end > colon && strings.IndexByte(`"'`, f.line[end-1]) >= 0 {
		end--
	}
	if colon > 0 && end > colon && !isPlaceholder(f.line[colon:end]) {
		f.coverSpan(colon, end)
	}
}
