package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"terminalproxy/gateway/auth"
)

const tokensHelp = "`FILE` of token hashes (default: tokens in the state directory)"

func (a *app) newToken() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "token", Short: "Create, list and revoke the tokens of a gateway", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return usage("token: use create, ls or revoke") },
	}
	cmd.PersistentFlags().StringVar(&path, "tokens", "", tokensHelp)
	cmd.AddCommand(a.newTokenCreate(&path), a.newTokenLs(&path), a.newTokenRevoke(&path))
	return cmd
}

func (a *app) newTokenCreate(path *string) *cobra.Command {
	var role string
	var expires time.Duration
	var save bool
	cmd := &cobra.Command{
		Use: "create NAME --role proxy|agent|viewer|owner", Short: "Create a token and print it, once", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if !auth.Role(role).Valid() {
				return usage("token create: --role %.20q: must be proxy, agent, viewer or owner", role)
			}
			if expires < 0 {
				return usage("token create: --expires %s: must not be negative", expires)
			}
			if save && auth.Role(role) != auth.RoleOwner {
				return usage("token create: --save needs --role owner")
			}
			if auth.Role(role) == auth.RoleOwner {
				if err := a.outside("create an owner token in a terminal that no agent sees"); err != nil {
					return err
				}
			}
			_, store, err := openTokens(*path)
			if err != nil {
				return err
			}
			t := auth.Token{Name: args[0], Role: auth.Role(role)}
			if expires > 0 {
				t.Expires = time.Now().Add(expires).UTC().Truncate(time.Second)
			}
			token, err := store.Create(t)
			switch {
			case err != nil && *path == "":
				return unwritten(fmt.Errorf("token create: %w", err), "XDG_STATE_HOME")
			case err != nil:
				return fmt.Errorf("token create: %w", err)
			case save:
				return a.saveOwner(store, t.Name, token)
			case !a.json:
				_, _ = fmt.Fprintln(a.err, "hint: it is not shown again: save it to a file of mode 0600, for --token-file")
			}
			return a.answer(map[string]any{"name": t.Name, "role": t.Role, "token": token}, token)
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "what the token allows (required)")
	cmd.Flags().BoolVar(&save, "save", false, "with --role owner: save it where gateway grant finds it, instead of printing it")
	cmd.Flags().DurationVar(&expires, "expires", 0, "how long the token is valid (default: until revoked)")
	return cmd
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
	Name    string    `json:"name"`
	Role    auth.Role `json:"role"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
}

func (a *app) printTokens(tokens []auth.Token) error {
	shown := make([]shownToken, len(tokens))
	rows := []string{"NAME\tROLE\tCREATED\tEXPIRES"}
	for i, t := range tokens {
		shown[i] = shownToken{Name: t.Name, Role: t.Role, Created: t.Created, Expires: t.Expires}
		expires := "never"
		if !t.Expires.IsZero() {
			expires = t.Expires.Format(time.RFC3339)
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%s", t.Name, t.Role, t.Created.Format(time.RFC3339), expires))
	}
	if a.json {
		return a.printJSON(map[string]any{"tokens": shown})
	}
	if len(tokens) == 0 {
		return a.print("no tokens; create one with: gateway token create NAME --role ROLE")
	}
	return a.table(rows)
}

func (a *app) newTokenRevoke(path *string) *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Revoke a token and close its connections", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			_, store, err := openTokens(*path)
			if err != nil {
				return err
			}
			if err := store.Revoke(args[0]); err != nil {
				return fmt.Errorf("token revoke: %w", err)
			}
			return a.answer(map[string]any{"name": args[0], "revoked": true}, "revoked")
		},
	}
}
