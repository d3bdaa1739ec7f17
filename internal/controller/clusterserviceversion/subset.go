package clusterserviceversion

import "reflect"

// includes says whether what is there has everything that is wanted. Fields that are there besides, such as defaults
// and what others have added, do not matter.
func includes(have, want any) bool {
	switch w := want.(type) {
	case nil:
		return true
	case map[string]any:
		return mapIncludes(have, w)
	case []any:
		return listIncludes(have, w)
	default:
		return reflect.DeepEqual(have, want)
	}
}

// mapIncludes knows that an empty map may be left out by the cluster.
func mapIncludes(have any, want map[string]any) bool {
	h, ok := have.(map[string]any)
	if !ok && have != nil {
		return false
	}
	for name, value := range want {
		if !includes(h[name], value) {
			return false
		}
	}
	return true
}

// listIncludes compares named items, such as containers and volumes, by name, and mounts by place: others may have
// added some. Lists of anything else have to be of the same length and order.
func listIncludes(have any, want []any) bool {
	h, ok := have.([]any)
	if !ok {
		return have == nil && len(want) == 0
	}
	for _, identity := range []string{"mountPath", "name"} {
		if allHave(want, identity) {
			return eachIncluded(h, want, identity)
		}
	}
	if len(h) != len(want) {
		return false
	}
	for i := range want {
		if !includes(h[i], want[i]) {
			return false
		}
	}
	return true
}

func allHave(items []any, identity string) bool {
	for _, item := range items {
		m, ok := item.(map[string]any)
		if text, isText := m[identity].(string); !ok || !isText || text == "" {
			return false
		}
	}
	return len(items) > 0
}

// eachIncluded says whether each wanted item is included in an item of the same identity.
func eachIncluded(have, want []any, identity string) bool {
	for _, w := range want {
		found := false
		for _, h := range have {
			m, ok := h.(map[string]any)
			if ok && m[identity] == w.(map[string]any)[identity] && includes(m, w) {
				found = true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}
