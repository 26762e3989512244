package manual

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/config/proxyflags"
)

// proxyPage returns proxy(1).
func proxyPage(set *pflag.FlagSet) string {
	r := newPage("proxy",
		"run a program on your terminal, where AI agents can watch and type while you let them")
	r.writeSection("Synopsis")
	r.writeText(proxyflags.Synopsis)
	r.writeSection("Description")
	r.writeText(proxyflags.About)
	r.writeSection("Options")
	r.writeText(proxyflags.FlagsHead)
	r.writeFlags(set)
	r.writeSection("Examples")
	r.writeText(proxyflags.Examples)
	r.writeSection("See also")
	r.WriteString(".BR gateway (1)\n")
	return r.String()
}

// gatewayPage returns gateway(1), with all commands in their groups.
func gatewayPage(root *cobra.Command) string {
	r := newPage("gateway", root.Short)
	r.writeSection("Synopsis")
	r.writeText("gateway [flags] COMMAND [ARG ...]")
	r.writeSection("Description")
	r.writeText(root.Long)
	r.writeSection("Options")
	r.writeFlags(root.PersistentFlags())
	for _, group := range append(root.Groups(), &cobra.Group{Title: "More:"}) {
		r.writeSection(group.Title[:len(group.Title)-1])
		for _, cmd := range root.Commands() {
			if cmd.GroupID == group.ID {
				r.writeCommand(cmd)
			}
		}
	}
	r.writeSection("See also")
	r.WriteString(".BR proxy (1)\n")
	return r.String()
}

// writeCommand writes one command and those beneath it.
func (r *roff) writeCommand(cmd *cobra.Command) {
	if !cmd.IsAvailableCommand() || cmd.Name() == "help" {
		return
	}
	fmt.Fprintf(r, ".SS %s\n", escape(cmd.CommandPath()))
	if cmd.Runnable() {
		fmt.Fprintf(r, ".B %s\n.PP\n", escape(cmd.UseLine()))
	}
	if description := cmd.Long; description != "" {
		r.writeText(description)
	} else {
		r.writeText(cmd.Short + ".")
	}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			own.AddFlag(f)
		}
	})
	r.writeFlags(own)
	if cmd.Example != "" {
		r.WriteString(".PP\nExamples:\n")
		r.writeText(cmd.Example)
	}
	for _, sub := range cmd.Commands() {
		r.writeCommand(sub)
	}
}
