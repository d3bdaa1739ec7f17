package preview

import (
	"regexp"
	"slices"
	"strings"
)

// command is a command line that asks something else about the same namespace and the same catalogs. It can be pasted as it is.
func (p *Preview) command(args ...string) string {
	line := []string{"fairlead"}
	for _, arg := range slices.Concat(args, p.again) {
		line = append(line, quoted(arg))
	}
	return strings.Join(line, " ")
}

// harmless is what a shell takes as it is written.
var harmless = regexp.MustCompile(`^[A-Za-z0-9_./:@%=,+-]+$`)

// quoted is a text as a shell has to be told it.
func quoted(arg string) string {
	if harmless.MatchString(arg) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
