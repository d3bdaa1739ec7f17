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
		columns := helpColumns(cmd)
		cmd.Long = Paragraphs(cmd.Long, columns)
		cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".InheritedFlags.FlagUsages |", ".InheritedFlags.FlagUsagesWrapped "+strconv.Itoa(columns)+" |"))
		print(cmd, args)
	}
}

// helpColumns is how many columns the help of a command has.
func helpColumns(cmd *cobra.Command) int {
	if w := Width(cmd.OutOrStdout()); w > 0 {
		return min(helpWidth, w)
	}
	return helpWidth
}

// Paragraphs folds a text: lines that follow each other are one paragraph, but for those that are indented, which stand as they are.
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
