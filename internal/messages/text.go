package messages

import "fairlead.dev/fairlead/catalog"

// Truncate returns a text of at most so many bytes, and three more where it is cut.
func Truncate(text string, most int) string { return catalog.Truncate(text, most) }

// List joins the first items, and counts the others: "a, b and 3 more", or with semicolons "a; b; and 3 more".
func List(items []string, most int, separator string) string {
	return catalog.List(items, most, separator)
}

// OneLine makes a text of unknown authors one line without control characters, of at most so many bytes and three more where it is cut.
func OneLine(text string, most int) string { return Truncate(catalog.OneLine(text), most) }
