package command

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// helpWidth is how many columns help has where it is not shown on a terminal that is narrower.
const helpWidth = 100

// FoldedHelp makes a function of cobra that prints help fold its texts.
func FoldedHelp(print func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		out, columns := cmd.OutOrStdout(), helpWidth
		if w := Width(out); w > 0 {
			columns = min(columns, w)
		}
		cmd.Long = Paragraphs(cmd.Long, columns)
		template := cmd.UsageTemplate()
		for _, flags := range []string{".LocalFlags.FlagUsages", ".InheritedFlags.FlagUsages"} {
			template = strings.ReplaceAll(template, flags+" |", strings.ReplaceAll(flags, "Usages", "UsagesWrapped")+" "+strconv.Itoa(columns)+" |")
		}
		cmd.SetUsageTemplate(template)
		print(cmd, args)
	}
}

// Paragraphs folds a text anew: lines that follow each other are one paragraph, but for those that are indented, which stand as they are.
func Paragraphs(text string, columns int) string {
	var out []string
	paragraph := ""
	flush := func() {
		if paragraph != "" {
			out = append(out, fold(paragraph, columns, columns)...)
		}
		paragraph = ""
	}
	for _, line := range strings.Split(text, "\n") {
		switch {
		case line == "":
			flush()
			out = append(out, "")
		case line[0] == ' ' || line[0] == '\t':
			flush()
			indent := len(line) - len(strings.TrimLeft(line, " "))
			for i, part := range fold(strings.TrimLeft(line, " "), columns-indent, columns-indent-2) {
				if i > 0 {
					part = "  " + part
				}
				out = append(out, strings.Repeat(" ", indent)+part)
			}
		default:
			paragraph = strings.TrimSpace(paragraph + " " + line)
		}
	}
	flush()
	return strings.Join(out, "\n")
}
