package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/gateway/auth"
	"terminalproxy/gateway/userdirs"
)

const tokensHelp = "`FILE` of token hashes (default: tokens in the state directory)"

func (a *app) newToken() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "token", Short: "Create, list and revoke the tokens of a gateway", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usage("token: use create, ls or revoke")
		},
	}
	cmd.PersistentFlags().StringVar(&path, "tokens", "", tokensHelp)
	cmd.AddCommand(a.newTokenCreate(&path), a.newTokenLs(&path), a.newTokenRevoke(&path))
	return cmd
}

func (a *app) newTokenCreate(path *string) *cobra.Command {
	var n newToken
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
			"~/.config/terminalproxy/claude.agent",
		RunE: func(_ *cobra.Command, args []string) error {
			n.name = args[0]
			if n.local && n.role == "" {
				n.role = string(auth.RoleAgent)
			}
			if err := n.checkFlags(*path); err != nil {
				return err
			}
			if n.local || auth.Role(n.role) == auth.RoleOwner {
				if err := a.requireOutside("create such a token in a terminal that no agent sees"); err != nil {
					return err
				}
			}
			return a.createToken(*path, n)
		},
	}
	cmd.Flags().StringVar(&n.role, "role", "", "what the token allows (required without --local)")
	cmd.Flags().BoolVar(&n.save, "save", false,
		"with --role owner: save it where gateway grant finds it, instead of printing it")
	cmd.Flags().BoolVar(&n.local, "local", false,
		"for an agent on this machine: save it to a file for --agent-token, instead of printing it")
	cmd.Flags().StringVar(&n.namespace, "namespace", "",
		"`NAME` of a group of tokens: agents, viewers and owners of it see the sessions of its "+
			"proxies and no others (default: the group without a name)")
	cmd.Flags().DurationVar(&n.expires, "expires", 0,
		"how long the token is valid (default: until revoked)")
	return cmd
}

// newToken is a token to make.
type newToken struct {
	name, role  string
	namespace   string
	save, local bool
	expires     time.Duration
}

func (n newToken) checkFlags(path string) error {
	switch {
	case n.local && path != "":
		return usage(
			"token create: --local: such tokens are kept with this machine's own: leave out " +
				"--tokens")
	case n.local && auth.Role(n.role) != auth.RoleAgent:
		return usage("token create: --local is for --role agent")
	case n.namespace != "" && (n.local || n.save):
		return usage(
			"token create: --namespace is for tokens of a gateway that several share: leave out " +
				"--local and --save")
	case n.role == "":
		return fail(statusUsage, "token create: neither --role nor --local is given").
			withHint(
				"for an agent on this machine: gateway token create " + n.name +
					" --local; for another machine: --role proxy|agent|viewer|owner")
	case !auth.Role(n.role).Valid():
		return usage("token create: --role %.20q: must be proxy, agent, viewer or owner", n.role)
	case n.expires < 0:
		return usage("token create: --expires %s: must not be negative", n.expires)
	case n.save && auth.Role(n.role) != auth.RoleOwner:
		return usage("token create: --save needs --role owner")
	}
	return nil
}

func (a *app) createToken(path string, n newToken) error {
	_, store, err := openTokens(path)
	if err != nil {
		return err
	}
	t := auth.Token{Name: n.name, Role: auth.Role(n.role), Namespace: n.namespace, Local: n.local}
	if n.expires > 0 {
		t.Expires = time.Now().Add(n.expires).UTC().Truncate(time.Second)
	}
	token, err := store.Create(t)
	switch {
	case err != nil && path == "":
		return unwritten(fmt.Errorf("token create: %w", err), "XDG_STATE_HOME")
	case err != nil:
		return fmt.Errorf("token create: %w", err)
	case n.local:
		file, err := userdirs.LocalTokenPath(t.Name)
		return a.saveToken(store, t, token, file, err)
	case n.save:
		file, err := userdirs.OwnerTokenPath()
		return a.saveToken(store, t, token, file, err)
	}
	switch kept := a.keepPrivate(); {
	case a.json, kept:
	default:
		_, _ = fmt.Fprintln(a.err,
			"hint: it is not shown again: save it to a file of mode 0600, for --token-file")
	}
	return a.printAnswer(createdToken{t.Name, t.Role, t.Namespace, token}, token)
}

// createdToken describes a new token.
type createdToken struct {
	Name      string    `json:"name"`
	Role      auth.Role `json:"role"`
	Namespace string    `json:"namespace,omitempty"`
	Token     string    `json:"token"`
}

// keepPrivate makes the file private into which a shell writes the token: under the usual umask all
// could read it, and programs refuse such a file. It reports whether the token goes into a file
// that they take. A file with something in it stays as it is.
func (a *app) keepPrivate() bool {
	file, ok := a.out.(*os.File)
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

func (a *app) newTokenLs(path *string) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List tokens", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, store, err := openTokens(*path)
			if err != nil {
				return err
			}
			tokens, err := store.List()
			if err != nil {
				return fmt.Errorf("token ls: %w", err)
			}
			return a.printTokens(tokens)
		},
	}
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

func (a *app) printTokens(tokens []auth.Token) error {
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
	if a.json {
		return a.printJSON(map[string]any{"tokens": shown})
	}
	if len(tokens) == 0 {
		return a.printLines("no tokens; create one with: gateway token create NAME --role ROLE")
	}
	return a.printTable(rows)
}

func (a *app) newTokenRevoke(path *string) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME",
		Short: "Revoke a token and close its connections",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			_, store, err := openTokens(*path)
			if err != nil {
				return err
			}
			if err := store.Revoke(args[0]); err != nil {
				return fail(statusRefused, "token revoke: %w",
					err).withHint("gateway token ls lists them")
			}
			if file, err := userdirs.LocalTokenPath(args[0]); err == nil && *path == "" && !a.json {
				// an agent may still be told of it: it is not for this to remove
				if _, err := os.Lstat(file); err == nil {
					_, _ = fmt.Fprintln(a.err, "hint: the file that holds it is useless now: rm "+file)
				}
			}
			return a.printAnswer(map[string]any{"name": args[0], "revoked": true}, "revoked")
		},
	}
}
