package catalogset

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/messages"
)

// maxProblems is how many of the errors in a catalog a status lists.
const maxProblems = 3

// Describe lists the first errors of a catalog that is served all the same, after what becomes of what they concern, such as "is not
// served", and then the first warnings that concern a cluster; it is empty when there are none. Other warnings are for the catalog's author.
func Describe(problems catalog.Problems, becomes string) string {
	var text string
	if errors := problems.Errors(); len(errors) > 0 {
		text = fmt.Sprintf("what these %d errors concern %s; %s", len(errors), becomes, Some(lines(errors)))
	}
	warnings := slices.DeleteFunc(slices.Clone(problems), func(p catalog.Problem) bool {
		return p.Severity != catalog.Warning || p.Rule != catalog.RulePackageCapitals
	})
	if len(warnings) > 0 {
		text = join(text, Some(lines(warnings)))
	}
	return text
}

func lines(problems catalog.Problems) []string {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.String()
	}
	return texts
}

// Some joins the first of several texts about a catalog, and says how many more there are.
func Some(texts []string) string {
	return messages.List(texts, maxProblems, "; ")
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
