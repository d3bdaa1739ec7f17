package messages

import (
	"regexp"
	"strings"
)

// harmless is what a shell takes as it is written.
var harmless = regexp.MustCompile(`^[A-Za-z0-9_./:@%=,+-]+$`)

// Quoted is a text as a shell has to be told it.
func Quoted(arg string) string {
	if harmless.MatchString(arg) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
