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

// Home makes a configuration in dir, which is empty, for a Claude Code at whose terminal nobody sits: the user's own one, linked, in which
// the folder is trusted and nothing is asked at the start. What Claude Code changes in its state is not the user's then; the conversations
// and the credentials are. It returns the program's variables.
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
		if err := os.Symlink(filepath.Join(own, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	b, err := trusting(state, folder)
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

// trusting is the state in a file, if there is one, with the folder trusted.
func trusting(file, folder string) ([]byte, error) {
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
	within(within(state, "projects"), folder)["hasTrustDialogAccepted"] = true
	if key := os.Getenv("ANTHROPIC_API_KEY"); key != "" && state["customApiKeyResponses"] == nil {
		state["customApiKeyResponses"] = map[string]any{"approved": []string{key[max(0, len(key)-20):]}, "rejected": []string{}}
	}
	return json.Marshal(state)
}

// within is the object under a name, made if need be.
func within(m map[string]any, name string) map[string]any {
	inner, ok := m[name].(map[string]any)
	if !ok {
		inner = map[string]any{}
		m[name] = inner
	}
	return inner
}
