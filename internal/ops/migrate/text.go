package migrate

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
)

// Write prints what would be done, for people.
func (p *Plan) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Subscription %s, ClusterServiceVersion %s -> ClusterExtension %s\n", messages.Clean(p.Subscription), messages.Clean(p.CSV), messages.Clean(p.Extension.Name))
	if len(p.Adopted) > 0 {
		b.WriteString("\nAdopted as they run:\n")
		rows := [][]string{{"KIND", "NAMESPACE", "NAME", "CHANGES NOW", "CHANGES WITH THE NEXT REVISION"}}
		for _, a := range p.Adopted {
			rows = append(rows, []string{a.Kind, a.Namespace, a.Name, strings.Join(a.Changes, " "), strings.Join(a.Later, " ")})
		}
		b.WriteString(messages.Indent(messages.Table(rows...), 2))
	}
	refs(&b, "Added, before anything is removed", p.Added)
	refs(&b, "Removed", p.Removed)
	refs(&b, "Left without an owner", p.Left)
	if len(p.Notes) > 0 {
		b.WriteString("\nTo be known:\n")
		for _, n := range p.Notes {
			fmt.Fprintf(&b, "  - %s\n", messages.Clean(n))
		}
	}
	if p.refused(&b); len(p.Refused) == 0 {
		fmt.Fprintf(&b, "\nBefore anything is changed, all of it is kept in Secret %s.\n", messages.Clean(p.BackupSecret))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func refs(b *strings.Builder, title string, all []Ref) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	rows := [][]string{{"KIND", "NAMESPACE", "NAME"}}
	for _, r := range all {
		rows = append(rows, []string{r.Kind, r.Namespace, r.Name})
	}
	b.WriteString(messages.Indent(messages.Table(rows...), 2))
}

// WriteBack prints what would be done to take a migration back.
func (p *Plan) WriteBack(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "ClusterExtension %s -> Subscription %s, ClusterServiceVersion %s\n", messages.Clean(p.Extension.Name), messages.Clean(p.Subscription), messages.Clean(p.CSV))
	var given []Ref
	for _, a := range p.Adopted {
		given = append(given, a.Ref)
	}
	refs(&b, "Given back as they run", given)
	again := slices.DeleteFunc(slices.Clone(p.Removed), func(r Ref) bool { return r.Kind == v1alpha1.InstallPlanKind })
	refs(&b, "Made again, from Secret "+messages.Clean(p.BackupSecret), again)
	refs(&b, "Removed", append([]Ref{{APIVersion: p.Extension.APIVersion, Kind: p.Extension.Kind, Name: p.Extension.Name}}, p.Added...))
	p.refused(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *Plan) refused(b *strings.Builder) {
	if len(p.Refused) == 0 {
		return
	}
	b.WriteString("\nIn the way:\n")
	for _, r := range p.Refused {
		for i, line := range strings.Split(strings.TrimSpace(r), "\n") {
			mark := "  - "
			if i > 0 {
				mark = "    "
			}
			b.WriteString(mark + messages.Clean(line) + "\n")
		}
	}
}
