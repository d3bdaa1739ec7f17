package preview

import (
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
)

// outdatedColumns are there in every table, whatever is in them.
var outdatedColumns = []string{"INSTALLED", "NEXT", "ALLOWED", "CHANNEL HEAD", "NEWEST ANYWHERE", "IN", "SUPPORT", "HELD BY"}

// maxHeld is how much of a reason the table has, in characters.
const maxHeld = 60

// columns are a row of the table.
func columns(name string, s resolution.Standing, holders []string) []string {
	held := s.HeldBy
	switch { // the objects that stand in the way fit into the column, or the beginning of the reason, which is told in full below
	case held == "":
	case len(holders) == 0:
		held = messages.Short(held, maxHeld)
	default:
		held = messages.Clean(strings.Join(holders, ", "))
	}
	support := ""
	if s.Support.State != "" {
		support = s.Support.String()
	}
	return []string{name, s.Installed, s.Next, s.Allowed, s.Head, s.Newest, s.NewestIn, support, held}
}

// Write prints the comparison for people.
func (o *Outdated) Write(w io.Writer) error {
	var b page
	behind := 0
	rows := [][]string{slices.Concat([]string{"SUBSCRIPTION"}, outdatedColumns)}
	for _, s := range o.Subscriptions {
		rows = append(rows, columns(s.Subscription, s.SubscriptionStanding.Standing, s.holders))
		if s.Behind() {
			behind++
		}
	}
	for _, l := range o.LeftAlone {
		rows = append(rows, []string{l.Subscription, "", "", "", "", "", "", "", messages.Short("left alone: "+l.Reason, maxHeld)})
	}
	total := len(o.Subscriptions) + len(o.LeftAlone)
	behind += len(o.LeftAlone)
	b.printf("namespace %s: ", o.Namespace)
	switch {
	case total == 0 && len(o.Unmanaged) == 0 && len(o.Extensions) > 0:
		b.Reset() // the question is about ClusterExtensions alone
	case total == 0:
		b.WriteString("no Subscription, nothing to compare\n")
	case behind == 0:
		b.WriteString("everything is the newest there is\n")
	default:
		b.printf("%d of %d Subscriptions not at the newest there is\n", behind, total)
	}
	if total > 0 {
		b.WriteString("\n" + messages.Table(rows...))
	}
	for _, s := range o.Subscriptions {
		if s.conflict == nil || s.HeldBy == "" {
			explain(&b, s.Subscription, s.HeldBy, s.Advice)
			continue
		}
		b.printf("\n%s is held by:\n", s.Subscription)
		b.put(indented(s.conflict.Error()))
	}
	o.writeExtensions(&b)
	writeLeftAlone(&b, o.LeftAlone)
	for _, name := range o.Unmanaged {
		if asker := o.askers[name]; asker != "" {
			b.printf("\n%s has no Subscription: nothing upgrades it; Subscription %s asks for its package, but does not adopt it, for the reason above\n", name, asker)
			continue
		}
		b.printf("\n%s has no Subscription: nothing upgrades it; create a Subscription to its package\n", name)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func explain(b *page, name, heldBy, advice string) {
	switch {
	case heldBy != "":
		b.printf("\n%s is held by:\n%s", name, indented(messages.Clean(heldBy)))
	case advice != "":
		b.printf("\n%s:\n", name)
	}
	if advice != "" {
		b.put(indented(messages.Clean(advice)))
	}
}

// writeExtensions prints how the ClusterExtensions stand.
func (o *Outdated) writeExtensions(b *page) {
	if len(o.Extensions) == 0 {
		return
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	behind := 0
	rows := [][]string{slices.Concat([]string{"EXTENSION"}, outdatedColumns)}
	for _, s := range o.Extensions {
		rows = append(rows, columns(s.Extension, s.Standing, s.holders))
		if s.Behind() {
			behind++
		}
	}
	if behind == 0 {
		b.WriteString("ClusterExtensions: everything is the newest there is\n")
	} else {
		b.printf("%d of %d ClusterExtensions not at the newest there is\n", behind, len(o.Extensions))
	}
	b.WriteString("\n" + messages.Table(rows...))
	for _, s := range o.Extensions {
		explain(b, s.Extension, s.HeldBy, s.Advice)
	}
}
