package messages

import (
	"fmt"
	"strings"
)

// Truncate returns a text of at most so many bytes, and three more where it is cut.
func Truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// List joins the first items, and counts the others: "a, b and 3 more", or with semicolons "a; b; and 3 more".
func List(items []string, most int, separator string) string {
	more := len(items) - most
	if more <= 0 {
		return strings.Join(items, separator)
	}
	and := " and"
	if separator == "; " {
		and = "; and"
	}
	return fmt.Sprintf("%s%s %d more", strings.Join(items[:most], separator), and, more)
}
