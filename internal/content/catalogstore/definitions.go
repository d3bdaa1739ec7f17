package catalogstore

import "slices"

// definition is what matters here of a CustomResourceDefinition.
type definition struct {
	Metadata struct{ Name string }
	Spec     struct {
		Version  string // of apiextensions.k8s.io/v1beta1
		Versions []struct{ Name string }
	}
}

// versions are those that it defines, sorted.
func (d definition) versions() []string {
	var all []string
	if d.Spec.Version != "" {
		all = append(all, d.Spec.Version)
	}
	for _, v := range d.Spec.Versions {
		all = append(all, v.Name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// definitions are by name. There are several of one name where releases of an operator define different versions: each release gets its own.
type definitions map[string][]item[definition]

func (c *content) addDefinition(d item[definition]) {
	name := d.value.Metadata.Name
	if name == "" {
		c.warn(d.place, "it has no metadata.name and is left out; name it")
		return
	}
	for _, before := range c.definitions[name] {
		if slices.Equal(before.value.versions(), d.value.versions()) {
			if string(before.text) != string(d.text) {
				c.warn(d.place, "%s is listed before with the same versions, at %s, and that one is served; keep one of the two", name, before.place)
			}
			return
		}
	}
	c.definitions[name] = append(c.definitions[name], d)
}

// owned are the definitions of what an operator owns, one for each name: that with most of the versions which it owns, else the first one.
func (c *content) owned(o item[operator]) []item[definition] {
	wanted, names := map[string][]string{}, []string(nil)
	for _, own := range o.value.Spec.CustomResourceDefinitions.Owned {
		if wanted[own.Name] == nil {
			names = append(names, own.Name)
		}
		wanted[own.Name] = append(wanted[own.Name], own.Version)
	}
	var found []item[definition]
	for _, name := range names {
		candidates := c.definitions[name]
		if len(candidates) == 0 {
			continue // it may be in the cluster
		}
		defines := func(d item[definition]) (n int) {
			for _, version := range wanted[name] {
				if slices.Contains(d.value.versions(), version) {
					n++
				}
			}
			return n
		}
		best := candidates[0]
		for _, d := range candidates[1:] {
			if defines(d) > defines(best) {
				best = d
			}
		}
		if len(candidates) > 1 && defines(best) < len(wanted[name]) {
			c.warn(o.place, "no definition of %s has all versions that are owned, %v; %s is served with it: write all versions into one definition", name, wanted[name], best.place)
		}
		found = append(found, best)
	}
	return found
}
