package opencode

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// asksVariable says what opencode asks for.
const asksVariable = "OPENCODE_PERMISSION"

// AskingVariables returns variables that make opencode ask before it does more than look; without
// them it asks for nothing. If the user's environment decides, it returns nil. questions says
// whether the model may ask the user. The allowed tools need no approval.
func AskingVariables(questions bool, allowed ...string) []string {
	if os.Getenv(asksVariable) != "" {
		return nil
	}
	question := "deny"
	if questions {
		question = "allow"
	}
	more := ""
	for _, tool := range allowed {
		more += fmt.Sprintf(",%q:%q", tool, "allow")
	}
	return []string{
		asksVariable + `={"*":"ask","read":"allow","grep":"allow","glob":"allow","list":"allow",` +
			`"todowrite":"allow","todoread":"allow","question":"` + question + `"` + more + `}`,
	}
}

// HasUserPermissions reports whether the user's own configuration says what opencode asks for. That
// of a project does not count.
func HasUserPermissions() bool {
	paths := []string{os.Getenv("OPENCODE_CONFIG")}
	if dir, err := configDir(); err == nil {
		for _, name := range []string{"config.json", "opencode.json", "opencode.jsonc"} {
			paths = append(paths, filepath.Join(dir, "opencode", name))
		}
	}
	for _, path := range paths {
		b, _ := os.ReadFile(path) // opencode reports its errors
		if bytes.Contains(b, []byte(`"permission"`)) {
			return true
		}
	}
	return false
}

// configDir returns the directory of the user's configuration, the same on every system.
func configDir() (string, error) {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".config"), err
}
