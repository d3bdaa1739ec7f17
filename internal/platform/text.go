package platform

import (
	"fmt"
	"io"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
)

// Write prints the report for people.
func (r *Report) Write(w io.Writer) error {
	operators := fmt.Sprintf("%d operators", r.Operators)
	if r.Operators == 1 {
		operators = "1 operator"
	}
	var b strings.Builder
	if len(r.Findings) == 0 {
		fmt.Fprintf(&b, "Nothing stands between %s and Kubernetes %s.\n", operators, r.KubeVersion)
	} else {
		fmt.Fprintf(&b, "With Kubernetes %s, of %s:\n", r.KubeVersion, operators)
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
