package preview

import (
	"fmt"
	"io"
	"strings"
)

// Write prints the reasons for people.
func (w *Why) Write(out io.Writer) error {
	var b strings.Builder
	switch w.State {
	case StateChosen:
		fmt.Fprintf(&b, "%s would be installed", w.Operator)
		if w.Replaces != "" {
			fmt.Fprintf(&b, " in place of %s", w.Replaces)
		}
		fmt.Fprintf(&b, ", from channel %s of catalog %s\n", w.Channel, w.Catalog)
	case StateReplaced:
		fmt.Fprintf(&b, "%s is installed, and %s would take its place\n", w.Operator, w.ReplacedBy)
	case StateInstalled:
		fmt.Fprintf(&b, "%s is installed, and stays\n", w.Operator)
	default:
		fmt.Fprintf(&b, "%s is not installed, and would not be\n%s", w.Operator, indented(tidy(w.Advice)))
	}
	for _, because := range w.Because {
		fmt.Fprintf(&b, "  because    %s\n", tidy(because.Need))
	}
	if len(w.Because) > 0 && w.Because[0].Rule != "" {
		if over := w.Because[0].Over; over != "" {
			fmt.Fprintf(&b, "  preferred  over %s: %s\n", over, w.Because[0].Rule)
		} else {
			fmt.Fprintf(&b, "  rule       %s\n", w.Because[0].Rule)
		}
	}
	writeHeld(&b, w.Held)
	if w.Conflict != nil {
		fmt.Fprintf(&b, "\nthere is no answer for its %s:\n%s", w.asker(), indented(w.Conflict.Error()))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// asker is the kind of what asks for it.
func (w *Why) asker() string {
	if w.Extension != "" {
		return "ClusterExtension"
	}
	return "Subscription"
}
