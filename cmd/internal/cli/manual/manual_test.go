package manual

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"terminalproxy/cmd/internal/config/proxyflags"
)

// tree is a command with one of each thing that a page shows.
func tree() *cobra.Command {
	root := &cobra.Command{Use: "gateway", Short: "Watch terminals", Long: "gateway shows terminals.\n\n.hidden is no macro, 'nor' this ~ ^ `one`."}
	root.PersistentFlags().Bool("json", false, "print JSON")
	root.AddGroup(&cobra.Group{ID: "use", Title: "Watch:"})
	read := &cobra.Command{Use: "read [ID]", Short: "Print a screen", Example: "  gateway read | less", GroupID: "use", Run: func(*cobra.Command, []string) {}}
	read.Flags().Int("lines", 7, "`N` lines, with a \\ between")
	read.Flags().Int("command", 0, "``the last command, or with =N the Nth")
	read.Flags().Lookup("command").NoOptDefVal = "1"
	read.Flags().String("secret", "", "nobody needs this")
	_ = read.Flags().MarkHidden("secret")
	read.AddCommand(&cobra.Command{Use: "all", Short: "Print all screens", Run: func(*cobra.Command, []string) {}})
	root.AddCommand(read, &cobra.Command{Use: "reap", Hidden: true, Run: func(*cobra.Command, []string) {}})
	return root
}

// rendered is a page as man shows it, each run of blanks as one; it fails if man has to warn of something.
func rendered(t *testing.T, page string) string {
	t.Helper()
	if _, err := exec.LookPath("man"); err != nil {
		t.Skip("man is not installed: the pages are not rendered (Debian's package man-db has it)")
	}
	file := filepath.Join(t.TempDir(), "page.1")
	require.NoError(t, os.WriteFile(file, []byte(page), 0o600))
	cmd := exec.CommandContext(t.Context(), "man", "--warnings", "--no-hyphenation", "--no-justification", "-E", "UTF-8", "-P", "cat", "-l", file)
	cmd.Env = append(os.Environ(), "MANWIDTH=500", "LC_ALL=C.UTF-8", "MANROFFOPT=", "MAN_KEEP_FORMATTING=", "GROFF_NO_SGR=1")
	var out, warned strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &warned
	require.NoError(t, cmd.Run(), warned.String())
	require.Empty(t, warned.String())
	return strings.Join(strings.Fields(out.String()), " ")
}

// TestThePageOfProxySaysWhatItsHelpSays: flag by flag, and paragraph by paragraph.
func TestThePageOfProxySaysWhatItsHelpSays(t *testing.T) {
	set := new(proxyflags.Flags).Set()
	page := rendered(t, proxyPage(set))
	set.VisitAll(func(f *pflag.Flag) {
		flag, value, says := describeFlag(f)
		require.Contains(t, page, strings.Join(strings.Fields(flag+" "+value+" "+says), " "))
	})
	for _, text := range []string{proxyflags.Synopsis, proxyflags.About, proxyflags.Examples} {
		require.Contains(t, page, strings.Join(strings.Fields(text), " "))
	}
}

func TestThePageOfGateway(t *testing.T) {
	page := rendered(t, gatewayPage(tree()))
	require.Contains(t, page, "NAME gateway - Watch terminals")
	require.Contains(t, page, ".hidden is no macro, 'nor' this ~ ^ `one`.")
	require.Contains(t, page, "--json print JSON")
	require.Contains(t, page, `WATCH gateway read gateway read [ID] [flags] Print a screen. --command[=1] the last command, or with =N the Nth --lines N N lines, with a \ between (default 7) Examples: gateway read | less gateway read all`)
	require.NotContains(t, page, "secret")
	require.NotContains(t, page, "reap")
}

// TestFilesLieWhereTheyAreLookedFor: one of each kind for each command.
func TestFilesLieWhereTheyAreLookedFor(t *testing.T) {
	share := t.TempDir()
	require.NoError(t, Write(share, tree()))
	require.NoError(t, Write(share, tree()), "again, over the old ones")
	for name, begins := range map[string]string{
		"man/man1/proxy.1": ".TH PROXY 1 ", "man/man1/gateway.1": ".TH GATEWAY 1 ",
		"bash-completion/completions/proxy": "# ", "bash-completion/completions/gateway": "# ",
		"zsh/site-functions/_proxy": "#compdef proxy\n", "zsh/site-functions/_gateway": "#compdef gateway\n",
		"fish/vendor_completions.d/proxy.fish": "# ", "fish/vendor_completions.d/gateway.fish": "# ",
	} {
		content, err := os.ReadFile(filepath.Join(share, name))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(content), begins), name)
		require.NotRegexp(t, `@[A-Z]+@`, string(content), name)
	}
	require.Error(t, Write(filepath.Join(share, "man/man1/proxy.1"), tree()), "a file is no directory")
}

// TestTheWordsAreThoseOfFlags: none is of a flag that is gone.
func TestTheWordsAreThoseOfFlags(t *testing.T) {
	set := new(proxyflags.Flags).Set()
	for name := range flagValues {
		require.NotNil(t, set.Lookup(name), name)
	}
	for _, o := range visibleOptions(set) {
		require.NotContains(t, o.value+o.summary, "\n")
		require.NotEmpty(t, o.summary, o.Name)
		require.NotRegexp(t, `e\.g$|[,:;.(]$`, o.summary, o.Name)
	}
}
