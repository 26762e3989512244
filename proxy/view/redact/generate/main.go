// Command generate makes proxy/view/redact/gitleaks.txt from the rules of gitleaks (MIT): those for
// a token with a prefix, and those for a value in a known format whose name contains the name of a
// service. It reads them from the configuration in the module of gitleaks, checked by its sum, so
// that this module does not depend on gitleaks. go generate in proxy/view/redact runs it.
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

// The source of the table.
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
	dir, err := downloadModule()
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
	rules := parseRules(string(config))
	if len(rules) < 200 {
		const changed = "only %d rules found: the form of the configuration has changed"
		return fmt.Errorf(changed, len(rules))
	}
	return errors.Join(
		os.WriteFile(table, []byte(formatTable(rules)), 0o644), //nolint:gosec // a public source
		os.WriteFile(license, terms, 0o644),                    //nolint:gosec // a public source
	)
}

// downloadModule returns the module's directory after the go command got it.
func downloadModule() (string, error) {
	args := []string{"mod", "download", "-json", module + "@" + version}
	cmd := exec.Command("go", args...) //nolint:noctx // ends when the download does
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

// rule is the used part of a gitleaks rule.
type rule struct {
	id, regex string
	keywords  []string
}

// parseRules reads the few forms of TOML that the configuration, itself generated, has.
func parseRules(config string) (rules []rule) {
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

// Parts of a rule for a service's value: the beginning of its name, and the text between name and
// value.
const (
	named    = `[\w.-]{0,50}?`
	operator = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}`
)

// isSkipped reports whether a rule is for a public value, or is replaced by a rule written by hand.
func isSkipped(id string) bool {
	for _, end := range []string{"-client-id", "-access-id", "-public-key", "-pub-key", "-api-id"} {
		if strings.HasSuffix(id, end) {
			return true
		}
	}
	return slices.Contains([]string{
		"generic-api-key", "private-key", "jwt", "jwt-base64", "curl-auth-header", "curl-auth-user",
		"authress-service-client-access-key", "airtable-personnal-access-token",
	}, id)
}

// formatTable returns the table in the form that package redact reads.
func formatTable(rules []rule) string {
	tokens, services := table{}, table{}
	var left []string
	for _, r := range rules {
		found := false
		_, value, in := strings.Cut(r.regex, operator)
		switch {
		case isSkipped(r.id) || r.regex == "":
		case in && strings.Contains(r.regex, named):
			value = "(?i)" + value
			found = services.addService(r, value)
			found = tokens.addPrefixes(value, len("key-")) || found
		default:
			found = tokens.addPrefixes(r.regex, shortest)
		}
		if !found {
			left = append(left, r.id)
		}
	}
	return fmt.Sprintf(`# Made by proxy/view/redact/generate; do not edit.
# From the rules of %s %s,
# MIT License, Copyright (c) 2019 Zachary Rice; its text is in gitleaks.LICENSE.
# Not used, being public, known by hand, or of another form: %s.

# exact: the prefix of a token, the characters of the rest, and the least and the largest number of
# them (-1: no limit).
%s
# service: a word in a name, and the same of its value.
%s`, module, version, strings.Join(left, ", "),
		tokens.formatLines("exact"), services.formatLines("service"))
}
