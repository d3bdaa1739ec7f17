package permissions

import (
	"fmt"
	"strings"
)

func (e *IncompleteError) Error() string {
	return "missing rules may be incomplete: " + strings.Join(e.Reasons, "; ")
}

// String is the rule in one line.
func (r MissingRule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Namespace:%q", r.Namespace)
	for _, part := range []struct {
		name   string
		values []string
	}{
		{"APIGroups", r.APIGroups},
		{"Resources", r.Resources},
		{"NonResourceURLs", r.NonResourceURLs},
		{"ResourceNames", r.ResourceNames},
		{"Verbs", r.Verbs},
	} {
		if len(part.values) > 0 {
			fmt.Fprintf(&b, " %s:[%s]", part.name, strings.Join(part.values, ","))
		}
	}
	return b.String()
}

// Message is what the status of an extension says of missing rules, and of why there may be more. It is bounded.
func Message(missing []MissingRule, incomplete error) string {
	lines := []string{"pre-authorization failed: service account requires the following permissions to manage cluster extension:"}
	for _, rule := range missing {
		lines = append(lines, rule.String())
	}
	if incomplete != nil {
		lines = append(lines, incomplete.Error())
	}
	return strings.Join(lines, "\n  ")
}
