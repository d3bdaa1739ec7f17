package migrate

import (
	"fmt"
	"io"
	"strings"

	"fairlead.dev/fairlead/internal/columns"
)

// Write prints what would be done, for people.
func (p *Plan) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Subscription %s, ClusterServiceVersion %s -> ClusterExtension %s\n", columns.Clean(p.Subscription), columns.Clean(p.CSV), columns.Clean(p.Extension.Name))
	if len(p.Adopted) > 0 {
		b.WriteString("\nTaken over as they run:\n")
		rows := [][]string{{"KIND", "NAMESPACE", "NAME", "CHANGES NOW", "CHANGES WITH THE NEXT REVISION"}}
		for _, a := range p.Adopted {
			rows = append(rows, []string{a.Kind, a.Namespace, a.Name, strings.Join(a.Changes, " "), strings.Join(a.Later, " ")})
		}
		b.WriteString(columns.Indent(columns.Text(rows...), 2))
	}
	refs(&b, "Added, before anything is removed", p.Added)
	refs(&b, "Removed", p.Removed)
	if len(p.Notes) > 0 {
		b.WriteString("\nTo be known:\n")
		for _, n := range p.Notes {
			fmt.Fprintf(&b, "  - %s\n", columns.Clean(n))
		}
	}
	if len(p.Refused) > 0 {
		b.WriteString("\nIn the way:\n")
		for _, r := range p.Refused {
			fmt.Fprintf(&b, "  - %s\n", strings.ReplaceAll(columns.Clean(r), "\n", "\n    "))
		}
	} else {
		fmt.Fprintf(&b, "\nBefore anything is changed, all of it is kept in Secret %s.\n", columns.Clean(p.BackupSecret))
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
	b.WriteString(columns.Indent(columns.Text(rows...), 2))
}
