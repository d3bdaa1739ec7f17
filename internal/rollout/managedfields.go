package rollout

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Drifted reports whether a run would write a live object, which may come from a cache that keeps managed fields. It is as desired when it was last
// written with the same content, and every desired field still belongs to the field manager. One that the field manager has never written, as the other
// implementation leaves them, is as desired when it has all that is desired: it is not touched.
func Drifted(desired, live *unstructured.Unstructured, manager string) bool {
	_, written := live.GetAnnotations()[ContentAnnotation]
	if !written && !slices.ContainsFunc(live.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool { return f.Manager == manager }) {
		content := maps.Clone(desired.Object)
		delete(content, "apiVersion") // what is read from a cache does not name its kind
		delete(content, "kind")
		return !has(live.Object, content)
	}
	stamped := clean(desired)
	stamp(stamped)
	return !asWanted(stamped, live, manager)
}

// has reports whether a live value has all that is desired.
func has(live, desired any) bool {
	switch d := desired.(type) {
	case map[string]any:
		is, ok := live.(map[string]any)
		for name, value := range d {
			if !ok || !has(is[name], value) {
				return false
			}
		}
		return true
	case []any:
		is, _ := live.([]any)
		for i := range d {
			if len(is) != len(d) || !has(is[i], d[i]) {
				return false
			}
		}
		return len(is) == len(d)
	}
	return live == desired
}

// asWanted reports whether writing the object would change nothing: it was last written with the same content, and every desired
// field still belongs to the manager. The one who changes a field takes it over, so a changed value shows as a lost field; comparing
// values instead would mistake what the API server or an admission webhook made of them for changes, and write for ever.
func asWanted(wanted, live *unstructured.Unstructured, manager string) bool {
	if live.GetAnnotations()[ContentAnnotation] != wanted.GetAnnotations()[ContentAnnotation] {
		return false
	}
	root := place{live: live.Object}
	for _, entry := range live.GetManagedFields() {
		var set fieldSet
		switch {
		case entry.Subresource == "status" || entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &set) != nil:
		case entry.Manager == manager && entry.Subresource == "": // by apply or by create
			root.ours = append(root.ours, set)
		default:
			root.others = append(root.others, set)
		}
	}
	for name, value := range wanted.Object {
		if name != "apiVersion" && name != "kind" && name != "metadata" && !root.ownsField(name, value) {
			return false
		}
	}
	metadata, _ := wanted.Object["metadata"].(map[string]any)
	at := root.field("metadata")
	for name, value := range metadata { // but for what identifies the object: no one owns that
		if name != "name" && name != "namespace" && !at.ownsField(name, value) {
			return false
		}
	}
	return true
}

// fieldSet is a set of fields in the form of managedFields: members by name, and {} for the whole, or for the bare container.
type fieldSet = map[string]any

// place is a position in the live object: what is there, and what is owned there.
type place struct {
	live         any
	ours, others []fieldSet
}

// field is the place of a field of a map.
func (p place) field(name string) place {
	fields, _ := p.live.(map[string]any)
	return place{live: fields[name], ours: members(p.ours, "f:"+name), others: members(p.others, "f:"+name)}
}

func (p place) ownsField(name string, value any) bool {
	return isEmpty(value) || p.field(name).owns(value)
}

// owns reports whether our sets cover a desired value.
func (p place) owns(value any) bool {
	if len(p.ours) == 0 {
		return false
	}
	if !slices.ContainsFunc(p.ours, func(set fieldSet) bool { return len(set) > 0 }) { // without any member
		return !p.lost(value)
	}
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			if !p.ownsField(name, field) {
				return false
			}
		}
	case []any:
		for _, item := range v {
			if !p.ownsItem(item) {
				return false
			}
		}
	}
	return true
}

// lost reports whether, of a value that we own without any member, the members belong to others or are gone. Where neither is so, the
// value is one that has no members to own.
func (p place) lost(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		there, _ := p.live.(map[string]any)
		for name, field := range v {
			if _, found := there[name]; !found && !isEmpty(field) {
				return true
			}
		}
	case []any:
		there, _ := p.live.([]any)
		if len(there) < len(v) {
			return true
		}
	default:
		return false
	}
	return slices.ContainsFunc(p.others, func(set fieldSet) bool { return len(set) > 0 })
}

// members returns what the sets hold under a name.
func members(sets []fieldSet, name string) []fieldSet {
	var out []fieldSet
	for _, set := range sets {
		if inner, ok := set[name].(map[string]any); ok {
			out = append(out, inner)
		}
	}
	return out
}

// ownsItem is owns for an item of a list. An item goes by the name k:<the fields that are its key> or v:<its value>; one that leaves
// a key field to its default may go by several.
func (p place) ownsItem(wanted any) bool {
	for _, set := range p.ours {
		for name := range set {
			if isNamed(wanted, name) && p.item(name).owns(wanted) {
				return true
			}
		}
	}
	return false
}

// item is the place of the item of a list that goes by a name.
func (p place) item(name string) place {
	inner := place{ours: members(p.ours, name), others: members(p.others, name)}
	items, _ := p.live.([]any)
	for _, there := range items {
		if isNamed(there, name) {
			inner.live = there
		}
	}
	return inner
}

// isNamed reports whether an item goes by a name.
func isNamed(item any, name string) bool {
	kind, text, _ := strings.Cut(name, ":")
	if kind == "v" {
		return sameScalar(item, text)
	}
	fields, ok := item.(map[string]any)
	var key map[string]json.RawMessage
	if kind != "k" || !ok || json.Unmarshal([]byte(text), &key) != nil {
		return false
	}
	for name, value := range key { // a field that the item leaves to its default may be anything
		if mine, set := fields[name]; set && !sameScalar(mine, string(value)) {
			return false
		}
	}
	return true
}

// sameScalar compares by the text that both have in the same encoding: numbers and escapes may be written in several ways.
func sameScalar(value any, text string) bool {
	var theirs any
	if json.Unmarshal([]byte(text), &theirs) != nil {
		return false
	}
	left, errLeft := json.Marshal(value)
	right, errRight := json.Marshal(theirs)
	return errLeft == nil && errRight == nil && bytes.Equal(left, right)
}

// isEmpty reports whether a value is one that the API server may drop: then no one owns it.
func isEmpty(value any) bool {
	if value == nil || value == "" {
		return true
	}
	v := reflect.ValueOf(value)
	return (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0
}
