package platform

import (
	"fmt"
	"io"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
)

// Write prints the report for people.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	if len(r.Findings) == 0 {
		fmt.Fprintf(&b, "Nothing stands between %s and Kubernetes %s.\n", counted(r.Operators), r.KubeVersion)
	} else {
		fmt.Fprintf(&b, "With Kubernetes %s, of %s:\n", r.KubeVersion, counted(r.Operators))
	}
	last := ""
	for _, f := range r.Findings {
		if f.Operator != last {
			fmt.Fprintf(&b, "\n%s\n", messages.Clean(f.Operator))
			last = f.Operator
		}
		fmt.Fprintf(&b, "  %s: %s; %s\n", f.Rule, messages.Clean(f.Message), messages.Clean(f.Remedy))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func counted(operators int) string {
	if operators == 1 {
		return "1 operator"
	}
	return fmt.Sprintf("%d operators", operators)
}
