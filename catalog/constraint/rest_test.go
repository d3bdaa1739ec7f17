package constraint

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestRest leaves of a constraint what others have to meet. The bundle is of package own.
func TestRest(t *testing.T) {
	leaf := func(pkg string) string {
		return fmt.Sprintf(`{"package":{"packageName":%q,"versionRange":">=1.0.0"}}`, pkg)
	}
	list := func(kind string, parts ...string) string {
		return fmt.Sprintf(`{%q:{"constraints":[%s]}}`, kind, strings.Join(parts, ","))
	}
	own, blue, green := leaf("own"), leaf("blue"), leaf("green")
	for name, test := range map[string]struct{ value, want string }{
		"what it meets":    {own, "done"},
		"what it does not": {blue, "blue"},
		"all of it":        {list("all", own, own), "done"},
		"a part of an all": {list("all", own, blue), "all(blue)"},
		"one alternative":  {list("any", blue, own), "done"},
		"no alternative":   {list("any", blue, green), "any(blue green)"},
		"the absence of itself is that of others": {list("not", own), "not(own)"},
		"the absence of its absence":              {list("not", list("not", own)), "done"},
		"an all of nothing":                       {list("all"), "done"},
		"an any of nothing":                       {list("any"), "any()"},
		"a not of nothing":                        {list("not"), "done"},
		"the absence of nothing":                  {list("not", list("all")), "not(all())"},
		"what never holds beside what it has":     {list("any", list("any"), blue), "any(blue)"},
		"what never holds in an all":              {list("all", list("any"), own), "all(any() own)"},
		"a part of an alternative":                {list("any", list("all", own, blue), green), "any(all(blue) green)"},
	} {
		t.Run(name, func(t *testing.T) {
			c := must.Value(Parse(json.RawMessage(test.value)))(t)
			rest, done := c.Rest(func(leaf Constraint) bool { return leaf.Package.Name == "own" })
			got := brief(rest)
			if done {
				got = "done"
			}
			must.Equal(t, "left is", got, test.want)
		})
	}
}

func brief(c Constraint) string {
	join := func(list []Constraint) string {
		texts := make([]string, len(list))
		for i, part := range list {
			texts[i] = brief(part)
		}
		return "(" + strings.Join(texts, " ") + ")"
	}
	switch {
	case c.All != nil:
		return "all" + join(c.All)
	case c.Any != nil:
		return "any" + join(c.Any)
	case c.Not != nil:
		return "not" + join(c.Not)
	}
	return c.Package.Name
}
