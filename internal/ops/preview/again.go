package preview

import (
	"regexp"
	"slices"
	"strings"
)

// maxCommandSize is how long a command may be that is advised: a longer one is not printed whole.
const maxCommandSize = 1 << 10

// command is a command line that asks something else about the same namespace and the same catalogs. It can be pasted as it is. It is
// empty where no such line can be printed: what is read from standard input is gone by then, and names with control characters, and very
// many flags, are not printed as they are.
func (p *Preview) command(args ...string) string {
	line := "fairlead"
	for _, arg := range slices.Concat(args, p.again) {
		if arg == "-" || arg != tidy(arg) {
			return ""
		}
		line += " " + Quoted(arg)
	}
	if len(line) > maxCommandSize {
		return ""
	}
	return line
}

// toSee is a command after some words about it; empty where there is none to print.
func (p *Preview) toSee(words string, args ...string) string {
	line := p.command(args...)
	if line == "" {
		return ""
	}
	return words + ": " + line
}

// harmless is what a shell takes as it is written.
var harmless = regexp.MustCompile(`^[A-Za-z0-9_./:@%=,+-]+$`)

// Quoted is a text as a shell has to be told it.
func Quoted(arg string) string {
	if harmless.MatchString(arg) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
