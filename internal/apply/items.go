package apply

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

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

// isNamed tells whether an item goes by a name.
func isNamed(item any, name string) bool {
	kind, text, _ := strings.Cut(name, ":")
	return kind == "v" && sameScalar(item, text) || kind == "k" && hasKey(item, text)
}

// hasKey tells whether an item has the fields of a key. A field that the item leaves to its default may be anything.
func hasKey(item any, text string) bool {
	fields, ok := item.(map[string]any)
	if !ok {
		return false
	}
	var key map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &key) != nil {
		return false
	}
	for name, value := range key {
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

// isEmpty tells whether a value is one that the API server may drop: then nobody owns it.
func isEmpty(value any) bool {
	if value == nil || value == "" {
		return true
	}
	v := reflect.ValueOf(value)
	return (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0
}
