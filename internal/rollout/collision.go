package rollout

import (
	"cmp"
	"fmt"

	"fairlead.dev/fairlead/catalog/safetext"
)

// CollisionError reports that an object belongs to another owner.
type CollisionError struct {
	Ref      Ref
	Owner    string // who wants the object
	Claimant string // who has it
	Remedy   string // what to do; empty is what Claimant says, or else to remove or rename one of the two
}

// Fact names the object and both parties.
func (e *CollisionError) Fact() string {
	return fmt.Sprintf("%s is wanted by %s but %s", e.Ref, cmp.Or(e.Owner, "this installation"), e.Claimant)
}

// Error is the fact, and what to do.
func (e *CollisionError) Error() string {
	if remedy := e.remedy(); remedy != "" {
		return e.Fact() + "; " + remedy
	}
	return e.Fact()
}

// remedy is what to do; empty where the fact says it.
func (e *CollisionError) remedy() string {
	switch {
	case e.Remedy != "":
		return e.Remedy
	case e.Claimant == unmarked:
		return ""
	}
	return "remove or rename one of the two"
}

// Remedies is what to do about collisions, besides what their facts say: each remedy once, with the objects that it is for where there are several.
func Remedies(all []*CollisionError) []string {
	var remedies []string
	objects := map[string][]string{}
	for _, e := range all {
		remedy := e.remedy()
		if objects[remedy] == nil && remedy != "" {
			remedies = append(remedies, remedy)
		}
		objects[remedy] = append(objects[remedy], e.Ref.String())
	}
	if len(objects) > 1 {
		for i, remedy := range remedies {
			remedies[i] = fmt.Sprintf("of %s: %s", safetext.List(objects[remedy], maxNamed, ", "), remedy)
		}
	}
	return remedies
}

// maxNamed is how many objects are named that one remedy is for.
const maxNamed = 3
