package preview

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
)

// FieldChange is a field with its values. One that is not there before, or afterwards, has no value.
type FieldChange struct {
	// Path has items of lists, where each has a name of its own, as [name=NAME].
	Path   string `json:"path"`
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
	// Order is true where items of a list are the same and only their order changes: the values are the items, or their names.
	Order bool `json:"order,omitempty"`
}

// Totals are how many objects come, change, go and stay.
type Totals struct {
	Created   int `json:"created"`
	Adopted   int `json:"adopted"`
	Changed   int `json:"changed"`
	Deleted   int `json:"deleted"`
	Unchanged int `json:"unchanged"`
}

// String is a line such as "12 objects: 3 created, 9 unchanged".
func (t Totals) String() string {
	var parts []string
	for _, one := range []struct {
		n    int
		what string
	}{{t.Created, "created"}, {t.Adopted, "adopted"}, {t.Changed, "changed"}, {t.Deleted, "deleted"}, {t.Unchanged, "unchanged"}} {
		if one.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", one.n, one.what))
		}
	}
	if len(parts) == 0 {
		return "no objects"
	}
	return safetext.Count(t.Created+t.Adopted+t.Changed+t.Deleted+t.Unchanged, "object") + ": " + strings.Join(parts, ", ")
}

// maxChanges is how many fields of an object have their values.
const maxChanges = 50

// notShown takes the place of what Secrets hold.
const notShown = "(not shown)"

// itemStep begins the step of a path to an item of a list.
const itemStep = "[name="

// changes are the fields that differ, each as deep as it differs. Items of lists that have a name are compared with those of the same name, other lists
// as a whole.
func changes(path string, before, after any) []FieldChange {
	if same(before, after) {
		return nil
	}
	a, isA := keyed(before)
	b, isB := keyed(after)
	one, list := before.([]any)
	another, other := after.([]any)
	if !isA || !isB || list != other {
		return []FieldChange{{Path: path, Before: before, After: after, Order: list && other && sameItems(one, another)}}
	}
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	var all []FieldChange
	if list {
		if was, is := common(one, b), common(another, a); !same(was, is) {
			all = append(all, FieldChange{Path: path, Before: was, After: is, Order: true})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		step := "." + key
		if list {
			step = itemStep + key + "]"
		}
		all = append(all, changes(path+step, a[key], b[key])...)
	}
	return all
}

// common are the names of the items of a list that another one has too.
func common(list []any, other map[string]any) []any {
	var all []any
	for _, item := range list {
		name := item.(map[string]any)["name"] // as keyed has found it
		if _, both := other[name.(string)]; both {
			all = append(all, name)
		}
	}
	return all
}

// sameItems reports whether two lists have the same items, in whatever order.
func sameItems(before, after []any) bool {
	sorted := func(list []any) []string {
		var all []string
		for _, item := range list {
			text, _ := json.Marshal(item) // it was read as JSON
			all = append(all, string(text))
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(sorted(before), sorted(after))
}

// same compares what was read as JSON.
func same(before, after any) bool {
	one, _ := json.Marshal(before)
	other, _ := json.Marshal(after)
	return string(one) == string(other)
}

// keyed are the fields of an object, or the items of a list by their names.
func keyed(value any) (map[string]any, bool) {
	list, is := value.([]any)
	if !is {
		fields, is := value.(map[string]any)
		return fields, is
	}
	out := map[string]any{}
	for _, item := range list {
		fields, _ := item.(map[string]any)
		name, named := fields["name"].(string)
		if _, twice := out[name]; !named || twice {
			return nil, false
		}
		out[name] = item
	}
	return out, len(list) > 0
}

// withoutSecrets hides what a Secret holds, and its annotations, which may repeat it as it was applied last.
func withoutSecrets(object map[string]any, all []FieldChange) []FieldChange {
	if object["kind"] != "Secret" {
		return all
	}
	for i := range all {
		c := &all[i]
		if !strings.HasPrefix(c.Path, ".data") && !strings.HasPrefix(c.Path, ".stringData") && !strings.HasPrefix(c.Path, ".metadata.annotations") {
			continue
		}
		if c.Before != nil {
			c.Before = notShown
		}
		if c.After != nil {
			c.After = notShown
		}
	}
	return all
}

// writeValues prints changed objects with their values.
func (p *ExtensionPlan) writeValues(b *strings.Builder) {
	if len(p.Changed) > 0 {
		b.WriteString("\nchanged:\n")
	}
	for _, o := range p.Changed {
		fmt.Fprintf(b, "  %s\n", messages.Clean(o.Name))
		for _, c := range o.Changes {
			for _, line := range c.lines() {
				fmt.Fprintf(b, "    %s\n", strings.TrimRight(line, " "))
			}
		}
		if o.More > 0 {
			fmt.Fprintf(b, "    … %d more fields\n", o.More)
		}
	}
}
