package crd

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Pruning says which fields objects lose when they are written in a version whose schema does not know them. It is for CRDs without a
// webhook, whose objects are in all versions the same but for what each drops.
type Pruning struct {
	old, new *compiledSchema
}

// NewPruning compares what two versions keep, of a CRD before and after or of one CRD. It returns nil when the second one keeps
// everything.
func NewPruning(from *definition, old string, to *definition, new string) (*Pruning, error) {
	before, after := versionOf(from, old), versionOf(to, new)
	if before == nil || after == nil || to.Spec.PreserveUnknownFields || from.Spec.PreserveUnknownFields == to.Spec.PreserveUnknownFields && !differ(before, after) {
		return nil, nil
	}
	was, err := newSchema(from, old)
	if err != nil {
		return nil, err
	}
	is, err := newSchema(to, new)
	if err != nil {
		return nil, err
	}
	return &Pruning{old: was, new: is}, nil
}

// Lost are the fields of an object that go, such as ^.spec.legacy. The object is not changed.
func (p *Pruning) Lost(object map[string]any) []string {
	if p == nil {
		return nil
	}
	kept := runtime.DeepCopyJSON(object)
	if !p.old.preserve {
		pruning.Prune(kept, p.old.structural, true)
	}
	var lost []string
	for _, path := range pruning.PruneWithOptions(kept, p.new.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}) {
		lost = append(lost, "^."+short(path))
	}
	return lost
}

// LostByRecord is Lost for an object whose content cannot be read any more, because its version is no longer served: its managed fields
// tell what was set in that version. They do not tell what is in lists and maps that are written as a whole: all that these could hold is
// taken to be there.
func (p *Pruning) LostByRecord(fields []metav1.ManagedFieldsEntry, apiVersion string) ([]string, error) {
	if p == nil {
		return nil, nil
	}
	lost := map[string]bool{}
	for _, entry := range fields {
		if entry.APIVersion != apiVersion || entry.FieldsV1 == nil || entry.Subresource != "" && entry.Subresource != "status" {
			continue
		}
		var set map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &set); err != nil {
			return nil, fmt.Errorf("read the managed fields of %s: %w", entry.Manager, err)
		}
		r := record{left: largestRecord}
		object, _ := r.value(set, p.old.structural).(map[string]any)
		if r.left < 0 {
			return nil, fmt.Errorf("the managed fields of %s stand for more than %d fields", entry.Manager, largestRecord)
		}
		for _, path := range p.Lost(object) {
			lost[path] = true
		}
	}
	return slices.Sorted(maps.Keys(lost)), nil
}

// largestRecord is how many fields are made up of the managed fields of one manager: each item of a list may stand for a whole schema.
const largestRecord = 200_000

// record makes values that have the fields of managed fields.
type record struct{ left int }

// value is one that has the fields of a set. A set that says nothing of what is within stands for all that could be there.
func (r *record) value(set map[string]any, s *structuralschema.Structural) any {
	if r.left--; r.left < 0 {
		return true
	}
	var object map[string]any
	var items []any
	for name, inner := range set {
		below, _ := inner.(map[string]any)
		kind, field, _ := strings.Cut(name, ":")
		switch kind {
		case "f":
			if object == nil {
				object = map[string]any{}
			}
			object[field] = r.value(below, member(s, field))
		case "k", "i":
			var of *structuralschema.Structural
			if s != nil {
				of = s.Items
			}
			items = append(items, r.value(below, of))
		}
	}
	switch {
	case object != nil:
		return object
	case items != nil:
		return items
	case len(set) > 0:
		return true // what is within belongs to others
	}
	return r.anything(s)
}

// anything is a value with every field that a schema knows.
func (r *record) anything(s *structuralschema.Structural) any {
	r.left--
	switch {
	case s == nil || r.left < 0:
	case s.Items != nil:
		return []any{r.anything(s.Items)}
	case len(s.Properties) > 0:
		object := map[string]any{}
		for name := range s.Properties {
			object[name] = r.anything(member(s, name))
		}
		return object
	case s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil:
		return map[string]any{"*": r.anything(s.AdditionalProperties.Structural)}
	}
	return true
}

func member(s *structuralschema.Structural, field string) *structuralschema.Structural {
	if s == nil {
		return nil
	}
	if p, known := s.Properties[field]; known {
		return &p
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}
