package plan

import (
	"slices"

	"fairlead.dev/fairlead/resolve"
)

// guilty are the Subscriptions of a part that go without because of a conflict: those that it speaks of. Of these, who has something
// installed is served before who asks for something new: nobody's new wish stops what runs, or its upgrades. And who asks for what is
// there anyway, since others need it, is spared.
func (d *decider) guilty(core *resolve.Unsatisfiable, subscriptions []string) []string {
	if core == nil || d.b.in.Together {
		return subscriptions
	}
	blamed := d.b.askers(core.Core)
	if len(blamed) == 0 {
		return subscriptions
	}
	for _, spared := range []func(string) bool{d.b.hasInstalled, func(name string) bool { return slices.Contains(d.spared, name) }} {
		if left := slices.DeleteFunc(slices.Clone(blamed), spared); len(left) > 0 {
			blamed = left
		}
	}
	return blamed
}

func (b *builder) hasInstalled(subscription string) bool {
	r := b.requestNamed(subscription)
	return r != nil && r.installed != nil
}

func (b *builder) requestNamed(subscription string) *request {
	for _, r := range b.requests {
		if r.sub.Name == subscription {
			return r
		}
	}
	return nil
}

// served are the Subscriptions of some parts that go without although what they ask for is installed for others that need it.
func (d *decider) served(parts []part) []string {
	chosen := map[resolve.Var]bool{}
	for i := range parts {
		for _, v := range parts[i].solution.Selected {
			chosen[v] = true
		}
	}
	var names []string
	for i := range parts {
		for _, name := range parts[i].group.Subscriptions {
			r := d.b.requestNamed(name)
			if parts[i].group.Err != nil && slices.ContainsFunc(r.options, func(v resolve.Var) bool { return chosen[v] && v != r.own }) {
				names = append(names, name)
			}
		}
	}
	return names
}
