package plan

import (
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// register lists what somebody has or asked for: what Subscriptions may become, also what is on no chain, and what is installed. Only the
// latter is preferred: what Subscriptions become is decided before anything is looked for in their place, so where one of them meets a
// need, it is there already, and where it does not, no need is a reason to have it at another version.
type register struct {
	all       []resolve.Var
	entered   map[resolve.Var]bool
	rank      map[resolve.Var]int // of what is installed, from 1
	providers map[catalog.GVK][]resolve.Var
	packages  map[string][]resolve.Var
}

func newRegister() register {
	return register{entered: map[resolve.Var]bool{}, rank: map[resolve.Var]int{}, providers: map[catalog.GVK][]resolve.Var{}, packages: map[string][]resolve.Var{}}
}

// add enters v, once.
func (r *register) add(v resolve.Var, n *node) {
	if r.entered[v] {
		return
	}
	r.entered[v] = true
	r.all = append(r.all, v)
	if n.operator != nil {
		r.rank[v] = len(r.all)
	}
	for _, gvk := range n.provides() {
		r.providers[gvk] = append(r.providers[gvk], v)
	}
	r.packages[n.packageName()] = append(r.packages[n.packageName()], v)
}
