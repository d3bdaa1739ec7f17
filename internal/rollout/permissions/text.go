package permissions

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
)

const (
	// maxMessage and maxLine bound what statuses say, in bytes.
	maxMessage = 16 << 10
	maxLine    = 2 << 10
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
	lines := make([]string, 0, len(missing)+1)
	for _, rule := range missing {
		lines = append(lines, rule.String())
	}
	message := "pre-authorization failed: service account requires the following permissions to manage cluster extension:" + bounded(lines)
	if incomplete != nil {
		message += bounded([]string{incomplete.Error()})
	}
	return message
}

// bounded is lines that are indented, as many as there is room for.
func bounded(lines []string) string {
	const indent = "\n  "
	short, fit, size := make([]string, len(lines)), 0, 0
	for i, line := range lines {
		short[i] = safetext.Truncate(line, maxLine)
		if size += len(short[i]); size <= maxMessage {
			fit++
		}
		size += len(indent)
	}
	return strings.Join(append([]string{""}, safetext.First(short, fit, "... and %d more lines")...), indent)
}
