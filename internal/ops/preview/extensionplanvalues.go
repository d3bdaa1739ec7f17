package preview

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
)

// FieldChange is a field with its values. One that is not there before, or afterwards, has no value.
type FieldChange struct {
	// Path has items of lists, where each has a name of its own, as [name=NAME].
	Path   string `json:"path"`
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
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

const (
	maxChanges    = 50  // of an object that have their values
	maxValueLines = 40  // of the text of a value
	maxValue      = 400 // bytes of a line of it
)

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
	_, list := before.([]any)
	if _, other := after.([]any); !isA || !isB || list != other {
		return []FieldChange{{path, before, after}}
	}
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	var all []FieldChange
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		step := "." + key
		if list {
			step = itemStep + key + "]"
		}
		all = append(all, changes(path+step, a[key], b[key])...)
	}
	if len(all) == 0 { // items of the same names in another order
		return []FieldChange{{path, before, after}}
	}
	return all
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

// lines are a change for people: on one line where both values are short, else as a difference of their lines.
func (c FieldChange) lines() []string {
	short := func(value any) (string, bool) {
		switch v := value.(type) {
		case nil:
			return "(none)", true
		case map[string]any, []any:
			return "", false
		case string:
			return v, !strings.Contains(v, "\n") && len(v) < 100
		}
		text, _ := json.Marshal(value)
		return string(text), true
	}
	before, one := short(c.Before)
	after, other := short(c.After)
	if one && other {
		return []string{fmt.Sprintf("%s: %s -> %s", c.Path, messages.Clean(before), messages.Clean(after))}
	}
	text := func(value any) []byte {
		if value == nil {
			return nil
		}
		if s, ok := value.(string); ok {
			return []byte(strings.TrimSuffix(s, "\n") + "\n")
		}
		out, _ := yaml.Marshal(value) // it was read as JSON
		return out
	}
	out := []string{c.Path + ":"}
	compared := strings.Split(strings.TrimSuffix(string(diff.Diff("before", text(c.Before), "after", text(c.After))), "\n"), "\n")
	compared = slices.DeleteFunc(compared, func(line string) bool {
		return strings.HasPrefix(line, "diff ") || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "@@ ")
	})
	for i, line := range compared {
		if i == maxValueLines {
			return append(out, fmt.Sprintf("  … %d more lines", len(compared)-i))
		}
		out = append(out, "  "+line[:min(1, len(line))]+" "+messages.Line(line[min(1, len(line)):], maxValue))
	}
	return out
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
