// Command generate makes proxy/view/redact/gitleaks.txt: what of the rules of gitleaks (MIT) is a token with a prefix, or a value
// whose shape and the service in its name tell it. It takes them from the module's configuration through the module proxy,
// checked by its sum, so that this module does not depend on gitleaks. It is run by go generate in proxy/view/redact.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The version that the table is made from.
const (
	module  = "github.com/zricethezav/gitleaks/v8"
	version = "v8.30.1"
	sum     = "h1:PmEvCfVI7ti9dV3s5aMZUY7sS2GxRvG3yzih7E+cS3w="
)

func main() {
	if err := run("gitleaks.txt", "gitleaks.LICENSE"); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(table, license string) error {
	dir, err := fetch()
	if err != nil {
		return err
	}
	config, err := os.ReadFile(filepath.Join(dir, "config", "gitleaks.toml"))
	if err != nil {
		return err
	}
	terms, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
	if err != nil {
		return err
	}
	rules := parse(string(config))
	if len(rules) < 200 {
		return fmt.Errorf("only %d rules found: the form of the configuration has changed", len(rules))
	}
	return errors.Join(os.WriteFile(table, []byte(list(rules)), 0o644), os.WriteFile(license, terms, 0o644)) //nolint:gosec // sources are everybody's to read
}

// fetch has the go command get the module, and returns its directory.
func fetch() (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module+"@"+version) //nolint:noctx // ends when the download does
	cmd.Dir = os.TempDir()
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go mod download: %w", err)
	}
	var got struct{ Dir, Sum string }
	if err := json.Unmarshal(out, &got); err != nil {
		return "", err
	}
	if got.Sum != sum {
		return "", fmt.Errorf("%s %s has the sum %s, and not %s", module, version, got.Sum, sum)
	}
	return got.Dir, nil
}

// rule is what is used of one in the configuration.
type rule struct {
	id, regex string
	keywords  []string
}

// parse reads the few forms of TOML that the configuration, itself generated, has for a rule.
func parse(config string) (rules []rule) {
	for _, section := range strings.Split(config, "\n[[rules]]\n")[1:] {
		var r rule
		head, _, _ := strings.Cut(section, "\n[[")
		lines := strings.Split(head, "\n")
		for i, line := range lines {
			name, value, ok := strings.Cut(line, " = ")
			switch {
			case !ok:
			case name == "id":
				r.id = strings.Trim(value, `"`)
			case name == "regex":
				r.regex = strings.Trim(value, "'")
			case name == "keywords":
				list, _, _ := strings.Cut(strings.Join(lines[i:], " "), "]")
				for k, word := range strings.Split(list, `"`) {
					if k%2 == 1 {
						r.keywords = append(r.keywords, word)
					}
				}
			}
		}
		rules = append(rules, r)
	}
	return rules
}

// What a rule for a value in a service's name looks like: its begin, and what stands between the name and the value.
const (
	named    = `[\w.-]{0,50}?`
	operator = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`
)

// Rules that are known better by hand, or are no secrets.
func public(id string) bool {
	for _, word := range []string{"-client-id", "-access-id", "-public-key", "-pub-key", "-api-id"} {
		if strings.HasSuffix(id, word) {
			return true
		}
	}
	return slices.Contains([]string{"generic-api-key", "private-key", "jwt", "jwt-base64", "curl-auth-header", "curl-auth-user", "authress-service-client-access-key", "airtable-personnal-access-token"}, id)
}

// list is the table as package redact reads it.
func list(rules []rule) string {
	tokens, services := table{}, table{}
	var left []string
	for _, r := range rules {
		found := false
		_, value, in := strings.Cut(r.regex, operator)
		switch {
		case public(r.id) || r.regex == "":
		case in && strings.Contains(r.regex, named):
			value = "(?i)" + value
			found = services.service(r, value)
			found = tokens.prefixes(value, len("key-")) || found
		default:
			found = tokens.prefixes(r.regex, shortest)
		}
		if !found {
			left = append(left, r.id)
		}
	}
	return fmt.Sprintf(`# Made by proxy/view/redact/generate; do not edit.
# From the rules of %s %s,
# MIT License, Copyright (c) 2019 Zachary Rice; its text is in gitleaks.LICENSE.
# Not used, being public, known by hand, or of another form: %s.

# exact: the prefix of a token, the characters of the rest, how many of them there are at least, and at most (-1: no end).
%s
# service: a word in a name, and the same of its value.
%s`, module, version, strings.Join(left, ", "), tokens.lines("exact"), services.lines("service"))
}
