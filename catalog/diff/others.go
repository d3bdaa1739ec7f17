package diff

import (
	"cmp"
	"encoding/json"
	"fmt"

	"fairlead.dev/fairlead/catalog"
)

// compareOthers compares objects that have no identity but what they say of
// themselves. What is the same in both catalogs comes first; of the rest, one
// object of a schema and name may have become another.
func (c *comparison) compareOthers(old, now []*catalog.Meta) error {
	a, b := withoutCommon(old, now)
	var failed error
	match(a, b, otherName, func(name string, x, y *catalog.Meta) {
		change := Change{Op: opOf(x, y), Kind: KindObject, Name: name}
		if change.Op != Changed {
			c.add(change)
			return
		}
		var was, is map[string]json.RawMessage
		if err := cmp.Or(json.Unmarshal(x.Blob, &was), json.Unmarshal(y.Blob, &is)); err != nil {
			failed = fmt.Errorf("object %q: %w", name, err)
		}
		var f fields
		f.members("", was, is)
		c.addChanged(change, f)
	})
	return failed
}

func otherName(m *catalog.Meta) string {
	if m.Name == "" {
		return m.Schema
	}
	return m.Schema + " " + m.Name
}

// withoutCommon leaves out of two lists what is in both, as often as it is.
func withoutCommon(old, now []*catalog.Meta) (a, b []*catalog.Meta) {
	count := map[string]int{}
	for _, m := range now {
		count[string(m.Blob)]++
	}
	common := map[string]int{}
	for _, m := range old {
		if count[string(m.Blob)] > common[string(m.Blob)] {
			common[string(m.Blob)]++
		} else {
			a = append(a, m)
		}
	}
	for _, m := range now {
		if common[string(m.Blob)] > 0 {
			common[string(m.Blob)]--
		} else {
			b = append(b, m)
		}
	}
	return a, b
}
