package preview

import (
	"cmp"
	"io"
	"strings"
)

// Write prints the reasons for people.
func (w *Why) Write(out io.Writer) error {
	var b page
	switch w.State {
	case StateChosen:
		b.printf("%s would be installed", w.Operator)
		if w.Replaces != "" {
			b.printf(" in place of %s", w.Replaces)
		}
		b.printf(", from channel %s of catalog %s\n", cmp.Or(strings.Join(w.Channels, ","), w.Channel), w.Catalog)
	case StateReplaced:
		b.printf("%s is installed, and %s would take its place\n", w.Operator, w.ReplacedBy)
	case StateInstalled:
		b.printf("%s is installed, and stays\n", w.Operator)
	default:
		b.printf("%s is not installed, and would not be\n%s", w.Operator, indented(tidy(w.Advice)))
	}
	for _, because := range w.Because {
		b.printf("  because    %s\n", tidy(because.Need))
	}
	if len(w.Because) > 0 && w.Because[0].Rule != "" {
		if over := w.Because[0].Over; over != "" {
			b.printf("  preferred  over %s: %s\n", over, w.Because[0].Rule)
		} else {
			b.printf("  rule       %s\n", w.Because[0].Rule)
		}
	}
	if w.Misfit != nil {
		writeMisfits(&b, []Misfit{*w.Misfit})
	}
	writeHeld(&b, w.Held)
	if w.Conflict != nil {
		b.printf("\nthere is no answer for its %s:\n%s", w.asker(), indented(cmp.Or(w.told, w.Conflict.Error())))
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
