package catalogset

import (
	"fmt"

	"fairlead.dev/fairlead/catalog"
)

// maxProblems is how many of the errors in a catalog a status lists.
const maxProblems = 3

// Describe lists the first errors of a catalog that is served all the same, after what becomes of what they concern, such as "is not
// served"; it is empty when there are none. Warnings are for the catalog's author, not for a cluster.
func Describe(problems catalog.Problems, becomes string) string {
	errors := problems.Errors()
	if len(errors) == 0 {
		return ""
	}
	text := fmt.Sprintf("what these %d errors concern %s", len(errors), becomes)
	for i, p := range errors {
		if i == maxProblems {
			return text + fmt.Sprintf("; and %d more", len(errors)-i)
		}
		text += "; " + p.String()
	}
	return text
}
