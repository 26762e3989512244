package manual

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"terminalproxy/cmd/internal/proxyflags"
)

// proxyPage is proxy(1).
func proxyPage(set *pflag.FlagSet) string {
	r := newPage("proxy", "run a program on your terminal, where AI agents can watch and type while you let them")
	r.section("Synopsis")
	r.text(proxyflags.Synopsis)
	r.section("Description")
	r.text(proxyflags.About)
	r.section("Options")
	r.text(proxyflags.FlagsHead)
	r.options(set)
	r.section("Examples")
	r.text(proxyflags.Examples)
	r.section("See also")
	r.WriteString(".BR gateway (1)\n")
	return r.String()
}

// gatewayPage is gateway(1), with all commands in their groups.
func gatewayPage(root *cobra.Command) string {
	r := newPage("gateway", root.Short)
	r.section("Synopsis")
	r.text("gateway [flags] COMMAND [ARG ...]")
	r.section("Description")
	r.text(root.Long)
	r.section("Options")
	r.options(root.PersistentFlags())
	for _, group := range append(root.Groups(), &cobra.Group{Title: "More:"}) {
		r.section(group.Title[:len(group.Title)-1])
		for _, cmd := range root.Commands() {
			if cmd.GroupID == group.ID {
				r.command(cmd)
			}
		}
	}
	r.section("See also")
	r.WriteString(".BR proxy (1)\n")
	return r.String()
}

// command writes one command and those beneath it.
func (r *roff) command(cmd *cobra.Command) {
	if !cmd.IsAvailableCommand() || cmd.Name() == "help" {
		return
	}
	fmt.Fprintf(r, ".SS %s\n", escape(cmd.CommandPath()))
	if cmd.Runnable() {
		fmt.Fprintf(r, ".B %s\n.PP\n", escape(cmd.UseLine()))
	}
	if says := cmd.Long; says != "" {
		r.text(says)
	} else {
		r.text(cmd.Short + ".")
	}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			own.AddFlag(f)
		}
	})
	r.options(own)
	if cmd.Example != "" {
		r.WriteString(".PP\nExamples:\n")
		r.text(cmd.Example)
	}
	for _, sub := range cmd.Commands() {
		r.command(sub)
	}
}
