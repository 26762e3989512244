// Package tokens makes, lists and revokes the tokens of a gateway.
package tokens

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/gateway/access/auth"
	"terminalproxy/gateway/userdirs"
)

// New makes the command gateway token.
func New(env *cli.Env) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "token", Short: "Create, list and revoke the tokens of a gateway", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return cli.Usage("token: use create, ls or revoke")
		},
	}
	cmd.PersistentFlags().StringVar(&path, "tokens", "", cli.TokensHelp)
	cmd.AddCommand(newTokenCreate(env, &path), newTokenLs(env, &path), newTokenRevoke(env, &path))
	return cmd
}

func newTokenCreate(env *cli.Env, path *string) *cobra.Command {
	var opts createOptions
	cmd := &cobra.Command{
		Use:   "create NAME --role proxy|agent|viewer|owner | --local",
		Short: "Create a token and print it, once",
		Args:  cobra.ExactArgs(1),
		Long: "create makes a token for a gateway, with one role. With --local it makes a token " +
			"for an agent on this machine, and saves it to a file.\n" +
			"By that token your configuration's rules ([[allow]]) know the agent. " +
			"It opens no connection:\n\n" +
			"  gateway token create claude --local\n" +
			"  claude mcp add term -- gateway mcp --agent-token " +
			"~/.config/terminalproxy/claude.agent\n\n" +
			"--out writes the token to a new file of mode 0600, for --token-file. An existing file " +
			"stays as it is:\n\n" +
			"  gateway token create laptop --role proxy --out laptop.token",
		RunE: func(_ *cobra.Command, args []string) error {
			opts.name, opts.store = args[0], *path
			return runCreate(env, opts)
		},
	}
	cmd.Flags().StringVar(&opts.out, cli.OutFlag, "",
		"write the token to `FILE`, which must not exist yet; - prints it (default: print it)")
	cmd.Flags().StringVar(&opts.role, "role", "", "what the token allows (required without --local)")
	cmd.Flags().BoolVar(&opts.save, "save", false,
		"with --role owner: save it where gateway grant finds it, instead of printing it")
	cmd.Flags().BoolVar(&opts.local, "local", false,
		"for an agent on this machine: save it to a file for --agent-token, instead of printing it")
	cmd.Flags().StringVar(&opts.namespace, "namespace", "",
		"`NAME` of a group of tokens: agents, viewers and owners of it see the sessions of its "+
			"proxies and no others (default: the group without a name)")
	cmd.Flags().DurationVar(&opts.expires, "expires", 0,
		"how long the token is valid (default: until revoked)")
	return cmd
}

// createOptions are the options of gateway token create.
type createOptions struct {
	store       string // the file of tokens, "" for this machine's
	name, role  string
	namespace   string
	out         string // "" and - for the standard output
	save, local bool
	expires     time.Duration
}

func (n createOptions) checkFlags() error {
	switch {
	case n.local && n.store != "":
		return cli.Usage(
			"token create: --local: such tokens are kept with this machine's own: leave out " +
				"--tokens")
	case n.local && auth.Role(n.role) != auth.RoleAgent:
		return cli.Usage("token create: --local is for --role agent")
	case n.namespace != "" && (n.local || n.save):
		return cli.Usage(
			"token create: --namespace is for tokens of a gateway that several share: leave out " +
				"--local and --save")
	case n.out != "" && (n.local || n.save):
		return cli.Usage(
			"token create: --local and --save choose the file themselves: leave out --out")
	case n.role == "":
		return cli.Fail(cli.StatusUsage, "token create: neither --role nor --local is given").
			WithHint(
				"for an agent on this machine: gateway token create " + n.name +
					" --local; for another machine: --role proxy|agent|viewer|owner")
	case !auth.Role(n.role).Valid():
		return cli.Usage("token create: --role %.20q: must be proxy, agent, viewer or owner", n.role)
	case n.expires < 0:
		return cli.Usage("token create: --expires %s: must not be negative", n.expires)
	case n.save && auth.Role(n.role) != auth.RoleOwner:
		return cli.Usage("token create: --save needs --role owner")
	}
	return nil
}

// runCreate makes a token, and prints or saves it.
func runCreate(env *cli.Env, opts createOptions) error {
	if opts.local && opts.role == "" {
		opts.role = string(auth.RoleAgent)
	}
	if err := opts.checkFlags(); err != nil {
		return err
	}
	if opts.local || auth.Role(opts.role) == auth.RoleOwner {
		err := env.RequireOutside("create such a token in a terminal that no agent sees")
		if err != nil {
			return err
		}
	}
	return hintAtOut(env, createToken(env, opts))
}

