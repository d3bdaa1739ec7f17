package packageserver

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// Fields that objects can be selected by.
const (
	fieldName      = "metadata.name"
	fieldNamespace = "metadata.namespace"
)

// fieldLabel refuses selectors for other fields.
func fieldLabel(label, value string) (string, string, error) {
	switch label {
	case fieldName, fieldNamespace:
		return label, value, nil
	}
	return "", "", fmt.Errorf("field label not supported: %s", label)
}

// selection is what a request asks for.
type selection struct {
	labels labels.Selector
	fields fields.Selector
}

func selectionOf(o *internalversion.ListOptions) selection {
	s := selection{labels: labels.Everything(), fields: fields.Everything()}
	if o != nil && o.LabelSelector != nil {
		s.labels = o.LabelSelector
	}
	if o != nil && o.FieldSelector != nil {
		s.fields = o.FieldSelector
	}
	return s
}

func (s selection) matches(o *offer) bool {
	if !s.fields.Matches(fields.Set{fieldName: o.doc.name, fieldNamespace: o.namespace}) {
		return false
	}
	return s.labels.Empty() || s.labels.Matches(labels.Set(o.meta("").Labels))
}

func (s selection) of(offers []offer) []offer {
	return slices.DeleteFunc(offers, func(o offer) bool { return !s.matches(&o) })
}
