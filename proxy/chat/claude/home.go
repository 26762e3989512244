package claude

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const configDir = "CLAUDE_CONFIG_DIR"

// Home makes a configuration in dir, which is empty, for a Claude Code without a person at its
// terminal. It links the user's own configuration, trusts the folder, and has nothing asked at the
// start. Claude Code then changes a copy of the user's state, but still the user's own
// conversations and credentials. Home returns the program's variables.
func Home(dir, folder string) (env []string, err error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	own, state := filepath.Join(home, ".claude"), filepath.Join(home, ".claude.json")
	if set := os.Getenv(configDir); set != "" {
		own, state = set, filepath.Join(set, ".claude.json")
	}
	if err := os.MkdirAll(filepath.Join(own, "projects"), 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(own)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Name() == ".claude.json" {
			continue
		}
		from, to := filepath.Join(own, e.Name()), filepath.Join(dir, e.Name())
		if err := os.Symlink(from, to); err != nil {
			return nil, err
		}
	}
	b, err := trustFolder(state, folder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", state, err)
	}
	return []string{configDir + "=" + dir}, os.WriteFile(filepath.Join(dir, ".claude.json"), b, 0o600)
}

// Settings is the file of the user's settings.
func Settings() string {
	if set := os.Getenv(configDir); set != "" {
		return filepath.Join(set, "settings.json")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".claude", "settings.json")
}

// trustFolder reads the state from a file, which may be missing, and trusts the folder in it.
func trustFolder(file, folder string) ([]byte, error) {
	state := map[string]any{}
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &state)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	state["hasCompletedOnboarding"] = true
	state["theme"] = cmp.Or[any](state["theme"], "dark")
	objectAt(objectAt(state, "projects"), folder)["hasTrustDialogAccepted"] = true
	if key := os.Getenv("ANTHROPIC_API_KEY"); key != "" && state["customApiKeyResponses"] == nil {
		state["customApiKeyResponses"] = map[string]any{
			"approved": []string{key[max(0, len(key)-20):]}, "rejected": []string{},
		}
	}
	return json.Marshal(state)
}

// objectAt returns the object under a name, and makes it if it is missing.
func objectAt(m map[string]any, name string) map[string]any {
	inner, ok := m[name].(map[string]any)
	if !ok {
		inner = map[string]any{}
		m[name] = inner
	}
	return inner
}