func createToken(env *cli.Env, n createOptions) error {
	file, err := n.filePath()
	if err != nil {
		return err
	}
	_, store, err := cli.OpenTokens(n.store)
	if err != nil {
		return err
	}
	t := auth.Token{Name: n.name, Role: auth.Role(n.role), Namespace: n.namespace, Local: n.local}
	if n.expires > 0 {
		t.Expires = time.Now().Add(n.expires).UTC().Truncate(time.Second)
	}
	token, err := store.Create(t)
	switch {
	case err != nil && n.store == "":
		return cli.WriteFailure(fmt.Errorf("token create: %w", err), "XDG_STATE_HOME")
	case err != nil:
		return fmt.Errorf("token create: %w", err)
	case file != "":
		return saveToken(env, store, t, token, file, n.save)
	}
	switch kept := keepPrivate(env); {
	case env.JSON, kept, n.out == "-":
	default:
		_, _ = fmt.Fprintln(env.Err,
			"hint: it is not shown again: --out FILE writes it to a file for --token-file")
	}
	return env.PrintAnswer(createdToken{t.Name, t.Role, t.Namespace, token}, token)
}

// createdToken describes a new token.
type createdToken struct {
	Name      string    `json:"name"`
	Role      auth.Role `json:"role"`
	Namespace string    `json:"namespace,omitempty"`
	Token     string    `json:"token"`
}

// keepPrivate makes the file private into which a shell redirects the token: with the usual umask
// everyone could read it, and programs reject such a file. It reports whether the token goes to a
// usable file. It does not change a file that has content.
func keepPrivate(env *cli.Env) bool {
	file, ok := env.Out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() != 0 ||
		userdirs.OwnerOf(info) != os.Getuid() {
		return false
	}
	return info.Mode().Perm()&0o077 == 0 || file.Chmod(0o600) == nil
}

func newTokenLs(env *cli.Env, path *string) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List tokens", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return runLs(env, *path)
		},
	}
}

// runLs lists the tokens of a file.
func runLs(env *cli.Env, path string) error {
	_, store, err := cli.OpenTokens(path)
	if err != nil {
		return err
	}
	tokens, err := store.List()
	if err != nil {
		return fmt.Errorf("token ls: %w", err)
	}
	return printTokens(env, tokens)
}

// shownToken is a token without its hash.
type shownToken struct {
	Name      string    `json:"name"`
	Role      auth.Role `json:"role"`
	Namespace string    `json:"namespace,omitempty"`
	Local     bool      `json:"local,omitempty"`
	Created   time.Time `json:"created"`
	Expires   time.Time `json:"expires,omitzero"`
}

func printTokens(env *cli.Env, tokens []auth.Token) error {
	shown := make([]shownToken, len(tokens))
	rows := []string{"NAME\tROLE\tCREATED\tEXPIRES"}
	for i, t := range tokens {
		shown[i] = shownToken{
			Name:      t.Name,
			Role:      t.Role,
			Namespace: t.Namespace,
			Local:     t.Local,
			Created:   t.Created,
			Expires:   t.Expires,
		}
		expires := "never"
		if !t.Expires.IsZero() {
			expires = t.Expires.Format(time.RFC3339)
		}
		role := string(t.Role)
		if t.Local {
			role += " (local)"
		}
		if t.Namespace != "" {
			role += " of " + t.Namespace
		}
		rows = append(rows,
			fmt.Sprintf("%s\t%s\t%s\t%s", t.Name, role, t.Created.Format(time.RFC3339), expires))
	}
	if env.JSON {
		return env.PrintJSON(map[string]any{"tokens": shown})
	}
	if len(tokens) == 0 {
		return env.PrintLines("no tokens; create one with: gateway token create NAME --role ROLE")
	}
	return env.PrintTable(rows)
}

func newTokenRevoke(env *cli.Env, path *string) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME",
		Short: "Revoke a token and close its connections",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return runRevoke(env, *path, args[0])
		},
	}
}

// runRevoke revokes a token of a file.
func runRevoke(env *cli.Env, path, name string) error {
	_, store, err := cli.OpenTokens(path)
	if err != nil {
		return err
	}
	if err := store.Revoke(name); err != nil {
		return cli.Fail(cli.StatusRefused, "token revoke: %w", err).
			WithHint("gateway token ls lists them")
	}
	if file, err := userdirs.LocalTokenPath(name); err == nil && path == "" && !env.JSON {
		// an agent may still be configured to use it, so it is not removed here
		if _, err := os.Lstat(file); err == nil {
			_, _ = fmt.Fprintln(env.Err, "hint: the file that holds it is useless now: rm "+file)
		}
	}
	return env.PrintAnswer(map[string]any{"name": name, "revoked": true}, "revoked")
}
