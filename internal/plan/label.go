package plan

import (
	"encoding/json"
	"fmt"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// labels states which labels of others the node needs.
func (b *builder) labels(v resolve.Var) {
	n, i := b.node(v), 0
	for _, p := range n.properties() {
		if p.Type != catalog.PropertyLabelRequired {
			continue
		}
		field := property(catalog.PropertyLabelRequired, i)
		i++
		label, ok := labelOf(p)
		switch {
		case ok:
			b.depend(v, field, labelled(label), "")
		case n.bundle != nil:
			origin := n.origin(field, "%s has an olm.label.required that names no label: %s", n.label(), resolve.Tidy(string(p.Value), maxBrief))
			origin.Hint = fmt.Sprintf("ask the authors of package %s to correct olm.label.required #%d of %s", n.bundle.Package, i, n.name())
			b.problem.Depends(v, nil, origin)
		}
	}
}

// maxBrief is how much of a value from outside a message repeats, in bytes.
const maxBrief = 100

func labelOf(p catalog.Property) (string, bool) {
	var value struct{ Label string }
	err := json.Unmarshal(p.Value, &value)
	return value.Label, err == nil && value.Label != ""
}

// labelled is met by what has a label.
func labelled(label string) condition {
	return condition{
		meets: func(n *node) bool {
			for _, p := range n.properties() {
				if p.Type != catalog.PropertyLabel {
					continue
				}
				if has, _ := labelOf(p); has == label {
					return true
				}
			}
			return false
		},
		known: func(r *register) []resolve.Var { return r.all },
		find:  everything,
		text:  fmt.Sprintf("with label %q", label),
	}
}
