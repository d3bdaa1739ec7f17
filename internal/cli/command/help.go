package command

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// helpWidth is how many columns help has where it is not shown on a terminal that is narrower.
const helpWidth = 100

// FoldedHelp makes a function of cobra that prints help fold its texts.
func FoldedHelp(print func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		columns := strconv.Itoa(helpColumns(cmd))
		cmd.Long = Paragraphs(cmd.Long, helpColumns(cmd))
		cmd.SetUsageTemplate(strings.NewReplacer(".InheritedFlags.FlagUsages |", ".InheritedFlags.FlagUsagesWrapped "+columns+" |",
			flagsOf+" . "+strconv.Itoa(helpWidth)+" |", flagsOf+" . "+columns+" |").Replace(cmd.UsageTemplate()))
		out := cmd.OutOrStdout()
		width := Width(out)
		if width == 0 {
			print(cmd, args)
			return
		}
		var b bytes.Buffer
		cmd.SetOut(&b)
		print(cmd, args)
		cmd.SetOut(out)
		_, _ = io.WriteString(out, helpLines(b.String(), width)) // as print does
	}
}

// listed is a command in a list of them, or the path of a topic, before what it does.
var listed = regexp.MustCompile(`^(  (?:[a-z-]+ +|[a-z -]+  +))[A-Z]`)

// helpLines folds what is wider than a terminal, but for commands.
func helpLines(text string, columns int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		before := line[:len(line)-len(strings.TrimLeft(line, " "))]
		hanging := before + "  "
		m := listed.FindStringSubmatch(line)
		if m != nil {
			before, hanging = m[1], hanging+"  "
			if cells(before)+narrowest <= columns {
				hanging = strings.Repeat(" ", cells(before))
			}
		}
		if cells(line) <= columns || m == nil && pasted.MatchString(line) {
			b.WriteString(line + "\n")
			continue
		}
		for i, part := range fold(line[len(before):], columns-cells(before), columns-cells(hanging)) {
			if i > 0 {
				part = hanging + part
			} else {
				part = before + part
			}
			b.WriteString(part + "\n")
		}
	}
	return b.String()
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
