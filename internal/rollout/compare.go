package rollout

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Compare returns an object as the API server would take it, and what a live one has of the fields that it sets, and of those that an apply takes away because
// none but the field managers has them: what defaults and other clients have set besides is no difference, and neither are owner references, which name owners
// by their UIDs. Of kinds that the scheme does not know, a value in another notation is one. Neither object is changed.
func Compare(scheme *runtime.Scheme, wanted, live *unstructured.Unstructured, managers ...string) (will, is *unstructured.Unstructured) {
	will, is = clean(wanted), clean(live)
	prune(scheme, will, live)
	for _, u := range []*unstructured.Unstructured{will, is} {
		u.SetOwnerReferences(nil)
	}
	before, _ := among(will.Object, managed(is.Object, live.GetManagedFields(), managers)).(map[string]any)
	is.Object = before
	return will, is
}

// managed is the root of an object, with what its field managers have of it.
func managed(object map[string]any, entries []metav1.ManagedFieldsEntry, managers []string) place {
	root := place{live: object}
	for _, entry := range entries {
		var set fieldSet
		switch {
		case entry.Subresource == "status" || entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &set) != nil:
		case entry.Subresource != "" || !slices.Contains(managers, entry.Manager):
			root.others = append(root.others, set)
		case entry.Operation == metav1.ManagedFieldsOperationApply:
			root.ours = append(root.ours, set)
		default:
			root.ours = append(root.ours, sent(set))
		}
	}
	if len(root.ours) == 0 {
		return place{live: object}
	}
	return root
}

// sent is what is known to have been sent of what a create or an update recorded: defaults of the API server are recorded, too, but they are never members
// of maps that have any keys.
func sent(set fieldSet) fieldSet {
	out := fieldSet{}
	for _, name := range []string{"f:data", "f:binaryData"} {
		if members, has := set[name]; has {
			out[name] = members
		}
	}
	metadata, _ := set["f:metadata"].(map[string]any)
	kept := fieldSet{}
	for _, name := range []string{"f:labels", "f:annotations"} {
		if members, has := metadata[name]; has {
			kept[name] = members
		}
	}
	if len(kept) > 0 {
		out["f:metadata"] = kept
	}
	return out
}

// among returns what a live value has of the fields of a wanted one, and of those that go with what is wanted no more. Fields that are wanted empty, and that
// the live value does not have, are removed from the wanted one. Items of lists are compared by their places; a list of another length is returned whole.
func among(wanted any, at place) any {
	switch w := wanted.(type) {
	case map[string]any:
		is, ok := at.live.(map[string]any)
		if !ok {
			return at.live
		}
		out := map[string]any{}
		for name, value := range w {
			_, has := is[name]
			switch {
			case has:
				out[name] = among(value, at.field(name))
			case isEmpty(value):
				delete(w, name)
			}
		}
		for name := range is {
			if _, stays := w[name]; stays || name == ContentAnnotation {
				continue
			}
			if goes := at.field(name).alone(); goes != nil {
				out[name] = goes
			}
		}
		return out
	case []any:
		is, ok := at.live.([]any)
		if !ok || len(is) != len(w) {
			return at.live
		}
		out := make([]any, len(w))
		for i := range w {
			out[i] = among(w[i], at.itemLike(is[i]))
		}
		return out
	}
	return at.live
}

// alone is what our sets own of a live value, and no others: it goes when it is not wanted any more. Nil is nothing.
func (p place) alone() any {
	if len(p.ours) == 0 {
		return nil
	}
	fields, isMap := p.live.(map[string]any)
	if !isMap || slices.ContainsFunc(p.ours, func(set fieldSet) bool { return len(set) == 0 }) {
		if len(p.others) > 0 {
			return nil
		}
		return p.live
	}
	out := map[string]any{}
	for name := range fields {
		if goes := p.field(name).alone(); goes != nil && name != ContentAnnotation {
			out[name] = goes
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// itemLike is the place of an item of a list, by the names that the sets have for it.
func (p place) itemLike(item any) place {
	inner := place{live: item}
	for _, side := range []struct {
		sets []fieldSet
		into *[]fieldSet
	}{{p.ours, &inner.ours}, {p.others, &inner.others}} {
		for _, set := range side.sets {
			for name := range set {
				if isNamed(item, name) {
					*side.into = append(*side.into, members([]fieldSet{set}, name)...)
				}
			}
		}
	}
	return inner
}
