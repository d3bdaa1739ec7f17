package catalog

import (
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
	"fairlead.dev/fairlead/catalog/safetext"
)

// keys are those that an object may have, with the keys of the object, or of
// the objects in the list, that each of them holds.
type keys map[string]keys

// known are the keys of each schema. Those of a bundle's properties are looked
// at where the properties are read.
var known = map[string]keys{
	SchemaPackage: {
		"schema": nil, "name": nil, "defaultChannel": nil, "description": nil,
		"icon":       {"base64data": nil, "mediatype": nil},
		"properties": propertyKeys,
	},
	SchemaChannel: {
		"schema": nil, "name": nil, "package": nil,
		"entries":    {"name": nil, "replaces": nil, "skips": nil, "skipRange": nil},
		"properties": propertyKeys,
	},
	SchemaBundle: {
		"schema": nil, "name": nil, "package": nil, "image": nil, "properties": nil,
		"relatedImages": {"name": nil, "image": nil},
	},
	SchemaDeprecations: {
		"schema": nil, "package": nil, "name": nil,
		"entries": {"reference": {"schema": nil, "name": nil}, "message": nil},
	},
}

var propertyKeys = keys{"type": nil, "value": nil}

// maxNoted bounds how many keys one warning names.
const maxNoted = 10

// keyNotes collects keys that are not as they should be.
type keyNotes struct{ unknown, twice []string }

// warnKeys tells about keys that mean nothing, such as misspelt ones, and about
// those that hide another one.
func (c *content) warnKeys() {
	notes := keyNotes{unknown: c.unknown}
	for _, key := range c.twice {
		note(&notes.twice, "", key)
	}
	if allowed, ok := known[c.object.Schema]; ok {
		for _, m := range c.members {
			notes.member("", m.key, m.value, allowed)
		}
	}
	if len(notes.unknown) > 0 {
		c.report(Warning, RuleFieldUnknown, "no such field: "+strings.Join(notes.unknown, ", "), "correct the name, or remove the field")
	}
	if len(notes.twice) > 0 {
		c.report(Warning, RuleDuplicateKey, "there is more than one value, of which the last counts, for "+strings.Join(notes.twice, ", "), "remove the others")
	}
}

// member checks a key of an object with the allowed keys, and below it.
func (n *keyNotes) member(prefix, key string, value []byte, allowed keys) {
	below, ok := allowed[key]
	if !ok {
		for name, sub := range allowed {
			if strings.EqualFold(name, key) {
				below, ok = sub, true
				break
			}
		}
	}
	if !ok {
		note(&n.unknown, prefix, key)
		return
	}
	if below == nil {
		return
	}
	n.object(prefix+key+".", value, below)
	for element := range rawjson.Elements(value) {
		n.object(prefix+key+"[].", element, below)
	}
}

// object checks the keys of a value, if that is an object.
func (n *keyNotes) object(prefix string, value []byte, allowed keys) {
	seen := make([]string, 0, 4)
	for key, v := range rawjson.Members(value) {
		if slices.Contains(seen, key) {
			note(&n.twice, prefix, key)
		} else if len(seen) < maxNoted {
			seen = append(seen, key)
		}
		n.member(prefix, key, v, allowed)
	}
}

func note(to *[]string, prefix, key string) {
	if len(*to) >= maxNoted {
		return
	}
	if name := prefix + safetext.Truncate(key, 100); !slices.Contains(*to, name) {
		*to = append(*to, name)
	}
}
