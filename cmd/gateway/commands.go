package main

import (
	"github.com/spf13/cobra"

	"terminalproxy/cmd/internal/cli"
	"terminalproxy/cmd/internal/cli/programs"
	"terminalproxy/cmd/internal/commands/chat"
	"terminalproxy/cmd/internal/commands/doctor"
	"terminalproxy/cmd/internal/commands/open"
	"terminalproxy/cmd/internal/commands/owner"
	"terminalproxy/cmd/internal/commands/records"
	"terminalproxy/cmd/internal/commands/run"
	"terminalproxy/cmd/internal/commands/serve"
	"terminalproxy/cmd/internal/commands/session"
	"terminalproxy/cmd/internal/commands/setup"
	"terminalproxy/cmd/internal/commands/tokens"
)

// addCommands adds all commands in their groups, with what a shell can complete of their command
// lines.
func addCommands(env *cli.Env, root *cobra.Command) {
	type group struct {
		id, title string
		commands  []*cobra.Command
	}
	for _, g := range []group{
		{"use", "Watch and type:", []*cobra.Command{
			session.NewLs(env),
			session.NewRead(env),
			session.NewWait(env),
			session.NewRequest(env),
			session.NewSend(env),
			session.NewRelease(env),
			session.NewSay(env),
			session.NewContext(env),
			session.NewStatus(env),
		}},
		{"agents", "Coding agents:", []*cobra.Command{chat.New(env)}},
		{"run", "Terminals started by agents:", []*cobra.Command{
			run.New(env), run.NewAttach(env), run.NewClose(env),
		}},
		{"own", "For the user:", []*cobra.Command{
			owner.NewTop(env),
			owner.NewGrant(env),
			owner.NewReclaim(env),
			owner.NewHide(env),
			owner.NewMute(env),
			open.New(env),
		}},
		{"serve", "Servers and setup:", []*cobra.Command{
			serve.NewMCP(env),
			serve.New(env),
			tokens.New(env),
			setup.NewInit(env),
			setup.NewMarks(env),
			setup.NewSkill(env),
			setup.NewConfine(env),
			doctor.NewConfig(env),
			doctor.NewPolicy(env),
			doctor.New(env),
		}},
		{
			"record",
			"Recordings:",
			[]*cobra.Command{records.NewRender(env), records.NewAudit(env)},
		},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.id
			cli.AddCompletions(env, cmd)
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(
		programs.NewReap(env), chat.NewHook(env), records.NewDraw(env), setup.NewManual(root),
	)
}
