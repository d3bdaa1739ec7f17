package plan

import "fairlead.dev/fairlead/resolve"

// groups collects members under keys and remembers the order in which keys first came up.
type groups struct {
	order []string
	byKey map[string]*group
}

type group struct {
	key     string
	members []resolve.Var
}

func (g *groups) add(key string, member resolve.Var) {
	if g.byKey == nil {
		g.byKey = map[string]*group{}
	}
	found, ok := g.byKey[key]
	if !ok {
		found = &group{key: key}
		g.byKey[key] = found
		g.order = append(g.order, key)
	}
	if n := len(found.members); n > 0 && found.members[n-1] == member {
		return // an API that is named twice
	}
	found.members = append(found.members, member)
}

// list returns the groups that have at least two members.
func (g *groups) list() []*group {
	var all []*group
	for _, key := range g.order {
		found := g.byKey[key]
		if len(found.members) > 1 {
			all = append(all, found)
		}
	}
	return all
}
