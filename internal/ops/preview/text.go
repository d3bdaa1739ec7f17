package preview

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
)

// maxCommandSize is how long a command may be that is advised: a longer one is not printed whole.
const maxCommandSize = 1 << 10

// flags are those that ask the same question once more.
type flags []string

// command is a command line that asks something else about the same namespace and the same catalogs. It can be pasted as it is. It is
// empty where no such line can be printed: what is read from standard input is gone by then, and names with control characters, and very
// many flags, are not printed as they are.
func (f flags) command(args ...string) string {
	line := "fairlead"
	for _, arg := range slices.Concat(args, f) {
		if arg == "-" || arg != messages.Clean(arg) {
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
func (f flags) toSee(words string, args ...string) string {
	line := f.command(args...)
	if line == "" {
		return ""
	}
	return words + ": " + line
}

// Quoted is a text as a shell has to be told it.
func Quoted(arg string) string { return messages.Quoted(arg) }

// aside says how to find out about a newest version that nothing leads to; nothing when there is none.
func (f flags) aside(s resolution.Standing, kind string) string {
	if !s.Aside() {
		return ""
	}
	return s.Newest + " is not where its " + kind + " leads to" + f.toSee("; to see why", "why-not", s.Package+"@"+s.Newest)
}

// page is text for people. What outside text is printed on it, in sentences, in tables and indented, cannot leave its line, and has no
// control characters left.
type page struct{ strings.Builder }

// printf writes a sentence. Its arguments are what is from outside.
func (p *page) printf(format string, args ...any) {
	for i, arg := range args {
		switch text := arg.(type) {
		case string:
			args[i] = messages.Clean(text)
		case fmt.Stringer:
			args[i] = messages.Clean(text.String())
		}
	}
	fmt.Fprintf(p, format, args...)
}

// block is lines that are clean already.
type block string

func (p *page) put(b block) { p.WriteString(string(b)) }

// indented puts each line of a text two columns to the right; of an empty text nothing is left.
func indented[T ~string](of T) block {
	text := strings.TrimRight(string(of), "\n")
	if text == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString("  " + messages.Clean(line) + "\n")
	}
	return block(b.String())
}
