// Package manual writes the man(1) pages and the shell completions of both commands from the text
// of their --help. It must not depend on what a flag does.
package manual

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/config/proxyflags"
)

// The directories below a share directory that man and the shells search.
const (
	manDir  = "man/man1"
	bashDir = "bash-completion/completions"
	zshDir  = "zsh/site-functions"
	fishDir = "fish/vendor_completions.d"
)

// Write writes the pages and completions of proxy, and of gateway with its commands, below the
// directory share. It replaces existing files.
func Write(share string, gateway *cobra.Command) error {
	set := new(proxyflags.Flags).Set()
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, s)
			return err
		}
	}
	gatewayBash := func(w io.Writer) error { return gateway.GenBashCompletionV2(w, true) }
	gatewayFish := func(w io.Writer) error { return gateway.GenFishCompletion(w, true) }
	for name, write := range map[string]func(io.Writer) error{
		manDir + "/proxy.1":       text(proxyPage(set)),
		manDir + "/gateway.1":     text(gatewayPage(gateway)),
		bashDir + "/proxy":        text(bashCompletion(set)),
		bashDir + "/gateway":      gatewayBash,
		zshDir + "/_proxy":        text(zshCompletion(set)),
		zshDir + "/_gateway":      gateway.GenZshCompletion,
		fishDir + "/proxy.fish":   text(fishCompletion(set)),
		fishDir + "/gateway.fish": gatewayFish,
	} {
		if err := writeFile(filepath.Join(share, name), write); err != nil {
			return err // the others would fail alike
		}
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	var content bytes.Buffer
	if err := write(&content); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content.Bytes(), 0o644)
}
