package plan

import (
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// register lists what is preferred to anything that nobody asked for: what Subscriptions may become, in their order of preference, so
// that a provider somebody subscribes to is offered as its Subscription wants it; then what is installed.
type register struct {
	all       []resolve.Var
	rank      map[resolve.Var]int // from 1
	providers map[catalog.GVK][]resolve.Var
	packages  map[string][]resolve.Var
}

func newRegister() register {
	return register{rank: map[resolve.Var]int{}, providers: map[catalog.GVK][]resolve.Var{}, packages: map[string][]resolve.Var{}}
}

// add enters v, once.
func (r *register) add(v resolve.Var, n *node) {
	if r.rank[v] != 0 {
		return
	}
	r.all = append(r.all, v)
	r.rank[v] = len(r.all)
	for _, gvk := range n.provides() {
		r.providers[gvk] = append(r.providers[gvk], v)
	}
	r.packages[n.packageName()] = append(r.packages[n.packageName()], v)
}
