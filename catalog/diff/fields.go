package diff

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

// fields collects the differences of an object, in the order of its fields.
type fields []Field

// text compares two values; an empty one is none.
func (f *fields) text(name, from, to string) {
	if from != to {
		*f = append(*f, Field{Name: name, From: short(from), To: short(to)})
	}
}

// short is a value for a report: itself, or its size and digest.
func short(value string) string {
	const most = 200
	if len(value) <= most {
		return value
	}
	return fmt.Sprintf("%d bytes, sha256:%x", len(value), sha256.Sum256([]byte(value)))
}

// members compares the members of two objects.
func (f *fields) members(prefix string, old, now map[string]json.RawMessage) {
	for _, key := range keys(old, now) {
		f.text(prefix+key, canonical(old[key]), canonical(now[key]))
	}
}

// canonical is a value as text that is the same for the same value.
func canonical(value json.RawMessage) string {
	if len(value) == 0 {
		return ""
	}
	text, err := catalog.AppendObject(nil, &catalog.Meta{Blob: value})
	if err != nil {
		return string(value)
	}
	return string(text)
}

// properties compares two lists of properties, whose order means nothing.
func (f *fields) properties(old, now []catalog.Property) {
	values := func(all []catalog.Property) map[string][]string {
		found := map[string][]string{}
		for _, p := range all {
			found[p.Type] = append(found[p.Type], canonical(p.Value))
		}
		return found
	}
	was, is := values(old), values(now)
	for _, kind := range keys(was, is) {
		removed, added := differences(was[kind], is[kind])
		f.values("properties["+kind+"]", kind == catalog.PropertyCSVMetadata, removed, added)
	}
}

// values reports what is no longer there and what is new. One for one is a
// change, of whose parts only those that differ are named if deep is set.
func (f *fields) values(name string, deep bool, removed, added []string) {
	if len(removed) == 1 && len(added) == 1 {
		var was, is map[string]json.RawMessage
		if deep && json.Unmarshal([]byte(removed[0]), &was) == nil && json.Unmarshal([]byte(added[0]), &is) == nil {
			f.members(name+".", was, is)
			return
		}
		f.text(name, removed[0], added[0])
		return
	}
	for _, value := range removed {
		f.text(name, value, "")
	}
	for _, value := range added {
		f.text(name, "", value)
	}
}

// differences are the values that only one of two lists has, sorted.
func differences(old, now []string) (removed, added []string) {
	slices.Sort(old)
	slices.Sort(now)
	for len(old) > 0 && len(now) > 0 {
		switch c := strings.Compare(old[0], now[0]); {
		case c == 0:
			old, now = old[1:], now[1:]
		case c < 0:
			removed, old = append(removed, old[0]), old[1:]
		default:
			added, now = append(added, now[0]), now[1:]
		}
	}
	return append(removed, old...), append(added, now...)
}

// images compares related images by their names.
func (f *fields) images(old, now []catalog.RelatedImage) {
	values := func(all []catalog.RelatedImage) map[string][]string {
		found := map[string][]string{}
		for _, r := range all {
			found[r.Name] = append(found[r.Name], r.Image)
		}
		return found
	}
	was, is := values(old), values(now)
	for _, name := range keys(was, is) {
		removed, added := differences(was[name], is[name])
		f.values(strings.TrimSuffix("relatedImages["+name+"]", "[]"), false, removed, added)
	}
}
