package command

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead.dev/fairlead/internal/kubeconfig"
)

// connectionTopic is what explains the flags that help does not describe for each command.
const connectionTopic = "connection"

const connectionText = `The commands that reach a cluster have the flags of kubectl that choose it, and the user to be there, with the same meaning.
What they do not say is as the kubeconfig has it: $KUBECONFIG, then ~/.kube/config, or the service account of the pod that the command runs in.

With --as and --as-group a command does what another user may do, as far as you may impersonate that user: what someone sees who complains.

`

// flagsOf is the function of templates that describes the flags of a command in so many columns: FoldedHelp says how many, since cobra prints to a
// buffer, which has no width.
const flagsOf = "fairleadFlags"

// Connection lets help describe the flags of kubectl, which are the same for all commands, in a topic of their own: for each command they are
// named in one line.
func Connection(root *cobra.Command) {
	cobra.AddTemplateFunc(flagsOf, func(cmd *cobra.Command, columns int) string {
		return usages(cmd.LocalFlags(), columns, func(f *pflag.Flag) bool { return !kubeconfig.IsRare(f) }) + connectionLine(cmd, columns)
	})
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}",
		"{{"+flagsOf+" . "+strconv.Itoa(helpWidth)+" | trimTrailingWhitespaces}}", 1))
	var all kubeconfig.Flags
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.AddCluster(flags)
	all.AddNamespace(flags)
	root.AddCommand(&cobra.Command{Use: connectionTopic, Short: "The flags that choose a cluster and a user: those of kubectl",
		Long: connectionText + strings.TrimRight(flags.FlagUsages(), "\n")})
}

// usages describes some flags in so many columns.
func usages(flags *pflag.FlagSet, columns int, which func(*pflag.Flag) bool) string {
	some := pflag.NewFlagSet("", pflag.ContinueOnError)
	some.SortFlags = flags.SortFlags
	flags.VisitAll(func(f *pflag.Flag) {
		if which(f) {
			some.AddFlag(f)
		}
	})
	return strings.TrimRight(some.FlagUsagesWrapped(columns), " \n")
}

// connectionLine names the flags that the topic describes; empty for a command without them.
func connectionLine(cmd *cobra.Command, width int) string {
	var names []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if kubeconfig.IsRare(f) {
			names = append(names, "--"+f.Name)
		}
	})
	if len(names) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\nConnection flags, as kubectl has them (" + cmd.Root().Name() + " help " + connectionTopic + "):")
	line := width
	for _, name := range names {
		if line += len(name) + 1; line > width {
			b.WriteString("\n ")
			line = len(name) + 2
		}
		b.WriteString(" " + name)
	}
	return b.String()
}
