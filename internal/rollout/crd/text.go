package crd

import (
	"encoding/json"
	"strings"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// shortest is how much of a value from a CRD a finding quotes, in bytes.
const shortest = 120

// short makes a text from outside fit for a line of a message.
func short(text string) string {
	if len(text) > shortest {
		text = strings.ToValidUTF8(text[:shortest], "") + "..."
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}

// names lists a set in order.
func names(set sets.Set[string]) string { return short(strings.Join(sets.List(set), ", ")) }

// canonical is a JSON value in the one form that equal values share; empty is none.
func canonical(value *apiextensionsv1.JSON) string {
	if value == nil || len(value.Raw) == 0 {
		return ""
	}
	var decoded any
	if json.Unmarshal(value.Raw, &decoded) != nil {
		return string(value.Raw)
	}
	text, err := json.Marshal(decoded)
	if err != nil {
		return string(value.Raw)
	}
	return string(text)
}

func canonicalSet(values []apiextensionsv1.JSON) sets.Set[string] {
	set := sets.New[string]()
	for i := range values {
		set.Insert(canonical(&values[i]))
	}
	return set
}

func canonicalSchemas(schemas []props) sets.Set[string] {
	set := sets.New[string]()
	for i := range schemas {
		bare := schemas[i].DeepCopy()
		undocument(bare)
		if text, err := json.Marshal(bare); err == nil {
			set.Insert(canonical(&apiextensionsv1.JSON{Raw: text}))
		}
	}
	return set
}
